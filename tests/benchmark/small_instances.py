"""Writes instances/small: a dozen seeded instances that look like clusters, each about one kind of rule.

    python -m tests.benchmark.small_instances instances/small

The same files come out every time; a test holds the shipped ones to that.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from allocator.formats.document import write_document

Document = dict[str, Any]


def racks(count: int, sleds: int, nodes: int, *, cpu: int, memory: int, link: str = "25 Gbit/s") -> list[Document]:
    """CPU racks of sleds of nodes; the rack's uplink carries a quarter of what its nodes could send."""
    node = {
        "level": "node",
        "name": "cpu",
        "count": nodes,
        "kind": "epyc",
        "capacity": {"cpu": cpu, "memory": f"{memory} GiB"},
        "uplink": {"bandwidth": link},
        "power": {"idle": "100 W", "busy": "400 W"},
    }
    sled = {"level": "sled", "name": "sled", "count": sleds, "uplink": {"oversubscription": 1}, "children": [node]}
    return [
        {"level": "rack", "name": f"rack{number}", "uplink": {"oversubscription": 4}, "children": [sled]}
        for number in range(count)
    ]


def supernodes(count: int, nodes: int, *, hbm: int = 64) -> list[Document]:
    """Supernodes of accelerators."""
    node = {
        "level": "node",
        "name": "acc",
        "count": nodes,
        "kind": "accelerator",
        "capacity": {"accelerator": 1, "hbm": f"{hbm} GiB"},
        "uplink": {"bandwidth": "200 Gbit/s"},
    }
    return [{"level": "supernode", "name": f"super{number}", "children": [node]} for number in range(count)]


def agents(rng: random.Random, name: str, count: int, *, cpu: tuple[int, int], memory: tuple[int, int]) -> Document:
    """Members of a class; cpu in millicores and memory in GiB are drawn from ranges."""
    return {
        "class": name,
        "count": count,
        "requests": {"cpu": f"{rng.randrange(cpu[0], cpu[1] + 1, 250)}m", "memory": f"{rng.randint(*memory)} GiB"},
    }


def teams_close(rng: random.Random) -> Document:
    """Agents in teams that talk all-to-all; few of them fit on one node."""
    classes = [
        agents(rng, "reader", 12, cpu=(1000, 2000), memory=(2, 4)),
        agents(rng, "checker", 8, cpu=(1500, 3000), memory=(4, 8)),
        agents(rng, "judge", 4, cpu=(2000, 4000), memory=(8, 12)),
    ]
    team = {"team": "claim", "count": 4, "members": {"reader": 3, "checker": 2, "judge": 1}}
    return {
        "model": "place-close",
        "topology": racks(2, 2, 2, cpu=8, memory=48),
        "workloads": classes,
        "teams": [{**team, "traffic": {"rate": "100 Mbit/s"}}],
    }


def teams_crowded(rng: random.Random) -> Document:
    """More teams than there is room for: which to leave out, and where the others stand."""
    classes = [
        agents(rng, "coder", 15, cpu=(1500, 2500), memory=(3, 6)),
        agents(rng, "tester", 10, cpu=(1000, 2000), memory=(2, 4)),
    ]
    for number, workload in enumerate(classes):
        workload["value"] = 3 - number
    team = {"team": "feature", "count": 5, "members": {"coder": 3, "tester": 2}, "traffic": {"rate": "80 Mbit/s"}}
    return {
        "model": "place-close",
        "topology": racks(2, 1, 3, cpu=6, memory=32),
        "workloads": classes,
        "teams": [team],
    }


def pipeline(rng: random.Random) -> Document:
    """Stages that pass work on; least traffic over the links with everybody placed."""
    names = ["fetch", "parse", "embed", "rank", "answer"]
    classes = [agents(rng, name, 2, cpu=(1000, 3000), memory=(2, 8)) for name in names]
    flows = [
        {"from": a, "to": b, "pattern": "pair", "rate": f"{rng.choice([50, 100, 200, 400])} Mbit/s"}
        for a, b in pairwise(names)
    ]
    return {
        "model": "traffic",
        "topology": racks(2, 2, 1, cpu=6, memory=24),
        "workloads": classes,
        "flows": flows,
    }


