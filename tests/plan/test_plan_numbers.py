"""Exact decimals both ways."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.plan.numbers import base_units, decimal_text, floor_decimal, plain_number, shown

F = Fraction


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (F(0), "0"),
        (F(-3), "-3"),
        (F(1, 2), "0.5"),
        (F(-1, 8), "-0.125"),
        (F(3, 2), "1.5"),
        (F(1, 1000), "0.001"),
        (F(10**30), "1" + "0" * 30),
        (F(1, 3), None),
        (F(1, 2**100), None),
    ],
)
def test_decimal_text(value: Fraction, text: str | None) -> None:
    assert decimal_text(value) == text


@given(st.integers(-(10**30), 10**30), st.integers(-30, 30))
def test_amounts_and_their_texts_agree(amount: int, exponent: int) -> None:
    value = base_units(amount, exponent)
    text = decimal_text(value)
    assert text is not None
    assert "e" not in text.lower()
    assert Fraction(Decimal(text)) == value == Fraction(amount) * Fraction(10) ** exponent


@given(st.fractions(), st.integers(0, 20))
def test_floor_decimal_is_the_largest_not_above(value: Fraction, places: int) -> None:
    floor = floor_decimal(value, places)
    assert floor <= value < floor + Fraction(1, 10**places)
    assert decimal_text(floor) is not None


def test_plain_number_is_an_integer_where_it_can_be() -> None:
    assert plain_number(None) is None
    assert repr(plain_number(F(6, 2))) == "3"
    assert repr(plain_number(F(1, 2))) == "0.5"
    assert repr(plain_number(F(10**20))) == "1" + "0" * 20


def test_shown_never_hides_a_small_excess_of_exact_decimals() -> None:
    assert shown(F(10**12) + F(1, 1000)) == "1000000000000.001"
    assert shown(F(1, 3)) == "0.333333333333"
    assert shown(F(2, 3)) == "0.666666666666"
