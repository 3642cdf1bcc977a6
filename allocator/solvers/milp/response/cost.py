"""Goal ``p99`` as a sum (equation 27): the cost n^2 / s of shares from below by tangents, path delays by their steps.

n members of an entry with slack s together (usable compute beyond what arrives) answer in K c n^2 / s seconds in sum
and no sooner, K = ln 100: tangents in t = n / s. All critical entries of a node with slack S together cost at least
A^2 / S, A = sum of n sqrt(w K c) (Kleinrock's square-root assignment): tangents in A / S, few rows that are tight
where no floor, ceiling or ``parallel`` binds.

Owns the columns of the goal, the rows stated at first and what any further tangent is. Knows no solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from allocator.linearization.pieces import Certificate
from allocator.linearization.share_cost import geometric_tangents
from allocator.model.entities import Goal
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.milp.formulation import Entry, Formulation, Row
from allocator.solvers.milp.goals.base import GoalTerms
from allocator.solvers.milp.response.delays import seat_at, served_blocks, steps_of
from allocator.solvers.milp.response.floors import least_share
from allocator.solvers.milp.response.lines import Quotient, TangentRow, quotient
from allocator.solvers.milp.response.service import Seat
from allocator.solvers.milp.terms import Terms, Variable
from allocator.solvers.milp.usage import total_share

__all__ = ["Curve", "Pool", "Queue", "add_cost", "fastest_sum", "pools", "queues"]

PART = "p99"
FIRST_TOLERANCE = Fraction(1, 100)  # of the rows stated at first: what is missing is added where solutions stand
FINEST_TOLERANCE = Fraction(1, 10**4)  # of the grids that are proven
COSTLY = 100  # what an entry takes to build, in items of the clock
BELOW = 1 - Fraction(1, 10**12)  # makes a square root of floats one from below


@dataclass
class Curve:
    """n^2 / s of alike entries: one block in one option on one kind of node, with one ceiling.

    ``low``, ``high``: range of t = n / s. ``grid``: arguments whose tangents are proven to suffice, rising; the
    tangent at ``low`` is the price of a member. ``stated``: arguments whose tangents the model has.
    """

    seat: Seat
    low: Fraction
    high: Fraction
    grid: tuple[Fraction, ...]
    certificate: Certificate | None
    queues: list[Queue] = field(default_factory=list)
    stated: list[Fraction] = field(default_factory=list)

    @property
    def scale(self) -> Fraction:
        """K c: seconds of one member with slack 1."""
        return LN_100 * self.seat.server.work

    @property
    def fastest(self) -> Fraction:
        """Least P99 of a member without path delay, s."""
        return self.scale * self.low

    def slack(self, members: int, usable: Fraction) -> Fraction:
        """Slack s of members with so much compute together, base units; within what can be."""
        return min(max(usable - self.seat.offered * members, members / self.high), members / self.low)

    def error(self, point: Fraction, arguments: Iterable[Fraction]) -> Fraction:
        """Relative error at n / s = ``point`` of the tangents at some arguments and at ``low``."""
        return min((1 - t / point) ** 2 for t in (self.low, *arguments))


@dataclass(frozen=True)
class Queue:
    """One entry of a critical class: (sqrt(K c) n)^2 / s within the seconds of its members, path delays apart.

    ``above``: column, seconds of all its members beyond the fastest.
    """

    curve: Curve
    entry: Entry
    above: Variable
    lines: Quotient

    @property
    def key(self) -> tuple[int, int, int]:
        """Block, option, node."""
        return self.entry.block, self.entry.option, self.entry.node

    def tangent(self, t: Fraction) -> TangentRow:
        """The tangent at n / s = t."""
        return self.lines.tangent(float(t) * math.sqrt(self.curve.scale))


@dataclass(frozen=True)
class Pool:
    """Critical entries of a node that share a limited compute: A^2 / S within the weighted seconds of their members.

    ``stated``: arguments A / S of the tangents of all pools on nodes of this kind, the ``siblings``.
    """

    queues: tuple[Queue, ...]
    roots: tuple[float, ...]  # sqrt(w K c) by queue
    lines: Quotient
    stated: list[float]
    siblings: list[Pool]


def queues(form: Formulation) -> list[Queue]:
    """Entries under tangents of the goal."""
    found: list[Queue] = form.cache.setdefault("queues", [])
    return found


def pools(form: Formulation) -> list[Pool]:
    """Nodes under tangents of the goal."""
    found: list[Pool] = form.cache.setdefault("response pools", [])
    return found


def add_cost(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Weighted sum of P99 in seconds; a relaxation, refined at the solutions that are met."""
    terms = Terms()
    for block, service in served_blocks(form).items():
        if not service.critical or not service.weight:
            continue
        curves: dict[tuple[int, int, int], Curve] = {}
        for entry in form.of_block[block]:
            if entry.variable.upper:
                queue = _queue(form, entry, curves)
                queues(form).append(queue)
                terms.add(service.weight * queue.curve.fastest, entry.variable)
                terms.add(service.weight, queue.above)
        terms.extend(_delays(form, block), service.weight)
    _add_pools(form)
    return GoalTerms(terms, None)