def replicas_spread(rng: random.Random) -> Document:
    """Replicas that must cover racks and may not share a node; fewest nodes in use."""
    classes = []
    for number in range(5):
        workload = agents(rng, f"service{number}", rng.randint(3, 4), cpu=(1000, 4000), memory=(4, 12))
        workload["placement"] = {
            "spread": {"level": "rack", "at_least": 2},
            "conflict": {"level": "node", "at_most": 1},
        }
        classes.append(workload)
    classes.append(agents(rng, "batch", 10, cpu=(500, 1500), memory=(1, 3)))
    return {"model": "consolidate", "topology": racks(3, 1, 3, cpu=12, memory=64), "workloads": classes}


def precision_modes(rng: random.Random) -> Document:
    """Models in one of several precisions on accelerators and their hosts; most value placed."""
    classes = []
    for number in range(6):
        weights = rng.choice([24, 32, 40, 56])
        classes.append(
            {
                "class": f"model{number}",
                "count": 2,
                "value": rng.randint(1, 5),
                "requests": {"accelerator": "0.5"},
                "modes": {
                    "fp16": {"requests": {"hbm": f"{weights} GiB"}},
                    "fp8": {"requests": {"hbm": f"{weights // 2} GiB"}},
                },
            }
        )
    return {"model": "place", "topology": supernodes(2, 2, hbm=64), "workloads": classes}


def gangs(rng: random.Random) -> Document:
    """Training jobs as gangs of one supernode, and inference beside them; not all fit."""
    classes: list[Document] = [
        {
            "class": f"train{size}",
            "count": size * copies,
            "value": value,
            "requests": {"accelerator": 1, "hbm": f"{rng.choice([32, 48])} GiB"},
            "placement": {"gang": {"size": size, "level": "supernode"}},
        }
        for size, copies, value in ((4, 2, 3), (2, 3, 2), (3, 1, 4))
    ]
    classes.append({"class": "infer", "count": 4, "requests": {"accelerator": "0.5", "hbm": "16 GiB"}})
    return {"model": "place", "topology": supernodes(3, 5), "workloads": classes}


def drifted(rng: random.Random) -> Document:
    """A cluster that runs already and got out of balance; moves cost, and only so many are allowed."""
    topology = racks(2, 1, 3, cpu=16, memory=64)
    for rack in topology:
        node = rack["children"][0]["children"][0]
        node["capacity"]["slots"] = 8
        node["safety"] = {"cpu": 8}
    paths = [f"rack{r}/sled0/cpu{n}" for r in range(2) for n in range(3)]
    classes = [agents(rng, f"app{number}", 3, cpu=(1000, 3000), memory=(4, 8)) for number in range(8)]
    current = []
    for position, workload in enumerate(classes):
        workload["requests"]["slots"] = 1
        workload["move_cost"] = rng.randint(1, 3)
        for member in range(3):
            node = paths[(0, 0, 1, 1, 2, 4)[(position * 3 + member) % 6]]
            current.append({"class": workload["class"], "first": member, "count": 1, "node": node})
    return {
        "model": "rebalance",
        "resources": {"slots": {"role": "other"}},
        "topology": topology,
        "workloads": classes,
        "balance": [{"resources": ["cpu", "slots"], "target": "0.5", "weight": 1}],
        "moves": {"weights": {"process": "0.5", "service": 1}, "limit": {"members": 10}},
        "current": current,
    }


def night(rng: random.Random) -> Document:
    """Services packed for the night: fewest watts would do, fewest nodes is what is asked."""
    classes = [agents(rng, f"svc{number}", rng.randint(1, 3), cpu=(500, 5000), memory=(2, 20)) for number in range(12)]
    return {"model": "consolidate", "topology": racks(2, 2, 3, cpu=10, memory=40), "workloads": classes}


def task_rates(rng: random.Random) -> Document:
    """Agents with work: shares are granted where they complete most tasks."""
    classes = []
    for number in range(6):
        workload = agents(rng, f"tool{number}", rng.randint(2, 4), cpu=(500, 1000), memory=(2, 6))
        workload["limits"] = {"cpu": 4}
        workload["weight"] = rng.randint(1, 4)
        workload["work"] = {
            "rate": f"{rng.randint(1, 4)}/s",
            "cpu": f"{rng.randrange(300, 1500, 100)} ms",
            "parallel": 4,
        }
        classes.append(workload)
    return {"model": "throughput", "topology": racks(2, 1, 3, cpu=6, memory=32), "workloads": classes}


def fair_rates(rng: random.Random) -> Document:
    """The same kind of load, and the worst served class counts."""
    document = task_rates(rng)
    for workload in document["workloads"]:
        workload.pop("weight")
    return {**document, "model": "fairness", "topology": racks(2, 1, 2, cpu=8, memory=40)}


