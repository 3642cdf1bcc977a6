"""The power of ten of one integer unit of a resource. Owns the proof that every sum fits int64; knows no instance.

One unit is 10**exponent base units. All stated numbers are whole numbers of units, and no sum exceeds a quarter of
the int64 range, so that adding a few such sums cannot overflow either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, NoReturn

from allocator.quantities.decimals import decimal_exponent

__all__ = ["INT64_MARGIN", "ScaleError", "StatedNumber", "choose_exponent", "round_down", "round_up"]

INT64_MARGIN = 4
_LARGEST = (2**63 - 1) // INT64_MARGIN
_FINEST_SHARE = Fraction(1, 10**12)  # rounding a divisible share to units finer than this part of a node does not show


class StatedNumber(NamedTuple):
    """A number of a resource in base units, how often it counts in sums, and where it stands (any object)."""

    value: Fraction
    times: int
    text: str
    where: object = None


class ScaleError(ValueError):
    """No power of ten makes all numbers whole and all sums fit; ``number`` is the one with the most digits."""

    def __init__(self, number: StatedNumber, message: str) -> None:
        self.number = number
        super().__init__(message)


def choose_exponent(
    needs: Sequence[StatedNumber], supplies: Sequence[StatedNumber], wishes: Iterable[Fraction], *, divisible: bool
) -> int:
    """Exponent of one unit of a resource.

    Parameters
    ----------
    needs : floors and ceilings; the sum over members is ``value * times``.
    supplies : capacities, pools and safety capacities over all domains.
    wishes : numbers that should be whole too, if that fits (shares that saturate a member).
    divisible : whether shares above the floor may be given; the unit is then refined.

    Raises
    ------
    ScaleError
        When no exponent makes all numbers whole while every sum fits.
    """
    stated = (*needs, *supplies)
    largest = max(
        _largest_of(stated),
        _total(needs),
        _total(supplies),
    )
    coarsest = _finest_that_fits(largest)
    values = {number.text: number.value for number in stated}.values()
    # a unit is at most 1: zeros at the end of whole numbers matter only where that does not fit
    exponents = (decimal_exponent(value) for value in values if coarsest > 0 or value.denominator != 1)
    exponent = min((found for found in exponents if found is not None), default=0)
    if exponent < coarsest:
        _refuse(stated, largest)
    exponent = max(min(exponent, 0), coarsest)
    for wish in wishes:
        found = decimal_exponent(wish)
        if found is not None and coarsest <= found < exponent:
            exponent = found
    biggest_supply = _largest_of(supplies)
    if divisible and biggest_supply:
        while exponent > coarsest and Fraction(10) ** exponent > biggest_supply * _FINEST_SHARE:
            exponent -= 1
    return exponent


def round_down(value: Fraction, exponent: int) -> int:
    """Whole units in a value, rounded down (capacities)."""
    numerator, denominator = _in_units(value, exponent)
    return numerator // denominator


def round_up(value: Fraction, exponent: int) -> int:
    """Whole units that cover a value, rounded up (floors)."""
    numerator, denominator = _in_units(value, exponent)
    return -(-numerator // denominator)


def _in_units(value: Fraction, exponent: int) -> tuple[int, int]:
    if exponent <= 0:
        return value.numerator * 10**-exponent, value.denominator
    return value.numerator, value.denominator * 10**exponent


def _total(numbers: Iterable[StatedNumber]) -> Fraction:
    """Sum of value * times, added up as integers per denominator."""
    sums: dict[int, int] = {}
    for number in numbers:
        value = number.value
        sums[value.denominator] = sums.get(value.denominator, 0) + value.numerator * number.times
    return sum((Fraction(numerator, denominator) for denominator, numerator in sums.items()), Fraction(0))


def _largest_of(numbers: Iterable[StatedNumber]) -> Fraction:
    """Largest value, compared as integers per denominator; 0 for none."""
    largest: dict[int, int] = {}
    for number in numbers:
        value = number.value
        if value.numerator > largest.get(value.denominator, 0):
            largest[value.denominator] = value.numerator
    return max((Fraction(numerator, denominator) for denominator, numerator in largest.items()), default=Fraction(0))


def _finest_that_fits(largest: Fraction) -> int:
    """Smallest exponent at which ``largest`` still fits the int64 range with its margin."""
    if largest == 0:
        return -18
    exponent = -18
    while largest / Fraction(10) ** exponent > _LARGEST:
        exponent += 1
    return exponent


def _refuse(stated: Sequence[StatedNumber], largest: Fraction) -> NoReturn:
    longest = max(stated, key=_plain_digits)
    finest = min(stated, key=lambda number: decimal_exponent(number.value) or 0)
    biggest = max(stated, key=lambda number: number.value * number.times)
    other = finest if longest is not finest else biggest
    beside = "" if other.text == longest.text else f" beside {other.text}"
    if longest.times > 1:
        beside += f", {longest.times} times"
    digits = len(str(largest.numerator // largest.denominator))
    raise ScaleError(
        longest,
        f"has too many digits{beside}: sums of the resource reach {digits} digits before the point, and with all "
        f"stated decimals they must fit a 64-bit integer; round it",
    )


def _plain_digits(number: StatedNumber) -> int:
    """Digits of a number written out without exponent."""
    decimals = -min(decimal_exponent(number.value) or 0, 0)
    return len(str(number.value.numerator // number.value.denominator)) + decimals
