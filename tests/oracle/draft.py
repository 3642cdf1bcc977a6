"""A random document while it grows, and what every one starts from: topology, capacities and classes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Draft", "skeleton"]


@dataclass
class Draft:
    """A document while it grows. ``nodes`` and ``inner`` are the dicts of the leaves and of the domains above them."""

    rng: random.Random
    document: dict[str, Any]
    nodes: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    inner: list[dict[str, Any]] = field(default_factory=list)
    inner_paths: list[str] = field(default_factory=list)
    upper_level: str = "rack"

    @property
    def classes(self) -> list[dict[str, Any]]:
        """Dicts of the classes."""
        classes: list[dict[str, Any]] = self.document["workloads"]
        return classes

    def level(self) -> str:
        """A level that covers every node."""
        return self.rng.choice(["node", "rack", self.upper_level])

    def pick(self) -> dict[str, Any]:
        """A random class."""
        return self.rng.choice(self.classes)

    def rule(self, workload: dict[str, Any]) -> dict[str, Any]:
        """Its placement rules."""
        rules: dict[str, Any] = workload.setdefault("placement", {})
        return rules


def skeleton(rng: random.Random, *, rates: bool) -> Draft:
    """Topology, capacities and classes: what every instance has."""
    document: dict[str, Any] = {"format": "allocator/v1", "name": "random", "resources": {}, "topology": []}
    draft = Draft(rng, document)
    deep = rng.random() < 0.4
    total = rng.choice([3, 4, 4, 5]) if not rates else rng.choice([2, 3, 4])
    tops = rng.choice([1, 2]) if deep else 0
    racks = rng.choice([2, 2, 3]) if not deep else 2
    if deep:
        draft.upper_level = "site"
        for number in range(tops):
            site: dict[str, Any] = {"level": "site", "name": f"s{number}", "children": []}
            document["topology"].append(site)
            draft.inner.append(site)
            draft.inner_paths.append(site["name"])
    hosts = []
    for number in range(racks):
        rack: dict[str, Any] = {"level": "rack", "name": f"r{number}", "children": []}
        prefix = ""
        if deep:
            site = draft.inner[number % tops]
            site["children"].append(rack)
            prefix = f"{site['name']}/"
        else:
            document["topology"].append(rack)
        draft.inner.append(rack)
        draft.inner_paths.append(prefix + rack["name"])
        hosts.append((rack, prefix + rack["name"]))
    for number in range(max(total, racks)):
        rack, path = hosts[number % racks]
        node = {
            "level": "node",
            "name": f"n{number}",
            "kind": "a",
            "capacity": {"cpu": rng.choice([2, 3, 4]), "memory": rng.choice([4, 6, 8, 12])},
        }
        rack["children"].append(node)
        draft.nodes.append(node)
        draft.paths.append(f"{path}/n{number}")
    names = ["c0", "c1", "c2"][: rng.choice([1, 2, 2, 3])]
    members = rng.choice([2, 3, 4]) if rates else rng.choice([3, 4, 4, 5])
    counts = [1] * len(names)
    for _ in range(members - len(names)):
        counts[rng.randrange(len(names))] += 1
    document["workloads"] = [
        {
            "class": name,
            "count": count,
            "value": rng.choice([1, 2, 3]),
            "requests": {"cpu": rng.choice(["500m", 1, 1, "1.5", 2]), "memory": rng.choice([1, 2, 3, 4])},
        }
        for name, count in zip(names, counts, strict=True)
    ]
    return draft
