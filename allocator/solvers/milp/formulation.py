"""The Pyomo model under construction: variables, rows by family, and the lookups that families share.

Owns naming and scaling of rows. Must not know HiGHS, nor any single family's mathematics.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.budget import Budget
from allocator.solvers.milp.terms import Number, Terms, integer_scale

__all__ = ["Entry", "Formulation"]

LARGEST_INTEGER = 10**6
CHECK_EVERY = 2048


@dataclass(frozen=True, slots=True)
class Entry:
    """One placement variable: members of ``block`` in ``option`` on ``node``."""

    block: int
    option: int
    node: int
    variable: Any


class Formulation:
    """Builds the exact model of a compiled instance.

    Attributes
    ----------
    model : the Pyomo model; one sub-block a family with ``v`` (variables) and ``c`` (rows).
    entries : placement variables, ordered by block, option, node; ``of_block`` and ``on_node`` index them.
    """

    def __init__(self, compiled: Compiled, budget: Budget) -> None:
        self.compiled = compiled
        self.budget = budget
        self.model = pyo.ConcreteModel()
        self.entries: list[Entry] = []
        self.of_block: list[list[Entry]] = [[] for _ in compiled.blocks]
        self.on_node: list[list[Entry]] = [[] for _ in range(compiled.num_nodes)]
        self.num_rows = 0
        self._made = 0
        self.cache: dict[Any, Any] = {}

    def tick(self) -> None:
        """Count one built item; now and then look at the clock. Raises ``BudgetExhausted``."""
        self._made += 1
        if self._made % CHECK_EVERY == 0:
            self.budget.check()

    def _part(self, name: str) -> Any:
        part = getattr(self.model, name, None)
        if part is None:
            part = pyo.Block(concrete=True)
            setattr(self.model, name, part)
            part.v = pyo.VarList()
            part.c = pyo.ConstraintList()
        return part

    def ignores(self, family: Family) -> bool:
        """Whether the model leaves the family out."""
        return family in self.compiled.model.ignore

    def binary(self, part: str) -> Any:
        """A new 0-1 variable."""
        self.tick()
        variable = self._part(part).v.add()
        variable.domain = pyo.Binary
        return variable

    def integer(self, part: str, upper: int) -> Any:
        """A new integer variable in [0, upper]."""
        self.tick()
        variable = self._part(part).v.add()
        variable.domain = pyo.NonNegativeIntegers
        variable.setub(upper)
        return variable

    def real(self, part: str, upper: float | None = None) -> Any:
        """A new continuous variable in [0, upper]."""
        self.tick()
        variable = self._part(part).v.add()
        variable.domain = pyo.NonNegativeReals
        if upper is not None:
            variable.setub(upper)
        return variable

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
        self.tick()
        upper -= terms.constant
        if lower is not None:
            lower -= terms.constant
        scale = integer_scale(terms.coefs)
        if integral:
            upper = Fraction(math.floor(upper * scale)) / scale
        largest = max((abs(coef) for coef in terms.coefs), default=0) * scale
        if largest > LARGEST_INTEGER:  # keep coefficients near 1 instead; exactness is then checked afterwards
            scale /= 2 ** (int(largest).bit_length() - 1)
        coefs = [float(coef * scale) for coef in terms.coefs]
        low = None if lower is None else float(lower * scale)
        high = _up(upper * scale)
        if not terms.variables:
            if upper >= 0 and (lower is None or lower <= 0):
                return
            impossible = self.real(part, 0.0)
            self._part(part).c.add((1.0, LinearExpression(linear_coefs=[1.0], linear_vars=[impossible]), None))
            return
        expression = LinearExpression(linear_coefs=coefs, linear_vars=terms.variables)
        self._part(part).c.add((low, expression, high))
        self.num_rows += 1

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

    def path_up(self, node: int) -> Iterator[int]:
        """The node's domain and its ancestors, the root last."""
        domain = int(self.compiled.node_domain[node])
        while domain >= 0:
            yield domain
            domain = int(self.compiled.parent[domain])


def _up(number: Fraction) -> float:
    """The float at or just above an exact number, so that a rounded row never cuts a feasible plan."""
    near = float(number)
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)
