"""The whole formulation: every family the model keeps, one expression a level, and the way back to an assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from allocator.compiled.entities import Compiled
from allocator.model.entities import Level
from allocator.model.families import sense_of
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.cpsat import assignment, capacity, gang, groups, link_load, moves, rates, reserve, shares
from allocator.solvers.cpsat.builder import Builder
from allocator.solvers.cpsat.goals import GOALS
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["Formulation", "formulate"]


@dataclass(frozen=True, slots=True)
class Formulation:
    """``levels``: exact value of each level of the model, in order."""

    symbols: Symbols
    levels: tuple[Linear, ...]

    def assignment(self, values: Sequence[int]) -> Assignment:
        """Placement, shares above the floors and granted fractions of a solution."""
        symbols, compiled = self.symbols, self.symbols.compiled
        counts = {key: values[variable] for key, variable in symbols.n.items() if values[variable]}
        given: dict[tuple[int, int, int, int], int] = {}
        for (block, option, node, resource), variable in symbols.shares.items():
            floor = int(compiled.floor[option, compiled.node_kind[node], resource])
            amount = values[variable] * symbols.grain.get(resource, 1)
            if amount > floor * counts.get((block, option, node), 0):
                given[block, option, node, resource] = amount
        return Assignment(counts, given, _grants(compiled))

    def hint(self, start: Assignment) -> dict[int, int]:
        """Values of the primary variables at an assignment."""
        symbols, compiled = self.symbols, self.symbols.compiled
        known = {variable: start.counts.get(key, 0) for key, variable in symbols.n.items()}
        for key, variable in symbols.shares.items():
            floor = int(compiled.floor[key[1], compiled.node_kind[key[2]], key[3]])
            amount = start.shares.get(key, floor * start.counts.get(key[:3], 0))
            # more than is of use is never offered
            most = _most(symbols, key, start.counts.get(key[:3], 0))
            known[variable] = min(amount // symbols.grain.get(key[3], 1), most)
        return known


def _most(symbols: Symbols, key: tuple[int, int, int, int], count: int) -> int:
    most_each = symbols.builder.upper[symbols.shares[key]] // symbols.builder.upper[symbols.n[key[:3]]]
    return most_each * count


def _grants(compiled: Compiled) -> dict[tuple[str, int], Fraction]:
    """Everything where rates count and no bandwidth is limited (``refusal`` lets nothing else pass); else nothing."""
    if not compiled.model.has_rate_goals:
        return {}
    domains = compiled.instance.domains
    limited = any(d.internal is not None or (d.uplink is not None and d.uplink.bandwidth is not None) for d in domains)
    if limited and "fabric" not in compiled.model.ignore:
        return {}
    sizes = ("team", len(compiled.teams)), ("pair", len(compiled.pairs)), ("group", len(compiled.groups))
    return {(kind, index): Fraction(1) for kind, size in sizes for index in range(size)}


def formulate(compiled: Compiled, budget: Budget, grain: Mapping[int, int] = MappingProxyType({})) -> Formulation:
    """Build the formulation; with shares in multiples of ``grain[resource]`` it is a restriction of the exact one.

    Raises
    ------
    BudgetExhausted : when the time is up before it is complete.
    MethodRefused : when numbers do not fit 64-bit integers.
    """
    symbols = Symbols(compiled, Builder(), budget, grain)
    assignment.add_counts(symbols)
    laws = shares.add_shares(symbols)
    rates.add_rates(symbols, laws)
    assignment.add_rows(symbols)
    capacity.add_rows(symbols)
    groups.add_rows(symbols)
    gang.add_rows(symbols)
    moves.add_rows(symbols)
    reserve.add_rows(symbols)
    link_load.add_rows(symbols)
    levels = tuple(_level(symbols, level) for level in compiled.model.levels)
    return Formulation(symbols, levels)


def _level(symbols: Symbols, level: Level) -> Linear:
    value = Linear()
    for goal in level.goals:
        symbols.budget.check()
        sign = -1 if len(level.goals) > 1 and sense_of(goal.id) == "max" else 1
        value.add_scaled(GOALS[goal.id](symbols, goal), goal.weight * sign)
    return value
