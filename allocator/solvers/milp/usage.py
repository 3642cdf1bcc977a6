"""Use of resources as linear terms: family ``shares`` (equation 3) and the sums U_dr every other family reads."""

from __future__ import annotations

from typing import Any

from allocator.model.families import Family, GoalId
from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.response.delays import seat_at, served_blocks
from allocator.solvers.milp.response.floors import least_share
from allocator.solvers.milp.terms import Terms

__all__ = ["add_shares", "share_unit", "total_share", "transient_use", "usage"]


def share_unit(form: Formulation, resource: int) -> int:
    """Amount that one unit of an extra-share variable stands for: keeps coefficients near 1."""
    largest = int(form.compiled.capacity[:, resource].max(initial=1))
    return int(10 ** max(0, len(str(max(largest, 1))) - 4))


def add_shares(form: Formulation) -> None:
    """Variables e[b, o, h, r] >= 0: share above the least, in ``share_unit`` amounts, where more can pay."""
    compiled = form.compiled
    extra: dict[tuple[int, int, int, int], Any] = {}
    form.cache["extra"] = extra
    rates = compiled.model.has_rate_goals
    if not rates and not (served_blocks(form) and _likes_use(form)):
        return
    for r in range(len(compiled.resources)):
        unit = share_unit(form, r)
        users = {w.index for w in compiled.instance.workloads if rates and compiled.uses_shares(w.index, r)}
        for entry in form.entries:
            if int(compiled.option_workload[entry.option]) not in users and not _may_serve(form, entry, r):
                continue
            least = least_share(form, entry, r)
            ceiling = compiled.ceiling_of(entry.option, entry.node, r)
            if not entry.variable.upper or (ceiling <= least.coefs[0] if least else not ceiling):
                continue
            variable = form.real("shares")
            extra[entry.block, entry.option, entry.node, r] = variable
            terms = least.extend(Terms([(unit, variable), (-ceiling, entry.variable)]))
            form.at_most("shares", terms, 0)


def _likes_use(form: Formulation) -> bool:
    """Whether a goal or a cap may be served by using more than what is needed."""
    nodes = form.compiled.instance.nodes
    return GoalId.BALANCE in form.compiled.model.goal_ids or any(
        node.power is not None and node.power.busy < node.power.idle for node in nodes
    )


def _may_serve(form: Formulation, entry: Entry, r: int) -> bool:
    """Whether members have a target and may take more of its compute than it needs."""
    service = served_blocks(form).get(entry.block)
    return service is not None and service.target is not None and seat_at(form, entry).server.resource == r


def total_share(form: Formulation, entry: Entry, r: int) -> Terms:
    """Total share of resource r of the members of an entry, in amounts."""
    terms = least_share(form, entry, r)
    variable = form.cache["extra"].get((entry.block, entry.option, entry.node, r))
    if variable is not None:
        terms.add(share_unit(form, r), variable)
    return terms


def _node_usage(form: Formulation, node: int, r: int) -> Terms:
    terms = Terms()
    for entry in form.on_node[node]:
        terms.extend(total_share(form, entry, r))
    return terms


def usage(form: Formulation, domain: int, r: int) -> Terms:
    """U_dr: shares of resource r on the nodes of a domain, in amounts."""
    key = "usage", domain, r
    if key not in form.cache:
        terms = Terms()
        for node in range(int(form.compiled.first_node[domain]), int(form.compiled.end_node[domain])):
            terms.extend(_node_usage(form, node, r))
        form.cache[key] = terms
    found: Terms = form.cache[key]
    return found


def transient_use(form: Formulation, domain: int, r: int) -> Terms:
    """Old floors held on nodes of the domain by members that leave them (equation 8), in amounts."""
    compiled = form.compiled
    terms = Terms()
    resource = compiled.instance.resources[compiled.resources[r]]
    if not resource.transient or form.ignores(Family.TRANSIENT):
        return terms
    for block in compiled.blocks:
        node = block.current_node
        if node >= 0 and compiled.first_node[domain] <= node < compiled.end_node[domain]:
            old = int(compiled.floor[block.current_option, compiled.node_kind[node], r])
            terms.constant += old * block.count
            terms.extend(form.stays(block.index), -old)
    return terms
