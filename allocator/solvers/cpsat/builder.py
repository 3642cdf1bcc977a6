"""The integer program under construction: variables, rows, and the derived variables that goals are made of.

Owns exact scaling to 64-bit integers and the exact meaning of every derived variable. Must not know the allocation
problem. A *derived* variable carries a definition: its exact value given the variables before it. Solutions are judged
and hints completed through the definitions, so a derived variable that the solver left slack never distorts a claim.

``content`` of numbers: for gcd of fractions with coprime parts gcd(p1/q1, p2/q2) = gcd(p1, p2) / lcm(q1, q2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from allocator.errors import MethodRefused
from allocator.solvers.cpsat.linear import Linear, Number, content, multiples

__all__ = ["Builder", "Definition", "Row"]

LARGEST = 2**61  # CP-SAT rejects rows whose sums may reach the limits of int64; two bits are left to it

Definition = Callable[[Sequence[int]], int]


@dataclass(frozen=True, slots=True)
class Row:
    """lower <= sum of terms <= upper, in integers, where ``only_if`` (a 0-1 variable, -1: always) is 1."""

    terms: tuple[tuple[int, int], ...]
    lower: int
    upper: int
    only_if: int


class Builder:
    """Collects variables and rows, and mirrors them in a CP-SAT model."""

    def __init__(self) -> None:
        from ortools.sat.python import cp_model

        self.weighted_sum = cp_model.LinearExpr.weighted_sum
        self.model = cp_model.CpModel()
        self.variables: list[Any] = []
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.definitions: list[Definition | None] = []
        self.rows: list[Row] = []
        self.products: list[tuple[int, int, int]] = []
        self.impossible = False  # a row without variables does not hold

    def integer(self, lower: int, upper: int, where: str, define: Definition | None = None) -> int:
        """A new integer variable in lower..upper; returns its number. ``where`` names it when it does not fit."""
        self._fits(max(abs(lower), abs(upper)), where)
        self.variables.append(self.model.new_int_var(lower, upper, ""))
        self.lower.append(lower)
        self.upper.append(upper)
        self.definitions.append(define)
        return len(self.variables) - 1

    def bounds(self, expression: Linear) -> tuple[Number, Number]:
        """Least and largest value over the variables' bounds."""
        least = most = expression.constant
        for v, c in expression.terms.items():
            low, high = c * self.lower[v], c * self.upper[v]
            least += min(low, high)
            most += max(low, high)
        return least, most

    def add(
        self,
        expression: Linear,
        where: str,
        *,
        lower: Number | None = None,
        upper: Number | None = None,
        only_if: int = -1,
    ) -> None:
        """State lower <= expression <= upper. Scaled exactly to coprime integers; rows that always hold are left out.

        Raises
        ------
        MethodRefused : when a coefficient or an achievable sum does not fit.
        """
        unit = content(expression.terms.values())
        terms = tuple(zip(expression.terms, multiples(expression.terms.values(), unit), strict=True))
        least = most = magnitude = 0
        for v, c in terms:
            low, high = c * self.lower[v], c * self.upper[v]
            least += min(low, high)
            most += max(low, high)
            magnitude += max(abs(low), abs(high), abs(c))
        low = least if lower is None else max(least, _ceil(Fraction(lower - expression.constant) / unit))
        high = most if upper is None else min(most, _floor(Fraction(upper - expression.constant) / unit))
        if low <= least and high >= most:
            return
        if low > high and only_if < 0:
            self.impossible = True
            self.model.add_bool_or([])
            return
        self._fits(magnitude, where)
        row = Row(terms, low, high, only_if) if low <= high else Row((), 1, 0, only_if)
        self.rows.append(row)
        if low > high:
            self.model.add(self.variables[only_if] == 0)
            return
        linear = self.weighted_sum([self.variables[v] for v, _ in terms], [c for _, c in terms])
        constraint = self.model.add_linear_constraint(linear, low, high)
        if only_if >= 0:
            constraint.only_enforce_if(self.variables[only_if])

    def minimize(self, expression: Linear, where: str) -> Fraction:
        """Set the objective; returns its unit: expression = unit * (integer objective) + constant."""
        unit = content(expression.terms.values())
        coefficients = multiples(expression.terms.values(), unit)
        reach = sum(
            abs(c) * max(abs(self.lower[v]), abs(self.upper[v]), 1)
            for v, c in zip(expression.terms, coefficients, strict=True)
        )
        self._fits(reach, where)
        variables = [self.variables[v] for v in expression.terms]
        self.model.minimize(self.weighted_sum(variables, coefficients))
        # the offset only serves CP-SAT's own relative gap; bounds are read without it
        self.model.proto.objective.offset = float(Fraction(expression.constant) / unit)
        return unit

    def complete(self, given: Mapping[int, int] | Sequence[int]) -> list[int]:
        """Values of all variables: the given ones, derived ones by definition; a missing one is its lower bound."""
        values: list[int] = []
        known = given if isinstance(given, Mapping) else dict(enumerate(given))
        for v, define in enumerate(self.definitions):
            values.append(known.get(v, self.lower[v]) if define is None else define(values))
        return values

    def holds(self, values: Sequence[int]) -> bool:
        """Whether values satisfy every bound, row and product."""
        if self.impossible:
            return False
        if any(not low <= x <= high for low, x, high in zip(self.lower, values, self.upper, strict=True)):
            return False
        if any(values[z] != values[x] * values[y] for z, x, y in self.products):
            return False
        return all(
            row.lower <= sum(c * values[v] for v, c in row.terms) <= row.upper
            for row in self.rows
            if row.only_if < 0 or values[row.only_if]
        )

    def _fits(self, magnitude: int, where: str) -> None:
        if magnitude >= LARGEST:
            raise MethodRefused(
                f"method cpsat computes in 64-bit integers, and {where} needs numbers up to {float(magnitude):.3g}: "
                "state coarser amounts, rates or weights, or use --method milp"
            )


def _floor(number: Fraction) -> int:
    return number.numerator // number.denominator


def _ceil(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)
