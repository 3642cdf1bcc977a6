"""The truth about a tiny instance: every placement is tried.

``brute_force`` gives feasibility and the optimal value of every level in order, each kept by the later ones within its
slack. Placements, feasibility and goals without shares are exact; goals that depend on shares and granted rates come
from a small program of each placement (``share_problem``), as floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.instance.entities import Instance
from allocator.model.entities import Level, Model
from allocator.model.families import Family, GoalId
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup, flow_endpoint
from tests.oracle.goals import MOVED_BY_SHARES, RATE_GOALS, Values, goal_values, level_values
from tests.oracle.placements import TooMany, Usage, enumerate_placements, feasibility
from tests.oracle.response import LN_100, delays, is_critical, single_compute, target_of
from tests.oracle.share_problem import ShareProblem, Solution
from tests.oracle.tiny import UNPLACED, Tiny

__all__ = ["Truth", "brute_force", "row_plan"]

TOLERANCE = 1e-9


@dataclass(frozen=True)
class Truth:
    """What exhaustive search found.

    ``values``: optimum of every level in its own sense, empty when infeasible; exact (Fraction) unless it depends on
    shares. ``placements``: feasible placements, counted once for each set that differs by swapping twins. ``plan``: one
    optimal plan.
    """

    feasible: bool
    values: tuple[Fraction | float, ...]
    placements: int
    plan: Plan | None


def brute_force(instance: Instance, model: Model) -> Truth:
    """Solve by trying everything."""
    tiny = Tiny(instance, model)
    usage = Usage(tiny, enumerate_placements(tiny), served=True)
    masks = feasibility(usage)
    feasible = np.logical_and.reduce(list(masks.values())) if masks else np.ones(len(usage.rows), dtype=bool)
    if not feasible.any():
        return Truth(False, (), 0, None)
    usage = Usage(tiny, usage.rows[feasible], served=True)
    search = _Search(tiny, usage)
    values = [search.descend(level) for level in model.levels]
    return Truth(True, tuple(values), len(usage.rows), search.plan())


class _Search:
    """Lexicographic choice among feasible placements. ``alive``: rows that may still keep every earlier level."""

    def __init__(self, tiny: Tiny, usage: Usage) -> None:
        self.tiny, self.usage = tiny, usage
        self.alive = np.arange(len(usage.rows))
        targets = any(target_of(tiny, workload) is not None for workload in tiny.instance.workloads)
        self.shared = tiny.model.has_rate_goals or targets
        self.goals: dict[GoalId, Values] = {}
        for level in tiny.model.levels:
            for goal in level.goals:
                if goal.id not in RATE_GOALS:
                    self.goals[goal.id] = goal_values(usage, goal)
        self.kept: list[tuple[Level, float]] = []  # levels that depend on shares, minimised, and their limits
        self.problems: dict[int, ShareProblem] = {}
        self.best: tuple[int, Solution | None] | None = None

    def descend(self, level: Level) -> Fraction | float:
        """Optimal value of the next level; keeps the placements within its slack."""
        sign = -1 if level.sense == "max" else 1
        varies = self.shared and any(goal.id in RATE_GOALS | MOVED_BY_SHARES for goal in level.goals)
        if varies:
            return sign * self._descend_shares(level) + 0.0  # no negative zero
        values = level_values(level, self.goals, len(self.usage.rows))
        numbers = sign * values.numbers[self.alive]
        if not self.kept:
            best = self.alive[int(np.argmin(numbers))]
            self.best = (int(best), None)
        else:
            best = self._first_that_keeps(self.alive[np.argsort(numbers, kind="stable")])
        reached = values.exact(best)
        allowance = level.slack.value * (abs(reached) if level.slack.relative else 1)
        limit = (sign * reached + allowance) * values.denominator  # numbers are whole: round the limit down
        self.alive = self.alive[numbers <= limit.numerator // limit.denominator]
        return reached

    def _first_that_keeps(self, order: np.ndarray) -> int:
        """The first row whose shares can keep the earlier levels."""
        for row in order:
            solution = self.problem(int(row)).minimise(self.kept[-1][0], self.kept)
            if solution is not None:
                self.best = (int(row), solution)
                return int(row)
        raise AssertionError("the best placement of the earlier level is gone")

    def _descend_shares(self, level: Level) -> float:
        hopes = self._hopes(level)
        best = np.inf
        for position in np.argsort(hopes, kind="stable"):
            if hopes[position] > best - TOLERANCE * max(1.0, abs(best)):
                break
            row = int(self.alive[position])
            solution = self.problem(row).minimise(level, self.kept)
            if solution is not None and solution.value < best:
                best = solution.value
                self.best = (row, solution)
        if best == np.inf:
            raise TooMany("levels: floats lose the shares that keep the earlier ones")
        allowance = float(level.slack.value) * (abs(best) if level.slack.relative else 1.0)
        limit = best + allowance
        self.kept.append((level, limit + TOLERANCE * max(1.0, abs(limit))))
        self.alive = self.alive[hopes <= self.kept[-1][1] + TOLERANCE * max(1.0, abs(limit))]
        return best

    def _hopes(self, level: Level) -> np.ndarray:
        """Optimistic values (minimised) of a level by surviving row: rates as if alone, use at the least shares."""
        hopes = np.zeros(len(self.alive))
        tiny = self.tiny
        rows = self.usage.rows[self.alive]
        alone = np.array([_rate_alone(tiny, number) for number in range(len(tiny.options))])
        for goal in level.goals:
            weight = float(goal.weight)
            if goal.id is GoalId.THROUGHPUT:
                worth = np.array([float(member.workload.weight) for member in tiny.members])
                hopes -= weight * (alone[rows] * worth).sum(axis=1)
            elif goal.id is GoalId.FAIRNESS:
                worst = np.ones(len(self.alive))
                for workload in tiny.instance.workloads:
                    if workload.rate * workload.count > 0:
                        columns = [c for c, m in enumerate(tiny.members) if m.workload is workload]
                        total = alone[rows[:, columns]].sum(axis=1)
                        worst = np.minimum(worst, total / float(workload.rate * workload.count))
                hopes -= weight * worst
            elif goal.id is GoalId.P99:
                hopes += weight * self._response_hopes(worst=goal.worst)
            elif goal.id is not GoalId.BALANCE:  # any balance is at least 0
                values = self.goals[goal.id]
                sign = -1 if goal.id is GoalId.PLACED else 1
                hopes += sign * weight * values.numbers[self.alive].astype(float) / values.denominator
        return hopes

    def _response_hopes(self, *, worst: bool) -> np.ndarray:
        """P99 as if every member were alone, by surviving row."""
        tiny = self.tiny
        late, denominator = delays(tiny, self.usage.node[self.alive])
        rows = self.usage.rows[self.alive]
        total = np.zeros(len(self.alive))
        for column, member in enumerate(tiny.members):
            if is_critical(tiny, member.workload):
                alone = np.zeros(len(tiny.options))
                for number in tiny.options_of[member.workload.index]:
                    alone[number] = _response_alone(tiny, number)
                mine = alone[rows[:, column]] + late[:, column] / denominator * (rows[:, column] != UNPLACED)
                mine *= float(member.workload.weight)
                total = np.maximum(total, mine) if worst else total + mine
        return total

    def problem(self, row: int) -> ShareProblem:
        """The share problem of a row, built once."""
        if row not in self.problems:
            known = {g: v.exact(row) for g, v in self.goals.items() if g not in MOVED_BY_SHARES}
            self.problems[row] = ShareProblem(self.tiny, self.usage, row, known)
        return self.problems[row]

    def plan(self) -> Plan:
        """The plan of the last level's best row."""
        assert self.best is not None
        row, solution = self.best
        return row_plan(self.tiny, self.usage.rows[row], solution)


