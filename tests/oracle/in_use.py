"""Which families and goals a document and a model use, read loosely: a method may refuse nothing outside this set."""

from __future__ import annotations

from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.model.families import Family, GoalId

__all__ = ["ids_in_use"]


def ids_in_use(instance: Instance, model: Model) -> set[Family | GoalId]:
    """Ids of what is stated and not ignored, and of the model's goals."""
    domains, workloads = instance.domains, instance.workloads
    rules = [workload.placement for workload in workloads]
    traffic = bool(instance.teams or instance.flows)
    stated = {
        Family.ASSIGNMENT: True,
        Family.CAPACITY: True,
        Family.SHARES: model.has_rate_goals,
        Family.RATES: model.has_rate_goals,
        Family.FABRIC: traffic,
        Family.ELIGIBILITY: any(r.require or r.capabilities or r.within for r in rules)
        or any(d.taints for d in domains),
        Family.POOL: any(domain.pool for domain in domains),
        Family.TRANSIENT: bool(instance.current) and any(r.transient for r in instance.resources.values()),
        Family.CONFLICT: bool(instance.conflicts),
        Family.SPREAD: bool(instance.spreads),
        Family.DEPENDENCY: bool(instance.dependencies),
        Family.GANG: any(rule.gang for rule in rules),
        Family.MOVE_LIMIT: instance.moves is not None
        and (instance.moves.limit_members is not None or instance.moves.limit_bytes is not None),
        Family.RESERVE: bool(instance.reserves),
        Family.SLO: any(workload.slo.p99 is not None for workload in workloads),
        Family.LINK_LOAD: instance.link_load is not None,
    }
    assert set(stated) == set(Family), "a new family must be named here"
    return {family for family, used in stated.items() if used and family not in model.ignore} | set(model.goal_ids)
