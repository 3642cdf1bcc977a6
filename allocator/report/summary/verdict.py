"""The first sentence: what happened, for somebody who has never seen a solver's status."""

from __future__ import annotations

from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.evaluation import Evaluation
from allocator.plan.result import LevelOutcome, Result, Status, TerminationReason
from allocator.report.format import count, level_name, percent
from allocator.report.summary.section import Section

__all__ = ["section", "verdict"]

_WHY = {
    TerminationReason.OPTIMAL: "the optimum was proven",
    TerminationReason.GAP: "the requested gap was reached",
    TerminationReason.CONVERGED: "the search of the method was over",
    TerminationReason.TIME_LIMIT: "the time limit was reached",
    TerminationReason.ITERATION_LIMIT: "the iteration limit was reached",
    TerminationReason.INTERRUPTED: "it was interrupted",
    TerminationReason.INFEASIBLE: "infeasibility was proven",
}


def section(result: Result, instance: Instance) -> Section:
    """The verdict, with the method's own words where it has some."""
    detail = result.termination.detail.strip()
    return Section("", (f"{instance.name}: {verdict(result)}",), notes=(f"({detail})",) if detail else ())


def verdict(result: Result) -> str:
    """One or two sentences that say what was found and how good it is."""
    match result.status:
        case Status.OPTIMAL:
            order = ", the goals taken in their order" if len(result.levels) > 1 else ""
            return f"proven optimal. {_placed(_evaluation(result))}; no plan does better{order}."
        case Status.FEASIBLE:
            return f"feasible. {_placed(_evaluation(result))}; {_quality(result)}. Stopped because {_why(result)}."
        case Status.INFEASIBLE:
            return "no plan exists. It was proven that the constraints cannot all hold together."
        case Status.UNKNOWN:
            return (
                f"no plan was found because {_why(result)}; whether one exists is not known. "
                "More time, another method or the goal `placed` (which allows partial plans) may help."
            )


def _why(result: Result) -> str:
    return _WHY[result.termination.reason]


def _evaluation(result: Result) -> Evaluation:
    if result.evaluation is None:
        raise ValueError(f"status {result.status} without an evaluation")
    return result.evaluation


def _placed(evaluation: Evaluation) -> str:
    total = sum(outcome.count for outcome in evaluation.classes)
    placed = sum(outcome.placed for outcome in evaluation.classes)
    if total == 0:
        return "There is nothing to place"
    if placed == total:
        return "The only member is placed" if total == 1 else f"All {total:,} members are placed"
    missing = total - placed
    return f"{placed:,} of {count(total, 'member')} {_are(placed)} placed, {missing:,} {_are(missing)} not"


def _are(members: int) -> str:
    return "is" if members == 1 else "are"


def _quality(result: Result) -> str:
    """How far the plan can be from the best one, by the first level that is not proven."""
    total = len(result.levels)
    for index, outcome in enumerate(result.levels):
        gap = outcome.gap
        if gap == Fraction(0):
            continue
        where = f"goal {level_name(outcome.level)}" + (f" (level {index + 1} of {total})" if total > 1 else "")
        if gap is None:
            return f"no bound is known for {where}, so how much better a plan could be is open"
        if gap >= 1:
            return f"the bound for {where} is too weak to say how close it is to the best"
        if outcome.level.sense == "min":
            return _above_the_bound(where, gap, outcome)
        return f"{where} is within {percent(gap, 2)} of the best possible"
    return "value and bound agree on every level"


def _above_the_bound(where: str, gap: Fraction, outcome: LevelOutcome) -> str:
    """A gap is relative to the larger number, which is the value here: 'within' it of the best would say too much."""
    if outcome.bound is not None and outcome.bound >= 0:
        return f"the best possible for {where} is at most {percent(gap, 2)} lower"
    return f"value and bound of {where} are {percent(gap, 2)} apart"
