"""Traffic of all-to-all teams that has to leave the bins of a layer: a Lagrangian bound over contents of bins.

A team of m members with a_d of them in bin d has m^2 - sum a_d^2 ordered pairs in different bins. So the least total is
sum m^2 less the most sum of a^2 over bins filled with whole teams, pieces of teams and loose members; each bin an
integer knapsack. Of a team's pieces at most k - 1 have more than m / k members. The prices of members come from column
generation (Gilmore and Gomory 1961); for any prices of members and fees >= 0 of pieces

    sum of m^2 and of prices of all members - fees of all allowed pieces - sum over bins of the best content

is a bound (Geoffrion 1974), computed in integers. Knows one resource at a time: contents may be too much in others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

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
LARGEST_WORTH = 1 << 28  # of a team, in units of the rates: sums over a bin stay within int64
LARGEST_TEAM = 120  # members; larger ones are bounded one by one
ROUNDS = 60
NOTHING = 1e-6
ENOUGH = 0.002  # relative distance of bound and program at which the rounds end
SPLITS = (2, 3, 4)  # k: of pieces with more than m / k members a team has at most k - 1


@dataclass(frozen=True)
class _Squad:
    """A team type that counts: its parts, members of one team by part, teams, size, rate in units."""

    roles: tuple[int, ...]
    each: tuple[int, ...]
    count: int
    size: int
    least: int  # rate rounded down
    most: int  # rate rounded up


@dataclass(frozen=True)
class _BinKind:
    """``size`` bins with ``capacity``, in steps: weight of a member by part, and of a whole team by squad."""

    size: int
    capacity: int
    weights: dict[int, int]
    whole: dict[int, int]


def teams_cut(layer: Layer, parts: Sequence[Part], types: Sequence[TeamType], budget: Budget) -> Fraction:
    """Least sum over teams of rate * ordered pairs in different bins, everyone placed; at least 0."""
    mine = [number for number, kind in enumerate(types) if kind.rate > 0 and kind.size > 1]
    if not mine or not all(layer.covered[p] for p, part in enumerate(parts) if part.team in mine):
        return Fraction(0)
    layer = layer.holding([p for p, part in enumerate(parts) if part.team in mine])
    if not layer.bins:
        return Fraction(0)
    unit = _unit([types[number].rate for number in mine], max(types[number].size for number in mine))
    squads = tuple(_squad(number, types[number], parts, unit) for number in mine)
    best = Fraction(sum(squad.count * _alone(layer, squad) for squad in squads))
    if max(squad.size for squad in squads) > LARGEST_TEAM:
        return best * unit
    for r in _scarcest(layer, parts)[:2]:
        kinds = _kinds(layer, squads, r)
        if kinds and not budget.exhausted and not _fit_whole(kinds, squads, parts, budget):
            best = max(best, _pieces(kinds, squads, parts, budget))
    if all(squad.least == squad.most for squad in squads):  # pairs count both ways
        best = Fraction(2 * math.ceil(best / 2))
    return best * unit


def _unit(rates: Sequence[Fraction], size: int) -> Fraction:
    """A common divisor of the rates; where they are too many times that, a unit that rates are rounded to."""
    step = Fraction(math.gcd(*(rate.numerator for rate in rates)), math.lcm(*(rate.denominator for rate in rates)))
    largest = max(rates)
    most = max(1, LARGEST_WORTH // size**2)
    return step if largest / step <= most else largest / most


def _squad(number: int, kind: TeamType, parts: Sequence[Part], unit: Fraction) -> _Squad:
    roles = tuple(p for p, part in enumerate(parts) if part.team == number)
    each = tuple(parts[p].each for p in roles)
    return _Squad(roles, each, kind.count, kind.size, math.floor(kind.rate / unit), math.ceil(kind.rate / unit))


def _alone(layer: Layer, squad: _Squad) -> int:
    """Least cut of one team by itself, in units: as many of its members in each bin as fit into the roomiest one."""
    most = 0
    for each in layer.bins:
        fits = squad.size
        for r, capacity in enumerate(each.capacity):
            needs = sorted(
                need
                for p, n in zip(squad.roles, squad.each, strict=True)
                if p in each.needs
                for need in [each.needs[p][r]] * n
            )
            if capacity is not None:
                needs = [total for total in accumulate(needs) if total <= capacity]
            fits = min(fits, len(needs))
        most = max(most, fits)
    if not most:
        return 0
    full, rest = divmod(squad.size, most)
    return squad.least * (squad.size**2 - full * most**2 - rest**2)


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


def _kinds(layer: Layer, squads: Sequence[_Squad], r: int) -> tuple[_BinKind, ...]:
    """Bins with amounts in steps, rounded in favour of what fits; none where steps would hide the members."""
    found = []
    for each in layer.bins:
        weights = {p: need[r] for p, need in each.needs.items() if layer.covered[p]}
        capacity = each.capacity[r]
        if capacity is None:
            return ()
        step = max(1, math.gcd(*weights.values()))
        if capacity // step > MOST_AMOUNTS:
            step = -(-capacity // MOST_AMOUNTS)
            if sum(weights.values()) < COARSE * step * len(weights):
                return ()
        whole = {}
        for number, squad in enumerate(squads):
            if all(p in weights for p in squad.roles):
                whole[number] = sum(weights[p] * n for p, n in zip(squad.roles, squad.each, strict=True)) // step
        rows = {p: weight // step for p, weight in weights.items()}
        found.append(_BinKind(each.size, capacity // step, rows, whole))
    return tuple(found)


def _fit_whole(kinds: Sequence[_BinKind], squads: Sequence[_Squad], parts: Sequence[Part], budget: Budget) -> bool:
    """Whether fractions of bins filled with whole teams and loose members can take everyone: then nothing is cut.

    A team counts as one member of its first part.
    """
    in_team = {p for squad in squads for p in squad.roles}
    heads = {number: squad.roles[0] for number, squad in enumerate(squads)}
    stacked = []
    for kind in kinds:
        weights = {p: weight for p, weight in kind.weights.items() if p not in in_team}
        weights |= {heads[number]: weight for number, weight in kind.whole.items()}
        stacked.append(_BinKind(kind.size, kind.capacity, weights, {}))
    counts = {p: parts[p].count for kind in kinds for p in kind.weights if p not in in_team}
    counts |= {heads[number]: squad.count for number, squad in enumerate(squads)}
    if not all(any(p in kind.weights for kind in stacked) for p in counts):
        return False
    master = _Master(stacked, (), counts)
    for _ in range(ROUNDS):
        solved = None if budget.exhausted else master.solve()
        if solved is None:
            return False
        if solved.value < NOTHING:
            return True
        found = [_best(kind, (), solved) for kind in stacked]
        contents = [content for content in found if content is not None]
        if len(contents) < len(found) or master.bound(solved, contents) > NOTHING or not master.add(contents):
            return False
    return False


def _pieces(kinds: Sequence[_BinKind], squads: Sequence[_Squad], parts: Sequence[Part], budget: Budget) -> Fraction:
    """Column generation; the best bound met, in units of the rates."""
    master = _Master(kinds, squads, {p: parts[p].count for kind in kinds for p in kind.weights})
    best = Fraction(0)
    for _ in range(ROUNDS):
        solved = None if budget.exhausted else master.solve()
        if solved is None:
            break
        found = [_best(kind, squads, solved) for kind in kinds]
        contents = [content for content in found if content is not None]
        if len(contents) < len(found):
            break
        best = max(best, master.bound(solved, contents))
        close = float(best) >= solved.value - ENOUGH * max(1.0, abs(solved.value))
        if close or solved.value < NOTHING or not master.add(contents):
            break
    return best


@dataclass(frozen=True)
class _Prices:
    """``value`` of the program; by part and by (squad, k), in 1 / FINE: what a member earns, what a piece costs."""

    value: float
    members: dict[int, int]
    fees: dict[tuple[int, int], int]


def _best(kind: _BinKind, squads: Sequence[_Squad], prices: _Prices) -> Content | None:
    """Best content of a bin; None where a member that needs nothing would earn without end."""
    teams = []
    for number, squad in enumerate(squads):
        roles = [(p, n) for p, n in zip(squad.roles, squad.each, strict=True) if p in kind.weights]
        worth = tuple(
            squad.most * FINE * a * a - sum(prices.fees[number, k] for k in SPLITS if a * k > squad.size)
            for a in range(sum(n for _, n in roles) + 1)
        )
        weights = tuple(kind.weights[p] for p, _ in roles)
        item = TeamItem(tuple(p for p, _ in roles), weights, tuple(n for _, n in roles), 0, worth)
        teams.append(replace(item, whole=kind.whole.get(number, 0)))
    in_team = {p for squad in squads for p in squad.roles}
    loose = [(p, weight) for p, weight in kind.weights.items() if p not in in_team]
    try:
        return best_content(kind.capacity, teams, loose, prices.members)
    except ValueError:
        return None


class _Master:
    """min sum rate m^2 - worth * use: members in contents = members, pieces of teams and bins no more than there are.

    Rows: one a part, one a squad and split, one a kind of bin.
    """

    def __init__(self, kinds: Sequence[_BinKind], squads: Sequence[_Squad], counts: dict[int, int]) -> None:
        self.kinds, self.squads, self.counts = kinds, squads, counts
        self.constant = sum(squad.count * squad.size**2 * squad.least for squad in squads)
        self.known: set[tuple[int, tuple[tuple[int, int], ...], tuple[tuple[tuple[int, int], int], ...]]] = set()
        self.solver = QuietHighs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.row: dict[tuple[str, int, int], int] = {}
        for p, count in counts.items():
            self._row(("part", p, 0), float(count), float(count))
        for number, squad in enumerate(squads):
            for k in SPLITS:
                self._row(("piece", number, k), -highspy.kHighsInf, float((k - 1) * squad.count))
        for number, kind in enumerate(kinds):
            self._row(("bin", number, 0), -highspy.kHighsInf, float(kind.size))
        dear = float(max((squad.size**2 * squad.most for squad in squads), default=1) + 1)
        for p in counts:  # members outside of every bin
            self._column(dear, {("part", p, 0): 1})

    def _row(self, key: tuple[str, int, int], lower: float, upper: float) -> None:
        self.row[key] = len(self.row)
        self.solver.addRow(lower, upper, 0, np.zeros(0, dtype=np.int32), np.zeros(0))

    def _column(self, cost: float, terms: dict[tuple[str, int, int], int]) -> None:
        index = np.array([self.row[key] for key in terms], dtype=np.int32)
        values = np.array(list(terms.values()), dtype=float)
        self.solver.addCol(cost, 0.0, highspy.kHighsInf, len(index), index, values)

    def add(self, contents: Sequence[Content]) -> bool:
        """Add the contents that are new; whether any was."""
        fresh = False
        for number, content in enumerate(contents):
            key = number, tuple(sorted(content.members.items())), tuple(sorted(content.pieces.items()))
            if not content.members or key in self.known:
                continue
            self.known.add(key)
            fresh = True
            terms = {("part", p, 0): times for p, times in content.members.items()} | {("bin", number, 0): 1}
            cost = 0
            for (squad, a), times in content.pieces.items():
                cost -= times * self.squads[squad].most * a * a
                for k in SPLITS:
                    if a * k > self.squads[squad].size:
                        terms["piece", squad, k] = terms.get(("piece", squad, k), 0) + times
            self._column(float(cost), terms)
        return fresh

    def solve(self) -> _Prices | None:
        """Optimum over the contents so far."""
        self.solver.run()
        if self.solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        duals = self.solver.getSolution().row_dual
        members = {p: round(duals[self.row["part", p, 0]] * FINE) for p in self.counts}
        fees = {
            (number, k): max(0, round(-duals[self.row["piece", number, k]] * FINE))
            for number in range(len(self.squads))
            for k in SPLITS
        }
        return _Prices(self.constant + float(self.solver.getInfo().objective_function_value), members, fees)

    def bound(self, prices: _Prices, contents: Sequence[Content]) -> Fraction:
        """The Lagrangian bound at these prices, exact."""
        placed = sum(prices.members[p] * count for p, count in self.counts.items())
        allowed = sum(
            prices.fees[number, k] * (k - 1) * squad.count for number, squad in enumerate(self.squads) for k in SPLITS
        )
        filled = sum(kind.size * content.profit for kind, content in zip(self.kinds, contents, strict=True))
        return self.constant + Fraction(placed - allowed - filled, FINE)
