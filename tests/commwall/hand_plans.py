"""Two ways to place the job of the communication wall by hand, *dealt* out and *close*, valued by the checker alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from allocator.checker import check
from allocator.instance import load_instance
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan
from allocator.plan.evaluation import Evaluation

__all__ = ["CLOSE", "FABRICS", "FOLDER", "SIZES", "THROUGHPUT", "close", "dealt", "named", "planned_by_hand"]

FOLDER = Path(__file__).parents[2] / "instances" / "commwall"
FABRICS, SIZES = ("tree", "mesh"), (2, 4, 8, 16)
THROUGHPUT = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
DESK = Fraction(17, 20)
"""Cores of the one who answers: enough for 15 ms over any path."""

CLOSE = ((4, 4, 3, 3, 2), 2)
"""Workers per node, two of them in a second rack; node of the desk."""


def named(fabric: str, size: int) -> Instance:
    """One of the instances."""
    return load_instance(FOLDER / f"{fabric}-{size:02d}.yaml")


def planned_by_hand(instance: Instance, workers: tuple[int, ...], desk: int) -> tuple[Plan, Evaluation]:
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
    granted = Plan(instance.name, instance.digest, tuple(groups), (FlowGrant("job/0", "job/0", theta),))
    return granted, check(instance, THROUGHPUT, granted)


def dealt(instance: Instance) -> tuple[Plan, Evaluation]:
    """Workers dealt out over all nodes in turn."""
    size = len(instance.nodes)
    return planned_by_hand(instance, (16 // size,) * size, 0)


def close(instance: Instance) -> tuple[Plan, Evaluation]:
    """One rack filled before a few go elsewhere; for eight nodes and more."""
    workers, desk = CLOSE
    return planned_by_hand(instance, workers + (0,) * (len(instance.nodes) - len(workers)), desk)
