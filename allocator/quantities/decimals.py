"""Decimal text to exact numbers and back. Owns the grammar of a number; knows no units."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

__all__ = ["QuantityError", "decimal_exponent", "decimal_text", "parse_decimal", "parse_whole", "split_number"]

MAX_DIGITS = 400
MAX_EXPONENT = 400
MAX_WHOLE = 10**9

_NUMBER = re.compile(r"\s*([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
_NOT_FINITE = re.compile(r"\s*[+-]?\.?(nan|inf|infinity)\s*", re.IGNORECASE)


class QuantityError(ValueError):
    """A text is not the quantity it should be; the message says what would be right, without the text itself."""


def split_number(text: str) -> tuple[Fraction, str]:
    """Exact value of the decimal number a text begins with, and the text after it.

    Raises
    ------
    QuantityError
        For an empty text, NaN, infinity, no number at the start, or a number of absurd length or exponent.
    """
    if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
        return Fraction(int(text)), ""
    if not text.strip():
        raise QuantityError("must not be empty")
    if _NOT_FINITE.fullmatch(text):
        raise QuantityError("must be a finite number")
    match = _NUMBER.match(text)
    if match is None or not (match[2] or match[3]):
        raise QuantityError("must begin with a decimal number, such as 1.5")
    sign, whole, part, exponent = match[1], match[2], match[3] or "", match[4]
    if len(whole) + len(part) > MAX_DIGITS:
        raise QuantityError(f"has too many digits, at most {MAX_DIGITS}")
    shift = 0
    if exponent is not None:
        if len(exponent) > 6 or abs(int(exponent)) > MAX_EXPONENT:
            raise QuantityError(f"has an exponent out of range, at most {MAX_EXPONENT}")
        shift = int(exponent)
    shift -= len(part)
    digits = int((whole + part) or "0")
    if sign == "-":
        digits = -digits
    value = Fraction(digits * 10**shift) if shift >= 0 else Fraction(digits, 10**-shift)
    return value, text[match.end() :].strip()


@lru_cache(maxsize=65536)
def parse_decimal(text: str) -> Fraction:
    """Exact value of a bare decimal number ("1.5", "2e-3").

    Raises
    ------
    QuantityError
        When the text is anything else.
    """
    value, rest = split_number(text)
    if rest:
        raise QuantityError("must be a plain number without a unit")
    return value


@lru_cache(maxsize=4096)
def parse_whole(text: str) -> int:
    """Whole number of at most 10^9 in size ("8001", "1e3").

    Raises
    ------
    QuantityError
        When the text is anything else.
    """
    value = parse_decimal(text)
    if value.denominator != 1:
        raise QuantityError("must be a whole number")
    if abs(value) > MAX_WHOLE:
        raise QuantityError(f"must be at most {MAX_WHOLE}")
    return value.numerator


def decimal_exponent(value: Fraction) -> int | None:
    """Largest e with ``value`` a multiple of 10**e; None when the decimals do not end. 0 for 0."""
    numerator, denominator = value.numerator, value.denominator
    if numerator == 0:
        return 0
    if denominator == 1:
        exponent = 0
        while numerator % 10 == 0:
            numerator //= 10
            exponent += 1
        return exponent
    twos = (denominator & -denominator).bit_length() - 1
    rest = denominator >> twos
    fives = 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    return -max(twos, fives) if rest == 1 else None


def decimal_text(value: int | float | Decimal | Fraction) -> str:
    """Exact decimal text of a number: the shortest decimal that reads back as that float, all digits of the others.

    Raises
    ------
    QuantityError
        For a fraction whose decimals do not end.
    """
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, int):
        # int() strips subclasses such as enums; str() of a huge int is limited by the interpreter, so go by size
        return str(int(value)) if value.bit_length() < 4 * MAX_DIGITS else f"1e{MAX_EXPONENT + 1}"
    exponent = decimal_exponent(value)
    if exponent is None:
        raise QuantityError("must be a decimal with an end; round it first")
    if exponent >= 0:
        return decimal_text(value.numerator)
    return f"{value.numerator * 10**-exponent // value.denominator}e{exponent}"
