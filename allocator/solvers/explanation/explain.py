"""Why an instance has no plan under a model: reasons by counting, an irreducible conflict, a least relaxation.

Owns the order of the steps and what may be said when the time runs out: what is not proven is left out, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence

from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.model.families import Family
from allocator.plan.result import Infeasibility
from allocator.solvers.budget import Budget, Limits
from allocator.solvers.explanation.apply import relaxed
from allocator.solvers.explanation.asking import alone, question
from allocator.solvers.explanation.conflict import Undecided, irreducible
from allocator.solvers.explanation.elements import Element, elements_of
from allocator.solvers.explanation.oracle import Oracle
from allocator.solvers.explanation.reasons import Reason, reasons_of
from allocator.solvers.explanation.relaxation import Relaxation, find_relaxation
from allocator.solvers.explanation.sentences import change_text, element_text, packing_text
from allocator.solvers.explanation.targets import target_reasons

__all__ = ["explain_infeasible"]

LEAST_SECONDS = 1.0
FOR_CONFLICT = 0.6  # of the time; the rest is for the relaxation


def explain_infeasible(
    instance: Instance, model: Model, *, budget: Budget, seed: int = 0, threads: int = 1
) -> Infeasibility:
    """Explain an instance that has no plan under a model.

    Takes what is left of the budget, at least one second. ``reasons`` hold by arithmetic. ``conflict`` is infeasible
    alone and feasible without any one element; empty when that could not be proven in the time. ``relaxation``: see
    ``allocator.solvers.explanation.relaxation`` for what is least; empty when none was found and solved in the time.
    Every entry of both carries its sentence as ``text``. Of an instance that has a plan there is nothing to say, but
    that it has one without latency targets and ``link_load``, where it states them: conflict and relaxation leave these
    out.
    """
    if budget.remaining() < LEAST_SECONDS and not budget.interrupted:
        budget = Limits(LEAST_SECONDS).start()
    asked = question(instance, model)
    oracle = Oracle(model.ignore, budget, seed, threads)
    counted = reasons_of(compile_instance(asked, oracle.model))
    sentences = [reason.text for reason in counted]
    conflict, core_known = _conflict(asked, counted, oracle)
    if core_known and not conflict:
        return Infeasibility(target_reasons(instance, model))  # else it has a plan: the counting found nothing either
    if conflict and not counted:
        sentences.append(packing_text(asked, conflict))
    found = find_relaxation(asked, conflict, oracle) if conflict or counted else None
    changes = _sure(instance, model, found, oracle)
    if changes is None:
        why = "the time ran out before one was found and solved" if budget.exhausted else "none was found"
        sentences.append(f"No relaxation is given: {why}.")
    elif found is not None and not found.proven:
        sentences.append("The relaxation was solved, but not proven to be the least of its kind.")
    if not conflict:
        sentences.append(
            "No irreducible conflict is given: the time, or the size of the instance, did not allow a proof."
        )
    return Infeasibility(
        tuple(sentences),
        tuple({**element, "text": element_text(asked, element)} for element in conflict),
        tuple({**change, "text": change_text(asked, change)} for change in changes or ()),
    )


def _conflict(asked: Instance, counted: Sequence[Reason], oracle: Oracle) -> tuple[tuple[Element, ...], bool]:
    """An irreducible conflict, and whether the question was decided; () and True when it has a plan."""
    within = Oracle(oracle.ignore, oracle.budget.portion(FOR_CONFLICT), oracle.seed, oracle.threads)
    candidates = [(list(reason.elements), reason.about) for reason in counted]
    candidates.append((list(elements_of(asked)), frozenset()))
    if Family.CAPACITY in oracle.ignore:
        limits = {"capacity", "power"}
        candidates = [([e for e in some if e["family"] not in limits], about) for some, about in candidates]
    for elements, about in candidates:
        answer = within.feasible(alone(asked, elements))
        if answer is None:
            continue
        if answer:
            if len(elements) == len(candidates[-1][0]):
                return (), True
            continue  # the reason needs more than its own elements
        try:
            return irreducible(asked, elements, within.feasible, about), True
        except Undecided:
            return (), False
    return (), False


def _sure(instance: Instance, model: Model, found: Relaxation | None, oracle: Oracle) -> Sequence[Element] | None:
    """The changes, once the instance itself with them has a plan."""
    if found is None:
        return None
    return found.changes if oracle.feasible(question(relaxed(instance, found.changes), model), found.standing) else None
