"""Seeded instances without a plan, one family of trouble each. Owns the generator, judges nothing.

Numbers vary with the seed; nobody but the named trouble keeps the members from being placed.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId

__all__ = ["KINDS", "MODEL", "PLACED", "broken", "document", "node", "rack", "workload"]

Document = dict[str, Any]

MODEL = Model("cost", "", (Level((Goal(GoalId.COST),)),))
PLACED = Model("place", "", (Level((Goal(GoalId.PLACED),)),))


def node(name: str, cpu: Any = 4, memory: Any = 16, **more: Any) -> Document:
    capacity = {"cpu": cpu, "memory": memory, **more.pop("capacity", {})}
    return {"level": "node", "name": name, "kind": "a", "capacity": capacity, **more}


def rack(name: str, *children: Document, **more: Any) -> Document:
    return {"level": "rack", "name": name, "children": list(children), **more}


def workload(name: str, count: int, cpu: Any = 1, memory: Any = 1, **more: Any) -> Document:
    return {"class": name, "count": count, "requests": {"cpu": cpu, "memory": memory}, **more}


def document(topology: list[Document], workloads: list[Document], **more: Any) -> Document:
    return {"format": "allocator/v1", "name": "broken", "topology": topology, "workloads": workloads, **more}


def racks(rng: random.Random, cpu: int = 4, memory: int = 16) -> list[Document]:
    """Two or three racks of one to three nodes."""
    return [
        rack(f"r{i}", *(node(f"n{j}", cpu, memory) for j in range(rng.randint(1, 3)))) for i in range(rng.randint(2, 3))
    ]


def nodes_of(topology: list[Document]) -> list[Document]:
    return [leaf for entry in topology for leaf in entry["children"]]


def bystander(rng: random.Random) -> Document:
    """A class that fits in any case."""
    return workload("bystander", rng.randint(0, 2), "10m", 0)


def label(rng: random.Random) -> Document:
    topology = racks(rng)
    for number, leaf in enumerate(nodes_of(topology)):
        leaf["labels"] = {"arch": ["x86_64", "arm64"][number % 2]}
    wanted = workload("picky", rng.randint(1, 3), placement={"require": {"arch": ["riscv64"]}})
    return document(topology, [wanted, bystander(rng)])


def taint(rng: random.Random) -> Document:
    topology = racks(rng)
    for leaf in nodes_of(topology):
        leaf["taints"] = ["dedicated"]
    return document(topology, [workload("guest", rng.randint(1, 3))])


def capability(rng: random.Random) -> Document:
    return document(racks(rng), [workload("picky", 1, placement={"capabilities": ["sgx"]}), bystander(rng)])


def size(rng: random.Random) -> Document:
    return document(racks(rng), [workload("whale", rng.randint(1, 2), rng.randint(5, 9)), bystander(rng)])


def nothing_of_it(rng: random.Random) -> Document:
    heavy = {"class": "heavy", "count": 1, "requests": {"accelerator": rng.randint(1, 2)}}
    return document(racks(rng), [heavy, bystander(rng)])


def totals(rng: random.Random) -> Document:
    topology = racks(rng)
    room = 4 * len(nodes_of(topology))
    return document(topology, [workload("crowd", room + rng.randint(1, 9)), bystander(rng)])


def packing(rng: random.Random) -> Document:
    topology = racks(rng, cpu=5)
    return document(topology, [workload("block", len(nodes_of(topology)) + 1, rng.choice([3, 4])), bystander(rng)])


def conflict(rng: random.Random) -> Document:
    topology = racks(rng)
    most = rng.randint(1, 2)
    rule = {"conflict": {"level": "rack", "at_most": most}}
    return document(topology, [workload("loner", most * len(topology) + 1, "100m", placement=rule), bystander(rng)])


def spread(rng: random.Random) -> Document:
    topology = racks(rng)
    rule = {"spread": {"level": "rack", "at_least": len(topology) + rng.randint(1, 2)}}
    return document(topology, [workload("wide", 6, "100m", placement=rule), bystander(rng)])


def gang(rng: random.Random) -> Document:
    topology = racks(rng)
    size = rng.randint(4, 5)
    crew = workload("gang", size * rng.randint(1, 2), "100m", placement={"gang": {"size": size, "level": "rack"}})
    return document(topology, [crew, bystander(rng)])


def dependency(rng: random.Random) -> Document:
    topology = racks(rng)
    topology[0]["labels"], topology[1]["labels"] = {"zone": "a"}, {"zone": "b"}
    needy = {"depends_on": {"group": "store", "level": "rack"}, "require": {"zone": ["a"]}}
    store = workload("store", rng.randint(1, 2), placement={"require": {"zone": ["b"]}})
    return document(topology, [workload("needy", 1, placement=needy), store, bystander(rng)])


def host(rng: random.Random) -> Document:
    topology = racks(rng)
    for entry in topology:
        entry["capacity"] = {"cpu": 2}
    return document(topology, [workload("crowd", 2 * len(topology) + rng.randint(1, 2)), bystander(rng)])


def power(rng: random.Random) -> Document:
    topology = racks(rng)
    for leaf in nodes_of(topology):
        leaf["power"] = {"idle": "100 W", "busy": "300 W"}
    for entry in topology:
        entry["capacity"] = {"power": "210 W"}
    return document(topology, [workload("hot", 2 * len(topology) + rng.randint(1, 2))])


def pool(rng: random.Random) -> Document:
    topology = racks(rng, cpu=64)
    topology[0]["pool"] = {"memory": 8}
    room = 16 * len(nodes_of(topology)) + 8
    return document(topology, [workload("greedy", room // 4 + rng.randint(1, 3), "10m", 4)])


def move_limit(rng: random.Random) -> Document:
    topology = [rack("r0", node("n0", 8)), rack("r1", node("n1", 8), labels={"zone": "b"})]
    count = rng.randint(2, 4)
    limit = {"limit": {"members": count - 1}}
    current = [{"class": "mover", "first": 0, "count": count, "node": "r0/n0", "mode": "default"}]
    mover = workload("mover", count, placement={"require": {"zone": ["b"]}})
    return document(topology, [mover], moves=limit, current=current)


def reserve(rng: random.Random) -> Document:
    topology = [rack("r0", node("n0")), rack("r1", node("n1"))]
    return document(topology, [workload("safe", 4 + rng.randint(1, 2))], reserve={"level": "rack"})


def together(rng: random.Random) -> Document:
    topology = racks(rng)
    room = 4 * len(nodes_of(topology))
    first = room // 2 + rng.randint(1, 2)
    return document(topology, [workload("left", first), workload("right", room - first + 1), bystander(rng)])


def labelled_totals(rng: random.Random) -> Document:
    topology = racks(rng)
    topology[0]["labels"] = {"zone": "a"}
    room = 4 * len(topology[0]["children"])
    crowd = workload("crowd", room + rng.randint(1, 2), placement={"require": {"zone": ["a"]}})
    return document(topology, [crowd, bystander(rng)])


KINDS: dict[str, Callable[[random.Random], Document]] = {
    build.__name__: build
    for build in (
        label,
        taint,
        capability,
        size,
        nothing_of_it,
        totals,
        packing,
        conflict,
        spread,
        gang,
        dependency,
        host,
        power,
        pool,
        move_limit,
        reserve,
        together,
        labelled_totals,
    )
}


def broken(kind: str, seed: int) -> Document:
    """An instance document without a plan."""
    return KINDS[kind](random.Random(f"{kind}/{seed}"))
