"""Response times (equations 13 and 27): least compute of a member, and what the goal ``p99`` is worth. All exact.

Owns the formula for the solvers. Must not know placements other than by counts, nor how shares are chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.delays import path_delays
from allocator.solvers.evaluation.use import Counts

__all__ = [
    "LN_100",
    "Server",
    "asks_for_response",
    "exact_sum",
    "is_critical",
    "least_share",
    "least_shares",
    "least_units",
    "p99_value",
    "server_of",
    "target_of",
]

LN_100 = Fraction(4605170185988091368035982909368728415203, 10**39)
"""K: ln 100 to 40 digits, rounded up."""

HEADROOM = Fraction(101, 100)
"""Stability: compute for at least 1 % more tasks than arrive."""


@dataclass(frozen=True, slots=True)
class Server:
    """A member in one mode on one kind of node as an M/M/1 server.

    Attributes
    ----------
    resource : index of its one compute resource.
    unit : base units (cores) in one integer unit of it.
    work : c, core-seconds a task.
    rate : lambda, tasks/s that arrive.
    parallel : cores it can use.
    weight : of the class.
    """

    resource: int
    unit: Fraction
    work: Fraction
    rate: Fraction
    parallel: Fraction
    weight: Fraction

    @property
    def stable(self) -> Fraction:
        """Compute below which its queue grows, cores."""
        return self.rate * self.work * HEADROOM if self.rate else self.unit

    def usable(self, share: int) -> Fraction:
        """Compute that a member can use of a share in units, cores."""
        return min(share * self.unit, self.parallel)

    def wait(self, share: int) -> Fraction:
        """P99 without the path delay, s; at the limit of stability where the share is below it."""
        return LN_100 / (max(self.usable(share), self.stable) / self.work - self.rate)

    def least(self, within: Fraction | None = None) -> int | None:
        """Fewest units that are stable and keep ``wait`` at most ``within`` s; None: no share does."""
        if within is not None and within <= 0:
            return None
        needed = self.stable
        if within is not None:
            needed = max(needed, self.work * (self.rate + LN_100 / within))
        return None if needed > self.parallel else -(-needed // self.unit)


def target_of(compiled: Compiled, workload: int) -> Fraction | None:
    """Target on P99 that holds for a class, s."""
    return None if Family.SLO in compiled.model.ignore else compiled.instance.workloads[workload].slo.p99


def is_critical(compiled: Compiled, workload: int) -> bool:
    """Whether the class counts in the goal ``p99`` of the model."""
    return GoalId.P99 in compiled.model.goal_ids and compiled.instance.workloads[workload].slo.critical


def asks_for_response(compiled: Compiled, workload: int) -> bool:
    """Whether members of the class must be stable: they have a target that holds, or count in the goal ``p99``."""
    return target_of(compiled, workload) is not None or is_critical(compiled, workload)


def server_of(compiled: Compiled, option: int, kind: int) -> Server | None:
    """Server in a mode on a kind of node (index); None unless it needs exactly one compute resource there."""
    workload = compiled.instance.workloads[int(compiled.option_workload[option])]
    demand = workload.modes[int(compiled.option_mode[option])].demand(compiled.kinds[kind])
    needs = [(name, work) for name, work in demand.work.compute.items() if work > 0]
    if len(needs) != 1:
        return None
    ((name, work),) = needs
    unit = Fraction(10) ** compiled.instance.resources[name].exponent
    return Server(
        compiled.resources.index(name), unit, work, workload.rate, workload.parallel, workload.weight
    )  # fmt: skip


def least_units(compiled: Compiled, option: int, kind: int, delay: Fraction = Fraction(0)) -> int | None:
    """Like ``least_share`` on any node of a kind (index), whatever its ceiling."""
    workload = int(compiled.option_workload[option])
    if not asks_for_response(compiled, workload):
        return 0
    server = server_of(compiled, option, kind)
    if server is None:
        return 0  # refused where the model is read: response times are not defined
    target = target_of(compiled, workload)
    least = server.least(None if target is None else target - delay)
    return None if least is None else max(least, int(compiled.floor[option, kind, server.resource]))


def least_share(compiled: Compiled, option: int, node: int, delay: Fraction = Fraction(0)) -> int | None:
    """Fewest units of compute that one member needs for ``slo`` and stability, given its path delay.

    0 where response times of the class are not asked for; never below the floor otherwise. None when no share is
    enough: more than the ceiling or ``parallel``, or a target that the delay alone uses up.
    """
    kind = int(compiled.node_kind[node])
    least = least_units(compiled, option, kind, delay)
    server = server_of(compiled, option, kind) if least else None
    if least is None or (server is not None and least > compiled.ceiling_of(option, node, server.resource)):
        return None
    return least


def least_shares(compiled: Compiled, counts: Counts) -> dict[tuple[int, int, int], int] | None:
    """``least_share`` of one member of every spot that needs one; None when a member can never have enough."""
    asking = [asks_for_response(compiled, workload.index) for workload in compiled.instance.workloads]
    if not any(asking):
        return {}
    of_option = [asking[workload] for workload in compiled.option_workload.tolist()]
    delays = path_delays(compiled, counts)
    known: dict[tuple[int, int, Fraction], int | None] = {}
    least: dict[tuple[int, int, int], int] = {}
    for spot, count in counts.items():
        block, option, node = spot
        if not count or not of_option[option]:
            continue
        key = option, node, delays.get(block, Fraction(0))
        if key not in known:
            known[key] = least_share(compiled, *key)
        share = known[key]
        if share is None:
            return None
        if share:
            least[spot] = share
    return least


def p99_value(compiled: Compiled, assignment: Assignment, *, worst: bool) -> Fraction:
    """Goal ``p99``: sum over critical members of weight times P99, or the largest of these; s.

    Totals of shares are split as ``plan_of`` splits them: evenly, the remainder one unit each.
    """
    critical = [_is_judged(compiled, workload.index) for workload in compiled.instance.workloads]
    of_option = [critical[workload] for workload in compiled.option_workload.tolist()]
    if not any(of_option):
        return Fraction(0)
    delays = path_delays(compiled, assignment.counts)
    kinds: list[int] = compiled.node_kind.tolist()
    number_of: dict[tuple[int, int], int] = {}
    servers: list[Server | None] = []
    alike: dict[tuple[int, int], int] = {}  # members by server and share
    late: dict[tuple[int, int, Fraction], int] = {}  # and by delay
    for spot, count in assignment.counts.items():
        block, option, node = spot
        if not count or not of_option[option]:
            continue
        where = option, kinds[node]
        index = number_of.get(where)
        if index is None:
            index = number_of[where] = len(servers)
            servers.append(server_of(compiled, *where))
        server = servers[index]
        if server is None:
            continue
        total = assignment.shares.get((block, option, node, server.resource))
        if total is None:
            total = int(compiled.floor[option, kinds[node], server.resource]) * count
        share, more = divmod(total, count)
        delay = delays.get(block)
        for amount, number in ((share + 1, more), (share, count - more)):
            if number:
                alike[index, amount] = alike.get((index, amount), 0) + number
                if delay:
                    key = index, amount if worst else 0, delay
                    late[key] = late.get(key, 0) + number
    waits = {(index, amount): _wait(servers[index], amount) for index, amount in alike}
    weights = [server.weight if server is not None else Fraction(0) for server in servers]
    if worst:
        undelayed = [weights[index] * wait for (index, _), wait in waits.items()]
        delayed = [weights[index] * (waits[index, amount] + delay) for index, amount, delay in late]
        return max(undelayed + delayed, default=Fraction(0))
    total_wait = exact_sum(
        weights[index] * number * waits[index, amount] / LN_100 for (index, amount), number in alike.items()
    )
    total_way = exact_sum(weights[index] * number * delay for (index, _, delay), number in late.items())
    return total_wait * LN_100 + total_way


def _wait(server: Server | None, amount: int) -> Fraction:
    return Fraction(0) if server is None else server.wait(amount)


def _is_judged(compiled: Compiled, workload: int) -> bool:
    """Whether a class counts: critical, and with one compute resource in every mode and on every kind of node."""
    if not compiled.instance.workloads[workload].slo.critical:
        return False
    kinds = sorted({int(kind) for kind in compiled.node_kind})
    return all(server_of(compiled, o, kind) is not None for o in compiled.options_of(workload) for kind in kinds)


def exact_sum(terms: Iterable[Fraction]) -> Fraction:
    """Sum of many fractions of different denominators, by halves, reduced once."""
    by_denominator: dict[int, int] = {}
    for term in terms:
        by_denominator[term.denominator] = by_denominator.get(term.denominator, 0) + term.numerator
    parts = [(numerator, denominator) for denominator, numerator in by_denominator.items()]
    while len(parts) > 1:
        halves = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(parts[::2], parts[1::2], strict=False)]
        parts = halves + parts[len(parts) - len(parts) % 2 :]
    return Fraction(*parts[0]) if parts else Fraction(0)
