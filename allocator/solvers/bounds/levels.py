"""A valid bound for every level of a model, at any size: the best of totals, linear relaxation and cuts of traffic.

``bounds`` is the one entry. A level's bound is over the plans that keep the earlier levels within their slack of the
values reached, where those are given; else over all plans. Owns how goals make levels; knows no goal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId, sense_of
from allocator.solvers.bounds.combinatorial import goal_bound
from allocator.solvers.bounds.orbits import Orbits, orbits_of
from allocator.solvers.bounds.peak import peak_bound
from allocator.solvers.bounds.program import Expression
from allocator.solvers.bounds.reassignment import reassignment_bound
from allocator.solvers.bounds.relaxation.cells import cells_of, parts_of, team_types
from allocator.solvers.bounds.relaxation.goals import expression_of
from allocator.solvers.bounds.relaxation.model import Relaxation, everyone
from allocator.solvers.bounds.relaxation.worst import targets_of, worst_bound
from allocator.solvers.bounds.traffic.goals import LayerCut, congestion_bound, layer_cuts, traffic_bound
from allocator.solvers.budget import Budget

__all__ = ["bounds"]

MOST_CELLS = 60_000  # of one program; beyond that, nodes alike by themselves are taken together
SECONDS_A_CELL = 5e-5  # about what building and solving take: not begun where there is no time for it
SECONDS_AN_ENTITY = 4e-6  # the same, of domains and blocks, for telling them apart
GRACE = 0.4  # s that the relaxation may take where the time is up: small programs are worth it
ROUNDS = 12  # of tangents
CLOSE = 1e-4  # relative error of the percentiles at which tangents end


def bounds(compiled: Compiled, budget: Budget, reached: Sequence[Fraction | None] = ()) -> tuple[Fraction | None, ...]:
    """Bound of each level; never on the wrong side of a plan that keeps the earlier levels.

    Parameters
    ----------
    budget : when it ends, the bounds so far are the answer; totals are always there, and so are small relaxations
        unless the run was interrupted.
    reached : value of each level of a plan, None or missing where unknown: what later levels have to keep.
    """
    return _Bounds(compiled, budget, tuple(reached)).all()


@dataclass
class _Bounds:
    compiled: Compiled
    budget: Budget
    reached: tuple[Fraction | None, ...]
    simple: dict[Goal, Fraction] = field(default_factory=dict)
    orbits: Orbits | None = None
    cuts: list[LayerCut] | None = None
    relaxation: Relaxation | None = None
    expressions: dict[Goal, Expression | None] = field(default_factory=dict)
    kept: int = 0  # earlier levels that are rows of the relaxation

    def __post_init__(self) -> None:
        self.grace = self.budget.at_least(GRACE)

    def all(self) -> tuple[Fraction | None, ...]:
        return tuple(self._level(index) for index in range(len(self.compiled.model.levels)))

    def _level(self, index: int) -> Fraction | None:
        level = self.compiled.model.levels[index]
        placed = everyone(self.compiled) or self._all_placed_before(index)
        found = [self._simple(level, placed)]
        if not self.budget.exhausted:  # before the relaxation, which takes far longer where this one says something
            found.append(reassignment_bound(self.compiled, level, self.budget))
        if not self.grace.exhausted:
            found.append(self._relaxed(index, placed))
        if level.goals[0].worst and len(level.goals) == 1 and not self.budget.exhausted:
            found.append(self._worst(index, placed))
        known = [bound for bound in found if bound is not None]
        if not known:
            return None
        return max(known) if level.sense == "min" else min(known)

    def _all_placed_before(self, index: int) -> bool:
        """Whether an earlier level keeps every member placed."""
        workloads = self.compiled.instance.workloads
        if any(workload.value <= 0 for workload in workloads if workload.count):
            return False
        for level, value in zip(self.compiled.model.levels[:index], self.reached, strict=False):
            if value is None or [goal.id for goal in level.goals] != [GoalId.PLACED]:
                continue
            everybody = sum((w.value * w.count for w in workloads), Fraction(0))
            least = min((w.value for w in workloads if w.count), default=Fraction(0))
            if value - level.slack.allowance(value) > (everybody - least) * level.goals[0].weight:
                return True
        return False

    # ------------------------------------------------------------ goals apart

    def _simple(self, level: Level, placed: bool) -> Fraction | None:
        """Weighted sum of the bounds of the goals apart."""
        return _combined(level, {goal: self._goal(goal, placed) for goal in level.goals})

    def _goal(self, goal: Goal, placed: bool) -> Fraction | None:
        """The best bound of a goal that needs no program."""
        if goal.id is GoalId.QUALITY:
            return None
        if goal.id in (GoalId.TRAFFIC, GoalId.CONGESTION):
            if not placed or self.budget.exhausted:
                return Fraction(0)
            if self.cuts is None:
                self.cuts = layer_cuts(self.compiled, self._orbits(), self.budget)
            cuts = self.cuts
            return traffic_bound(self.compiled, cuts) if goal.id is GoalId.TRAFFIC else congestion_bound(cuts)
        if goal.id is GoalId.P99:
            return Fraction(0)
        known = self.simple.get(goal)
        if known is None:
            known = self.simple[goal] = goal_bound(self.compiled, goal)
        if goal.id is GoalId.PEAK and placed and not self.budget.exhausted:
            parts = parts_of(self.compiled, team_types(self.compiled)[0])
            cells = cells_of(self.compiled, self._orbits(), parts, {})
            known = max(known, peak_bound(self.compiled, goal, self._orbits(), parts, cells))
        return known

    # ------------------------------------------------------------ linear relaxation

    def _orbits(self) -> Orbits:
        if self.orbits is None:
            self.orbits = orbits_of(self.compiled, max(1, MOST_CELLS // max(1, self.compiled.num_options)))
        return self.orbits

    def _relaxed(self, index: int, placed: bool) -> Fraction | None:
        """Bound of a level by the relaxation, goals that it does not see taken apart."""
        levels = self.compiled.model.levels
        relaxation = self._relaxation(index, placed)
        if relaxation is None:
            return None
        for earlier in range(self.kept, index):
            self._keep(relaxation, levels[earlier], earlier, placed)
        self.kept = max(self.kept, index)
        level = levels[index]
        objective, rest = self._expression(relaxation, level, placed)
        if objective is None or rest is None:
            return None
        if {GoalId.NODES, GoalId.POWER} & {goal.id for goal in level.goals}:
            self._whole_nodes(relaxation)
        sign = 1 if level.sense == "min" else -1
        best: Fraction | None = None
        minimised = Expression.total([(sign, objective)])
        for _ in range(ROUNDS):
            proof = relaxation.program.minimise(minimised, self.grace)
            if proof is None:
                break
            if proof.bound is not None:
                best = proof.bound if best is None else max(best, proof.bound)
            if relaxation.tangents is None or not relaxation.tangents.add(relaxation, proof.point, CLOSE):
                break
        if best is None:
            return None
        step = self._step(level)
        if step is not None:
            best = math.ceil(best / step) * step
        return sign * best + rest

    def _whole_nodes(self, relaxation: Relaxation) -> None:
        """Nodes in use are a whole number: a row that rounds their least number up (Gomory 1958)."""
        count = Expression(dict.fromkeys(relaxation.nodes_in_use, 1))
        proof = relaxation.program.minimise(count, self.grace) if count.terms else None
        if proof is not None and proof.bound is not None:
            relaxation.program.row(count.terms, math.ceil(proof.bound), None)

    def _relaxation(self, index: int, placed: bool) -> Relaxation | None:
        """The relaxation for plans that keep the levels before; made anew where more is known of them."""
        targets = self._targets(index)
        known = self.relaxation
        if known is None or known.all_placed != placed or known.targets != targets:
            remaining = self.grace.remaining()
            if (self.compiled.num_domains + len(self.compiled.blocks)) * SECONDS_AN_ENTITY > remaining:
                return None
            orbits = self._orbits()
            cells = orbits.num_groups * self.compiled.num_options
            if cells > 4 * MOST_CELLS or cells * SECONDS_A_CELL > remaining:
                return None
            self.relaxation = Relaxation(self.compiled, orbits, placed, targets)
            self.expressions, self.kept = {}, 0
        return self.relaxation

    def _targets(self, index: int) -> Mapping[int, Fraction]:
        """Targets on P99 that an earlier level of the worst class sets."""
        for level, value in zip(self.compiled.model.levels[:index], self.reached, strict=False):
            goal = level.goals[0]
            if value is not None and goal.worst and len(level.goals) == 1 and goal.weight > 0:
                limit = (value + level.slack.allowance(value)) / goal.weight
                return targets_of(self.compiled, limit)
        return {}

    def _keep(self, relaxation: Relaxation, level: Level, index: int, placed: bool) -> None:
        """An earlier level within its slack of the value reached, as a row."""
        value = self.reached[index] if index < len(self.reached) else None
        if value is None:
            return
        expression, rest = self._expression(relaxation, level, placed)
        if expression is None or rest is None or not expression.terms:
            return
        allowed = level.slack.allowance(value)
        constant = rest + expression.constant
        if level.sense == "min":
            relaxation.program.row(expression.terms, None, value + allowed - constant)
        else:
            relaxation.program.row(expression.terms, value - allowed - constant, None)

    def _expression(
        self, relaxation: Relaxation, level: Level, placed: bool
    ) -> tuple[Expression | None, Fraction | None]:
        """A level over the relaxation, and the bound of the goals that it does not see; None where there is none."""
        seen: list[tuple[Fraction, Expression]] = []
        apart: dict[Goal, Fraction | None] = {}
        for goal in level.goals:
            if goal not in self.expressions:
                self.expressions[goal] = expression_of(relaxation, goal)
            expression = self.expressions[goal]
            if expression is None:
                apart[goal] = self._goal(goal, placed)
            else:
                sign = -1 if len(level.goals) > 1 and sense_of(goal.id) == "max" else 1
                seen.append((goal.weight * sign, expression))
        if not seen:
            return None, None
        return Expression.total(seen), _combined(level, apart)

    def _step(self, level: Level) -> Fraction | None:
        """A number that the goals in the relaxation are whole multiples of, where they are."""
        coefficients: list[Fraction] = []
        for goal in level.goals:
            if self.expressions[goal] is None:
                continue
            values = self._values(goal)
            if values is None:
                return None
            coefficients += [goal.weight * value for value in values]
        coefficients = [value for value in coefficients if value]
        if not coefficients:
            return None
        return Fraction(
            math.gcd(*(value.numerator for value in coefficients)),
            math.lcm(*(value.denominator for value in coefficients)),
        )

    def _values(self, goal: Goal) -> set[Fraction] | None:
        """What a goal is a sum of whole multiples of."""
        instance = self.compiled.instance
        if goal.id is GoalId.PLACED:
            return {workload.value for workload in instance.workloads}
        if goal.id is GoalId.NODES:
            return {node.weight for node in instance.nodes}
        if goal.id is GoalId.COST:
            return set() if self.compiled.cost is None else set(self.compiled.cost.ravel().tolist())
        return None

    # ------------------------------------------------------------ the worst P99

    def _worst(self, index: int, placed: bool) -> Fraction | None:
        """Bound of the worst weighted P99."""
        level = self.compiled.model.levels[index]
        weight = level.goals[0].weight
        known = self.reached[index] if index < len(self.reached) else None
        limit = known / weight if known is not None and weight > 0 else None
        if weight <= 0 or not placed:
            return None

        def possible(worst: Fraction) -> bool:
            """Whether the relaxation cannot exclude that value."""
            relaxation = Relaxation(self.compiled, self._orbits(), False, targets_of(self.compiled, worst))
            self.expressions = {}
            for earlier in range(index):
                self._keep(relaxation, self.compiled.model.levels[earlier], earlier, placed)
            everybody = sum(workload.count for workload in self.compiled.instance.workloads)
            missing = Expression(dict.fromkeys(relaxation.x, -1), everybody)
            proof = relaxation.program.minimise(missing, self.budget)
            return proof is None or proof.bound is None or proof.bound <= 0

        found = worst_bound(self.compiled, possible, limit, self.budget)
        self.relaxation, self.expressions, self.kept = None, {}, 0
        return None if found is None else found * weight


def _combined(level: Level, values: Mapping[Goal, Fraction | None]) -> Fraction | None:
    """What bounds of some of a level's goals say of their weighted sum; None where one is missing."""
    total = Fraction(0)
    for goal, value in values.items():
        if value is None:
            return None
        sign = -1 if len(level.goals) > 1 and sense_of(goal.id) == "max" else 1
        total += goal.weight * sign * value
    return total
