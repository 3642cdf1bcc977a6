"""Goals ``throughput`` and ``fairness`` (equations 16, 17)."""

from __future__ import annotations

from allocator.model.entities import Goal
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.goals.base import GoalTerms
from allocator.solvers.milp.rates import rate_of_workload
from allocator.solvers.milp.terms import Terms

__all__ = ["fairness", "throughput"]


def throughput(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Weighted tasks/s."""
    terms = Terms()
    for workload in form.compiled.instance.workloads:
        terms.extend(rate_of_workload(form, workload.index), workload.weight)
    return GoalTerms(terms, None)


def fairness(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Smallest completed share of the offered rate over the classes that offer work; 1 when none does."""
    least = form.real("fairness", 1.0)
    for workload in form.compiled.instance.workloads:
        offered = workload.rate * workload.count
        if offered > 0:
            done = rate_of_workload(form, workload.index)
            form.at_most("fairness", Terms([(offered, least)]).extend(done, -1), 0)
    return GoalTerms(Terms([(1, least)]), None)
