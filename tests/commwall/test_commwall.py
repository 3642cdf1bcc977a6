"""The instances of the communication wall: what placements by hand achieve, by the checker alone.

Two ways to place the job: *dealt* out over all nodes in turn, and *close*, one rack filled before a few go elsewhere.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from allocator.checker import check
from allocator.instance import load_instance
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan
from allocator.plan.evaluation import Evaluation

FOLDER = Path(__file__).parents[2] / "instances" / "commwall"
THROUGHPUT = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
DESK = Fraction(17, 20)
"""Cores of the one who answers: enough for 15 ms over any path."""

DEALT = {"tree": {2: 15.15, 4: 31.15, 8: 13.87, 16: 19.2}, "mesh": {2: 15.15, 4: 31.15, 8: 45.71, 16: 64.0}}
CLOSE = ([4, 4, 3, 3, 2], 2, 34.46)
"""Workers per node, two of them in a second rack; node of the desk; tasks/s."""


def named(fabric: str, size: int) -> Instance:
    return load_instance(FOLDER / f"{fabric}-{size:02d}.yaml")


def evaluated(instance: Instance, workers: list[int], desk: int) -> Evaluation:
    """Workers per node and the node of the desk; the desk's cores first, then even shares and the largest grant."""
    unit = 10 ** -instance.resources["cpu"].exponent
    groups, first = [], 0
    for node, count in enumerate(workers):
        room = 8 - (DESK if node == desk else 0)
        path = instance.nodes[node].path
        if count:
            share = min(Fraction(4), room / count)
            groups.append(PlacedGroup("worker", first, count, "default", (path,), {"cpu": int(share * unit)}))
        first += count
    groups.append(PlacedGroup("desk", 0, 1, "default", (instance.nodes[desk].path,), {"cpu": int(DESK * unit)}))
    plan = Plan(instance.name, instance.digest, tuple(groups))
    links = [link for link in check(instance, THROUGHPUT, plan).links if link.offered]
    theta = min((link.carried / link.offered for link in links if link.carried is not None), default=Fraction(1))
    return check(
        instance,
        THROUGHPUT,
        Plan(instance.name, instance.digest, tuple(groups), (FlowGrant("job/0", "job/0", theta),)),
    )


def dealt(fabric: str, size: int) -> Evaluation:
    return evaluated(named(fabric, size), [16 // size] * size, 0)


@pytest.mark.parametrize("fabric", DEALT)
@pytest.mark.parametrize("size", [2, 4, 8, 16])
def test_what_dealing_out_achieves(fabric: str, size: int) -> None:
    evaluation = dealt(fabric, size)
    assert evaluation.feasible, evaluation.violations
    assert abs(float(evaluation.levels[0]) - DEALT[fabric][size]) < 0.01


@pytest.mark.parametrize("size", [8, 16])
def test_on_the_thin_fabric_close_talkers_do_more_than_dealt_out_ones(size: int) -> None:
    workers, desk, expected = CLOSE
    close = evaluated(named("tree", size), workers + [0] * (size - len(workers)), desk)
    assert close.feasible, close.violations
    assert abs(float(close.levels[0]) - expected) < 0.01
    assert close.levels[0] > Fraction(17, 10) * dealt("tree", size).levels[0]


def test_more_nodes_help_on_the_mesh_and_hurt_who_deals_out_on_the_tree() -> None:
    """From one full rack to two and four; up to four nodes the two fabrics are the same."""
    tree, mesh = ([dealt(fabric, size).levels[0] for size in (2, 4, 8, 16)] for fabric in ("tree", "mesh"))
    assert tree[:2] == mesh[:2]
    assert mesh == sorted(mesh)
    assert mesh[3] == 64, "everything that is offered"
    assert max(tree[2:]) < tree[1]


def test_the_answer_over_two_racks_is_late_by_their_latency() -> None:
    """The desk's P99 in one rack and over two: 2 ms apart, both within 15 ms."""
    near, far = (dealt("tree", size).classes[1].p99 for size in (4, 8))
    assert near is not None
    assert far is not None
    assert far - near == Fraction(2, 1000)
    assert far < Fraction(15, 1000)
