"""Exact decimals both ways."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.plan.numbers import base_units, decimal_text, floor_decimal, measured, plain_number, shown

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


@pytest.mark.parametrize(
    ("value", "unit", "told"),
    [
        (160 * 2**30, "B", "160 GiB"),
        (64 * 10**9, "B", "64 GB"),
        (Fraction(3, 2) * 2**40, "B", "1.5 TiB"),
        (2**30 + 1, "B", "1073741825 B"),
        (10**9 + 1, "B", "1000000001 B"),
        (999, "B", "999 B"),
        (12 * 10**9, "bit/s", "12 Gbit/s"),
        (Fraction(10**10, 3), "bit/s", "3333333333.33 bit/s"),
        (-(2**20), "B", "-1 MiB"),
        (0, "B", "0 B"),
        (1500, "W", "1.5 kW"),
        (1, "core", "1 core"),
        (Fraction(1, 1000), "core", "0.001 cores"),
        (Fraction(1, 2), "", "0.5"),
        (3, "slots", "3 slots"),
    ],
)
def test_an_amount_in_a_sentence_has_its_unit_and_is_not_rounded(value: Fraction | int, unit: str, told: str) -> None:
    """A prefix is used only where the number stays exact with three decimals: who judges plans must not blur."""
    assert measured(value, unit) == told
