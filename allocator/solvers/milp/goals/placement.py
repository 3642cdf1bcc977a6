"""Goals ``placed``, ``cost``, ``nodes`` and ``moves`` (equations 15, 19, 25, 24): linear in the counts."""

from __future__ import annotations

from allocator.instance.entities import MoveCosts
from allocator.model.entities import Goal
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.goals.base import GoalTerms, greatest_common_divisor
from allocator.solvers.milp.moves import moved
from allocator.solvers.milp.power import in_use
from allocator.solvers.milp.terms import Terms

__all__ = ["cost", "moves", "nodes", "placed"]


def placed(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Sum of value over placed members."""
    terms = Terms()
    workloads = form.compiled.instance.workloads
    for block in form.compiled.blocks:
        terms.extend(form.placed(block.index), workloads[block.workload].value)
    return GoalTerms(terms, greatest_common_divisor(w.value for w in workloads if w.count))


def cost(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Sum of cost over placed members."""
    costs = form.compiled.cost
    terms = Terms()
    if costs is not None:
        for entry in form.entries:
            terms.add(costs[form.compiled.option_workload[entry.option], entry.node], entry.variable)
    return GoalTerms(terms, greatest_common_divisor(set(terms.coefs)))


def nodes(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Sum of weight over nodes in use."""
    terms = Terms()
    for index, node in enumerate(form.compiled.instance.nodes):
        if node.weight and form.on_node[index]:
            terms.add(node.weight, in_use(form, index))
    return GoalTerms(terms, greatest_common_divisor(terms.coefs))


def moves(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Process, service and machine move costs."""
    compiled = form.compiled
    stated = compiled.instance.moves or MoveCosts()
    workloads = compiled.instance.workloads
    terms = Terms()
    by_group: dict[str, Terms] = {}
    for block in compiled.blocks:
        leaving = moved(form, block.index)
        workload = workloads[block.workload]
        terms.extend(leaving, stated.process * workload.move_cost)
        if block.current_node >= 0:
            by_group.setdefault(workload.group, Terms()).extend(leaving)
    if stated.service and by_group:
        most = form.real("moves")
        for leaving in by_group.values():
            form.at_most("moves", leaving.extend(Terms([(-1, most)])), 0)
        terms.add(stated.service, most)
    if stated.machine:
        paths = [node.path for node in compiled.instance.nodes]
        for entry in form.entries:
            origin = compiled.blocks[entry.block].current_node
            if origin >= 0 and origin != entry.node:
                price = stated.machine_cost.get((paths[origin], paths[entry.node]), 0)
                terms.add(stated.machine * price, entry.variable)
    step = greatest_common_divisor([*set(terms.coefs), terms.constant])
    return GoalTerms(terms, step)
