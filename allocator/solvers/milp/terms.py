"""Variables and linear terms over them with exact coefficients. Knows no family and no solver."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

__all__ = ["Number", "Terms", "Variable", "integer_scale"]

Number = int | Fraction


class Variable:
    """A column: its number, bounds (None: unbounded above), integrality, and the part of the model it belongs to."""

    __slots__ = ("column", "integral", "lower", "part", "upper")

    def __init__(self, column: int, part: str, upper: float | None, *, integral: bool) -> None:
        self.column = column
        self.part = part
        self.lower = 0.0
        self.upper = upper
        self.integral = integral


class Terms:
    """sum coefs[i] * variables[i] + constant, coefficients exact."""

    __slots__ = ("coefs", "constant", "variables")

    def __init__(self, pairs: Iterable[tuple[Number, Variable]] = (), constant: Number = 0) -> None:
        self.coefs: list[Number] = []
        self.variables: list[Variable] = []
        self.constant: Number = constant
        for coef, variable in pairs:
            self.add(coef, variable)

    def add(self, coef: Number, variable: Variable) -> None:
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
        total: dict[Variable, Number] = {}
        for coef, variable in zip(self.coefs, self.variables, strict=True):
            total[variable] = total.get(variable, 0) + coef
        return Terms(((coef, variable) for variable, coef in total.items()), self.constant)

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
