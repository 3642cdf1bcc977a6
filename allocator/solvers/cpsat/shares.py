"""Family ``shares`` (equation 3): integer totals of shares above the floors, where they can pay."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["RateLaw", "add_shares", "ceiling_of", "law_of"]


@dataclass(frozen=True, slots=True)
class RateLaw:
    """q = min(cap, slope * share of each resource in ``limits``), tasks/s of one member.

    Only resources that bind somewhere between floor and ceiling are listed; the others are folded into ``cap``.
    """

    cap: Fraction
    limits: tuple[tuple[int, Fraction], ...]


def ceiling_of(compiled: Compiled, option: int, node: int, resource: int) -> int:
    """Highest share of one member: as stated, else the node's capacity and its pool, else the nearest capacity.

    Never less than the floor, which is all there is where nobody states a capacity.
    """
    kind = compiled.node_kind[node]
    floor, stated = int(compiled.floor[option, kind, resource]), int(compiled.ceiling[option, kind, resource])
    if stated >= 0:
        return max(floor, stated)
    path = [int(compiled.node_domain[node])]
    while compiled.parent[path[-1]] >= 0:
        path.append(int(compiled.parent[path[-1]]))
    capacities = [int(compiled.capacity[domain, resource]) for domain in path]
    pool = max(int(compiled.pool[domain, resource]) for domain in path)
    if pool >= 0 and Family.POOL not in compiled.model.ignore:
        return max(floor, max(0, capacities[0]) + pool)
    return max(floor, next((capacity for capacity in capacities if capacity >= 0), 0))


def law_of(compiled: Compiled, option: int, node: int) -> RateLaw:
    """Rate of a member without traffic limits (equation 6)."""
    workload = compiled.instance.workloads[int(compiled.option_workload[option])]
    kind = int(compiled.node_kind[node])
    work = workload.modes[int(compiled.option_mode[option])].demand(compiled.kinds[kind]).work
    cap = workload.rate
    if cap == 0 or Family.RATES in compiled.model.ignore:
        return RateLaw(cap, ())
    needs = [(name, need) for name, need in work.compute.items() if need > 0]
    cap = min([cap, *(workload.parallel / need for _, need in needs)])
    needs += [(name, need * (workload.residence or 0)) for name, need in work.memory.items()]
    slopes: list[tuple[int, Fraction]] = []
    for name, need in needs:
        if need > 0:
            resource = compiled.resources.index(name)
            slope = Fraction(10) ** compiled.instance.resources[name].exponent / need
            slopes.append((resource, slope))
            cap = min(cap, slope * ceiling_of(compiled, option, node, resource))
    limits = tuple((r, slope) for r, slope in slopes if slope * int(compiled.floor[option, kind, r]) < cap)
    return RateLaw(cap, limits)


def add_shares(symbols: Symbols) -> dict[tuple[int, int], RateLaw]:
    """Make total shares S[b, o, h, r], floor n <= S <= ceiling n; returns the rate laws by (option, node).

    A share beyond what the rate can use is offered only where some goal rewards use for its own sake.
    """
    compiled = symbols.compiled
    laws: dict[tuple[int, int], RateLaw] = {}
    if not compiled.model.has_rate_goals:
        return laws
    rewarded = _use_is_rewarded(compiled)
    for (block, option, node), count in symbols.n.items():
        symbols.budget.check()
        if (option, node) not in laws:
            laws[option, node] = law_of(compiled, option, node)
        law = laws[option, node]
        useful = {r: -int(-(law.cap / slope) // 1) for r, slope in law.limits}
        workload = int(compiled.option_workload[option])
        for resource, name in enumerate(compiled.resources):
            if not compiled.uses_shares(workload, resource):
                continue
            floor = int(compiled.floor[option, compiled.node_kind[node], resource])
            most = ceiling_of(compiled, option, node, resource) if rewarded else useful.get(resource, floor)
            if most > floor:
                _add_share(symbols, (block, option, node, resource), count, (floor, most), f"the shares of {name}")
    return laws


def _add_share(
    symbols: Symbols, key: tuple[int, int, int, int], count: int, reach: tuple[int, int], where: str
) -> None:
    builder, (floor, most) = symbols.builder, reach
    symbols.shares[key] = builder.integer(0, most * builder.upper[count] // symbols.grain.get(key[3], 1), where)
    above = symbols.share(key).add(count, -floor)
    builder.add(above, where, lower=0)
    builder.add(symbols.share(key).add(count, -most), where, upper=0)
    symbols.excess.setdefault((key[2], key[3]), Linear()).add_scaled(above)


def _use_is_rewarded(compiled: Compiled) -> bool:
    falling = any(node.power is not None and node.power.busy < node.power.idle for node in compiled.instance.nodes)
    return GoalId.BALANCE in compiled.model.goal_ids or falling
