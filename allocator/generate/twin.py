"""The digital twin of a production network: one agent a station, stations on lines, and suppliers that feed lines.

Owns the family ``twin``; invented numbers. Every agent computes a step each 10 ms. A station tells its
neighbours downstream what it hands on, and those upstream when it can take more; a supplier sends to a station on each
line it feeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from allocator.generate.cluster import cluster_of
from allocator.generate.documents import rack_entry, rounded
from allocator.generate.drafts import Draft, Parts, Sizes, entry_of
from allocator.generate.request import Request, apportion, around, between
from allocator.generate.sizing import scaled

__all__ = ["twin", "twin_parts"]

PRODUCTS = ("engine", "gearbox", "battery", "chassis", "cabin", "paint", "wheel", "harness")
STEPS = 100.0  # a second
STEP = 0.01  # s, the target of the P99
SUPPLIERS = 0.08  # of the agents; those that fill no whole line are suppliers, too
SHORTEST, LONGEST = 16, 56  # stations on a line
FEWEST_FED, MOST_FED = 2, 6  # lines of a supplier
NEAR = 20  # lines of one plant, which suppliers prefer
FAR = 0.15  # of the lines a supplier feeds are anywhere
MEMORY_LOAD = 0.9  # of the load of the CPU
STORAGE_LOAD = 0.8
NODE_STORAGE = 4 * 1024 * 1024  # MiB

NET = {
    "node.uplink.bandwidth": "10 Gbit/s",
    "node.uplink.latency": "5 us",
    "sled.uplink.oversubscription": 2,
    "sled.uplink.latency": "10 us",
    "rack.uplink.oversubscription": 4,
    "rack.uplink.latency": "20 us",
}
WEIGHTS = {"node": 1, "sled": 2, "rack": 6}


def twin(request: Request) -> Mapping[str, Any]:
    """Document of the family ``twin``."""
    cluster = cluster_of(request.agents)
    parts = twin_parts(request, request.agents)
    num_nodes = cluster.num_sleds() * cluster.cpus
    cpu, memory = cluster.node("epyc-9965")
    storage = int(NODE_STORAGE * cluster.part)
    capacities = (cpu, MEMORY_LOAD * memory, STORAGE_LOAD * storage)
    nominal = zip(*((draft.cores, draft.memory, draft.storage) for draft in parts.drafts), strict=True)
    floors = [
        scaled(sizes, parts.counts, request.load * capacity * num_nodes)
        for sizes, capacity in zip(nominal, capacities, strict=True)
    ]
    sizes = Sizes(floors[0], floors[1], floors[2])
    rack = rack_entry(cluster, "cpu-rack-384", {"epyc-9965": ""}, NET, node__capacity__storage=f"{storage} MiB")
    return {
        "format": "allocator/v1",
        "name": request.name,
        "model": "traffic",
        "topology": [rack],
        "workloads": [entry_of(draft, sizes, index) for index, draft in enumerate(parts.drafts)],
        "flows": parts.flows,
        "distances": {"weights": WEIGHTS},
    }


def twin_parts(request: Request, agents: int, *, both_architectures: bool = False) -> Parts:
    """Return classes and flows of so many agents: a class of stations a product, and one of suppliers."""
    random = request.random("twin")
    products = PRODUCTS[: max(1, min(len(PRODUCTS), agents // 150))]
    stations = apportion(int((1 - SUPPLIERS) * agents), [between(random, 0.5, 2.0) for _ in products])
    lengths = [min(total, round(between(random, SHORTEST, LONGEST))) for total in stations]
    lines = [total // length for total, length in zip(stations, lengths, strict=True)]
    num_suppliers = agents - sum(count * length for count, length in zip(lines, lengths, strict=True))
    drafts: list[Draft] = []
    flows: list[dict[str, Any]] = []
    for product, length, count in zip(products, lengths, lines, strict=True):
        name = f"{product}-station"
        drafts.append(_agent(random, name, length * count, size=between(random, 0.6, 1.6)))
        forward = round(between(random, 2000, 16000))  # kbit/s
        chain = {"from": name, "to": name, "pattern": "chain", "length": length}
        flows.extend(
            (
                {**chain, "rate": f"{forward} kbit/s"},
                {**chain, "reverse": "true", "rate": f"{round(between(random, 0.1, 0.5) * forward)} kbit/s"},
            )
        )
    drafts.append(_agent(random, "supplier", num_suppliers, size=0.8))
    plants = _plants(random, lines)
    fed = _fed(random, num_suppliers, plants, lengths)
    for index, draft in enumerate(drafts[:-1]):
        if fed[index]:
            rate = f"{round(between(random, 500, 4000))} kbit/s"
            flow = {"from": "supplier", "to": draft.name, "pattern": "table", "rate": rate, "table": fed[index]}
            flows.append(flow)
    if not both_architectures:
        drafts = [replace(draft, arm=1.0) for draft in drafts]
    return Parts(drafts, flows=flows)


def _agent(random: Random, name: str, count: int, *, size: float) -> Draft:
    return Draft(
        name=name,
        count=count,
        cores=around(random, 1.2 * size, 0.1),
        memory=around(random, 5.0 * size, 0.4),
        storage=between(random, 10, 80),
        rate=STEPS,
        target=STEP,
        critical=name.startswith(("engine", "battery")),
        arm=rounded(between(random, 0.9, 1.3), 2),
    )


def _plants(random: Random, lines: list[int]) -> list[tuple[int, int]]:
    """All lines as (product, number), in an order in which lines of one plant stand together."""
    order = [(product, number, (number + random.random()) / count) for product, count in enumerate(lines)
             for number in range(count)]  # fmt: skip
    order.sort(key=lambda line: line[2])
    return [(product, number) for product, number, _ in order]


def _fed(random: Random, suppliers: int, lines: list[tuple[int, int]], lengths: list[int]) -> list[list[list[int]]]:
    """Rows [supplier, station] by product: each supplier feeds one station on each of a few lines."""
    rows: list[list[list[int]]] = [[] for _ in lengths]
    for supplier in range(suppliers):
        wanted = FEWEST_FED + int(random.random() * (MOST_FED - FEWEST_FED + 1))
        home = int(random.random() * len(lines))
        chosen: dict[int, None] = {}
        for _ in range(wanted):
            far = random.random() < FAR
            span = len(lines) if far else min(NEAR, len(lines))
            start = 0 if far else max(0, min(home - NEAR // 2, len(lines) - span))
            chosen[start + int(random.random() * span)] = None
        for line in chosen:
            product, number = lines[line]
            station = number * lengths[product] + int(random.random() * lengths[product])
            rows[product].append([supplier, station])
    return rows
