"""Columns: amounts that are summed over the items of a domain, with their hard and soft limits there.

The resources come first, with floors as needs: raised to what a target of response time or stability asks (equation
13, at the longest path delay there is). Then derived columns: what offered rates can use (goals of rates), load and
floors beside it (goal p99), the resources again for the goal peak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, sqrt

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.instance.entities import Demand, Role, WorkloadClass
from allocator.model.families import Family, GoalId
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import ENDLESS

__all__ = ["Columns", "columns_of"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

STABLE = Fraction(101, 100)


@dataclass
class Columns:
    """Fields of ``Problem`` about columns; ``matters`` : bool[D], domains with a limit or a cost.

    ``peaks``: columns that stand for a resource in the goal peak, with (column, domain) capacities in ``soft``.
    """

    need: Int
    limit: Int
    eligible: npt.NDArray[np.bool_]
    matters: npt.NDArray[np.bool_]
    extra_areas: Mapping[int, list[int]]
    fields: Mapping[str, object]
    flags: int
    peaks: tuple[int, ...]


class _Draft:
    """Columns while they are put together."""

    def __init__(self, compiled: Compiled) -> None:
        kinds = len(compiled.kinds)
        self.compiled = compiled
        self.num_rows = compiled.num_options * kinds
        self.needs = [np.ascontiguousarray(compiled.floor.reshape(self.num_rows, -1), dtype=np.int64).copy()]
        kinds_of_reserve = kinds if Family.RESERVE not in compiled.model.ignore and compiled.instance.reserves else 0
        self.num_domains = compiled.num_domains + kinds_of_reserve
        shape = (self.num_domains, len(compiled.resources))
        self.limit = np.full(shape, ENDLESS, dtype=np.int64)
        self.limit[: compiled.num_domains] = np.where(compiled.limit >= 0, compiled.limit, ENDLESS)
        if "power" in compiled.resources:
            self.limit[:, compiled.resources.index("power")] = ENDLESS  # with the draw of the nodes: caps on watts
        self.soft = np.full(shape, ENDLESS, dtype=np.int64)
        self.weight = np.zeros(shape)
        self.level = [0] * len(compiled.resources)
        self.holds = [
            int(compiled.instance.resources[name].transient and Family.TRANSIENT not in compiled.model.ignore)
            for name in compiled.resources
        ]
        self.eligible = compiled.eligible.copy()

    def add(self, need: Int, soft: Int, weight: Float, level: int) -> int:
        """A further column; its index."""
        self.needs.append(need.reshape(self.num_rows, 1))
        self.limit = np.column_stack([self.limit, np.full(self.num_domains, ENDLESS, dtype=np.int64)])
        self.soft = np.column_stack([self.soft, soft])
        self.weight = np.column_stack([self.weight, weight])
        self.level.append(level)
        self.holds.append(0)
        return len(self.level) - 1


def columns_of(compiled: Compiled) -> Columns:
    """Put the columns together."""
    draft = _Draft(compiled)
    flags = 0
    goals = {goal.id: (index + 1, goal) for index, level in enumerate(compiled.model.levels) for goal in level.goals}
    work = _Work(compiled)
    _raise_floors(draft, work, critical=GoalId.P99 in goals)
    if GoalId.OVERLOAD in goals:
        level, goal = goals[GoalId.OVERLOAD]
        for domain in compiled.instance.domains:
            for name, safety in domain.safety.items():
                r = compiled.resources.index(name)
                resource = compiled.instance.resources[name]
                draft.soft[domain.index, r] = safety
                draft.weight[domain.index, r] = float(goal.weight * resource.overload * _unit(compiled, r))
                draft.level[r] = level
    rated = [goals[id_] for id_ in (GoalId.THROUGHPUT, GoalId.FAIRNESS) if id_ in goals]
    if rated and Family.RATES not in compiled.model.ignore:
        _add_rates(draft, work, min(level for level, _ in rated))
    root, stable, units = np.zeros(draft.num_rows), np.zeros(compiled.num_nodes, dtype=np.int64), np.ones(1)
    units = np.ones(compiled.num_nodes)
    if GoalId.P99 in goals:
        flags |= at.P99
        root, stable, units = _add_p99(draft, work)
    peaks = _add_peaks(draft, *goals[GoalId.PEAK]) if GoalId.PEAK in goals else ()
    extra, limit = _reserve(draft)
    balance, balanced = _triples(compiled, draft.num_domains, goals.get(GoalId.BALANCE))
    closed = np.zeros(draft.num_domains, dtype=np.uint8)
    closed[: compiled.num_domains] = compiled.overfull
    need = np.ascontiguousarray(np.column_stack(draft.needs))
    matters = (limit < ENDLESS).any(axis=1) | (draft.weight != 0).any(axis=1) | closed.astype(bool)
    matters |= np.diff(np.asarray(balance["triple_start"])) > 0
    pools, pool_of, own = _pools(compiled)
    if any(draft.holds):
        flags |= at.TRANSIENT
    flags |= (at.POOLS if pools else 0) | (at.BALANCED if balanced else 0)
    p99 = goals.get(GoalId.P99)
    fields: dict[str, object] = {
        "need": need,
        "limit": np.ascontiguousarray(limit),
        "closed": closed,
        "soft": np.ascontiguousarray(draft.soft),
        "soft_weight": np.ascontiguousarray(draft.weight),
        "soft_level": np.array(draft.level, dtype=np.int64),
        "holds": np.array(draft.holds, dtype=np.uint8),
        "pool_of": pool_of,
        "own": own,
        "pool_limit": np.ascontiguousarray(np.where(compiled.pool_limit >= 0, compiled.pool_limit, ENDLESS)),
        **balance,
        "root_need": root,
        "stable_column": stable,
        "p99_weight": float(p99[1].weight) if p99 else 0.0,
        "unit_of_share": units,
    }
    return Columns(need, limit, draft.eligible, matters, extra, fields, flags, peaks)


class _Work:
    """Work of options by row of needs: (row, class, its demand) of every option with a rate or a target."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.rows: list[tuple[int, WorkloadClass, Demand]] = []
        kinds = len(compiled.kinds)
        for workload in compiled.instance.workloads:
            if workload.rate <= 0 and workload.slo.p99 is None and not workload.slo.critical:
                continue
            for option in compiled.options_of(workload.index):
                mode = workload.modes[int(compiled.option_mode[option])]
                self.rows.extend(
                    (option * kinds + k, workload, mode.demand(kind)) for k, kind in enumerate(compiled.kinds)
                )

    def compute(self, demand: Demand) -> list[tuple[int, Fraction]]:
        """Columns and work a task, in units of the resource times seconds."""
        return [
            (self.compiled.resources.index(name), need / _unit(self.compiled, self.compiled.resources.index(name)))
            for name, need in demand.work.compute.items()
            if need > 0
        ]


