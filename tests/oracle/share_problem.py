"""Shares and granted rates of one fixed placement, as a convex program of its own (scipy), shares continuous.

For a fixed placement every offered load is known, so that a goodput curve is one number. Response times are convex in
the shares: the program is linear with tangents, added until the response times are met to ``CLOSE`` relative.

Owns equations (3), (4), (5), (6), (7), (12) to (14) with shares above the floors, and the goals that depend on
them. Values are floats here; whoever compares them allows 1e-6 relative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from allocator.model.entities import Goal, Level
from allocator.model.families import Family, GoalId, sense_of
from tests.oracle.bent import Affine, Queue, carried
from tests.oracle.goals import watched
from tests.oracle.placements import Usage, current_row, draw, drawn, power_driver
from tests.oracle.response import LN_100, delays, single_compute
from tests.oracle.tiny import Option, Tiny

__all__ = ["ShareProblem", "Solution"]

CLOSE, LEAST_CLOSE = 1e-8, 2e-7  # relative; the second where the linear program's own tolerance allows no better
ROUNDS = 500
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@dataclass(frozen=True)
class Solution:
    """``value`` of the level that was optimised; shares by (member, resource); granted fraction by flow."""

    value: float
    shares: dict[tuple[int, int], int]
    granted: dict[tuple[str, int, int], float]


@dataclass
class ShareProblem:
    """The program of one row of ``usage``. ``known``: values of the goals that do not depend on shares.

    Shares are in base units and continuous: the unit of a resource that can be shared is fine enough for that.
    """

    tiny: Tiny
    usage: Usage
    row: int
    known: dict[GoalId, Fraction]
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    rows: list[tuple[Affine, float]] = field(default_factory=list)  # affine <= number

    def __post_init__(self) -> None:
        self.option: list[Option] = [self.tiny.options[o] for o in self.usage.rows[self.row]]
        self.share: dict[tuple[int, int], int] = {}
        self.rate: dict[int, int] = {}
        self.theta: dict[tuple[str, int, int], int] = {}
        self._add_shares()
        self._add_capacities()
        self._add_rates()
        self._add_fabric()
        self.goal: dict[GoalId, Affine] = {}
        self.queues: list[Queue] = []
        self.slowest: list[tuple[int, list[Affine]]] = []  # a column that is the largest of some expressions

    def column(self, lower: float, upper: float) -> int:
        """A new variable."""
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.lower) - 1

    def amount(self, m: int, r: int) -> Affine:
        """Share of a member in base units, a variable or its floor."""
        if (m, r) in self.share:
            return {self.share[m, r]: 1.0}
        return {-1: float(self.option[m].floor[r] * self.tiny.unit[r])}

    def use(self, domain: int, r: int) -> Affine:
        """Use of a resource in a domain in base units, without transients."""
        total: Affine = {}
        for m, option in enumerate(self.option):
            if option.node >= 0 and self.tiny.inside[domain, option.node]:
                add(total, self.amount(m, r))
        return total

    def minimise(self, level: Level, kept: list[tuple[Level, float]]) -> Solution | None:
        """Best value of a level over the shares that keep earlier levels at or below a limit; maximised: negated.

        None when no shares keep them.
        """
        objective = self.expression(level)
        keeping = [(self.expression(earlier), limit) for earlier, limit in kept]
        for number in range(ROUNDS):
            close = CLOSE if number < ROUNDS // 2 else LEAST_CLOSE
            point = self._linear(objective, [*self.rows, *keeping])  # the expressions bring rows of their own
            if point is None:
                return None
            late = [q for q in self.queues if q.at(point[q.usable]) > point[q.seconds] * (1 + close)]
            if not late:
                break
            self.rows += [queue.tangent(float(point[queue.usable])) for queue in late]
        else:
            raise AssertionError("the tangents do not settle")
        self._lift(point)
        value = objective.get(-1, 0.0) + sum(each * point[c] for c, each in objective.items() if c >= 0)
        shares = {(m, r): self._rounded(m, r, point[column]) for (m, r), column in self.share.items()}
        granted = {key: float(point[column]) for key, column in self.theta.items()}
        return Solution(float(value), shares, granted)

    def _lift(self, point: np.ndarray) -> None:
        """Replace what tangents say of response times by what they are."""
        for queue in self.queues:
            point[queue.seconds] = max(point[queue.seconds], queue.at(point[queue.usable]))
        for column, mine in self.slowest:
            values = [each.get(-1, 0.0) + sum(f * point[c] for c, f in each.items() if c >= 0) for each in mine]
            point[column] = max(point[column], *values, 0.0)

    def _linear(self, objective: Affine, constraints: list[tuple[Affine, float]]) -> np.ndarray | None:
        """Optimal point of the linear program, None when there is none."""
        costs = np.zeros(len(self.lower))
        for column, coefficient in objective.items():
            if column >= 0:
                costs[column] = coefficient
        matrix = np.zeros((len(constraints), len(self.lower)))
        limits = np.zeros(len(constraints))
        for number, (affine, limit) in enumerate(constraints):
            limits[number] = limit - affine.get(-1, 0.0)
            for column, coefficient in affine.items():
                if column >= 0:
                    matrix[number, column] = coefficient
            size = np.abs(matrix[number]).max(initial=0.0)
            if size > 0:
                matrix[number] /= size
                limits[number] /= size
            elif limits[number] < -1e-9 * max(1.0, abs(limit)):
                return None
        if not self.lower:
            return np.zeros(0)
        size = np.abs(costs).max(initial=0.0) or 1.0
        answer = linprog(
            costs / size,
            A_ub=matrix if constraints else None,
            b_ub=limits if constraints else None,
            bounds=np.column_stack([self.lower, self.upper]),
            method="highs",
            options=EXACT if self.queues else None,
        )
        if answer.status == 2:
            return None
        assert answer.status == 0, answer.message
        point: np.ndarray = answer.x
        return point

    def _rounded(self, m: int, r: int, share: float) -> int:
        """Whole amount of a share, rounded down so far that sums stay within their limits despite floats."""
        option = self.option[m]
        exact = share / float(self.tiny.unit[r])
        amount = math.floor(exact + 1e-6 if exact < 1e6 else exact * (1 - 1e-10))
        return min(max(amount, self._least(m, r)), self.tiny.ceiling(option, r))

    def _least(self, m: int, r: int) -> int:
        """Floor, or what a response time needs."""
        least, option = int(self.usage.least[self.row, m]), self.option[m]
        if least and r == single_compute(self.tiny, option)[0]:
            return max(least, option.floor[r])
        return option.floor[r]

    def expression(self, level: Level) -> Affine:
        """A level as something to minimise: maximised goals negated, a single one too."""
        total: Affine = {}
        for goal in level.goals:
            sign = -1 if sense_of(goal.id) == "max" else 1
            add(total, self.goal_expression(goal), sign * float(goal.weight))
        return total

    def goal_expression(self, goal: Goal) -> Affine:
        """Value of a goal, made with helper variables that are exact where the goal is optimised or kept."""
        if goal.id in self.known:
            return {-1: float(self.known[goal.id])}
        if goal.id not in self.goal:
            self.goal[goal.id] = getattr(self, f"_{goal.id.value}")(goal)
        return self.goal[goal.id]

    # ------------------------------------------------------------------ constraints

    def _add_shares(self) -> None:
        tiny = self.tiny
        for m, option in enumerate(self.option):
            if option.node < 0:
                continue
            for r, name in enumerate(tiny.resources):
                if tiny.shareable(tiny.members[m].workload, name):
                    floor, top = self._least(m, r), tiny.ceiling(option, r)
                    self.share[m, r] = self.column(float(floor * tiny.unit[r]), float(top * tiny.unit[r]))

    def _add_capacities(self) -> None:
        tiny = self.tiny
        extra = (self.usage.counted() - self.usage.use)[self.row]
        before = Usage(tiny, current_row(tiny))
        watts_now, denominator = draw(before)
        for domain in tiny.instance.domains:
            for r, name in enumerate(tiny.resources):
                now = int(before.use[0, domain.index, r]) * tiny.unit[r]
                pooled = domain.is_node and tiny.pool_above(domain, name) is not None
                if tiny.holds(Family.CAPACITY) and name in domain.capacity and not pooled:
                    used = self.use(domain.index, r)
                    if name == "power":
                        add(used, self.watts(domain.index))
                        now += Fraction(int(watts_now[0, tiny.inside[domain.index]].sum()), denominator)
                    limit = max(domain.capacity[name] * tiny.unit[r], now) - int(extra[domain.index, r]) * tiny.unit[r]
                    self.rows.append((used, float(limit)))
                if tiny.holds(Family.POOL) and name in domain.pool:
                    total: Affine = {}
                    for n, node in enumerate(tiny.nodes):
                        if tiny.inside[domain.index, n]:
                            excess = self.use(node.index, r)
                            own = int(extra[node.index, r]) - node.capacity.get(name, 0)
                            add(excess, {-1: float(own * tiny.unit[r])})
                            add(total, {self._positive(excess): 1.0})
                    limit = max(domain.pool[name], int(drawn(tiny, before.use, domain.index, r)[0]))
                    self.rows.append((total, float(limit * tiny.unit[r])))

    def watts(self, domain: int) -> Affine:
        """Draw of the nodes of a domain (12)."""
        total: Affine = {}
        for n, node in enumerate(self.tiny.nodes):
            used = any(option.node == n for option in self.option)
            if node.power is None or not used or not self.tiny.inside[domain, n]:
                continue
            add(total, {-1: float(node.power.idle)})
            driver = power_driver(self.tiny, n)
            if driver is not None:
                capacity = node.capacity[self.tiny.resources[driver]] * self.tiny.unit[driver]
                slope = (node.power.busy - node.power.idle) / capacity
                add(total, self.use(node.index, driver), float(slope))
        return total

    def _add_rates(self) -> None:
        tiny = self.tiny
        for m, option in enumerate(self.option):
            workload = tiny.members[m].workload
            if option.node < 0 or workload.rate == 0:
                continue
            q = self.rate[m] = self.column(0.0, float(workload.rate))
            if not tiny.holds(Family.RATES):
                continue
            for name, seconds in option.demand.work.compute.items():
                if seconds > 0:
                    r = tiny.resources.index(name)
                    self.upper[q] = min(self.upper[q], float(workload.parallel / seconds))
                    add(row := {q: float(seconds)}, self.amount(m, r), -1.0)
                    self.rows.append((row, 0.0))
            for name, size in option.demand.work.memory.items():
                if size > 0 and workload.residence:
                    r = tiny.resources.index(name)
                    add(row := {q: float(size * workload.residence)}, self.amount(m, r), -1.0)
                    self.rows.append((row, 0.0))

    def _add_fabric(self) -> None:
        tiny = self.tiny
        if not tiny.holds(Family.FABRIC) or not tiny.holds(Family.RATES):
            return
        up: dict[int, Affine] = {}
        down: dict[int, Affine] = {}
        internal: dict[int, Affine] = {}
        offered: dict[tuple[int, int], Fraction] = {}  # by (direction, domain)
        for key, pairs in tiny.flows.items():
            theta = self.theta[key] = self.column(0.0, 1.0)
            for (i, j), rate in pairs.items():
                a, b = self.option[i].node, self.option[j].node
                if a < 0 or b < 0:
                    continue
                upwards, downwards, common = tiny.crossed(a, b)
                for direction, (crossed, granted) in enumerate(((upwards, up), (downwards, down))):
                    for domain in crossed:
                        add(granted.setdefault(domain, {}), {theta: float(rate)})
                        offered[direction, domain] = offered.get((direction, domain), Fraction(0)) + rate
                add(internal.setdefault(common, {}), {theta: float(rate)})
            for m in {m for pair in pairs for m in pair}:
                if m in self.rate:
                    rate_offered = float(tiny.members[m].workload.rate)
                    self.rows.append(({self.rate[m]: 1.0, theta: -rate_offered}, 0.0))
        for domain in tiny.instance.domains:
            if domain.uplink is not None and domain.uplink.bandwidth is not None:
                for direction, granted in enumerate((up, down)):
                    if domain.index in granted:
                        load, link = offered[direction, domain.index], domain.uplink
                        self.rows.append((granted[domain.index], carried(link.goodput, link.bandwidth, load)))
            if domain.internal is not None and domain.index in internal:
                self.rows.append((internal[domain.index], float(domain.internal)))

    # ------------------------------------------------------------------ goals

    def _positive(self, affine: Affine) -> int:
        """A variable at least 0 and at least the expression."""
        column = self.column(0.0, np.inf)
        add(row := dict(affine), {column: -1.0})
        self.rows.append((row, 0.0))
        return column

    def _throughput(self, _: Goal) -> Affine:
        return {q: float(self.tiny.members[m].workload.weight) for m, q in self.rate.items()}

    def _fairness(self, _: Goal) -> Affine:
        offering = [w for w in self.tiny.instance.workloads if w.rate * w.count > 0]
        if not offering:
            return {-1: 1.0}
        worst = self.column(0.0, 1.0)
        for workload in offering:
            row: Affine = {worst: 1.0}
            for m, q in self.rate.items():
                if self.tiny.members[m].workload is workload:
                    row[q] = -1.0 / float(workload.rate * workload.count)
            self.rows.append((row, 0.0))
        return {worst: 1.0}

    def _p99(self, goal: Goal) -> Affine:
        """Equation (27): a queue with its tangents for every placed critical member."""
        tiny, total = self.tiny, {}
        late, denominator = delays(tiny, self.usage.node[self.row : self.row + 1])
        worst = self.column(0.0, np.inf) if goal.worst else None
        every = []
        for m, option in enumerate(self.option):
            workload = tiny.members[m].workload
            if option.node < 0 or not workload.slo.critical:
                continue
            r, seconds = single_compute(tiny, option)
            least = self._least(m, r) * tiny.unit[r]
            top = min(tiny.ceiling(option, r) * tiny.unit[r], workload.parallel)
            usable = self.column(float(min(least, top)), float(top))
            add(row := {usable: 1.0}, self.amount(m, r), -1.0)
            self.rows.append((row, 0.0))
            queue = Queue(self.column(0.0, np.inf), usable, float(LN_100 * seconds), float(workload.rate * seconds))
            self.queues.append(queue)
            spare = np.geomspace(self.lower[usable] - queue.offered, self.upper[usable] - queue.offered, 8)
            self.rows += [queue.tangent(float(queue.offered + each)) for each in spare]
            weight = float(workload.weight)
            mine = {queue.seconds: weight, -1: weight * int(late[0, m]) / denominator}
            every.append(mine)
        if worst is None:
            for mine in every:
                add(total, mine)
            return total
        self.rows += [({**mine, worst: -1.0}, 0.0) for mine in every]
        self.slowest.append((worst, every))
        return {worst: 1.0}

    def _peak(self, goal: Goal) -> Affine:
        highest = self.column(0.0, np.inf)
        for d, r, capacity in watched(self.tiny, goal):
            add(row := {highest: -1.0}, self.use(d, r), 1.0 / float(capacity * self.tiny.unit[r]))
            self.rows.append((row, 0.0))
        return {highest: 1.0}

    def _overload(self, _: Goal) -> Affine:
        tiny, total = self.tiny, {}
        for domain in tiny.instance.domains:
            for name, safety in domain.safety.items():
                r = tiny.resources.index(name)
                excess = self.use(domain.index, r)
                add(excess, {-1: -float(safety * tiny.unit[r])})
                add(total, {self._positive(excess): float(tiny.instance.resources[name].overload)})
        return total

    def _balance(self, _: Goal) -> Affine:
        tiny, total = self.tiny, {}
        for triple in tiny.instance.balance:
            first, second = tiny.resources.index(triple.first), tiny.resources.index(triple.second)
            for d in tiny.level(triple.level):
                capacity = tiny.instance.domains[d].capacity
                free = triple.target * capacity.get(triple.first, 0) * tiny.unit[first]
                free -= capacity.get(triple.second, 0) * tiny.unit[second]
                short: Affine = {-1: float(free)}
                add(short, self.use(d, first), -float(triple.target))
                add(short, self.use(d, second), 1.0)
                add(total, {self._positive(short): float(triple.weight)})
        return total

    def _power(self, _: Goal) -> Affine:
        return self.watts(0)


def add(total: Affine, other: Affine, factor: float = 1.0) -> None:
    """Add ``factor`` times another expression in place."""
    for column, coefficient in other.items():
        total[column] = total.get(column, 0.0) + factor * coefficient
