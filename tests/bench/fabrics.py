"""Seeded instances about links that bend: a tree of racks whose uplinks all share one goodput curve.

``singles`` has single members with pairs of flows, ``teams`` whole teams that talk all-to-all. Every node has fewer
cores than its members could use, every rack less bandwidth than its nodes: being apart costs grants, being together
costs compute. Documents are plain dicts as in an instance file. Knows no solver.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["COLLAPSE", "Curve", "Shape", "bent_table", "pipelines", "singles", "teams"]

Document = dict[str, Any]
Curve = Mapping[str, Any]

COLLAPSE: Curve = {"curve": "table", "points": [[0, 0], ["0.7", "0.7"], [1, "0.85"], ["1.5", "0.7"], [3, "0.4"]]}
"""Full speed up to 0.7, a peak at the capacity, less and less beyond."""


@dataclass(frozen=True)
class Shape:
    """Racks, and nodes in each: ``racks`` * (1 + ``nodes``) uplinks."""

    racks: int
    nodes: int

    @property
    def uplinks(self) -> int:
        """Uplinks of the tree."""
        return self.racks * (1 + self.nodes)


def bent_table(seed: int, num_points: int = 8) -> Curve:
    """A measured curve of points besides (0, 0) that is not concave: it falls and recovers in turn.

    Each phi is the one before times the growth of rho times a factor of at most 1, rounded down to hundredths, so that
    phi / rho never rises.
    """
    rng = random.Random(seed)
    rho = phi = rng.randint(50, 80)
    points = [[0, 0], [_hundredths(rho), _hundredths(phi)]]
    for step in range(1, num_points):
        before, rho = rho, rho + rng.randint(15, 45)
        factor = rng.uniform(0.5, 0.75) if step % 2 else rng.uniform(0.92, 1.0)
        phi = min(100, max(1, int(phi * rho * factor / before)))
        points.append([_hundredths(rho), _hundredths(phi)])
    return {"curve": "table", "points": points}


def singles(seed: int, curve: Curve, shape: Shape = Shape(4, 4), members: int = 24, flows: int = 30) -> Document:
    """Single members of four classes, and random ordered pairs of them that talk at rates of their own."""
    rng = random.Random(seed)
    slots = -(-members // (shape.racks * shape.nodes)) + 1
    classes: list[Document] = []
    count = 4
    for number in range(count):
        size = members // count + (number < members % count)
        classes.append(_class(rng, f"c{number}", size))
    tables: dict[tuple[int, int], list[list[Any]]] = {}
    everyone = [(number, member) for number, each in enumerate(classes) for member in range(int(each["count"]))]
    seen: set[tuple[tuple[int, int], tuple[int, int]]] = set()
    while len(seen) < flows:
        source, target = rng.sample(everyone, 2)
        if (source, target) not in seen:
            seen.add((source, target))
            rate = f"{rng.randint(4, 20)}00 Mbit/s"
            tables.setdefault((source[0], target[0]), []).append([source[1], target[1], rate])
    entries = [
        {"from": f"c{a}", "to": f"c{b}", "pattern": "table", "table": rows} for (a, b), rows in sorted(tables.items())
    ]
    return {"format": "allocator/v1", "topology": _racks(shape, slots, curve), "workloads": classes, "flows": entries}


def pipelines(seed: int, curve: Curve, shape: Shape = Shape(4, 4), members: int = 24, length: int = 2) -> Document:
    """Single members in chains of ``length``, each of which sends to the next one: pairs, or longer pipelines."""
    rng = random.Random(seed)
    slots = -(-members // (shape.racks * shape.nodes)) + 1
    classes: list[Document] = [_class(rng, f"c{place}", members // length) for place in range(length)]
    entries = [
        {"from": f"c{at}", "to": f"c{at + 1}", "pattern": "pair", "rate": f"{rng.randint(5, 15)}00 Mbit/s"}
        for at in range(length - 1)
    ]
    return {"format": "allocator/v1", "topology": _racks(shape, slots, curve), "workloads": classes, "flows": entries}


def teams(seed: int, curve: Curve, shape: Shape = Shape(4, 4), number: int = 8, size: int = 4) -> Document:
    """Whole teams of three kinds, each of which talks all-to-all."""
    rng = random.Random(seed)
    slots = -(-number * size // (shape.racks * shape.nodes)) + 1
    kinds = min(3, number)
    counts = [number // kinds + (kind < number % kinds) for kind in range(kinds)]
    classes, entries = [], []
    for kind, count in enumerate(counts):
        classes.append(_class(rng, f"c{kind}", count * size))
        traffic = {"pattern": "all-to-all", "rate": f"{rng.randint(2, 8)}00 Mbit/s"}
        entries.append({"team": f"t{kind}", "count": count, "members": {f"c{kind}": size}, "traffic": traffic})
    return {"format": "allocator/v1", "topology": _racks(shape, slots, curve), "workloads": classes, "teams": entries}


def _class(rng: random.Random, name: str, count: int) -> Document:
    """Members that could use up to four cores and are guaranteed at most one."""
    return {
        "class": name,
        "count": count,
        "requests": {"cpu": f"{rng.choice((500, 750, 1000))}m"},
        "limits": {"cpu": 4},
        "work": {"rate": f"{rng.randint(4, 8)}/s", "cpu": f"{rng.randint(3, 6)}00 ms", "parallel": 4},
    }


def _racks(shape: Shape, slots: int, curve: Curve) -> list[Document]:
    """Nodes of ``slots`` cores and 3 Gbit/s; racks 3:1."""
    leaf = {
        "level": "node",
        "name": "node",
        "count": shape.nodes,
        "kind": "blade",
        "capacity": {"cpu": slots},
        "uplink": {"bandwidth": "3 Gbit/s", "goodput": dict(curve)},
    }
    uplink = {"oversubscription": 3, "goodput": dict(curve)}
    return [{"level": "rack", "name": "rack", "count": shape.racks, "uplink": uplink, "children": [leaf]}]


def _hundredths(number: int) -> str:
    return f"{number // 100}.{number % 100:02d}"