def _rate_alone(tiny: Tiny, number: int) -> float:
    """Highest rate of a member with that option if it had everything its ceilings allow."""
    option = tiny.options[number]
    if option.node < 0:
        return 0.0
    workload = tiny.instance.workloads[option.workload]
    best = workload.rate
    if not tiny.holds(Family.RATES):
        return float(best)
    work = option.demand.work
    for name, each in [*work.compute.items(), *work.memory.items()]:
        r = tiny.resources.index(name)
        share = tiny.ceiling(option, r) * tiny.unit[r]
        if name in work.compute:
            share = min(share, workload.parallel)
        else:
            each = each * (workload.residence or 0)  # noqa: PLW2901  # bytes held by a rate of one task a second
        if each > 0:
            best = min(best, share / each)
    return float(best)


def _response_alone(tiny: Tiny, number: int) -> float:
    """Least P99 of a member with that option, its path apart, if it had everything its ceiling allows."""
    option = tiny.options[number]
    workload = tiny.instance.workloads[option.workload]
    r, seconds = single_compute(tiny, option)
    usable = min(tiny.ceiling(option, r) * tiny.unit[r], workload.parallel)
    spare = usable / seconds - workload.rate
    return float(LN_100 / spare) if spare > 0 else 0.0


def row_plan(tiny: Tiny, row: np.ndarray, solution: Solution | None = None) -> Plan:
    """A placement as a plan: shares of the solution, else the least; granted fractions rounded down a little."""
    placements, unplaced = [], []
    shares = _least(tiny, row) if solution is None else solution.shares
    for m, number in enumerate(row):
        member = tiny.members[m]
        if number == UNPLACED:
            unplaced.append(UnplacedGroup(member.workload.name, member.number, 1, "left out"))
            continue
        option = tiny.options[number]
        amounts: Mapping[str, int] = {
            name: shares.get((m, r), option.floor[r])
            for r, name in enumerate(tiny.resources)
            if shares.get((m, r), option.floor[r])
        }
        mode = member.workload.modes[option.mode].name
        path = tiny.nodes[option.node].path
        placements.append(PlacedGroup(member.workload.name, member.number, 1, mode, (path,), amounts))
    grants = []
    for key, theta in (solution.granted if solution is not None else {}).items():
        source, target = _endpoints(tiny, key)
        floor_theta = Fraction(int(theta * 10**9), 10**9)
        grants.append(FlowGrant(source, target, Fraction(1) if theta > 1 - 1e-9 else max(Fraction(0), floor_theta)))
    return Plan(tiny.instance.name, tiny.instance.digest, tuple(placements), tuple(grants), tuple(unplaced))


def _least(tiny: Tiny, row: np.ndarray) -> dict[tuple[int, int], int]:
    """Shares beyond the floor that response times need, by (member, resource)."""
    least = Usage(tiny, row[None, :], served=True).least[0]
    found = {}
    for m in np.flatnonzero(least):
        option = tiny.options[row[m]]
        r, _ = single_compute(tiny, option)
        found[int(m), r] = max(int(least[m]), option.floor[r])
    return found


def _endpoints(tiny: Tiny, key: tuple[str, int, int]) -> tuple[str, str]:
    kind, first, second = key
    if kind == "team":
        entry, number = tiny.team_names[first]
        name = flow_endpoint(tiny.instance.teams[entry].name, number)
        return name, name
    if kind == "pair":
        ends = [tiny.members[index] for index in (first, second)]
        return tuple(flow_endpoint(member.workload.name, member.number) for member in ends)  # type: ignore[return-value]
    names = [tiny.instance.workloads[index].name for index in (first, second)]
    return flow_endpoint(names[0]), flow_endpoint(names[1])
