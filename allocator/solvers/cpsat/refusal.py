"""What ``cpsat`` declines before building, by name. Owns the list of what it states exactly and what it does not."""

from __future__ import annotations

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused, ModelTooLarge, UnsupportedFamily
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Support
from allocator.solvers.cpsat.rates import refuse_inexact

__all__ = ["SUPPORT", "refuse"]

NAME = "cpsat"
USE_MILP = "use --method milp"
LARGEST_MODEL = 500_000  # variables; beyond it building alone takes longer than a heuristic needs for a good plan

SUPPORT = Support(
    families=frozenset(Family) - {Family.SLO},
    goals=frozenset(GoalId) - {GoalId.P99, GoalId.QUALITY},
)


def refuse(compiled: Compiled) -> None:
    """Raise ``MethodRefused`` where the instance or the model is outside what is stated exactly."""
    model, instance = compiled.model, compiled.instance
    unknown = [goal for goal in model.goal_ids if goal not in SUPPORT.goals]
    if Family.SLO not in model.ignore and any(workload.slo.p99 is not None for workload in instance.workloads):
        unknown.append(Family.SLO)  # type: ignore[arg-type]
    if unknown:
        raise UnsupportedFamily(NAME, unknown)
    if Family.ASSIGNMENT in model.ignore:
        raise UnsupportedFamily(NAME, [Family.ASSIGNMENT], "it cannot be ignored")
    if Family.SHARES in model.ignore and model.has_rate_goals:
        raise UnsupportedFamily(NAME, [Family.SHARES], "it cannot be ignored in a model with a rate goal")
    negative = [str(goal.id) for level in model.levels for goal in level.goals if goal.weight < 0]
    if negative:
        raise MethodRefused(f"method {NAME} needs weights of at least 0; negative: {', '.join(negative)}")
    _refuse_fabric(compiled)
    _refuse_gangs(compiled)
    size = estimated_size(compiled)
    if size > LARGEST_MODEL:
        raise ModelTooLarge(
            f"method {NAME} would need about {size} variables, more than {LARGEST_MODEL}; use --method local-search"
        )
    refuse_inexact(compiled)


def estimated_size(compiled: Compiled) -> int:
    """Variables of the formulation, about: counts, shares, and traffic by uplink."""
    places = compiled.eligible.sum(axis=1)
    counts = sum(int(places[option]) for block in compiled.blocks for option in compiled.options_of(block.workload))
    if {GoalId.TRAFFIC, GoalId.CONGESTION} & set(compiled.model.goal_ids):
        per_uplink = 2 * len(compiled.pairs) + sum(team.size + 1 for team in compiled.teams) + 6 * len(compiled.groups)
        counts += per_uplink * compiled.num_domains
        if compiled.instance.distances.matrix is not None:
            counts += (len(compiled.teams) + len(compiled.groups)) * compiled.num_nodes**2
    return counts


def _refuse_fabric(compiled: Compiled) -> None:
    if Family.FABRIC in compiled.model.ignore:
        return
    domains = compiled.instance.domains
    if not (compiled.teams or compiled.pairs or compiled.groups):
        return
    if any(domain.uplink is not None and domain.uplink.goodput.curve != "fair" for domain in domains):
        raise UnsupportedFamily(NAME, [Family.FABRIC], "goodput curves other than fair are not modelled")
    limited = any(d.internal is not None or (d.uplink is not None and d.uplink.bandwidth is not None) for d in domains)
    if not compiled.model.has_rate_goals or not limited:
        return
    talking = {compiled.blocks[block].workload for team in compiled.teams for block in team.blocks if team.rate}
    talking |= {compiled.blocks[block].workload for pair in compiled.pairs for block in (pair.source, pair.target)}
    talking |= {workload for group in compiled.groups for workload in (group.source, group.target)}
    for workload in sorted(talking):
        entity = compiled.instance.workloads[workload]
        if entity.rate > 0:
            hint = f"rates of class {entity.name} depend on granted bandwidth, which is not an integer; {USE_MILP}"
            raise UnsupportedFamily(NAME, [Family.FABRIC], hint)


def _refuse_gangs(compiled: Compiled) -> None:
    for unit in compiled.gangs:
        name = compiled.instance.workloads[unit.workload].name
        if unit.replicas > 1 and len(unit.blocks) > 1:
            hint = f"members of the gangs of class {name} differ in their teams or flows"
            raise UnsupportedFamily(NAME, [Family.GANG], hint)
