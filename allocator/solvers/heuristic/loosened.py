"""Plans of methods that do not know ``link_load``: found without it, taken where the checker finds that it holds.

Owns the way there and back: the instance without the family, and the same placement with shares for its true delays.
"""

from __future__ import annotations

from dataclasses import replace

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.base import Answer
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.shares.optimum import optimal_shares

__all__ = ["loosened", "tightened"]


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
