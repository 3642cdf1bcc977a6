"""End-to-end P99 over members that one request passes: stages in a row, or branches of which the slowest counts.

Percentiles do not add. For k times of any dependence, with Q_i the quantile function of the i-th (union bound):

    P(sum > sum of Q_i(1 - 0.01/k)) <= 1/100,      P(max > max of Q_i(1 - 0.01/k)) <= 1/100.

A member's time is exponential beyond its path delay D (equation 13), so that Q_i(1 - 0.01/k) = ln(100 k) m_i + D_i with
m_i its mean sojourn time, and P99_i = ln(100) m_i + D_i. A message that crosses a loaded link takes an exponential time
of its own, one of the k. Owns this rule. Knows no goal and no target: what it tells is a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from allocator.checker.crossings import Ways
from allocator.checker.flows import flows_of
from allocator.checker.latency import Delays, delays_of
from allocator.checker.link_delay import spare_of
from allocator.checker.response import LN_100, is_served, misfits, responses_of
from allocator.checker.standing import NOWHERE, read_standing
from allocator.checker.traffic import traffic_of
from allocator.checker.usage import chains
from allocator.errors import ArgumentError
from allocator.instance.entities import Instance, Team
from allocator.plan.entities import Plan

__all__ = ["EndToEnd", "Stage", "end_to_end", "log_of_hundred", "teams_end_to_end"]

DIGITS = 40


@dataclass(frozen=True, slots=True)
class Stage:
    """Response time of one member: ``p99`` in s, of which ``delay`` is on the way.

    ``crossings``: links on the way where its messages wait; ``delay`` counts them at the quantile of all stages.
    """

    p99: Fraction
    delay: Fraction = Fraction(0)
    crossings: int = 0


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """What 99 of 100 requests stay within, whatever their times have to do with each other, s.

    ``stages``: how many members. ``in_a_row``: one after the other. ``branches``: all at once, the slowest counts.
    ``crossings``: of their messages over links, on the longest ways. All None but ``stages``: there is no bound, for a
    message crosses a link that is offered more than 99 % of its bandwidth.
    """

    stages: int
    in_a_row: Fraction | None
    branches: Fraction | None
    crossings: int | None = 0


def log_of_hundred(stages: int) -> Fraction:
    """ln(100 k), rounded up in the 40th digit.

    Raises
    ------
    ArgumentError
        unless ``stages`` is positive.
    """
    if stages < 1:
        raise ArgumentError(f"stages = {stages}: must be at least 1")
    if stages == 1:
        return LN_100
    context = Context(prec=DIGITS + 5)
    near = context.ln(Decimal(stages))  # correctly rounded: the next number is above the logarithm
    return LN_100 + Fraction(context.next_plus(near))


def end_to_end(stages: Sequence[Stage]) -> EndToEnd:
    """Bounds on the 99th percentile of requests that pass all the stages.

    Raises
    ------
    ArgumentError
        without a stage.
    """
    crossings = sum(stage.crossings for stage in stages)
    longer = _longer(len(stages) + crossings)
    times = [(stage.p99 - stage.delay) * longer + stage.delay for stage in stages]
    return EndToEnd(len(stages), sum(times, Fraction(0)), max(times), crossings)


def _longer(parts: int) -> Fraction:
    """How much longer than at 0.99 an exponential time is at the quantile that ``parts`` of them are taken at."""
    return log_of_hundred(parts) / LN_100


def teams_end_to_end(instance: Instance, plan: Plan) -> dict[str, EndToEnd]:
    """Of each entry of teams, the team that is slowest in a row: its members that have a P99 taken as stages.

    A member has one when its class has a target or is critical. Messages take what they do at the loads that the plan
    offers; where one crosses a link that is offered more than 99 % of its bandwidth, the entry has no bound. Left out:
    entries without such members placed, or with one whose queue grows without end.
    """
    standing, _ = read_standing(instance, plan)
    flows = flows_of(instance)
    above = chains(instance)
    delays = delays_of(instance, standing, flows, above)
    ways = None
    if flows.carries_messages:
        traffic = traffic_of(instance, standing, flows, {}, above)
        ways = Ways(instance, standing, flows, above, spare_of(instance, traffic))
    waits: dict[tuple[int, Fraction], Fraction | None] = {}  # without the way
    for alike in responses_of(instance, standing, delays):
        for each in alike:
            waits[id(each.batch), each.delay] = None if each.p99 is None else each.p99 - each.delay
    served = {w.index for w in instance.workloads if is_served(w) and misfits(instance, w) is None}
    found: dict[str, EndToEnd] = {}
    endless: set[str] = set()
    for team in instance.teams:
        for number in range(team.count):
            members = [
                (w, member)
                for w, member in _members(instance, team, number)
                if w in served and standing.node_of(w, member) != NOWHERE
            ]
            seconds = [
                waits[id(standing.batches[standing.batch_of[w][member]]), delays.of(w, member)] for w, member in members
            ]
            finite = [wait for wait in seconds if wait is not None]
            if len(finite) < len(seconds):
                endless.add(team.name)
            elif finite:
                ends = _of_team(members, finite, delays, ways)
                if team.name not in found or _slower(ends, found[team.name]):
                    found[team.name] = ends
    return {name: ends for name, ends in found.items() if name not in endless}


def _of_team(
    members: Sequence[tuple[int, int]], waits: Sequence[Fraction], delays: Delays, ways: Ways | None
) -> EndToEnd:
    if ways is None:
        found = [delays.of(*member) for member in members]
        return end_to_end([Stage(wait + delay, delay) for wait, delay in zip(waits, found, strict=True)])
    counted = [ways.crossings(*member) for member in members]
    crossings = [number for number in counted if number is not None]
    if len(crossings) < len(counted):
        return EndToEnd(len(members), None, None, None)
    longer = _longer(len(members) + sum(crossings))
    found = [ways.delay(*member, longer) for member in members]
    stages = zip(waits, found, crossings, strict=True)
    return end_to_end([Stage(wait + delay, delay, number) for wait, delay, number in stages])


def _slower(first: EndToEnd, second: EndToEnd) -> bool:
    if first.in_a_row is None or second.in_a_row is None:
        return second.in_a_row is not None
    return first.in_a_row > second.in_a_row


def _members(instance: Instance, team: Team, number: int) -> Iterator[tuple[int, int]]:
    """Class and number of the members of one team."""
    for name, size in team.members.items():
        first = team.offsets[name] + number * size
        for member in range(first, first + size):
            yield instance.workload_by_name[name].index, member
