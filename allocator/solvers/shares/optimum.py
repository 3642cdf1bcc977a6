"""Best shares and granted fractions for a fixed placement, level by level, in exact integers; and prices.

Where floors decide, without a linear program (``easy``); otherwise by one (``lexicographic``). Nothing to do when
nobody may exceed a floor (equation 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.response import asks_for_response
from allocator.solvers.evaluation.use import Counts
from allocator.solvers.shares.cohorts import cohorts_of
from allocator.solvers.shares.easy import Hard, easy_shares
from allocator.solvers.shares.grants import links_of
from allocator.solvers.shares.share_plan import SharePlan

__all__ = ["SharePlan", "optimal_shares"]


def optimal_shares(compiled: Compiled, counts: Counts, reached: Sequence[Fraction] = ()) -> SharePlan | None:
    """Shares of a placement that are best for the model's levels in order.

    ``reached``: values of the first levels reached before; they are kept within their slack. The rest is optimised in
    order, and gives nothing away: the slack of a level starts from the best value that a whole search reaches.
    None when no shares keep them, or none fit at all: more than a capacity, or a member that can never have the
    compute that its target or stability needs.
    """
    responses = any(asks_for_response(compiled, workload.index) for workload in compiled.instance.workloads)
    if not counts or not (compiled.model.has_rate_goals or responses):
        return SharePlan(Assignment(dict(counts)))
    links = links_of(compiled, counts)
    cohorts = cohorts_of(compiled, counts, links)
    if cohorts is None:
        return None
    try:
        return easy_shares(cohorts, links, reached)
    except Hard as hard:
        from allocator.solvers.shares.lexicographic import programmed_shares

        most = cohorts.most if hard.most is None else hard.most
        narrowed = replace(cohorts, least=hard.totals, most=most)
        found = programmed_shares(narrowed, links, reached, first=hard.level)
        return found if found is None or hard.prices is None else replace(found, prices=hard.prices)
