"""Why members of a plan have no place: the reason, and what is short on the node that comes closest.

Owns the wording of ``UnplacedGroup.reason``. Looks at one more member beside the plan as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.compiled.restore import assignment_of
from allocator.instance.entities import Domain, WorkloadClass
from allocator.instance.zones import Zone
from allocator.model.families import Family
from allocator.plan.entities import Plan, UnplacedGroup
from allocator.plan.evaluation import Evaluation
from allocator.solvers.bounds.room import usable_nodes
from allocator.solvers.evaluation.use import domain_use, node_use
from allocator.solvers.explanation.elements import POWER
from allocator.solvers.explanation.obstacles import ENDLESS, Held, obstacle, tightest
from allocator.solvers.explanation.words import amounts_text, at, listed, short_of

__all__ = ["explain_unplaced"]

MOST_CLASSES = 1000
"""Classes that are looked at; beyond, nobody reads on and the time is missed elsewhere."""


def explain_unplaced(compiled: Compiled, plan: Plan, evaluation: Evaluation) -> Plan:
    """The plan with ``reason`` and ``short`` of every unplaced group filled in.

    ``short`` is what one more member of the class lacks on the node that comes closest, when room is what is missing.
    """
    if not plan.unplaced:
        return plan
    state = _State.of(compiled, plan, evaluation)
    reasons: dict[str, tuple[str, Mapping[str, int]]] = {}
    groups = []
    for group in plan.unplaced:
        if group.workload not in reasons and len(reasons) >= MOST_CLASSES:
            groups.append(replace(group, reason="not placed"))
            continue
        if group.workload not in reasons:
            reasons[group.workload] = _reason(state, compiled.instance.workload_by_name[group.workload])
        reason, short = reasons[group.workload]
        whole = _unit(state, group) if not short else None
        groups.append(replace(group, reason=whole or reason, short=short))
    return replace(plan, unplaced=tuple(groups))


@dataclass(frozen=True)
class _State:
    """What is left beside the plan: ``free``: for one more member, int64[N, R]."""

    compiled: Compiled
    free: Held
    members: Mapping[tuple[str, int], int]  # (group, node) -> placed members
    placed: Mapping[str, int]  # by class

    @staticmethod
    def of(compiled: Compiled, plan: Plan, evaluation: Evaluation) -> _State:
        counts, shares, _ = assignment_of(compiled, plan)
        use = node_use(compiled, counts, shares, transient=True)
        total = domain_use(compiled, use)
        members: dict[tuple[str, int], int] = {}
        placed: dict[str, int] = {}
        for (block, _, node), count in counts.items():
            entity = compiled.instance.workloads[compiled.blocks[block].workload]
            placed[entity.name] = placed.get(entity.name, 0) + count
            members[entity.group, node] = members.get((entity.group, node), 0) + count
        return _State(compiled, _free(compiled, use, total, evaluation), members, placed)

    def members_in(self, group: str, zone: Zone) -> int:
        """Placed members of a group in a zone."""
        return sum(self.members.get((group, node), 0) for node in zone.nodes)


def _free(compiled: Compiled, use: list[list[int]], total: list[list[int]], evaluation: Evaluation) -> Held:
    """Least left at or above each node; 0 of what nobody states there; pools lend to the nodes below them."""
    free = np.full((compiled.num_nodes, len(compiled.resources)), ENDLESS, dtype=np.int64)
    held = Family.CAPACITY not in compiled.model.ignore
    watts = {entry.domain: entry for entry in evaluation.uses if entry.resource == POWER and held}
    for r, name in enumerate(compiled.resources):
        lent = _lent(compiled, use, r)
        left: list[int | None] = []
        for domain in range(compiled.num_domains):
            parent = int(compiled.parent[domain])
            above = None if parent < 0 else left[parent]
            limit = int(compiled.limit[domain, r])
            here = None if limit < 0 else limit - total[domain][r]
            entry = watts.get(compiled.instance.domains[domain].path)
            if name == POWER and entry is not None:
                unit = Fraction(10) ** compiled.instance.resources[name].exponent
                here = ((entry.capacity - entry.used) / unit).__floor__()
            if compiled.overfull[domain]:
                here = 0  # nobody may enter
            left.append(here if above is None else above if here is None else min(above, here))
        for node in range(compiled.num_nodes):
            domain = int(compiled.node_domain[node])
            amount, extra = left[domain], lent[node]
            if extra is not None:
                own = max(0, int(compiled.capacity[domain, r]) - use[node][r])
                amount = own + extra if amount is None else min(amount, own + extra)
            if amount is None and held and not _stated(compiled, domain, r):
                amount = 0
            free[node, r] = ENDLESS if amount is None else amount
    return free


def _stated(compiled: Compiled, domain: int, resource: int) -> bool:
    while domain >= 0:
        if compiled.limit[domain, resource] >= 0 or compiled.pool_limit[domain, resource] >= 0:
            return True
        domain = int(compiled.parent[domain])
    return False


def _lent(compiled: Compiled, use: list[list[int]], resource: int) -> list[int | None]:
    """By node: what is left of the pool above it; None without one."""
    lent: list[int | None] = [None] * compiled.num_nodes
    for domain in range(compiled.num_domains):
        size = int(compiled.pool_limit[domain, resource])
        if size < 0:
            continue
        nodes = range(int(compiled.first_node[domain]), int(compiled.end_node[domain]))
        drawn = sum(
            max(0, use[node][resource] - max(0, int(compiled.capacity[compiled.node_domain[node], resource])))
            for node in nodes
        )
        for node in nodes:
            lent[node] = max(0, size - drawn)
    return lent


def _reason(state: _State, workload: WorkloadClass) -> tuple[str, Mapping[str, int]]:
    """Why one more member of the class has no place."""
    compiled = state.compiled
    trouble = obstacle(compiled, workload.index)
    if trouble is not None:
        return trouble.text, trouble.short
    usable = usable_nodes(compiled, workload.index)
    nodes = [node for node in compiled.instance.nodes if usable[node.first_node]]
    fits = usable & _fits(state, workload.index)
    roomy = [node for node in nodes if fits[node.first_node]]
    if roomy:
        return _held_back(state, workload, roomy), {}
    best = tightest(compiled, workload.index, nodes, state.free)
    if best is None or not best[1]:
        return "no room left on any node it can use", {}
    node, short, asks = best
    wanted = amounts_text(compiled.instance, {name: asks[name] for name in short})
    return (
        f"no room left: one more member asks for {wanted}; the node that comes closest, {at(node.path)}, is "
        f"{short_of(compiled.instance, short)}"
    ), short


def _fits(state: _State, workload: int) -> npt.NDArray[np.bool_]:
    """bool[N]: one more member, in some mode, has room on the node."""
    compiled = state.compiled
    found = np.zeros(compiled.num_nodes, dtype=np.bool_)
    for option in compiled.options_of(workload):
        floors = compiled.floor[option][compiled.node_kind]
        found |= ((floors == 0) | (floors <= state.free)).all(axis=1)
    return found


def _held_back(state: _State, workload: WorkloadClass, roomy: list[Domain]) -> str:
    """The rules that may hold back a member for whom there is room; else what is certain."""
    instance, ignored = state.compiled.instance, state.compiled.model.ignore
    for rule in instance.conflicts:
        if rule.group != workload.group or Family.CONFLICT in ignored:
            continue
        full = {
            node
            for zone in instance.zones_of(rule.level)
            if state.members_in(rule.group, zone) >= rule.at_most
            for node in zone.nodes
        }
        if all(node.first_node in full for node in roomy):
            noun = "member" if rule.at_most == 1 else "members"
            return (
                f"held back by a rule: at most {rule.at_most} {noun} of group {rule.group} in one {rule.level}, "
                f"and each {rule.level} with room left has that many"
            )
    for depends in instance.dependencies:
        if depends.group != workload.group or Family.DEPENDENCY in ignored:
            continue
        lacking = {
            node
            for zone in instance.zones_of(depends.level)
            if not state.members_in(depends.on, zone)
            for node in zone.nodes
        }
        if all(node.first_node in lacking for node in roomy):
            where = f"no {depends.level} with room left has a member of it"
            return f"held back by a rule: it depends on {depends.on}, and {where}"
    where = at(roomy[0].path)
    rules = _other_rules(state, workload)
    if rules:
        return f"{where} has room for one more member; it may be held back by {listed(rules, 'or')}"
    return f"{where} has room for one more member: the goals of the model or an unfinished search left it out"


def _other_rules(state: _State, workload: WorkloadClass) -> list[str]:
    """Rules that one more member might break and that are not counted here."""
    instance, ignored = state.compiled.instance, state.compiled.model.ignore
    limits = instance.moves
    stated = {
        Family.CONFLICT: any(rule.group == workload.group for rule in instance.conflicts),
        Family.SPREAD: any(rule.group == workload.group for rule in instance.spreads),
        Family.RESERVE: bool(instance.reserves),
        Family.MOVE_LIMIT: limits is not None and (limits.limit_members is not None or limits.limit_bytes is not None),
        Family.DEPENDENCY: any(rule.group == workload.group for rule in instance.dependencies),
        Family.LINK_LOAD: instance.link_load is not None
        and (
            any(workload.name in team.members for team in instance.teams)
            or any(workload.name in (flow.source, flow.target) for flow in instance.flows)
        ),
    }
    found = [family.value for family, holds in stated.items() if holds and family not in ignored]
    if any(domain.power is not None for domain in instance.nodes) and any(
        POWER in d.capacity for d in instance.domains
    ):
        found.append("a power cap")
    return found


def _unit(state: _State, group: UnplacedGroup) -> str | None:
    """Gangs and teams are placed whole: one more member alone is not what is asked for."""
    compiled = state.compiled
    workload = compiled.instance.workload_by_name[group.workload]
    gang = workload.placement.gang
    if gang is not None and Family.GANG not in compiled.model.ignore:
        left = workload.count % gang.size
        if group.first >= workload.count - left:
            return f"left over: {workload.count:,} members are no whole number of gangs of {gang.size:,}"
        return (
            f"no {gang.level} was found for a whole gang: {gang.size:,} members on as many nodes of one {gang.level} "
            "with room for each"
        )
    if obstacle(compiled, workload.index) is not None:
        return None
    for team in compiled.instance.teams:
        if workload.name in team.members:
            size = team.members[workload.name]
            first = team.offsets[workload.name]
            if group.first < first + team.count * size and group.first + group.count > first:
                whole = f"a whole team ({team.size:,} members) found no room"
                return f"its team {team.name} is placed whole or not at all, and {whole}"
    return None
