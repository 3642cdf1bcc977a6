"""Links that are offered more than they carry, in a sentence. Reads the checker's word alone."""

from __future__ import annotations

from fractions import Fraction

from allocator.model.families import GoalId
from allocator.plan.evaluation import Evaluation, LinkUse
from allocator.report.format import count, percent

__all__ = ["load_of", "overload_warning"]

_COUNTING = frozenset({GoalId.THROUGHPUT, GoalId.FAIRNESS})


def load_of(link: LinkUse) -> Fraction:
    """Offered over capacity; 0 without a limit, and the offer itself where nothing can be carried."""
    if link.capacity is None:
        return Fraction(0)
    return link.offered / link.capacity if link.capacity else link.offered


def overload_warning(evaluation: Evaluation) -> str | None:
    """How many directions of links are offered more than they carry, the worst, and what that means for the plan."""
    over = [link for link in evaluation.links if link.capacity is not None and link.offered > link.capacity]
    if not over:
        return None
    worst = max(over, key=lambda link: (not link.capacity, load_of(link)))
    load = percent(load_of(worst)) if worst.capacity else "nothing can cross"
    where = f"{worst.domain} {worst.direction} ({load})"
    total = sum(1 for link in evaluation.links if link.offered > 0)
    many = f"{len(over):,} of {count(total, 'link direction')} {'is' if len(over) == 1 else 'are'}"
    head = f"{many} offered more than they carry, most of all {where}"
    if _COUNTING & evaluation.goals.keys():
        return f"{head}; tasks per second count what gets through"
    return (
        f"{head}: members at both ends will be slower than offered, which no goal of this model counts; throughput and "
        "fairness count it, congestion avoids it, link_load forbids it"
    )
