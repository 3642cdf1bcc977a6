"""Which families and goals an instance and a model use, and whether a method supports them. Looks before building."""

from __future__ import annotations

from allocator.errors import UnsupportedFamily
from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Method

__all__ = ["require_support", "used_families"]


def used_families(instance: Instance, model: Model) -> frozenset[Family]:
    """Families that the instance states and the model does not ignore."""
    used = {Family.ASSIGNMENT, Family.SHARES}
    stated = {
        Family.ELIGIBILITY: any(_has_rules(instance, w.index) for w in instance.workloads)
        or any(node.taints for node in instance.nodes),
        Family.CAPACITY: any(domain.capacity for domain in instance.domains),
        Family.POOL: any(domain.pool for domain in instance.domains),
        Family.RATES: any(workload.rate for workload in instance.workloads),
        Family.FABRIC: bool(instance.teams or instance.flows),
        Family.TRANSIENT: instance.current is not None and any(r.transient for r in instance.resources.values()),
        Family.CONFLICT: bool(instance.conflicts),
        Family.SPREAD: bool(instance.spreads),
        Family.DEPENDENCY: bool(instance.dependencies),
        Family.GANG: any(workload.placement.gang for workload in instance.workloads),
        Family.MOVE_LIMIT: instance.moves is not None
        and (instance.moves.limit_members is not None or instance.moves.limit_bytes is not None),
        Family.RESERVE: bool(instance.reserves),
        Family.SLO: any(workload.slo.p99 is not None for workload in instance.workloads),
        Family.LINK_LOAD: instance.link_load is not None,
    }
    used.update(family for family, is_stated in stated.items() if is_stated)
    return frozenset(used - model.ignore)


def _has_rules(instance: Instance, workload: int) -> bool:
    rules = instance.workloads[workload].placement
    return bool(rules.require or rules.capabilities or rules.within)


def require_support(method: Method, instance: Instance, model: Model) -> None:
    """Raise ``UnsupportedFamily`` naming the method and everything in use that it lacks."""
    used = used_families(instance, model)
    lacking = [str(family) for family in Family if family in used - method.support.families]
    lacking += [str(goal) for goal in GoalId if goal in set(model.goal_ids) - method.support.goals]
    curves = {domain.uplink.goodput.curve for domain in instance.domains if domain.uplink is not None}
    bent = curves - method.support.curves
    if bent and Family.FABRIC in used:
        lacking.append(f"fabric (goodput curve {', '.join(sorted(bent))})")
    if model.may_leave_out_for_p99:
        lacking.append("p99 (members may be left out for it: let placed stand alone in a level before)")
    if instance.services:
        lacking.append("services")
    if lacking:
        ignorable = [name for name in lacking if name in set(Family)]
        hint = f"a model may leave out a family: ignore: [{', '.join(ignorable)}]" if ignorable else ""
        raise UnsupportedFamily(method.name, lacking, hint)
