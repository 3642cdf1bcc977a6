"""Plans of methods that do not know ``link_load``: found without it, taken where the checker finds that it holds.

Owns the way there and back: the instance without the family, and the same placement with shares for its true delays.
"""

from __future__ import annotations

from dataclasses import replace

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused
from allocator.model.families import Family
from allocator.solvers.base import Answer, Assignment, Method
from allocator.solvers.budget import Budget
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares
from allocator.solvers.support import require_support

__all__ = ["attempt", "loosened", "tightened"]


def loosened(compiled: Compiled) -> Compiled:
    """The instance without ``link_load``; nothing else depends on it but what messages take."""
    model = compiled.model
    return replace(compiled, model=replace(model, ignore=model.ignore | {Family.LINK_LOAD}))


def tightened(compiled: Compiled, answer: Answer) -> Answer | None:
    """The answer with the best shares for the placement; None without a plan, or where ``link_load`` is broken."""
    if answer.assignment is None:
        return None
    plan = optimal_shares(compiled, dict(answer.assignment.counts))
    if plan is None or not checked(compiled, plan.assignment):
        return None
    return replace(answer, assignment=plan.assignment, claims=level_values(compiled, plan.assignment))


def attempt(
    method: Method,
    compiled: Compiled,
    *,
    budget: Budget,
    recorder: Recorder,
    start: Assignment | None,
    seed: int,
    threads: int,
    gap: float = 0.0,
) -> Answer | None:
    """The answer of a method that may refuse the instance, or not know ``link_load``: then None, or judged by it.

    What is found without ``link_load`` is worth nothing before it is judged, so ``recorder`` hears nothing of it.
    """
    known, told = compiled, recorder
    if compiled.link_load is not None and Family.LINK_LOAD not in method.support.families:
        known, told = loosened(compiled), Recorder(budget.elapsed)
    try:
        require_support(method, known.instance, known.model)
        method.refuse(known)
        answer = method.solve(known, budget=budget, recorder=told, start=start, seed=seed, threads=threads, gap=gap)
        return answer if known is compiled else tightened(compiled, answer)
    except MethodRefused:
        return None
