"""Random instances of single members with pair traffic on two racks: trees and distance matrices."""

from __future__ import annotations

import random
from typing import Any

from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId

__all__ = ["COST_AND_TRAFFIC", "PLACED_THEN_TRAFFIC", "compiled", "pair_instance"]

COST_AND_TRAFFIC = Model("pairs", "", levels=(Level((Goal(GoalId.COST), Goal(GoalId.TRAFFIC))),))
PLACED_THEN_TRAFFIC = Model("pairs", "", levels=(Level((Goal(GoalId.PLACED),)), Level((Goal(GoalId.TRAFFIC),))))


def pair_instance(
    seed: int, *, items: int = 7, racks: int = 2, per_rack: int = 2, matrix: bool = False, room: float = 1.3
) -> Instance:
    """``room``: capacity of all nodes over demand of all items. Some racks have a capacity, some items two modes."""
    rng = random.Random(seed)
    scale = rng.choice([1, 1, 7, 10**9 + 7])  # large amounts too
    sizes = [[rng.randint(1, 9) for _ in range(items)] for _ in range(2)]
    num_nodes = racks * per_rack
    names = [f"r{q}/h{h}" for q in range(racks) for h in range(per_rack)]
    capacity = [max(*size, int(sum(size) * room / num_nodes) + 1) for size in sizes]
    topology: list[dict[str, Any]] = []
    for q in range(racks):
        hosts = [
            {
                "level": "host",
                "name": f"h{h}",
                "kind": "new" if q == h == 0 else rng.choice(["old", "new"]),
                "capacity": {"slots": (capacity[0] + rng.randint(0, 2)) * scale, "disks": capacity[1]},
                "uplink": {"weight": rng.choice([0, 1, 1, 2])},
            }
            for h in range(per_rack)
        ]
        rack: dict[str, Any] = {"level": "rack", "name": f"r{q}", "children": hosts, "uplink": {"weight": 2}}
        if rng.random() < 0.4:
            rack["capacity"] = {"slots": int(capacity[0] * per_rack * 0.9) * scale}
        topology.append(rack)
    workloads: list[dict[str, Any]] = []
    for i in range(items):
        stated: dict[str, Any] = {
            "class": f"c{i}",
            "requests": {"slots": sizes[0][i] * scale, "disks": sizes[1][i]},
            "cost": {name: rng.randint(0, 12) for name in names},
        }
        if rng.random() < 0.2:
            stated["by_kind"] = {"new": {"requests": {"slots": max(1, sizes[0][i] - 1) * scale}}}
        workloads.append(stated)
    flows = []
    for i in range(items):
        for j in range(items):
            if i != j and rng.random() < 0.35:
                flow = {"from": f"c{i}", "to": f"c{j}", "pattern": "pair", "rate": f"{rng.randint(1, 9)} bit/s"}
                flows.append(flow)
    document: dict[str, Any] = {
        "format": "allocator/v1",
        "name": f"pairs-{seed}",
        "resources": {"slots": {"role": "other"}, "disks": {"role": "other"}},
        "topology": topology,
        "workloads": workloads,
        "flows": flows,
    }
    if matrix:
        document["distances"] = {"matrix": {a: {b: rng.randint(0, 7 if b != a else 2) for b in names} for a in names}}
    return instance_from_dict(document)


def compiled(seed: int, model: Model, **arguments: Any) -> Compiled:
    """A compiled random instance."""
    return compile_instance(pair_instance(seed, **arguments), model)
