"""The share program of one placement: ``shares``, ``capacity``, ``pool``, ``rates``, ``fabric`` and power caps.

Loads are constants here, so everything but response times is linear (equations 3 to 7, 12).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.evaluation.loads import FlowKey
from allocator.solvers.evaluation.use import domain_use
from allocator.solvers.shares.cohorts import Cohorts
from allocator.solvers.shares.full import fastest, task_speeds
from allocator.solvers.shares.grants import Links
from allocator.solvers.shares.program import Program, base_unit, unit_of
from allocator.solvers.shares.queue_columns import QueueColumn
from allocator.solvers.shares.room import Room

__all__ = ["PlacementProgram", "placement_program"]


@dataclass
class PlacementProgram:
    """Columns: ``extra[entry]`` share above ``least`` in units, ``theta[flow]``.

    ``rate[cohort]``: a column and the tasks/s that one unit of it stands for.

    ``least_use``: U[D][R] at the least shares, without transient use. ``queues``: of goals ``p99`` so far.
    """

    cohorts: Cohorts
    room: Room
    links: Links
    program: Program = field(default_factory=Program)
    extra: dict[int, int] = field(default_factory=dict)
    rate: dict[int, tuple[int, float]] = field(default_factory=dict)
    theta: dict[FlowKey, int] = field(default_factory=dict)
    least_use: list[list[int]] = field(default_factory=list)
    queues: list[QueueColumn] = field(default_factory=list)

    @property
    def compiled(self) -> Compiled:
        """The instance."""
        return self.cohorts.compiled

    def extra_in(self, domain: int, r: int) -> dict[int, float]:
        """Columns of extra shares of a resource in a domain, each once. Only after all of them are added."""
        nodes, columns = self._by_node.get(r, ([], []))
        low = bisect_left(nodes, int(self.compiled.first_node[domain]))
        high = bisect_left(nodes, int(self.compiled.end_node[domain]))
        return dict.fromkeys(columns[low:high], 1.0)

    @cached_property
    def entry_of(self) -> dict[tuple[int, int], int]:
        """Entry of (cohort, resource)."""
        return self.cohorts.entry_of()

    def least_of(self, cohort: int, r: int) -> int:
        """Least total of a cohort."""
        entry = self.entry_of.get((cohort, r))
        found = self.cohorts.cohorts[cohort]
        return found.ranges[r][0] * found.count if entry is None else int(self.cohorts.least[entry])

    @cached_property
    def _by_node(self) -> dict[int, tuple[list[int], list[int]]]:
        """Nodes, ascending, and columns of the open entries of every resource."""
        rows: dict[int, list[tuple[int, int]]] = {}
        for entry, column in self.extra.items():
            place = int(self.cohorts.node[entry]), column
            rows.setdefault(int(self.cohorts.resource[entry]), []).append(place)
        return {r: ([n for n, _ in sorted(found)], [c for _, c in sorted(found)]) for r, found in rows.items()}


def placement_program(cohorts: Cohorts, room: Room, links: Links) -> PlacementProgram:
    """Build the program of a placement."""
    made = PlacementProgram(cohorts, room, links)
    use = [list(row) for row in room.floor_use]
    for r in room.touched:
        by_node, _ = room.extra(cohorts.least, r)
        for node in np.flatnonzero(by_node).tolist():
            use[node][r] += int(by_node[node])
    made.least_use = domain_use(cohorts.compiled, use)
    for entry, (r, least, most) in enumerate(
        zip(cohorts.resource.tolist(), cohorts.least.tolist(), cohorts.most.tolist(), strict=True)
    ):
        if most > least:
            made.extra[entry] = made.program.column(float(Fraction(most - least, unit_of(cohorts.compiled, r))))
    _add_rates(made)
    _add_capacity(made)
    _add_fabric(made)
    return made


def _add_rates(made: PlacementProgram) -> None:
    """Tasks completed; cohorts whose shares are enough already share a column with others that wait for the same."""
    compiled = made.compiled
    if not compiled.model.has_rate_goals or Family.RATES in compiled.model.ignore:
        return
    speeds: dict[tuple[int, int], dict[int, float]] = {}
    together: dict[tuple[tuple[FlowKey, ...], Fraction], int] = {}
    kinds: list[int] = compiled.node_kind.tolist()
    personal: dict[tuple[int, int, tuple[tuple[int, tuple[int, int]], ...]], tuple[Fraction, dict[int, int]]] = {}
    for index, cohort in enumerate(made.cohorts.cohorts):
        offered = compiled.instance.workloads[cohort.workload].rate
        if offered <= 0:
            continue
        where = cohort.option, kinds[cohort.node]
        key = *where, tuple(cohort.ranges.items())
        if key not in personal:
            personal[key] = fastest(compiled, cohort)
        most, needs = personal[key]
        if all(made.least_of(index, r) >= need * cohort.count for r, need in needs.items()):
            group = cohort.flows, most / offered
            if group not in together:
                together[group] = made.program.column(float(group[1]))
                _wait_for_flows(made, together[group], 1.0, cohort.flows)
            made.rate[index] = together[group], float(offered * cohort.count)
            continue
        column = made.program.column(float(most * cohort.count))
        made.rate[index] = column, 1.0
        if where not in speeds:
            speeds[where] = {
                r: float(speed * unit_of(compiled, r)) for r, speed in task_speeds(compiled, *where).items()
            }
        for r, speed in speeds[where].items():
            terms = {column: 1 / speed}
            entry = made.entry_of.get((index, r))
            if entry is not None and entry in made.extra:
                terms[made.extra[entry]] = -1.0
            made.program.at_most(terms, made.least_of(index, r) / unit_of(compiled, r))
        _wait_for_flows(made, column, float(offered * cohort.count), cohort.flows)


def _wait_for_flows(made: PlacementProgram, column: int, offered: float, flows: tuple[FlowKey, ...]) -> None:
    for key in flows:
        if key not in made.theta:
            made.theta[key] = made.program.column(1.0)
        made.program.at_most({column: 1.0, made.theta[key]: -offered}, 0.0)


def _add_capacity(made: PlacementProgram) -> None:
    compiled, room = made.compiled, made.room
    by_domain: dict[tuple[int, int], dict[int, float]] = {}
    parent: list[int] = compiled.parent.tolist()
    for entry, column in made.extra.items():
        r, domain = int(made.cohorts.resource[entry]), int(compiled.node_domain[made.cohorts.node[entry]])
        while domain >= 0:
            by_domain.setdefault((domain, r), {})[column] = 1.0
            domain = parent[domain]
    for r in room.touched:
        unit, name = unit_of(compiled, r), compiled.resources[r]
        _, used = room.extra(made.cohorts.least, r)
        for domain, left in enumerate(room.limits(r).tolist()):
            terms = by_domain.get((domain, r))
            if left is not None and terms:
                names = (domain, name), float(unit * base_unit(compiled, r))
                made.program.at_most(terms, float(Fraction(left - int(used[domain]), unit)), *names)
            if int(compiled.pool_limit[domain, r]) >= 0 and terms:
                _add_pool(made, domain, r)
    _add_power(made)


def _add_pool(made: PlacementProgram, domain: int, r: int) -> None:
    compiled = made.compiled
    unit = unit_of(compiled, r)
    by_node, _ = made.room.extra(made.cohorts.least, r)
    drawn: dict[int, float] = {}
    for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
        leaf = int(compiled.node_domain[node])
        own = max(0, int(compiled.capacity[leaf, r])) - made.room.floor_held[node][r] - int(by_node[node])
        terms = made.extra_in(leaf, r)
        above = made.program.column()
        terms[above] = -1.0
        made.program.at_most(terms, float(Fraction(own, unit)))
        drawn[above] = 1.0
    limit = float(Fraction(int(compiled.pool_limit[domain, r]), unit))
    made.program.at_most(drawn, limit, (domain, compiled.resources[r]), float(unit * base_unit(compiled, r)))


def _add_power(made: PlacementProgram) -> None:
    compiled = made.compiled
    if all(limit is None for limit in compiled.power_limit):
        return
    least = made.room.watts(made.cohorts.least)
    watts: dict[int, float] = {}
    for entry, column in made.extra.items():
        r, node = int(made.cohorts.resource[entry]), int(made.cohorts.node[entry])
        each = Fraction(0)
        power = compiled.instance.nodes[node].power
        if power is not None and int(compiled.compute_resource[node]) == r:
            each += (power.busy - power.idle) / int(compiled.capacity[compiled.node_domain[node], r])
        if compiled.resources[r] == "power":
            each += base_unit(compiled, r)
        watts[column] = float(each * unit_of(compiled, r))
    for domain, limit in enumerate(compiled.power_limit):
        if limit is None:
            continue
        terms = {
            column: watts[column] for r in made.room.touched for column in made.extra_in(domain, r) if watts[column]
        }
        if terms:
            made.program.at_most(terms, float(limit - least[domain]), (domain, "power"))


def _add_fabric(made: PlacementProgram) -> None:
    every = made.links.crossings
    if every is None:
        return
    short = made.links.short
    rate_of = dict(zip(every.keys, every.rates, strict=True))
    rows: list[dict[int, float]] = [{} for _ in short]
    for key, crossed in made.links.flows_over(short).items():
        column = made.theta.get(key)
        rate = float(rate_of[key])
        for index, number in crossed if column is not None else ():
            rows[index][made.theta[key]] = rate * number / float(short[index].limit or 1)
    for link, terms in zip(short, rows, strict=True):
        if terms:
            names = (link.domain, "internal" if link.side == "met" else "bandwidth")
            made.program.at_most(terms, 1.0 if link.limit else 0.0, names, float(link.limit or 1))
