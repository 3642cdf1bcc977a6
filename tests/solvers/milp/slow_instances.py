"""Instances that keep an exact solver busy, for tests of limits and interruption."""

from __future__ import annotations

import random
from fractions import Fraction

from allocator.instance.entities import Demand, Instance, Mode, Resource, Role
from tests.builders import build, node, workload

__all__ = ["hard_assignment", "large_aggregated"]


def hard_assignment(jobs: int = 60, agents: int = 10, seed: int = 0) -> Instance:
    """A generalised assignment problem of type D (Chu and Beasley 1997): cost falls as the need grows."""
    rng = random.Random(seed)
    needs = [[rng.randint(1, 100) for _ in range(agents)] for _ in range(jobs)]
    room = [8 * sum(row[i] for row in needs) // (10 * agents) for i in range(agents)]
    resources = {f"r{i}": Resource(f"r{i}", Role.OTHER, "") for i in range(agents)}
    nodes = [node(f"n{i}", kind=f"k{i}", capacity={f"r{i}": room[i]}) for i in range(agents)]
    classes = []
    for j, row in enumerate(needs):
        by_kind = {f"k{i}": Demand({f"r{i}": need}) for i, need in enumerate(row)}
        cost = {f"k{i}": Fraction(111 - need + rng.randint(-10, 10)) for i, need in enumerate(row)}
        classes.append(workload(f"j{j}", 1, modes=[Mode("default", Demand(), by_kind)], cost=cost))
    return build(*nodes, workloads=classes, resources=resources)


def large_aggregated(classes: int, nodes: int, seed: int = 1) -> Instance:
    """So many classes of 5 to 200 members with two resources on equal nodes: one placement variable a pair."""
    rng = random.Random(seed)
    big = 768 * 2**30
    hosts = [node(f"n{i}", capacity={"cpu": 192_000, "memory": big}) for i in range(nodes)]
    wants = [
        workload(
            f"c{i}",
            rng.randint(5, 200),
            {"cpu": rng.randint(100, 900), "memory": rng.randint(100, 4000) * 2**20},
            cost={"k": Fraction(rng.randint(1, 9))},
        )
        for i in range(classes)
    ]
    return build(*hosts, workloads=wants)
