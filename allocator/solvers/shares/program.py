"""Linear program of shares and granted fractions for a fixed placement. Driven straight into HiGHS.

Owns columns, rows and their scaling. Must not know levels or rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import highspy
import numpy as np

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused
from allocator.solvers.quiet import QuietHighs

__all__ = ["Program", "Row"]


@dataclass(slots=True)
class Row:
    """terms (column to coefficient) <= upper (lower == upper for an equation)."""

    terms: dict[int, float]
    lower: float
    upper: float
    names: tuple[int, str] | None = None  # (domain, resource or "bandwidth") whose price the dual is
    unit: float = 1.0  # base units of the resource that one unit of the right-hand side stands for


@dataclass
class Program:
    """Columns and rows; all columns are continuous and at least 0."""

    upper: list[float] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def column(self, upper: float = np.inf) -> int:
        """Add a column."""
        self.upper.append(upper)
        return len(self.upper) - 1

    def at_most(
        self, terms: Mapping[int, float], bound: float, names: tuple[int, str] | None = None, unit: float = 1.0
    ) -> None:
        """Add terms <= bound."""
        self.rows.append(Row(dict(terms), -np.inf, bound, names, unit))

    def solver(self) -> highspy.Highs:
        """Hand the program over."""
        highs = QuietHighs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        highs.setOptionValue("primal_feasibility_tolerance", 1e-10)
        highs.setOptionValue("dual_feasibility_tolerance", 1e-10)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.upper), len(self.rows)
        lp.col_cost_ = np.zeros(len(self.upper))
        lp.col_lower_ = np.zeros(len(self.upper))
        lp.col_upper_ = np.array(self.upper)
        lp.row_lower_ = np.array([row.lower for row in self.rows])
        lp.row_upper_ = np.array([row.upper for row in self.rows])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.cumsum([0, *(len(row.terms) for row in self.rows)]).astype(np.int32)
        lp.a_matrix_.index_ = np.array([c for row in self.rows for c in row.terms], dtype=np.int32)
        lp.a_matrix_.value_ = np.array([v for row in self.rows for v in row.terms.values()], dtype=np.float64)
        if highs.passModel(lp) == highspy.HighsStatus.kError:
            raise MethodRefused(
                "shares are computed in floating point, and the sizes of the numbers of this instance are too far "
                "apart for it: state amounts, rates or weights of more similar size, or use --method cpsat"
            )
        return highs


def unit_of(compiled: Compiled, r: int) -> int:
    """Amount that one unit of a share column stands for: keeps coefficients near 1."""
    largest = int(compiled.capacity[:, r].max(initial=1))
    return int(10 ** max(0, len(str(max(largest, 1))) - 4))


def base_unit(compiled: Compiled, r: int) -> Fraction:
    """Base units in one integer amount of the resource."""
    return Fraction(10) ** compiled.instance.resources[compiled.resources[r]].exponent
