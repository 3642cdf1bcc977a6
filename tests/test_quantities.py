"""Quantities: exact decimals, units and integer scales."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allocator.quantities import (
    INT64_MARGIN,
    Dimension,
    QuantityError,
    ScaleError,
    StatedNumber,
    choose_exponent,
    decimal_exponent,
    decimal_text,
    parse_decimal,
    parse_quantity,
    parse_whole,
    round_down,
    round_up,
)
from allocator.quantities.units import _SYMBOLS, _factor


@pytest.mark.parametrize(
    ("dimension", "symbol"), [(d, symbol) for d, symbols in _SYMBOLS.items() for symbol in symbols]
)
def test_listed_symbols_are_what_the_registry_says(dimension: Dimension, symbol: str) -> None:
    assert _SYMBOLS[dimension][symbol] == _factor(symbol, dimension)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("500m", "core", Fraction(1, 2)),
        ("2 cores", "core", 2),
        ("1Gi", "B", 2**30),
        ("768 GiB", "B", 768 * 2**30),
        ("64 GB", "B", 64 * 10**9),
        ("2 kilobytes", "B", 2000),
        ("2k", "", 2000),
        ("1E", "", 10**18),
        ("1e3", "", 1000),
        ("400 Gbit/s", "bit/s", 4 * 10**11),
        ("400 GB/s", "bit/s", 32 * 10**11),
        ("3.2 Tbit/s", "bit/s", 32 * 10**11),
        ("5 Mbps", "bit/s", 5 * 10**6),
        ("5 us", "s", Fraction(5, 10**6)),
        ("5 \N{GREEK SMALL LETTER MU}s", "s", Fraction(5, 10**6)),
        ("200 ms", "s", Fraction(1, 5)),
        ("2 min", "s", 120),
        ("120 kW", "W", 120_000),
        ("0.8/s", "1/s", Fraction(4, 5)),
        ("48 / min", "1/s", Fraction(4, 5)),
        ("3 1/s", "1/s", 3),
        (" .5 ", "", Fraction(1, 2)),
        ("1.", "", 1),
        ("-3", "core", -3),
    ],
)
def test_units_are_exact(text: str, dimension: str, value: Fraction) -> None:
    """A quantity is the exact number of base units, whatever unit it was written in."""
    assert parse_quantity(text, dimension) == value


@pytest.mark.parametrize(
    ("text", "dimension", "message"),
    [
        ("5 GiB", "core", "needs a unit of core"),
        ("5 s", "B", "needs a unit of B"),
        ("5 GB", "bit/s", "needs a unit of bit/s"),
        ("8 Mb", "B", "'Mb', which is bits, but needs bytes: write MB, an eighth"),
        ("8 kbit", "B", "write kB"),
        ("8 Gib", "B", "write GiB"),
        ("8 gigabits", "B", "write gigabyte"),
        ("8 bps/Hz", "B", "needs bytes; write for example"),
        ("5m", "s", "unknown unit 'm'"),
        ("5 parsec", "s", "unknown unit"),
        ("5 W", "", "needs a plain number"),
        ("5 9**9**9**9", "s", "unknown unit"),
        ("5 s*s", "s", "unknown unit"),
        ("", "core", "must not be empty"),
        ("  ", "core", "must not be empty"),
        ("nan", "core", "finite"),
        ("-.inf", "core", "finite"),
        ("Infinity", "core", "finite"),
        ("x", "core", "decimal number"),
        (".", "core", "decimal number"),
        ("0x1F", "core", "unknown unit"),
        ("1e999999", "core", "exponent out of range"),
        ("1e-99999999999999999999", "core", "exponent out of range"),
        ("9" * 500, "core", "too many digits"),
        ("\u0665", "core", "decimal number"),
    ],
)
def test_what_is_no_quantity_is_refused(text: str, dimension: str, message: str) -> None:
    """Whatever is not a finite decimal with a unit of the dimension is refused, at once and by name."""
    with pytest.raises(QuantityError, match=message.replace("*", r"\*")):
        parse_quantity(text, dimension)


def test_whole_numbers() -> None:
    """Counts may be written as any decimal that is whole."""
    assert parse_whole("1e3") == parse_whole("1000.0") == 1000
    for text, message in (("2.5", "whole"), ("1e10", "at most"), ("3 x", "plain number")):
        with pytest.raises(QuantityError, match=message):
            parse_whole(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=12))
def test_decimals_round_trip(value: Decimal) -> None:
    """Text of a decimal reads back as exactly that value, and so does the text written for it."""
    exact = Fraction(value)
    assert parse_decimal(str(value)) == exact
    assert parse_decimal(decimal_text(value)) == exact
    assert parse_decimal(decimal_text(exact)) == exact


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_it_prints_as(value: float) -> None:
    """A float stands for its shortest decimal, not for its binary value."""
    assert parse_decimal(decimal_text(value)) == Fraction(repr(value))


@given(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**6, places=6),
    st.sampled_from([("m", "core", Fraction(1, 1000)), ("GiB", "B", 2**30), ("GB/s", "bit/s", 8 * 10**9)]),
)
def test_units_multiply(value: Decimal, unit: tuple[str, str, Fraction]) -> None:
    """A unit multiplies the number before it, exactly."""
    suffix, dimension, factor = unit
    assert parse_quantity(f"{value}{suffix}", dimension) == Fraction(value) * factor


def test_fractions_without_an_end_are_refused() -> None:
    """A ninth has no decimal; writing it anyway would round silently."""
    assert decimal_exponent(Fraction(1, 9)) is None
    with pytest.raises(QuantityError, match="round it"):
        decimal_text(Fraction(1, 9))


# ---------------------------------------------------------------- scales


def stated(value: str, times: int = 1) -> StatedNumber:
    return StatedNumber(parse_decimal(value), times, value)


def test_all_stated_numbers_are_whole() -> None:
    """The unit divides every floor and capacity: 0.1 + 0.2 on 0.3 and 0.1 times 10 on 1.0 fit exactly."""
    exponent = choose_exponent([stated("0.1", 10), stated("0.2")], [stated("0.3"), stated("1.0")], [], divisible=False)
    assert exponent == -1
    assert round_up(Fraction(1, 10), exponent) + round_up(Fraction(2, 10), exponent) == round_down(
        Fraction(3, 10), exponent
    )


def test_no_needless_unit() -> None:
    """Bytes stay bytes, however round the numbers are."""
    assert choose_exponent([stated("1000000", 3000)], [stated("1600000000000")], [], divisible=False) == 0


def test_huge_round_numbers_get_a_coarse_unit() -> None:
    """Numbers beyond int64 are fine when they are all round."""
    exponent = choose_exponent([stated("1e25")], [stated("3e26", 10)], [], divisible=False)
    assert exponent > 0
    assert round_down(Fraction(3 * 10**26), exponent) * 10**exponent == 3 * 10**26


def test_the_number_with_the_most_digits_is_refused() -> None:
    """Without a common unit the longest number is named."""
    with pytest.raises(ScaleError, match="64-bit") as caught:
        choose_exponent([stated("0.5"), stated("0.12345678901234567")], [stated("1000000")], [], divisible=False)
    assert caught.value.number.text == "0.12345678901234567"
    with pytest.raises(ScaleError) as caught:
        choose_exponent([stated("0.5")], [stated("1e30")], [], divisible=False)
    assert caught.value.number.text == "1e30"


def test_divisible_resources_get_a_fine_unit() -> None:
    """Where shares may exceed floors, one unit is at most 1e-9 of the largest capacity, if sums allow."""
    exponent = choose_exponent([stated("1", 100)], [stated("192", 384)], [Fraction(4, 25)], divisible=True)
    assert Fraction(10) ** exponent <= Fraction(192, 10**9)
    assert choose_exponent([], [stated("1e17", 20)], [], divisible=True) == 0


@given(
    st.lists(
        st.tuples(st.decimals(0, 10**6, allow_nan=False, places=4), st.integers(0, 10**5)), min_size=1, max_size=8
    ),
    st.booleans(),
)
def test_sums_fit_int64(numbers: list[tuple[Decimal, int]], divisible: bool) -> None:
    """Every number is whole in its unit, and the sum of all keeps a margin below int64."""
    supplies = [stated(str(value), times) for value, times in numbers]
    exponent = choose_exponent([], supplies, [], divisible=divisible)
    units = [round_down(number.value, exponent) for number in supplies]
    assert all(unit * Fraction(10) ** exponent == number.value for unit, number in zip(units, supplies, strict=True))
    assert sum(unit * number.times for unit, number in zip(units, supplies, strict=True)) * INT64_MARGIN < 2**63


def test_rounding_is_on_the_safe_side() -> None:
    """Floors round up, capacities down, in fine and in coarse units."""
    third = Fraction(1, 3)
    assert (round_up(third, -2), round_down(third, -2)) == (34, 33)
    assert (round_up(Fraction(1234), 2), round_down(Fraction(1234), 2)) == (13, 12)


def test_dimensions_have_their_base_unit_as_value() -> None:
    """A dimension can be named by its base unit."""
    assert Dimension("bit/s") is Dimension.BITRATE
