"""Features of random documents about a change: where members run now, what a move costs and how many may."""

from __future__ import annotations

from tests.oracle.draft import Draft

__all__ = [
    "current",
    "move_limit",
    "moves",
    "overfull",
    "transient",
]


def current(draft: Draft) -> None:
    """Where most members run now: often, not always, within the capacities."""
    runs = []
    free = {path: float(node["capacity"]["cpu"]) for path, node in zip(draft.paths, draft.nodes, strict=True)}
    room = {path: node["capacity"].get("memory", 5) for path, node in zip(draft.paths, draft.nodes, strict=True)}
    for workload in draft.classes:
        mode = draft.rng.choice(list(workload.get("modes", {"default": {}})))
        asked = {**workload["requests"], **workload.get("modes", {}).get(mode, {}).get("requests", {})}
        cpu = {"500m": 0.5, "1.5": 1.5}.get(asked["cpu"], asked["cpu"])
        for number in range(workload["count"]):
            fitting = [path for path in draft.paths if free[path] >= cpu and room[path] >= asked["memory"]]
            if not fitting or draft.rng.random() < 0.15:
                continue
            path = draft.rng.choice(fitting)
            free[path] -= cpu
            room[path] -= asked["memory"]
            runs.append({"class": workload["class"], "first": number, "mode": mode, "node": path})
    draft.document["current"] = runs


def overfull(draft: Draft) -> None:
    """A node that already holds more than it has room for."""
    runs = draft.document["current"]
    if not runs:
        return
    path = draft.rng.choice(runs)["node"]
    draft.nodes[draft.paths.index(path)]["capacity"]["cpu"] = draft.rng.choice(["0.5", 1])


def transient(draft: Draft) -> None:
    draft.document["resources"].setdefault("memory", {})["transient"] = True


def moves(draft: Draft) -> None:
    rng = draft.rng
    moves = draft.document.setdefault("moves", {})
    moves["weights"] = {
        "process": rng.choice([0, 1, 2]),
        "service": rng.choice([0, 1, 3]),
        "machine": rng.choice([0, 1, 2]),
    }
    machine: dict[str, dict[str, int]] = {}
    pairs = [(a, b) for a in draft.paths for b in draft.paths if a != b]
    for a, b in rng.sample(pairs, min(4, len(pairs))):
        machine.setdefault(a, {})[b] = rng.choice([1, 2])
    moves["machine"] = machine
    for workload in draft.classes:
        workload["move_cost"] = rng.choice([1, 2, 5])


def move_limit(draft: Draft) -> None:
    limit = draft.rng.choice([{"members": 0}, {"members": 1}, {"bytes": 3}, {"members": 2, "bytes": 4}])
    draft.document.setdefault("moves", {})["limit"] = limit
