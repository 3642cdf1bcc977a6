"""The exact model under construction: variables, rows by family, and the lookups that families share.

Owns naming and scaling of rows. Must not know HiGHS, nor any single family's mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.budget import Budget
from allocator.solvers.milp.terms import Number, Terms, Variable, integer_scale

__all__ = ["Entry", "Formulation", "Row"]

LARGEST_INTEGER = 10**6
CHECK_EVERY = 20_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One placement variable: members of ``block`` in ``option`` on ``node``."""

    block: int
    option: int
    node: int
    variable: Variable


@dataclass(frozen=True, slots=True)
class Row:
    """lower <= coefs . columns <= upper, each column once; ``lower`` None: none. ``part`` names the family."""

    part: str
    columns: list[int]
    coefs: list[float]
    lower: float | None
    upper: float


class Formulation:
    """Builds the exact model of a compiled instance.

    Attributes
    ----------
    variables, rows : what has been stated so far.
    exact : rows over integral columns whose numbers exceed what a solver's tolerance resolves, as (terms, upper).
    entries : placement variables, ordered by block, option, node; ``of_block`` and ``on_node`` index them.
    """

    def __init__(self, compiled: Compiled, budget: Budget) -> None:
        self.compiled = compiled
        self.budget = budget
        self.variables: list[Variable] = []
        self.rows: list[Row] = []
        self.exact: list[tuple[Terms, Fraction]] = []
        self.entries: list[Entry] = []
        self.of_block: list[list[Entry]] = [[] for _ in compiled.blocks]
        self.on_node: list[list[Entry]] = [[] for _ in range(compiled.num_nodes)]
        self._made = 0
        self.cache: dict[Any, Any] = {}

    def tick(self, items: int = 1) -> None:
        """Count built items; now and then look at the clock. Raises ``BudgetExhausted``."""
        self._made += items
        if self._made >= CHECK_EVERY:
            self._made = 0
            self.budget.check()

    def ignores(self, family: Family) -> bool:
        """Whether the model leaves the family out."""
        return family in self.compiled.model.ignore

    def _variable(self, part: str, upper: float | None, *, integral: bool) -> Variable:
        self.tick()
        made = Variable(len(self.variables), part, upper, integral=integral)
        self.variables.append(made)
        return made

    def binary(self, part: str) -> Variable:
        """A new 0-1 variable."""
        return self._variable(part, 1.0, integral=True)

    def integer(self, part: str, upper: int) -> Variable:
        """A new integer variable in [0, upper]."""
        return self._variable(part, float(upper), integral=True)

    def real(self, part: str, upper: float | None = None) -> Variable:
        """A new continuous variable in [0, upper]."""
        return self._variable(part, upper, integral=False)

    def at_most(self, part: str, terms: Terms, bound: Number, *, integral: bool = False) -> None:
        """Add terms <= bound. ``integral``: every term is integral at feasible points, so the bound is rounded down."""
        self._row(part, terms, None, Fraction(bound), integral)

    def at_least(self, part: str, terms: Terms, bound: Number) -> None:
        """Add terms >= bound."""
        self._row(part, Terms().extend(terms, -1), None, -Fraction(bound), False)

    def equal(self, part: str, terms: Terms, value: Number) -> None:
        """Add terms == value."""
        self._row(part, terms, Fraction(value), Fraction(value), False)

    def _row(self, part: str, terms: Terms, lower: Fraction | None, upper: Fraction, integral: bool) -> None:
        self.tick(1 + len(terms.variables))
        if len(set(terms.variables)) < len(terms.variables):
            terms = terms.merged()
        upper -= terms.constant
        if lower is not None:
            lower -= terms.constant
        scale = integer_scale(terms.coefs)
        if integral:
            upper = Fraction(math.floor(upper * scale)) / scale
        largest = max(max(terms.coefs, default=0), -min(terms.coefs, default=0)) * scale
        if largest > LARGEST_INTEGER:  # keep coefficients near 1 instead; exactness is then checked afterwards
            scale /= 2 ** (int(largest).bit_length() - 1)
            if integral or all(variable.integral for variable in terms.variables):
                self.exact.append((terms, upper))
        if not terms.variables:
            if upper < 0 or (lower is not None and lower > 0):
                never = self.real(part, 0.0)  # a row that cannot hold: the model is infeasible, and says so
                self.rows.append(Row(part, [never.column], [1.0], 1.0, math.inf))
            return
        columns = [variable.column for variable in terms.variables]
        coefs = [float(coef * scale) for coef in terms.coefs]
        low = None if lower is None else float(lower * scale)
        self.rows.append(Row(part, columns, coefs, low, _up(upper * scale)))

    def count_in(self, block: int, domain: int) -> Terms:
        """Members of a block on nodes of a domain."""
        low, high = int(self.compiled.first_node[domain]), int(self.compiled.end_node[domain])
        return Terms((1, e.variable) for e in self.of_block[block] if low <= e.node < high)

    def placed(self, block: int) -> Terms:
        """Members of a block that are placed."""
        if not self.compiled.model.may_leave_out:
            return Terms(constant=self.compiled.blocks[block].count)
        return Terms((1, e.variable) for e in self.of_block[block])

    def stays(self, block: int) -> Terms:
        """Members of a block that stay on the node they run on now."""
        node = self.compiled.blocks[block].current_node
        return Terms((1, e.variable) for e in self.of_block[block] if e.node == node)

    def blocks_of_group(self, group: str) -> list[int]:
        """Blocks whose class belongs to a group."""
        workloads = self.compiled.instance.workloads
        return [block.index for block in self.compiled.blocks if workloads[block.workload].group == group]

    def blocks_of(self, workload: int) -> list[int]:
        """Blocks of a class."""
        return [block.index for block in self.compiled.blocks if block.workload == workload]


def _up(number: Fraction) -> float:
    """The float at or just above an exact number, so that a rounded row never cuts a feasible plan."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)
