"""Exact linear expressions over numbered integer variables. Owns their arithmetic; knows no solver."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

__all__ = ["Linear", "Number", "content", "multiples", "total"]

Number = int | Fraction


class Linear:
    """Sum of coefficient * variable, plus a constant; coefficients are exact and never 0.

    Built up in place by ``add`` and ``add_scaled``; treat it as a value once it is handed on.
    """

    __slots__ = ("constant", "terms")

    def __init__(self, constant: Number = 0) -> None:
        self.terms: dict[int, Number] = {}
        self.constant = constant

    def add(self, variable: int, coefficient: Number) -> Linear:
        """Add coefficient * variable; returns self."""
        old = self.terms.get(variable)
        if old is None:
            if coefficient:
                self.terms[variable] = coefficient
        elif old + coefficient:
            self.terms[variable] = old + coefficient
        else:
            del self.terms[variable]
        return self

    def add_scaled(self, other: Linear, factor: Number = 1) -> Linear:
        """Add factor * other; returns self."""
        if factor:
            for variable, coefficient in other.terms.items():
                self.add(variable, coefficient * factor)
            self.constant += other.constant * factor
        return self

    def scaled(self, factor: Number) -> Linear:
        """Factor * self, as a new expression."""
        return Linear().add_scaled(self, factor)

    def plus(self, other: Linear | Number, factor: Number = 1) -> Linear:
        """Self + factor * other, as a new expression."""
        new = self.scaled(1)
        if isinstance(other, Linear):
            return new.add_scaled(other, factor)
        new.constant += other * factor
        return new

    def value(self, values: Sequence[int]) -> Number:
        """Value at an assignment of all variables."""
        return sum((c * values[v] for v, c in self.terms.items()), self.constant)


def total(parts: Iterable[Linear]) -> Linear:
    """Sum of expressions."""
    result = Linear()
    for part in parts:
        result.add_scaled(part)
    return result


def content(numbers: Iterable[Number]) -> Fraction:
    """Largest rational of which every number is an integer multiple; 1 when all are 0."""
    numerator, denominator = 0, 1
    for number in numbers:
        if number:
            numerator = math.gcd(numerator, number.numerator)
            denominator = math.lcm(denominator, number.denominator)
    return Fraction(numerator or 1, denominator)


def multiples(numbers: Iterable[Number], unit: Fraction) -> list[int]:
    """How many units each number is; every one must be an integer multiple, as of their ``content``."""
    top, bottom = unit.numerator, unit.denominator
    return [number.numerator * (bottom // number.denominator) // top for number in numbers]