def fastest_sum(form: Formulation) -> Fraction:
    """The goal if everyone were placed and as fast as a member can be, alone on its best node."""
    return sum(
        (
            service.weight
            * form.compiled.blocks[block].count
            * min((queue.curve.fastest for queue in queues(form) if queue.entry.block == block), default=Fraction(0))
            for block, service in served_blocks(form).items()
            if service.critical and service.weight
        ),
        Fraction(0),
    )


def _queue(form: Formulation, entry: Entry, curves: dict[tuple[int, int, int], Curve]) -> Queue:
    form.tick(COSTLY)
    seat = seat_at(form, entry)
    ceiling = form.compiled.ceiling_of(entry.option, entry.node, seat.server.resource)
    key = entry.option, int(form.compiled.node_kind[entry.node]), ceiling
    if key not in curves:
        most = min(ceiling * seat.server.unit, seat.server.parallel)
        least = min(least_share(form, entry, seat.server.resource).coefs[0] * seat.server.unit, most)
        low, high = 1 / (most - seat.offered), 1 / (least - seat.offered)
        tolerance = max(form.compiled.model.linearization.tolerance, FINEST_TOLERANCE)
        cost = geometric_tangents(low, high, tolerance) if low < high else None
        curves[key] = Curve(
            seat, low, high, () if cost is None else cost.grid, None if cost is None else cost.certificate
        )
    curve = curves[key]
    above = form.real(PART)
    members = Terms([(Fraction(math.sqrt(curve.scale)), entry.variable)])
    slack = Terms().extend(total_share(form, entry, seat.server.resource), seat.server.unit)
    slack.add(-seat.offered, entry.variable)
    seconds = Terms([(curve.fastest, entry.variable), (1, above)])
    made = Queue(curve, entry, above, quotient(members, slack, seconds))
    curve.queues.append(made)
    return made


def _add_pools(form: Formulation) -> None:
    """The pooled rows of every node with a limit of its own, on a grid of ``FIRST_TOLERANCE``."""
    by_node: dict[tuple[int, int], list[Queue]] = {}
    for queue in queues(form):
        by_node.setdefault((queue.entry.node, queue.curve.seat.server.resource), []).append(queue)
    alike: dict[tuple[int, int, int], tuple[list[float], list[Pool]]] = {}
    for (node, r), members in by_node.items():
        limit = int(form.compiled.limit[form.compiled.node_domain[node], r])
        if limit < 0:
            continue
        stated, siblings = alike.setdefault((int(form.compiled.node_kind[node]), r, limit), ([], []))
        roots = tuple(math.sqrt(queue.curve.seat.service.weight * queue.curve.scale) for queue in members)
        lines = _pooled(form, node, members, roots, limit)
        siblings.append(Pool(tuple(members), roots, lines, stated, siblings))
        pools(form).append(siblings[-1])
        form.tick(len(lines.columns))
    tolerance = max(form.compiled.model.linearization.tolerance, FIRST_TOLERANCE)
    for stated, siblings in alike.values():
        ends = [(q.curve, Fraction(root)) for pool in siblings for q, root in zip(pool.queues, pool.roots, strict=True)]
        low, high = min(curve.low * root for curve, root in ends), max(curve.high * root for curve, root in ends)
        if low < high:
            stated.extend(float(t) for t in geometric_tangents(low, high, tolerance).grid)
        for pool in siblings:
            form.tick(len(stated) * len(pool.lines.columns))
            for t in stated:
                row = pool.lines.tangent(t)
                form.rows.append(Row(PART, row.columns, row.coefs, None, row.upper))


def _pooled(form: Formulation, node: int, members: list[Queue], roots: tuple[float, ...], limit: int) -> Quotient:
    """A, S and the weighted seconds of a node's queues."""
    server = members[0].curve.seat.server
    critical = {queue.key for queue in members}
    root, room, cost = Terms(), Terms(constant=limit * server.unit), Terms()
    for queue, each in zip(members, roots, strict=True):
        weight = queue.curve.seat.service.weight
        root.add(Fraction(each) * BELOW, queue.entry.variable)
        room.add(-queue.curve.seat.offered, queue.entry.variable)
        cost.add(weight * queue.curve.fastest, queue.entry.variable)
        cost.add(weight, queue.above)
    for entry in form.on_node[node]:
        if (entry.block, entry.option, entry.node) not in critical:
            room.extend(total_share(form, entry, server.resource), -server.unit)
    return quotient(root, room, cost)


def _delays(form: Formulation, block: int) -> Terms:
    """Sum of the path delays of a block's members, s."""
    terms = Terms()
    count = form.compiled.blocks[block].count
    whole = form.compiled.blocks[block].team >= 0 or not form.compiled.model.may_leave_out
    before = Fraction(0)
    for step in steps_of(form, block):
        if whole:  # a team that is not placed has no delay
            terms.add(count * (step.delay - before), step.late)
        else:
            late = form.real(PART, float(count))
            members = form.placed(block).extend(Terms([(count, step.late), (-1, late)]))
            form.at_most(PART, members, count)
            terms.add(step.delay - before, late)
        before = step.delay
    return terms
