"""Tangents of the goal ``p99`` where solutions stand, and what the error of all of them is: the goal's certificate.

Owns when a tangent is worth adding. Knows no solver.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.linearization.pieces import Certificate
from allocator.plan.result import LinearizationCertificate
from allocator.solvers.base import Assignment
from allocator.solvers.evaluation.use import Counts, share_of
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.response.cost import Curve, Pool, Queue, pools, queues
from allocator.solvers.milp.response.lines import TangentRow

__all__ = ["at_placement", "at_relaxation", "response_certificate"]

Float = npt.NDArray[np.float64]
SMALLEST_ERROR = Fraction(1, 10**10)  # relative: what floats tell apart
SHARE_OF_TOLERANCE = Fraction(1, 20)  # errors below it are left alone
TINY = 1e-9
LEAST_SHARE = 0.01  # of the largest error: smaller ones wait
HALVINGS = 60


def at_placement(form: Formulation, counts: Counts, solution: Float, plan: Assignment | None) -> list[TangentRow]:
    """Tangents at the best shares of a solution's placement; where these are known, at its own.

    Where a placement's best shares have their tangents, the relaxation is as high there as the truth, up to the
    rounding of shares to whole amounts, which the second kind overcomes.
    """

    def planned(queue: Queue) -> Fraction:
        if plan is None:
            return solved(queue)
        return _usable(form, plan, queue)

    def solved(queue: Queue) -> Fraction:
        _, slack, _ = queue.lines.values(solution)
        return Fraction(slack) + queue.curve.seat.offered * Fraction(float(solution[queue.entry.variable.column]))

    return _tangents(form, counts, planned) or _tangents(form, counts, solved)


def _tangents(form: Formulation, counts: Counts, usable: Callable[[Queue], Fraction]) -> list[TangentRow]:
    least = max(SMALLEST_ERROR, form.compiled.model.linearization.tolerance * SHARE_OF_TOLERANCE)
    rows: list[TangentRow] = []
    for queue in queues(form):
        members = counts.get(queue.key, 0)
        if members:
            point = members / queue.curve.slack(members, usable(queue))
            if queue.curve.error(point, queue.curve.stated) > least:
                rows.extend(_state(queue.curve, Fraction(float(point))))
    return rows


def at_relaxation(form: Formulation, solution: Float, allowed: float) -> list[TangentRow]:
    """Tangents where nodes cost more than a solution, fractional too, says: by more than ``allowed`` s in all.

    The tangent of the node at A / S; where bounds of shares bind, tangents of its entries at their best shares.
    """
    short = {}
    for number, pool in enumerate(pools(form)):
        found = _best_shares(pool, solution)
        if found is not None:
            short[number] = found.short, found
    if sum(max(0.0, missing) for missing, _ in short.values()) <= allowed:
        return []
    worst = max(missing for missing, _ in short.values())
    rows: list[TangentRow] = []
    for number, (missing, found) in short.items():
        if missing > worst * LEAST_SHARE:
            pool = pools(form)[number]
            rows.extend(_state_pool(pool, found.argument) if found.argument else _state_entries(pool, found.points))
    return rows


def _state_pool(pool: Pool, argument: float) -> list[TangentRow]:
    if any(abs(argument / known - 1) < TINY for known in pool.stated):
        return []
    pool.stated.append(argument)
    return [sibling.lines.tangent(argument) for sibling in pool.siblings]


def _state_entries(pool: Pool, points: list[float | None]) -> list[TangentRow]:
    rows: list[TangentRow] = []
    for queue, point in zip(pool.queues, points, strict=True):
        t = None if point is None else _nearest(queue.curve, Fraction(point))
        if t is not None and t not in queue.curve.stated:
            rows.extend(_state(queue.curve, t))
    return rows


@dataclass(frozen=True)
class _Node:
    """Best shares of a node's members.

    ``short``: least cost, less what a solution says. ``argument``: A / S where no bound of shares binds, else 0.0.
    ``points``: n / s of each entry.
    """

    short: float
    argument: float
    points: list[float | None]


def _best_shares(pool: Pool, solution: Float) -> _Node | None:
    """Shares of a node's slack in proportion to n sqrt(w K c), within the bounds of each entry (water-filling)."""
    _, room, said = pool.lines.values(solution)
    members = [float(solution[queue.entry.variable.column]) for queue in pool.queues]
    if room <= TINY or not any(n > TINY for n in members):
        return None
    roots = [root * n if n > TINY else 0.0 for root, n in zip(pool.roots, members, strict=True)]
    least = [n / float(queue.curve.high) for queue, n in zip(pool.queues, members, strict=True)]
    most = [n / float(queue.curve.low) for queue, n in zip(pool.queues, members, strict=True)]

    def shares(level: float) -> list[float]:
        return [min(max(root * level, a), b) for root, a, b in zip(roots, least, most, strict=True)]

    low, high = 0.0, max(b / root for root, b in zip(roots, most, strict=True) if root)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(shares(middle)) <= room else (low, middle)
    found = shares(low)
    cost = sum(root * root / s for root, s in zip(roots, found, strict=True) if root)
    free = all(abs(root * low - s) <= TINY * s for root, s in zip(roots, found, strict=True) if root)
    points = [n / s if root else None for n, s, root in zip(members, found, roots, strict=True)]
    return _Node(cost - said, 1 / low if free and low > 0 else 0.0, points)


def response_certificate(form: Formulation, assignment: Assignment) -> LinearizationCertificate | None:
    """Largest relative error proven of the grids, and that of all tangents at an assignment; None without the goal."""
    if not queues(form):
        return None
    measured = Fraction(0)
    for queue in queues(form):
        members = assignment.counts.get(queue.key, 0)
        if members:
            point = members / queue.curve.slack(members, _usable(form, assignment, queue))
            measured = max(measured, queue.curve.error(point, (*queue.curve.grid, *queue.curve.stated)))
    curves = {id(queue.curve): queue.curve for queue in queues(form)}.values()
    known = [curve.certificate for curve in curves if curve.certificate is not None]
    if not known:
        return LinearizationCertificate(Fraction(0), measured, "every share of the goal p99 is fixed")
    worst = Certificate.worst(known)
    proven = f"{worst.proven_over}, s the spare compute of n members, {len(queues(form))} entries"
    return LinearizationCertificate(worst.max_error, measured, proven)


def _state(curve: Curve, t: Fraction) -> list[TangentRow]:
    """The tangent for all alike entries: a search would only move to the next of them."""
    curve.stated.append(t)
    return [queue.tangent(t) for queue in curve.queues]


def _nearest(curve: Curve, point: Fraction) -> Fraction | None:
    """The argument of the grid whose tangent is largest at n / s = ``point``."""
    after = bisect_left(curve.grid, point)
    around = curve.grid[max(0, after - 1) : after + 1]
    return min(around, key=lambda t: (1 - t / point) ** 2, default=None)


def _usable(form: Formulation, plan: Assignment, queue: Queue) -> Fraction:
    """Compute of a queue's members in a plan, base units."""
    server = queue.curve.seat.server
    return share_of(form.compiled, plan.counts, plan.shares, queue.key, server.resource) * server.unit
