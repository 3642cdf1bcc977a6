"""Rational enclosures of real numbers, and rounding to numbers that a float holds exactly.

Owns rigorous evaluation of exp and ln on rationals. Knows no function that is approximated.

Rigour: ``decimal`` rounds exp and ln correctly (General Decimal Arithmetic, section "exp, ln"), so the true value lies
between the two neighbours of the result; the other operations round as told. Every step below goes outward.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from allocator.errors import ArgumentError

__all__ = ["Enclosure", "exponential", "float_above", "float_below", "logarithm", "nearest_float"]

DIGITS = 28
_DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_LARGEST = 10**6  # arguments of exp beyond this are clamped to it, outward


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A real number known to lie in [lower, upper]; exact where the two are equal.

    Raises
    ------
    ArgumentError
        when lower > upper.
    """

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ArgumentError(f"an enclosure needs lower <= upper, not {self.lower} and {self.upper}")

    @classmethod
    def exact(cls, value: Fraction | int) -> Enclosure:
        """The enclosure of a rational number."""
        known = Fraction(value)
        return cls(known, known)

    @property
    def width(self) -> Fraction:
        """Upper less lower."""
        return self.upper - self.lower

    @property
    def middle(self) -> Fraction:
        """The midpoint."""
        return (self.lower + self.upper) / 2

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.upper, -self.lower)

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(self.lower + other.lower, self.upper + other.upper)

    def __mul__(self, other: Enclosure) -> Enclosure:
        ends = [a * b for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Enclosure(min(ends), max(ends))

    def affine(self, scale: Fraction, shift: Fraction) -> Enclosure:
        """Enclosure of scale times the number plus shift."""
        ends = (self.lower * scale + shift, self.upper * scale + shift)
        return Enclosure(min(ends), max(ends))


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def exponential(argument: Enclosure) -> Enclosure:
    """Enclosure of e to the power of a number, to about 27 digits; the lower end is 0 for arguments below -10^6.

    Raises
    ------
    ArgumentError
        for arguments above 10^6.
    """
    if argument.upper > _LARGEST:
        raise ArgumentError(f"e to the power of {float(argument.upper):g} is too large")
    upper = _UP.next_plus(_UP.exp(_decimal(max(argument.upper, Fraction(-_LARGEST)), _UP)))
    if argument.lower < -_LARGEST:
        return Enclosure(Fraction(0), Fraction(upper))
    lower = _DOWN.next_minus(_DOWN.exp(_decimal(argument.lower, _DOWN)))
    return Enclosure(Fraction(lower), Fraction(upper))


def logarithm(argument: Enclosure) -> Enclosure:
    """Enclosure of the natural logarithm of a positive number, to about 27 digits.

    Raises
    ------
    ArgumentError
        when the number may be 0 or negative.
    """
    if argument.lower <= 0:
        raise ArgumentError(f"the logarithm needs a positive number, not {float(argument.lower):g}")
    below, above = _decimal(argument.lower, _DOWN), _decimal(argument.upper, _UP)
    # ln 1 is exactly 0, whose decimal neighbours have a billion billion digits
    lower = Fraction(0) if below == 1 else Fraction(_DOWN.next_minus(_DOWN.ln(below)))
    upper = Fraction(0) if above == 1 else Fraction(_UP.next_plus(_UP.ln(above)))
    return Enclosure(lower, upper)


def nearest_float(value: Fraction) -> Fraction:
    """The float nearest to a rational, as an exact rational."""
    return Fraction(float(value))


def float_below(value: Fraction) -> Fraction:
    """The largest float that is at most ``value``, as an exact rational."""
    rounded = float(value)
    return Fraction(rounded) if Fraction(rounded) <= value else Fraction(math.nextafter(rounded, -math.inf))


def float_above(value: Fraction) -> Fraction:
    """The smallest float that is at least ``value``, as an exact rational."""
    return -float_below(-value)
