"""Judges of explanations: a whole method decides, the checker evaluates. Owns no explanation code."""

from __future__ import annotations

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status
from allocator.solvers.budget import Limits
from allocator.solvers.recorder import Recorder
from allocator.solvers.registry import method_named

__all__ = ["answer", "has_plan"]


def answer(instance: Instance, model: Model, method: str = "cpsat"):  # type: ignore[no-untyped-def]
    """Answer of a method and its plan (None without one), as the checker evaluates it."""
    budget = Limits(20.0).start()
    compiled = compile_instance(instance, model)
    found = method_named(method).solve(
        compiled, budget=budget, recorder=Recorder(budget.elapsed), start=None, seed=0, threads=1, gap=0.0
    )
    if found.assignment is None:
        return found, None, None
    plan = plan_of(compiled, found.assignment.counts, found.assignment.shares, found.assignment.theta)
    return found, plan, check(instance, model, plan)


def has_plan(asked: Instance, ignore: frozenset[Family] = frozenset(), method: str = "cpsat") -> bool:
    """Whether a question has a plan: the most members of value 1 that can be placed are all of them."""
    model = Model("judge", "", (Level((Goal(GoalId.PLACED),)),), ignore)
    found, plan, evaluation = answer(asked, model, method)
    if found.status is Status.INFEASIBLE:
        return False
    assert found.status is Status.OPTIMAL
    assert plan is not None
    assert evaluation is not None
    assert evaluation.feasible, evaluation.violations
    return bool(evaluation.goals[GoalId.PLACED] == sum(w.count * w.value for w in asked.workloads))