def _unit(compiled: Compiled, r: int) -> Fraction:
    return Fraction(10) ** compiled.instance.resources[compiled.resources[r]].exponent


def _raise_floors(draft: _Draft, work: _Work, *, critical: bool) -> None:
    """Needs of compute become what stability and targets of response time ask at the longest path delay."""
    compiled = draft.compiled
    held = Family.SLO not in compiled.model.ignore
    talking = {b.workload for team in compiled.teams for b in (compiled.blocks[i] for i in team.blocks)}
    talking.update(compiled.blocks[b].workload for pair in compiled.pairs for b in (pair.source, pair.target))
    talking.update(w for entry in compiled.groups for w in (entry.source, entry.target))
    delay = _longest_delay(compiled)
    kinds = len(compiled.kinds)
    for row, workload, demand in work.rows:
        target = workload.slo.p99 if held else None
        if target is None and not (critical and workload.slo.critical):
            continue
        for r, task in work.compute(demand):
            least = STABLE * workload.rate * task if workload.rate > 0 else Fraction(1)
            if target is not None:
                spare = target - (delay if workload.index in talking else 0)
                if spare <= 0:
                    draft.eligible[row // kinds, compiled.node_kind == row % kinds] = False
                    continue
                least = max(least, task * (workload.rate + LN_100 / spare))
            most = floor(workload.parallel / _unit(compiled, r))
            ceiling = demand.limits.get(compiled.resources[r])
            need = max(int(draft.needs[0][row, r]), ceil(least))
            if ceil(least) > most or (ceiling is not None and need > max(ceiling, int(draft.needs[0][row, r]))):
                draft.eligible[row // kinds, compiled.node_kind == row % kinds] = False
                continue  # the need may be more than an integer holds
            draft.needs[0][row, r] = need


def _longest_delay(compiled: Compiled) -> Fraction:
    """Twice the longest summed latency from a node to the root: no path is longer."""
    longest = Fraction(0)
    above = [Fraction(0)] * compiled.num_domains
    for domain in compiled.instance.domains:
        if domain.parent is not None:
            above[domain.index] = above[domain.parent] + (domain.uplink.latency if domain.uplink else 0)
            longest = max(longest, above[domain.index])
    return 2 * longest


def _add_rates(draft: _Draft, work: _Work, level: int) -> None:
    """For each resource of work, what offered rates can use of it; the excess is priced as the tasks it costs."""
    compiled = draft.compiled
    resources: dict[int, dict[int, int]] = {}
    tasks: dict[int, float] = {}
    amounts: dict[int, float] = {}
    for row, workload, demand in work.rows:
        if workload.rate <= 0:
            continue
        fastest = workload.rate
        needs = work.compute(demand)
        for r, task in needs:
            fastest = min(fastest, workload.parallel / _unit(compiled, r) / task)
        for name, each in demand.work.memory.items():
            if each > 0 and workload.residence:
                r = compiled.resources.index(name)
                needs.append((r, each * workload.residence / _unit(compiled, r)))
        for r, task in needs:
            resources.setdefault(r, {})[row] = ceil(fastest * task)
            tasks[r] = tasks.get(r, 0.0) + float(workload.weight * fastest) * workload.count
            amounts[r] = amounts.get(r, 0.0) + float(fastest * task) * workload.count
    for r, used in resources.items():
        if compiled.instance.resources[compiled.resources[r]].role not in (Role.COMPUTE, Role.MEMORY):
            continue
        need = draft.needs[0][:, r].copy()
        for row, amount in used.items():
            need[row] = max(int(need[row]), amount)
        if (need == draft.needs[0][:, r]).all():
            continue  # floors suffice
        limited = draft.limit[:, r] < ENDLESS
        weight = np.where(limited, tasks[r] / amounts[r] if amounts[r] else 0.0, 0.0)
        draft.add(need, draft.limit[:, r].copy(), weight, level)


def _add_p99(draft: _Draft, work: _Work) -> tuple[Float, Int, Float]:
    """Stable load of critical members and floors of the others; sqrt(w c ln 100); column and unit at each node."""
    compiled = draft.compiled
    root = np.zeros(draft.num_rows)
    needs: dict[int, Int] = {}
    for row, workload, demand in work.rows:
        if not workload.slo.critical:
            continue
        for r, task in work.compute(demand):
            if r not in needs:
                needs[r] = draft.needs[0][:, r].copy()
            needs[r][row] = floor(workload.rate * task)
            root[row] = sqrt(float(workload.weight * task * _unit(compiled, r) * LN_100))
    column = np.zeros(compiled.num_nodes, dtype=np.int64)
    units = np.ones(compiled.num_nodes)
    for r, need in needs.items():
        made = draft.add(need, draft.limit[:, r].copy(), np.zeros(draft.num_domains), 0)
        here = draft.limit[compiled.node_domain, r] < ENDLESS
        column[here] = made
        units[here] = float(_unit(compiled, r))
    return root, column, units


def _add_peaks(draft: _Draft, level: int, goal: object) -> tuple[int, ...]:
    """The resources again, with their capacities as soft limits, priced by 1 / capacity."""
    compiled = draft.compiled
    names = getattr(goal, "resources", ()) or tuple(name for name in compiled.resources if name != "power")
    at_level = getattr(goal, "at_level", None)
    domains = compiled.instance.domains if at_level is None else compiled.instance.domains_of(at_level)
    made = []
    for name in names:
        r = compiled.resources.index(name)
        soft = np.full(draft.num_domains, ENDLESS, dtype=np.int64)
        weight = np.zeros(draft.num_domains)
        for domain in domains:
            if domain.capacity.get(name, 0) > 0:
                soft[domain.index] = domain.capacity[name]
                weight[domain.index] = 1.0 / domain.capacity[name]
        if weight.any():
            made.append(draft.add(draft.needs[0][:, r].copy(), soft, weight, level))
    return tuple(made)


def _reserve(draft: _Draft) -> tuple[dict[int, list[int]], Int]:
    """A further domain for each node kind, whose limit is what stays free when a domain of the level is lost.

    Equation 11 with every node of the kind stating its capacity: the floors inside d cancel, so that the floors on all
    nodes of the kind are at most the capacity outside d, for every d.
    """
    compiled = draft.compiled
    limit = draft.limit
    extra: dict[int, list[int]] = {}
    if draft.num_domains == compiled.num_domains:
        return extra, limit
    capacity = np.where(compiled.capacity >= 0, compiled.capacity, 0)[compiled.node_domain]
    for k in range(len(compiled.kinds)):
        domain = compiled.num_domains + k
        of_kind = compiled.node_kind == k
        total = capacity[of_kind].sum(axis=0)
        for rule in compiled.instance.reserves:
            for d in compiled.instance.domains_of(rule.level):
                inside = of_kind.copy()
                inside[: d.first_node], inside[d.end_node :] = False, False
                if not inside.any():
                    continue
                left = total - capacity[inside].sum(axis=0)
                for r, name in enumerate(compiled.resources):
                    stated = (compiled.capacity[compiled.node_domain, r] >= 0).any()  # by any node
                    if name in rule.resources or (not rule.resources and stated):
                        limit[domain, r] = min(limit[domain, r], left[r])
        for node in np.nonzero(of_kind)[0]:
            extra.setdefault(int(node), []).append(domain)
    return extra, limit


def _triples(compiled: Compiled, num_domains: int, goal: tuple[int, object] | None) -> tuple[dict[str, object], bool]:
    """Balance triples by domain (equation 23)."""
    found: list[tuple[int, int, int, float, float, float, float]] = []
    if goal is not None:
        scale = float(getattr(goal[1], "weight", 1))
        for triple in compiled.instance.balance:
            a, b = compiled.resources.index(triple.first), compiled.resources.index(triple.second)
            unit_a, unit_b = _unit(compiled, a), _unit(compiled, b)
            for domain in compiled.instance.domains_of(triple.level):
                have = triple.target * domain.capacity.get(triple.first, 0) * unit_a - (
                    domain.capacity.get(triple.second, 0) * unit_b
                )
                found.append(
                    (
                        domain.index,
                        a,
                        b,
                        float(triple.target * unit_a),
                        float(triple.weight) * scale,
                        float(have),
                        float(unit_b),
                    )
                )
    found.sort()
    owner = np.array([entry[0] for entry in found], dtype=np.int64)
    fields: dict[str, object] = {
        "triple_start": np.searchsorted(owner, np.arange(num_domains + 1)).astype(np.int64),
        "triple_first": np.array([entry[1] for entry in found], dtype=np.int64),
        "triple_second": np.array([entry[2] for entry in found], dtype=np.int64),
        "triple_target": np.array([entry[3] for entry in found]),
        "triple_weight": np.array([entry[4] for entry in found]),
        "triple_have": np.array([entry[5] for entry in found]),
        "triple_unit": np.array([entry[6] for entry in found]),
    }
    return fields, bool(found)


def _pools(compiled: Compiled) -> tuple[bool, Int, Int]:
    """Whether there are pools; the pool's domain and the own amount by node and resource."""
    pool_of = np.full((compiled.num_nodes, len(compiled.resources)), -1, dtype=np.int64)
    for d, r in zip(*np.nonzero(compiled.pool_limit >= 0), strict=True):
        pool_of[compiled.first_node[d] : compiled.end_node[d], r] = d
    own = np.where(compiled.capacity >= 0, compiled.capacity, 0)[compiled.node_domain]
    return bool((pool_of >= 0).any()), pool_of, np.ascontiguousarray(own, dtype=np.int64)
