"""Exact numbers as people and files read them. Owns the way from amounts and fractions to decimals and back."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = ["base_units", "decimal_text", "floor_decimal", "measured", "plain_number", "shown"]

MAX_EXACT_DIGITS = 60
"""Longest decimal fraction that is written exactly; longer ones count as not decimal."""


_BINARY = tuple((2 ** (10 * power), f"{letter}i") for power, letter in reversed(tuple(enumerate("KMGTPE", start=1))))
_DECIMAL = tuple((10 ** (3 * power), letter) for power, letter in reversed(tuple(enumerate("kMGTPE", start=1))))
_PREFIXES = {"B": (*_BINARY, *_DECIMAL), "bit/s": _DECIMAL, "W": _DECIMAL}
_SHORT = 1000
"""So many times a number of prefixed units is whole: at most three decimals."""


def base_units(amount: int | Fraction, exponent: int) -> Fraction:
    """Amount in units of ``10**exponent`` as a number of base units."""
    scale = Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)
    return scale * amount


def decimal_text(value: Fraction) -> str | None:
    """The value as a decimal number without rounding and without exponent; None when it has no short one."""
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest //= 2
        twos += 1
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    digits = max(twos, fives)
    if rest != 1 or digits > MAX_EXACT_DIGITS:
        return None
    scaled = str(abs(value.numerator) * 10**digits // value.denominator)
    sign = "-" if value < 0 else ""
    if digits == 0:
        return sign + scaled
    scaled = scaled.rjust(digits + 1, "0")
    return f"{sign}{scaled[:-digits]}.{scaled[-digits:]}"


def floor_decimal(value: Fraction, places: int) -> Fraction:
    """Largest decimal with that many places that is not above the value."""
    scale = 10**places
    return Fraction((value * scale).__floor__(), scale)


def shown(value: Fraction | int) -> str:
    """The value for a sentence: exact when it is a short decimal, else 12 significant digits."""
    value = Fraction(value)
    exact = decimal_text(value)
    if exact is not None and len(exact) <= 30:
        return exact
    context = Context(prec=12, rounding=ROUND_FLOOR)
    return f"{context.divide(Decimal(value.numerator), Decimal(value.denominator)):g}"


def measured(value: Fraction | int, unit: str) -> str:
    """The value with its unit for a sentence, as exact as ``shown``; prefixed where that is shorter and still exact.

    Parameters
    ----------
    value : base units.
    unit : "core", "B", "bit/s", "W", "s", or any other word; empty for a plain number.
    """
    value = Fraction(value)
    if unit == "core":
        return f"{shown(value)} {'core' if value == 1 else 'cores'}"
    ways = [(shown(value), unit)]
    ways += [
        (shown(value / factor), prefix + unit)
        for factor, prefix in _PREFIXES.get(unit, ())
        if abs(value) >= factor and (value * _SHORT / factor).denominator == 1
    ]
    number, named = min(ways, key=lambda way: len(way[0]))
    return f"{number} {named}".rstrip()


def plain_number(value: Fraction | int | None) -> int | float | None:
    """The value as a JSON number: an integer when it is one, else the nearest float; None stays None."""
    if value is None:
        return None
    value = Fraction(value)
    return value.numerator if value.denominator == 1 else float(value)
