"""Rows of the goal p99: below the true cost everywhere, as near as certified, tight where they were added."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Linearization, Model
from allocator.model.families import GoalId
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.milp.build import build
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.response.cost import Queue, pools, queues


def formulation(tolerance: Fraction, **more: Any) -> Formulation:
    nodes = [{"level": "node", "name": f"n{i}", "kind": "k", "capacity": {"cpu": 16}} for i in range(2)]
    classes = [
        {
            "class": f"c{i}",
            "count": 6,
            "weight": 1 + i,
            "requests": {"cpu": "100m"},
            "work": {"rate": "2/s", "cpu": f"{100 + 50 * i} ms", "parallel": 2 + i},
            "slo": {"critical": True},
            **more,
        }
        for i in range(3)
    ]
    topology = [{"level": "rack", "name": "r", "children": nodes}]
    whole = {"format": "allocator/v1", "name": "t", "topology": topology, "workloads": classes}
    model = Model("m", "", (Level((Goal(GoalId.P99),)),), linearization=Linearization(tolerance))
    form, _ = build(compile_instance(instance_from_dict(whole), model), Limits().start())
    return form


def point(form: Formulation, rng: random.Random) -> tuple[np.ndarray, dict[int, tuple[int, float]]]:
    """Values of all columns at random members and shares; members and slack by queue. ``above`` is the truth."""
    values = np.zeros(len(form.variables))
    spots = {}
    for number, queue in enumerate(queues(form)):
        curve = queue.curve
        n = rng.randint(1, 6)
        each = float(curve.high) ** -1 + rng.random() * (float(curve.low) ** -1 - float(curve.high) ** -1)
        spots[number] = n, n * each
        values[queue.entry.variable.column] = n
        values[queue.above.column] = max(0.0, float(curve.scale) * n / each - float(curve.fastest) * n)
        share = form.cache["extra"][*queue.key, curve.seat.server.resource]
        values[share.column] = 0.0
        _, slack, _ = queue.lines.values(values)
        values[share.column] = 1.0
        _, more, _ = queue.lines.values(values)
        values[share.column] = (n * each - slack) / (more - slack)
    return values, spots


def broken(row: Any, values: np.ndarray) -> float:
    return float(np.dot(row.coefs, values[row.columns])) - row.upper


@pytest.mark.parametrize("tolerance", [Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000)])
def test_tangents_are_below_the_truth_and_within_their_certificate(tolerance: Fraction) -> None:
    form, rng = formulation(tolerance), random.Random(1)
    for _ in range(20):
        values, spots = point(form, rng)
        for number, (n, slack) in spots.items():
            queue: Queue = queues(form)[number]
            certificate = queue.curve.certificate
            assert certificate is not None
            assert certificate.max_error <= tolerance
            assert all(broken(queue.tangent(t), values) <= 1e-9 for t in queue.curve.grid)
            error = queue.curve.error(Fraction(n / slack), queue.curve.grid)
            assert 0 <= error <= certificate.max_error * (1 + Fraction(1, 10**9))


def test_a_tangent_is_tight_where_it_touches() -> None:
    form = formulation(Fraction(1, 100))
    values, spots = point(form, random.Random(2))
    for number, (n, slack) in spots.items():
        row = queues(form)[number].tangent(Fraction(n / slack))
        assert abs(broken(row, values)) <= 1e-9


def test_pooled_rows_are_below_the_sum_and_tight_under_the_square_root_rule() -> None:
    """A^2 / S is the least cost of a node where no bound binds; shares in proportion to n sqrt(w c) attain it."""
    form, rng = formulation(Fraction(1, 1000)), random.Random(3)
    for pool in pools(form):
        members = [rng.randint(1, 3) for _ in pool.queues]
        offered = sum(n * queue.curve.seat.offered for n, queue in zip(members, pool.queues, strict=True))
        room = 16 - float(offered)
        roots = [root * n for root, n in zip(pool.roots, members, strict=True)]
        least = sum(roots) ** 2 / room
        values = np.zeros(len(form.variables))
        for queue, n, root in zip(pool.queues, members, roots, strict=True):
            slack = room * root / sum(roots)
            seconds = float(LN_100 * queue.curve.seat.server.work) * n * n / slack
            values[queue.entry.variable.column] = n
            values[queue.above.column] = seconds - float(queue.curve.fastest) * n
        a, s, cost = pool.lines.values(values)
        assert (a, s, cost) == (pytest.approx(sum(roots)), pytest.approx(room), pytest.approx(least))
        assert abs(broken(pool.lines.tangent(a / s), values)) <= 1e-9
        assert all(broken(pool.lines.tangent(t), values) <= 1e-9 for t in pool.stated)
        nearest = max(2 * t * a - t * t * s for t in pool.stated)
        assert nearest >= least * (1 - 0.01 - 1e-9), "the first grid is that of 1 %"
