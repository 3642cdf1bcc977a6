"""Offered load of every flow on every uplink and direction (equation 7), exact, in bit/s."""

from __future__ import annotations

import numpy as np

from allocator.compiled.entities import GroupTraffic, PairTraffic, TeamTraffic
from allocator.solvers.milp.fabric.products import Unary, both, product, unary
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = [
    "class_count",
    "class_size",
    "class_unary",
    "group_load",
    "link_load",
    "outside_count",
    "pair_crossing",
    "team_count",
    "team_load",
    "team_unary",
]


def team_count(form: Formulation, team: TeamTraffic, domain: int) -> Terms:
    """Members of a team in a domain."""
    terms = Terms()
    for block in team.blocks:
        terms.extend(form.count_in(block, domain))
    return terms


def _most_in(form: Formulation, team: TeamTraffic, domain: int) -> int:
    """Most members of a team that a domain's own limits can hold: smallest floors first, per resource."""
    compiled = form.compiled
    low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
    blocks = [compiled.blocks[index] for index in team.blocks]
    most = sum(b.count for b in blocks if any(low <= entry.node < high for entry in form.of_block[b.index]))
    kinds = np.unique(compiled.node_kind[low:high])
    for r in np.nonzero(compiled.limit[domain] >= 0)[0]:
        if compiled.resources[r] == "power":
            continue
        floors: list[int] = []
        for block in blocks:
            of_class = compiled.floor[compiled.first_option[block.workload] : compiled.first_option[block.workload + 1]]
            floors.extend([int(of_class[:, kinds, r].min())] * block.count)
        room, fits = int(compiled.limit[domain, r]), 0
        for need in sorted(floors):
            room -= need
            if room < 0:
                break
            fits += 1
        most = min(most, fits)
    return most


def team_unary(form: Formulation, team: TeamTraffic, domain: int) -> Unary:
    """Unary count of a team's members in a domain."""
    key = "team", team.index, domain
    cached = form.cache.get(("unary", key))
    if cached is not None:
        found: Unary = cached
        return found
    return unary(form, key, team_count(form, team, domain), _most_in(form, team, domain))


def team_load(form: Formulation, team: TeamTraffic, domain: int) -> Terms:
    """Load each way on the uplink: rate * sum_a a (m - a) pick_a."""
    if not team_count(form, team, domain):
        return Terms()
    count = team_unary(form, team, domain)
    crossings = count.weighted([a * (team.size - a) for a in range(len(count.picks))])
    return Terms().extend(crossings, team.rate)


def pair_crossing(form: Formulation, pair: PairTraffic, domain: int, direction: str) -> Terms:
    """1 iff both ends are placed and the flow crosses the uplink in the direction."""
    inside, outside = (pair.source, pair.target) if direction == "up" else (pair.target, pair.source)
    return both(form, inside, domain, outside, 0).copy().extend(both(form, inside, domain, outside, domain), -1)


def class_size(form: Formulation, workload: int) -> int:
    """Members of a class."""
    return form.compiled.instance.workloads[workload].count


def class_count(form: Formulation, workload: int, domain: int) -> Terms:
    """Members of a class in a domain."""
    terms = Terms()
    for block in form.blocks_of(workload):
        terms.extend(form.count_in(block, domain))
    return terms


def outside_count(form: Formulation, workload: int, domain: int) -> Terms:
    """Placed members of a class outside a domain."""
    terms = Terms()
    for block in form.blocks_of(workload):
        terms.extend(form.placed(block)).extend(form.count_in(block, domain), -1)
    return terms


def class_unary(form: Formulation, workload: int, domain: int, *, outside: bool = False) -> Unary:
    """Unary count of a class inside (or placed outside) a domain."""
    count = outside_count(form, workload, domain) if outside else class_count(form, workload, domain)
    return unary(form, ("class", workload, domain, outside), count, class_size(form, workload))


def group_load(form: Formulation, group: GroupTraffic, domain: int, direction: str) -> Terms:
    """Rate * (senders on this side) * (receivers on the other side), the smaller class in unary."""
    inside, outside = (group.source, group.target) if direction == "up" else (group.target, group.source)
    here, there = class_count(form, inside, domain), outside_count(form, outside, domain)
    if not here:
        return Terms()
    key = "group", inside, outside, domain
    if class_size(form, inside) <= class_size(form, outside):
        crossings = product(form, key, class_unary(form, inside, domain), there, class_size(form, outside))
    else:
        count = class_unary(form, outside, domain, outside=True)
        crossings = product(form, key, count, here, class_size(form, inside))
    return Terms().extend(crossings, group.rate)


def link_load(form: Formulation, domain: int, direction: str) -> Terms:
    """Offered load of all flows on one direction of an uplink, bit/s."""
    key = "load", domain, direction
    if key not in form.cache:
        terms = Terms()
        for team in form.compiled.teams:
            terms.extend(team_load(form, team, domain))
        for pair in form.compiled.pairs:
            terms.extend(pair_crossing(form, pair, domain, direction), pair.rate)
        for group in form.compiled.groups:
            terms.extend(group_load(form, group, domain, direction))
        form.cache[key] = terms
    found: Terms = form.cache[key]
    return found
