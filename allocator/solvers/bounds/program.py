"""A linear program with exact data, solved in floats, whose bound is proven in rationals whatever the floats were.

Owns the proof: for any multipliers y of the rows, min c x over lower <= A x <= upper, l <= x <= u is at least

    sum_i min(y_i lower_i, y_i upper_i) + sum_j min(d_j l_j, d_j u_j),    d = c - A' y,

by weak duality (Bertsimas and Tsitsiklis 1997, section 4.3; the safe use of approximate duals is Neumaier and
Shcherbina 2004). The solver only proposes y. Knows no instance and no goal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import highspy
import numpy as np
import numpy.typing as npt

from allocator.solvers.budget import Budget
from allocator.solvers.quiet import QuietHighs

__all__ = ["Expression", "Number", "Program", "Proof"]

Number = int | Fraction
Float = npt.NDArray[np.float64]

ROUND_BELOW = 20_000  # coefficients up to which duals are also tried as simple fractions
SIMPLE = 10**5  # largest denominator of a simple fraction
CLOSE = 1e-9


@dataclass(frozen=True)
class Expression:
    """sum of coefficient * column + constant. ``terms``: by column."""

    terms: Mapping[int, Number]
    constant: Number = 0

    @staticmethod
    def total(parts: Sequence[tuple[Number, Expression]]) -> Expression:
        """Weighted sum."""
        terms: dict[int, Number] = {}
        constant: Number = 0
        for weight, part in parts:
            constant += weight * part.constant
            for column, coefficient in part.terms.items():
                terms[column] = terms.get(column, 0) + weight * coefficient
        return Expression(terms, constant)


@dataclass(frozen=True)
class Proof:
    """``bound``: proven, None where the duals prove nothing; ``point``: float64[columns], what the solver found."""

    bound: Fraction | None
    point: Float


class Program:
    """Columns with bounds, rows between bounds; all exact. Grows; never shrinks."""

    def __init__(self) -> None:
        self.lower: list[Number] = []
        self.upper: list[Number | None] = []
        self._rows: list[tuple[dict[int, Number], Number | None, Number | None]] = []
        self._exponents: list[int] = []  # column j is passed on in units of 2 ** exponent

    @property
    def num_columns(self) -> int:
        """Columns so far."""
        return len(self.lower)

    @property
    def num_rows(self) -> int:
        """Rows so far."""
        return len(self._rows)

    def column(self, lower: Number, upper: Number | None) -> int:
        """A new column between two bounds; ``upper`` None: none."""
        self.lower.append(lower)
        self.upper.append(upper)
        size = max(_absolute(lower), _absolute(upper or 0))
        self._exponents.append(_exponent(size) if size else 0)
        return len(self.lower) - 1

    def row(self, terms: Mapping[int, Number], lower: Number | None, upper: Number | None) -> None:
        """A new row: lower <= sum of terms <= upper."""
        kept = {column: coefficient for column, coefficient in terms.items() if coefficient}
        if kept or (lower or 0) > 0 or (upper or 0) < 0:
            self._rows.append((kept, lower, upper))

    def minimise(self, objective: Expression, budget: Budget) -> Proof | None:
        """A proven lower bound of an expression; None when time ends or the solver finds no feasible point."""
        if not self.lower:
            return Proof(Fraction(objective.constant), np.zeros(0))
        return _Solver(self).minimise(objective, budget)


class _Solver:
    """One solve of a program: scaling, the float solve, the exact proof."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.row_exponents: list[int] = []

    def minimise(self, objective: Expression, budget: Budget) -> Proof | None:
        if budget.exhausted:
            return None
        program = self.program
        highs, scale = self._load(objective)
        remaining = budget.remaining()
        if remaining != math.inf:
            highs.setOptionValue("time_limit", max(0.05, remaining))
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = highs.getSolution()
        columns = np.ldexp(np.asarray(solution.col_value, dtype=float), np.array(program._exponents, dtype=np.int64))
        scaled = [float(y) for y in solution.row_dual]
        candidates = [scaled]
        if sum(len(terms) for terms, _, _ in program._rows) <= ROUND_BELOW:
            candidates.append([_simple(y) for y in scaled])  # type: ignore[misc]
        bounds = []
        for duals in candidates:
            exact = [
                Fraction(y) * _power(scale - exponent) if y else Fraction(0)
                for y, exponent in zip(duals, self.row_exponents, strict=True)
            ]
            bounds.append(self._proven(objective, exact))
        known = [bound for bound in bounds if bound is not None]
        return Proof(max(known, default=None), columns)

    def _load(self, objective: Expression) -> tuple[QuietHighs, int]:
        """The solver with the scaled program, and the exponent of the objective's unit."""
        program = self.program
        count = program.num_columns
        exponents = program._exponents
        costs = np.zeros(count)
        scale = max(
            (_exponent(_absolute(value)) + exponents[column] for column, value in objective.terms.items() if value),
            default=0,
        )
        for column, value in objective.terms.items():
            costs[column] = _float(value, exponents[column] - scale)
        lower = np.array([_float(low, -e) for low, e in zip(program.lower, exponents, strict=True)])
        upper = np.array(
            [math.inf if up is None else _float(up, -e) for up, e in zip(program.upper, exponents, strict=True)]
        )
        starts: list[int] = []
        index: list[int] = []
        values: list[float] = []
        row_lower: list[float] = []
        row_upper: list[float] = []
        for terms, low, up in program._rows:
            largest = max(
                (_exponent(_absolute(value)) + exponents[column] for column, value in terms.items()), default=0
            )
            self.row_exponents.append(largest)
            starts.append(len(index))
            for column, value in terms.items():
                index.append(column)
                values.append(_float(value, exponents[column] - largest))
            row_lower.append(-math.inf if low is None else _float(low, -largest))
            row_upper.append(math.inf if up is None else _float(up, -largest))
        highs = QuietHighs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = count, len(program._rows)
        model.col_cost_, model.col_lower_, model.col_upper_ = costs, lower, upper
        model.row_lower_, model.row_upper_ = np.array(row_lower), np.array(row_upper)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array([*starts, len(index)], dtype=np.int32)
        model.a_matrix_.index_ = np.array(index, dtype=np.int32)
        model.a_matrix_.value_ = np.array(values, dtype=float)
        highs.passModel(model)
        return highs, scale

    def _proven(self, objective: Expression, duals: list[Fraction]) -> Fraction | None:
        """The weak dual bound, exact; multipliers that would make it endless are taken back first."""
        program = self.program
        for i, (_, low, up) in enumerate(program._rows):
            if (duals[i] > 0 and low is None) or (duals[i] < 0 and up is None):
                duals[i] = Fraction(0)
        self._tame(objective, duals)
        reduced: list[Number] = [0] * program.num_columns
        for column, value in objective.terms.items():
            reduced[column] = value
        total = Fraction(objective.constant)
        for dual, (terms, low, up) in zip(duals, program._rows, strict=True):
            if not dual:
                continue
            total += dual * (low if dual > 0 else up)  # type: ignore[operator]  # endless sides have no multiplier
            for column, value in terms.items():
                reduced[column] -= dual * value
        for column, slope in enumerate(reduced):
            if slope > 0:
                total += slope * program.lower[column]
            elif slope < 0:
                upper = program.upper[column]
                if upper is None:
                    return None
                total += slope * upper
        return total

    def _tame(self, objective: Expression, duals: list[Fraction]) -> None:
        """Scale down what pulls a column without upper bound below its cost."""
        endless = {column for column, upper in enumerate(self.program.upper) if upper is None}
        if not endless:
            return
        pulls: dict[int, list[tuple[int, Fraction]]] = {}
        gross: dict[int, Number] = {column: objective.terms.get(column, 0) for column in endless}
        for i, (terms, _, _) in enumerate(self.program._rows):
            if not duals[i]:
                continue
            for column in endless.intersection(terms):
                pull = duals[i] * terms[column]
                if pull > 0:
                    pulls.setdefault(column, []).append((i, pull))
                else:
                    gross[column] -= pull
        for column, rows in pulls.items():
            total = sum(pull for _, pull in rows)
            if total > gross[column]:
                factor = Fraction(max(gross[column], 0)) / total
                for i, _ in rows:
                    duals[i] *= factor


def _absolute(value: Number) -> Number:
    return value if value >= 0 else -value


def _exponent(value: Number) -> int:
    """Exponent e with 2 ** (e - 1) <= value < 2 ** (e + 1), value > 0."""
    if isinstance(value, int):
        return value.bit_length() - 1
    return value.numerator.bit_length() - value.denominator.bit_length()


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _float(value: Number, exponent: int) -> float:
    """Value * 2 ** exponent, near enough."""
    own = _exponent(_absolute(value)) if value else 0
    if abs(own) < 900:
        return math.ldexp(float(value), exponent)
    return float(Fraction(value) * _power(exponent))


def _simple(value: float) -> float | Fraction:
    """A fraction with a small denominator where one is close."""
    near = Fraction(value).limit_denominator(SIMPLE)
    return near if abs(float(near) - value) <= CLOSE * max(1.0, abs(value)) else value
