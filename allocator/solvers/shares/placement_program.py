"""The share program of one placement: ``shares``, ``capacity``, ``pool``, ``rates``, ``fabric`` and power caps.

Loads are constants here, so everything is linear (equations 3 to 7, 12).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.evaluation.links import carried
from allocator.solvers.evaluation.loads import FlowCrossings, FlowKey, flow_crossings, flow_keys
from allocator.solvers.evaluation.use import Counts, domain_use, node_use
from allocator.solvers.shares.program import Program, base_unit, unit_of

__all__ = ["PlacementProgram", "placement_program"]

Spot = tuple[int, int, int]


@dataclass
class PlacementProgram:
    """Columns: ``extra[spot, r]`` share above the floors in units, ``rate[spot]`` tasks/s, ``theta[flow]``."""

    compiled: Compiled
    counts: Counts
    program: Program
    extra: dict[tuple[Spot, int], int]
    rate: dict[Spot, int]
    theta: dict[FlowKey, int]
    flows: list[FlowCrossings]
    floor_use: list[list[int]]  # [D][R], floors alone, without transient use


def placement_program(compiled: Compiled, counts: Counts) -> PlacementProgram:
    """Build the program of a placement under a model with a rate goal."""
    use = node_use(compiled, counts, {})
    made = PlacementProgram(
        compiled, counts, Program(), {}, {}, {}, flow_crossings(compiled, counts), domain_use(compiled, use)
    )
    _add_extra(made)
    _add_rates(made)
    _add_capacity(made)
    if not {Family.FABRIC, Family.RATES} & compiled.model.ignore:
        _add_fabric(made)
    return made


def _add_extra(made: PlacementProgram) -> None:
    compiled = made.compiled
    for spot, count in made.counts.items():
        block, option, node = spot
        workload = compiled.blocks[block].workload
        for r in range(len(compiled.resources)):
            if not compiled.uses_shares(workload, r):
                continue
            floor = int(compiled.floor[option, compiled.node_kind[node], r])
            room = compiled.ceiling_of(option, node, r) - floor
            if room > 0:
                made.extra[spot, r] = made.program.column(room * count / unit_of(compiled, r))


def _add_rates(made: PlacementProgram) -> None:
    compiled = made.compiled
    for spot, count in made.counts.items():
        block, option, node = spot
        workload = compiled.instance.workloads[compiled.blocks[block].workload]
        if workload.rate <= 0:
            continue
        mode = workload.modes[int(compiled.option_mode[option])]
        work = mode.demand(compiled.kinds[int(compiled.node_kind[node])]).work
        fastest = workload.rate
        if Family.RATES in compiled.model.ignore:
            made.rate[spot] = made.program.column(float(fastest * count))
            continue
        needs = {name: need for name, need in work.compute.items() if need > 0}
        for need in needs.values():
            fastest = min(fastest, workload.parallel / need)
        held = {name: need * (workload.residence or 0) for name, need in work.memory.items()}
        rate = made.rate[spot] = made.program.column(float(fastest * count))
        for name, need in (*needs.items(), *((n, h) for n, h in held.items() if h > 0)):
            r = compiled.resources.index(name)
            unit = unit_of(compiled, r)
            floor = int(compiled.floor[option, compiled.node_kind[node], r]) * count
            terms = {rate: float(need / base_unit(compiled, r) / unit)}
            if (spot, r) in made.extra:
                terms[made.extra[spot, r]] = -1.0
            made.program.at_most(terms, float(Fraction(floor, unit)))


def _add_capacity(made: PlacementProgram) -> None:
    compiled = made.compiled
    by_domain: dict[tuple[int, int], dict[int, float]] = {}
    for ((_, _, node), r), column in made.extra.items():
        domain = int(compiled.node_domain[node])
        while domain >= 0:
            by_domain.setdefault((domain, r), {})[column] = 1.0
            domain = int(compiled.parent[domain])
    held = domain_use(compiled, node_use(compiled, made.counts, {}, transient=True))
    for (domain, r), terms in by_domain.items():
        unit = unit_of(compiled, r)
        name = compiled.resources[r]
        limit = int(compiled.limit[domain, r])
        if limit >= 0 and name != "power":
            room = float(Fraction(limit - held[domain][r], unit))
            made.program.at_most(terms, room, (domain, name), float(unit * base_unit(compiled, r)))
        pool = int(compiled.pool_limit[domain, r])
        if pool >= 0:
            _add_pool(made, domain, r, held)
    _add_power(made, held)


def _add_pool(made: PlacementProgram, domain: int, r: int, held: list[list[int]]) -> None:
    compiled = made.compiled
    unit = unit_of(compiled, r)
    drawn: dict[int, float] = {}
    for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
        leaf = int(compiled.node_domain[node])
        own = max(0, int(compiled.capacity[leaf, r]))
        terms = {c: 1.0 for ((_, _, n), res), c in made.extra.items() if n == node and res == r}
        above = made.program.column()
        terms[above] = -1.0
        made.program.at_most(terms, float(Fraction(own - held[leaf][r], unit)))
        drawn[above] = 1.0
    limit = float(Fraction(int(compiled.pool_limit[domain, r]), unit))
    made.program.at_most(drawn, limit, (domain, compiled.resources[r]), float(unit * base_unit(compiled, r)))


def _add_power(made: PlacementProgram, held: list[list[int]]) -> None:
    compiled = made.compiled
    if "power" not in compiled.resources:
        return
    p = compiled.resources.index("power")
    watt = base_unit(compiled, p)
    used_nodes = {node for (_, _, node), count in made.counts.items() if count}
    for domain, limit in enumerate(compiled.power_limit):
        if limit is None:
            continue
        room = limit - held[domain][p] * watt
        terms: dict[int, float] = {}
        for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
            power = compiled.instance.nodes[node].power
            r = int(compiled.compute_resource[node])
            if power is None or node not in used_nodes:
                continue
            room -= power.idle
            if r < 0:
                continue
            leaf = int(compiled.node_domain[node])
            each = (power.busy - power.idle) / int(compiled.capacity[leaf, r])
            room -= each * made.floor_use[leaf][r]
            for ((_, _, n), res), column in made.extra.items():
                if n == node and res == r and each:
                    terms[column] = float(each * unit_of(compiled, r))
        if terms:
            made.program.at_most(terms, float(room), (domain, "power"))


def _add_fabric(made: PlacementProgram) -> None:
    compiled = made.compiled
    spots: dict[int, list[Spot]] = {}
    for spot in made.rate:
        spots.setdefault(spot[0], []).append(spot)
    for key, _, sources, targets in flow_keys(compiled):
        blocks = [block for block in dict.fromkeys((*sources, *targets)) if block in spots]
        if not blocks:
            continue
        theta = made.theta[key] = made.program.column(1.0)
        for block in blocks:
            offered = compiled.instance.workloads[compiled.blocks[block].workload].rate
            for spot in spots[block]:
                made.program.at_most({made.rate[spot]: 1.0, theta: -float(offered * made.counts[spot])}, 0.0)
    for domain in compiled.instance.domains:
        for side, name in (("up", "bandwidth"), ("down", "bandwidth"), ("met", "internal")):
            limit = carried(domain, made.flows, side)
            if limit is not None:
                _add_link(made, domain.index, limit, side, name)


def _add_link(made: PlacementProgram, domain: int, bandwidth: Fraction, side: str, name: str) -> None:
    scale = bandwidth or Fraction(1)
    terms = {}
    for flow in made.flows:
        number = getattr(flow, side).get(domain, 0)
        if number and flow.key in made.theta:
            terms[made.theta[flow.key]] = float(flow.rate * number / scale)
    if terms:
        made.program.at_most(terms, float(bandwidth / scale), (domain, name), float(scale))
