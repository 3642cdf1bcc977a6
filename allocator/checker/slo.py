"""Equation (13), ``slo``: P99 within its target; and the stability that the goal ``p99`` needs (equation 27)."""

from __future__ import annotations

from collections.abc import Iterator

from allocator.checker.response import LN_100, Response
from allocator.checker.situation import Situation
from allocator.model.families import Family
from allocator.plan.evaluation import Violation
from allocator.plan.numbers import shown

__all__ = ["slo", "stable"]


def slo(situation: Situation) -> Iterator[Violation]:
    """Members that miss the target of their class."""
    for alike in situation.responses:
        for response in alike:
            target = response.server.workload.slo.p99
            if target is None:
                break
            p99 = response.p99
            if p99 is not None and p99 <= target:
                break  # those that follow have larger shares
            yield _missed(situation, response)


def _missed(situation: Situation, response: Response) -> Violation:
    server = response.server
    workload, target = server.workload, server.workload.slo.p99
    assert target is not None
    where = _where(situation, response)
    if target <= response.delay:
        message = f"{where}: the path delay alone is {shown(response.delay)} s, the P99 may be {shown(target)} s"
        return Violation(Family.SLO, workload.name, message, response.delay - target)
    needed = max(server.least, server.per_task * (workload.rate + LN_100 / (target - response.delay)))
    usable = server.usable(response.share)
    has, wants = situation.told(server.resource, usable), situation.told(server.resource, needed)
    message = (
        f"{where}: usable {server.resource} {has}, "
        f"a P99 of {shown(target)} s needs {wants} at a path delay of {shown(response.delay)} s"
    )
    return Violation(Family.SLO, workload.name, message, needed - usable)


def stable(situation: Situation) -> Iterator[Violation]:
    """Members that the goal ``p99`` counts and whose queue would grow; those with a target are judged by it."""
    for alike in situation.responses:
        for response in alike:
            server = response.server
            judged = server.workload.slo.p99 is not None and situation.holds(Family.SLO)
            if not server.workload.slo.critical or judged or response.p99 is not None:
                break  # those that follow have larger shares
            usable = server.usable(response.share)
            message = (
                f"{_where(situation, response)}: usable {server.resource} {situation.told(server.resource, usable)}, "
                f"a finite P99 needs {situation.told(server.resource, server.least)}"
            )
            yield Violation(Family.SLO, server.workload.name, message, server.least - usable)


def _where(situation: Situation, response: Response) -> str:
    return f"{response.count} members on {situation.instance.nodes[response.batch.node].path}"