def kinds_and_zones(rng: random.Random) -> Document:
    """Two kinds of nodes at different cost, zones, a taint; least cost."""
    topology = []
    for number, (kind, cpu, memory) in enumerate((("x86", 8, 32), ("arm", 12, 32), ("x86", 8, 64))):
        node: Document = {"level": "node", "name": "n", "count": 3, "kind": kind}
        node["capacity"] = {"cpu": cpu, "memory": f"{memory} GiB"}
        if number == 2:
            node["taints"] = ["reserved"]
        zone = {"level": "zone", "name": f"zone{number}", "labels": {"zone": "ab"[number % 2]}, "children": [node]}
        topology.append(zone)
    classes = []
    for number in range(14):
        workload = agents(rng, f"job{number}", 1, cpu=(1000, 5000), memory=(4, 16))
        cpu = int(workload["requests"]["cpu"][:-1])
        workload["by_kind"] = {"arm": {"requests": {"cpu": f"{cpu * 13 // 10}m"}}}
        workload["cost"] = {"x86": rng.randint(6, 12), "arm": rng.randint(3, 10)}
        rules: Document = {}
        if number % 5 == 0:
            rules["require"] = {"zone": ["a"]}
        if number % 3 == 0:
            rules["tolerations"] = ["reserved"]
        if rules:
            workload["placement"] = rules
        classes.append(workload)
    return {"model": "cost", "topology": topology, "workloads": classes}


def reserve(rng: random.Random) -> Document:
    """Every rack must be replaceable by the free room of the others; the fullest domain as empty as possible."""
    classes = [agents(rng, f"svc{number}", 3, cpu=(1000, 3000), memory=(3, 9)) for number in range(6)]
    return {
        "model": "balance",
        "topology": racks(3, 1, 2, cpu=12, memory=48),
        "workloads": classes,
        "reserve": [{"level": "rack", "resources": ["cpu", "memory"]}],
    }


def pooled(rng: random.Random) -> Document:
    """Accelerators that may draw on a memory pool of their supernode; most value placed."""
    topology = supernodes(2, 3, hbm=48)
    for top in topology:
        top["pool"] = {"hbm": "64 GiB"}
    classes = [
        {
            "class": f"model{number}",
            "count": rng.randint(1, 2),
            "value": rng.randint(1, 6),
            "requests": {"accelerator": rng.choice(["0.25", "0.5", "1"]), "hbm": f"{rng.randrange(16, 80, 8)} GiB"},
        }
        for number in range(8)
    ]
    return {"model": "place", "topology": topology, "workloads": classes}


def helpers(rng: random.Random) -> Document:
    """Caches that must stand in every rack their users stand in; cost and traffic together."""
    topology = racks(3, 1, 2, cpu=8, memory=32)
    classes = [agents(rng, f"app{number}", 2, cpu=(1000, 3000), memory=(2, 8)) for number in range(4)]
    for workload in classes:
        workload["placement"] = {"depends_on": {"group": "cache", "level": "rack"}}
        workload["cost"] = {f"rack{r}/sled0/cpu{n}": rng.randint(1, 9) for r in range(3) for n in range(2)}
    cache = {"class": "cache", "count": 2, "requests": {"cpu": 1, "memory": "8 GiB"}}
    flows = [
        {"from": workload["class"], "to": "cache", "pattern": "spread", "rate": f"{rng.randint(1, 5)} bit/s"}
        for workload in classes
    ]
    return {"model": "task-assignment", "topology": topology, "workloads": [*classes, cache], "flows": flows}


FAMILIES: dict[str, Callable[[random.Random], Document]] = {
    "teams-close": teams_close,
    "teams-crowded": teams_crowded,
    "pipeline": pipeline,
    "replicas-spread": replicas_spread,
    "precision-modes": precision_modes,
    "gangs": gangs,
    "drifted": drifted,
    "night": night,
    "task-rates": task_rates,
    "fair-rates": fair_rates,
    "kinds-and-zones": kinds_and_zones,
    "reserve": reserve,
    "pooled": pooled,
    "helpers": helpers,
}


def documents() -> dict[str, Document]:
    """All documents by name; the name is the seed."""
    return {
        name: {"format": "allocator/v1", "name": name, **make(random.Random(name))} for name, make in FAMILIES.items()
    }


def write(folder: Path) -> None:
    """Write the instances of a folder."""
    for name, document in documents().items():
        write_document(document, folder / f"{name}.yaml")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
