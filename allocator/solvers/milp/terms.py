"""Linear terms over Pyomo variables with exact coefficients. Knows no family."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Var = Any  # pyomo VarData; Pyomo ships no types

__all__ = ["Number", "Terms", "integer_scale"]

Number = int | Fraction


class Terms:
    """sum coefs[i] * variables[i] + constant, coefficients exact."""

    __slots__ = ("coefs", "constant", "variables")

    def __init__(self, pairs: Iterable[tuple[Number, Var]] = (), constant: Number = 0) -> None:
        self.coefs: list[Number] = []
        self.variables: list[Var] = []
        self.constant: Number = constant
        for coef, variable in pairs:
            self.add(coef, variable)

    def add(self, coef: Number, variable: Var) -> None:
        """Append one term."""
        if coef:
            self.coefs.append(coef)
            self.variables.append(variable)

    def extend(self, other: Terms, factor: Number = 1) -> Terms:
        """Add ``factor`` times other terms; returns self."""
        if factor == 1:
            self.coefs.extend(other.coefs)
        else:
            self.coefs.extend(coef * factor for coef in other.coefs)
        if factor:
            self.variables.extend(other.variables)
            self.constant += other.constant * factor
        else:
            del self.coefs[len(self.variables) :]
        return self

    def copy(self) -> Terms:
        """Independent copy."""
        return Terms().extend(self)

    def merged(self) -> Terms:
        """Equal terms with every variable at most once."""
        total: dict[int, Number] = {}
        seen: dict[int, Var] = {}
        for coef, variable in zip(self.coefs, self.variables, strict=True):
            key = id(variable)
            total[key] = total.get(key, 0) + coef
            seen[key] = variable
        return Terms(((coef, seen[key]) for key, coef in total.items()), self.constant)

    def __bool__(self) -> bool:
        return bool(self.variables)


def integer_scale(numbers: Iterable[Number]) -> Fraction:
    """The factor that makes all numbers integers with greatest common divisor 1 (1 when all are 0)."""
    denominator, divisor = 1, 0
    values = [Fraction(number) for number in numbers if number]
    for value in values:
        denominator = math.lcm(denominator, value.denominator)
    for value in values:
        divisor = math.gcd(divisor, int(value * denominator))
    return Fraction(denominator, divisor) if divisor else Fraction(1)
