"""Traffic of all-to-all teams that has to leave the bins of a layer: a Lagrangian bound over contents of bins.

A team of m members with a_d of them in bin d has m^2 - sum a_d^2 ordered pairs in different bins. So the least total is
sum m^2 less the most sum of a^2 over bins filled with whole teams, parts and loose members; each bin an integer
knapsack. The prices of members come from column generation (Gilmore and Gomory 1961); for any prices

    sum_u min_T T (rate m^2 + sum_p each_p price_p) - sum_bins max over contents (rate a^2 sums + prices)

is a bound (Geoffrion 1974), computed in integers. Knows one resource at a time: contents may be too much in others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import highspy
import numpy as np

from allocator.solvers.bounds.relaxation.cells import Part, TeamType
from allocator.solvers.bounds.traffic.knapsack import Content, TeamItem, best_content
from allocator.solvers.bounds.traffic.layers import Layer
from allocator.solvers.budget import Budget
from allocator.solvers.quiet import QuietHighs

__all__ = ["teams_cut"]

FINE = 1 << 20  # prices are multiples of 1 / FINE of the unit of the rates
MOST_AMOUNTS = 6_000  # amounts of the resource that a knapsack tells apart
COARSE = 4  # steps of a mean member below which rounding would hide every cut
ROUNDS = 60
NOTHING = 1e-6
ENOUGH = 0.002  # relative distance of bound and program at which the rounds end


@dataclass(frozen=True)
class _BinKind:
    size: int
    capacity: int
    teams: tuple[TeamItem, ...]
    loose: tuple[tuple[int, int], ...]
    parts: frozenset[int]


def teams_cut(layer: Layer, parts: Sequence[Part], types: Sequence[TeamType], budget: Budget) -> Fraction:
    """Least sum over teams of rate * ordered pairs in different bins, everyone placed; at least 0."""
    mine = [number for number, kind in enumerate(types) if kind.rate > 0 and kind.size > 1]
    inside = [all(layer.covered[p] for p, part in enumerate(parts) if part.team == number) for number in mine]
    if not mine or not all(inside):
        return Fraction(0)
    unit = _unit([types[number].rate for number in mine])
    best = Fraction(0)
    for r in _scarcest(layer, parts)[:2]:
        if budget.exhausted:
            break
        kinds = _kinds(layer, parts, types, r, unit)
        if kinds and not _fit_whole(kinds, parts, budget):
            best = max(best, _generate(kinds, parts, types, unit, budget) * unit)
    return best


def _unit(rates: Sequence[Fraction]) -> Fraction:
    """A common divisor of the rates; they are multiples of it below 2^20, or are rounded down to be."""
    step = Fraction(math.gcd(*(rate.numerator for rate in rates)), math.lcm(*(rate.denominator for rate in rates)))
    largest = max(rates)
    return step if largest / step < 1 << 20 else largest / (1 << 20)


def _scarcest(layer: Layer, parts: Sequence[Part]) -> list[int]:
    """Resources that every bin limits, the fullest first."""
    loads = []
    for r in range(len(layer.bins[0].capacity)):
        if any(each.capacity[r] is None for each in layer.bins):
            continue
        held = sum(each.size * (each.capacity[r] or 0) for each in layer.bins)
        needed = 0
        for number, part in enumerate(parts):
            known = [each.needs[number][r] for each in layer.bins if number in each.needs]
            if known and layer.covered[number]:
                needed += part.count * min(known)
        if needed and held:
            loads.append((needed / held, r))
    return [r for _, r in sorted(loads, reverse=True)]


def _kinds(
    layer: Layer, parts: Sequence[Part], types: Sequence[TeamType], r: int, unit: Fraction
) -> tuple[_BinKind, ...]:
    """Bins with amounts in steps of a common divisor; too fine ones are rounded in favour of what fits."""
    found = []
    for each in layer.bins:
        weights = {number: need[r] for number, need in each.needs.items() if layer.covered[number]}
        capacity = each.capacity[r]
        if capacity is None:
            return ()
        step = max(1, math.gcd(*weights.values()))
        if capacity // step > MOST_AMOUNTS:
            step = -(-capacity // MOST_AMOUNTS)
            if sum(weights.values()) < COARSE * step * len(weights):
                return ()
        rows = {number: weight // step for number, weight in weights.items()}
        teams = []
        for number, kind in enumerate(types):
            roles = [p for p, part in enumerate(parts) if part.team == number and p in rows]
            whole = sum(weights[p] * parts[p].each for p in roles)
            if roles and kind.rate > 0:
                teams.append(
                    TeamItem(
                        tuple(roles),
                        tuple(rows[p] for p in roles),
                        tuple(parts[p].each for p in roles),
                        whole // step if len(roles) == len(kind.members) and whole // step else 0,
                        -int(-kind.rate // unit) if kind.rate % unit else int(kind.rate / unit),
                    )
                )
        in_teams = {role for team in teams for role in team.roles}
        loose = tuple((p, weight) for p, weight in rows.items() if p not in in_teams)
        found.append(_BinKind(each.size, capacity // step, tuple(teams), loose, frozenset(rows)))
    return tuple(found)


def _fit_whole(kinds: Sequence[_BinKind], parts: Sequence[Part], budget: Budget) -> bool:
    """Whether fractions of bins filled with whole teams and loose members can take everyone: then nothing is cut."""
    whole_kinds, counts = [], {}
    for kind in kinds:
        loose = [(p, weight) for p, weight in kind.loose]
        for team in kind.teams:
            counts[team.roles[0]] = parts[team.roles[0]].count // parts[team.roles[0]].each
            if team.whole:
                loose.append((team.roles[0], team.whole))
        counts |= {p: parts[p].count for p, _ in kind.loose}
        whole_kinds.append(replace(kind, teams=(), loose=tuple(loose), parts=frozenset(p for p, _ in loose)))
    if any(counts[p] and not any(p in kind.parts for kind in whole_kinds) for p in counts):
        return False
    master = _Master(
        whole_kinds, [replace(part, count=counts.get(p, 0), each=1) for p, part in enumerate(parts)], (), Fraction(1)
    )
    for _ in range(ROUNDS):
        solved = None if budget.exhausted else master.solve()
        if solved is None:
            return False
        value, prices = solved
        if value < NOTHING:
            return True
        contents = [_priced(kind, prices) for kind in whole_kinds]
        found = [content for content in contents if content is not None]
        if len(found) < len(contents) or master.bound(prices, found) > NOTHING or not master.add(found):
            return False
    return False


def _generate(
    kinds: Sequence[_BinKind], parts: Sequence[Part], types: Sequence[TeamType], unit: Fraction, budget: Budget
) -> int | Fraction:
    """Column generation; the best bound met, in units of the rates."""
    master = _Master(kinds, parts, types, unit)
    best = Fraction(0)
    for _ in range(ROUNDS):
        if budget.exhausted:
            break
        solved = master.solve()
        if solved is None:
            break
        value, prices = solved
        contents = [_priced(kind, prices) for kind in kinds]
        if any(content is None for content in contents):
            break
        found = [content for content in contents if content is not None]
        best = max(best, master.bound(prices, found))
        if float(best) >= value - ENOUGH * max(1.0, abs(value)) or not master.add(found):
            break
    return best


def _priced(kind: _BinKind, prices: Sequence[int]) -> Content | None:
    """Best content in units of 1 / FINE; None where a member that needs nothing would earn without end."""
    scaled = tuple(replace(team, value=team.value * FINE) for team in kind.teams)
    try:
        return best_content(kind.capacity, scaled, kind.loose, prices)
    except ValueError:
        return None


class _Master:
    """min sum rate m^2 T - sum value use: members in contents = members, at most so many bins of a kind."""

    def __init__(
        self, kinds: Sequence[_BinKind], parts: Sequence[Part], types: Sequence[TeamType], unit: Fraction
    ) -> None:
        self.kinds, self.parts = kinds, parts
        self.constant = sum(kind.count * kind.size**2 * int(kind.rate // unit) for kind in types if kind.rate > 0)
        self.known: set[tuple[int, tuple[tuple[int, int], ...]]] = set()
        self.solver = QuietHighs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        none = np.zeros(0, dtype=np.int32)
        self.covered = {p for kind in kinds for p in kind.parts}
        self.big = float(max((k.size * int(k.rate // unit) for k in types), default=1) * 4 + 1)
        for p, part in enumerate(parts):
            count = float(part.count) if p in self.covered else 0.0
            self.solver.addRow(count, count, 0, none, np.zeros(0))
        for kind in kinds:
            self.solver.addRow(-highspy.kHighsInf, float(kind.size), 0, none, np.zeros(0))
        for p in sorted(self.covered):  # members outside of every bin, dear
            self._column(self.big * max(1, parts[p].each), {p: 1}, None)

    def _column(self, cost: float, members: dict[int, int], kind: int | None) -> None:
        rows = sorted(members.items())
        index = [p for p, _ in rows] + ([] if kind is None else [len(self.parts) + kind])
        values = [float(number) for _, number in rows] + ([] if kind is None else [1.0])
        self.solver.addCol(cost, 0.0, highspy.kHighsInf, len(index), np.array(index, dtype=np.int32), np.array(values))

    def add(self, contents: Sequence[Content]) -> bool:
        """Add the contents that are new; whether any was."""
        fresh = False
        for kind, content in enumerate(contents):
            key = kind, tuple(sorted(content.members.items()))
            if content.members and key not in self.known:
                self.known.add(key)
                self._column(-content.value / FINE, content.members, kind)
                fresh = True
        return fresh

    def solve(self) -> tuple[float, list[int]] | None:
        """Value and the prices of members in units of 1 / FINE."""
        self.solver.run()
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        duals = self.solver.getSolution().row_dual[: len(self.parts)]
        value = self.constant + float(self.solver.getInfo().objective_function_value)
        return value, [round(dual * FINE) for dual in duals]

    def bound(self, prices: Sequence[int], contents: Sequence[Content]) -> Fraction:
        """The Lagrangian bound, exact. ``prices``: what placing one member earns beyond its squares."""
        placed = sum(prices[p] * part.count for p, part in enumerate(self.parts) if p in self.covered)
        filled = sum(kind.size * content.profit for kind, content in zip(self.kinds, contents, strict=True))
        return self.constant + Fraction(placed - filled, FINE)
