"""Goal ``p99`` (27): response times of the placed members of critical classes."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby

from allocator.checker.response import LN_100, Response
from allocator.checker.situation import Situation
from allocator.checker.sums import exact_sum, unreduced_sum
from allocator.model.entities import Goal

__all__ = ["p99"]


def p99(situation: Situation, goal: Goal) -> Fraction:
    """Weighted sum of seconds, or the largest weighted one (``worst``); 0 when no critical member is placed."""
    critical = [alike for alike in situation.responses if alike[0].server.workload.slo.critical]
    if goal.worst:  # the least share comes first and takes longest
        slowest = [(each[0].server.workload.weight, each[0]) for each in critical]
        return max((weight * (LN_100 * _mean(one) + one.delay) for weight, one in slowest), default=Fraction(0))
    means: list[tuple[Fraction, int]] = []
    delays: list[tuple[Fraction, int]] = []
    for alike in critical:
        weight = alike[0].server.workload.weight
        delays.append((weight * alike[0].delay, sum(response.count for response in alike)))
        for _, same in groupby(alike, key=lambda response: response.share):
            first, *others = same
            means.append((weight * _mean(first), first.count + sum(response.count for response in others)))
    top, bottom = unreduced_sum(means)  # very long numbers, which are reduced once, at the end
    delay, (a, b) = exact_sum(delays), LN_100.as_integer_ratio()
    return Fraction(a * top * delay.denominator + delay.numerator * b * bottom, b * bottom * delay.denominator)


def _mean(response: Response) -> Fraction:
    """Mean sojourn time; where the member is not stable, which is a violation, that at the limit of stability."""
    server = response.server
    found = server.mean(response.share)
    return 1 / (server.least / server.per_task - server.workload.rate) if found is None else found
