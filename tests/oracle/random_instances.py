"""Seeded tiny random instances which together use every constraint family and every goal, with limits that bind.

``random_case(seed)`` draws goals first, then what they need, then other features from the table ``FEATURES``. Documents
are plain dicts as in an instance file. With ``bent`` a case is also about what is not linear (``bent_features``).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import GoalId
from tests.oracle.bent_features import bend, bent_model, bent_needs, bent_theme

__all__ = ["FEATURES", "GOALS", "Case", "random_case"]

GOALS = (
    GoalId.PLACED,
    GoalId.THROUGHPUT,
    GoalId.FAIRNESS,
    GoalId.TRAFFIC,
    GoalId.COST,
    GoalId.CONGESTION,
    GoalId.PEAK,
    GoalId.OVERLOAD,
    GoalId.BALANCE,
    GoalId.MOVES,
    GoalId.NODES,
    GoalId.POWER,
)


@dataclass
class Case:
    """A random document with its model. ``features``: names of what it uses."""

    seed: int
    document: dict[str, Any]
    model: Model
    features: frozenset[str]


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


def random_case(seed: int, *, bent: bool = False) -> Case:
    """A tiny document and a model, the same for the same seed.

    ``bent``: with goodput curves, response times or both; the cases without it do not depend on it.
    """
    rng = random.Random(f"bent {seed}" if bent else seed)
    model, goals = _model(rng)
    theme = bent_theme(rng) if bent else frozenset()
    if bent:
        model, goals = bent_model(rng, model, theme)
    draft = _skeleton(rng, rates=bent or bool({GoalId.THROUGHPUT, GoalId.FAIRNESS} & goals))
    wanted = [name for name, (chance, _) in FEATURES.items() if rng.random() < chance]
    for goal, names in NEEDED.items():
        if goal in goals:
            wanted += [rng.choice(names)] if goal is not GoalId.CONGESTION else [rng.choice(names), "bandwidth"]
    if {"move_limit", "transient", "overfull"} & set(wanted):
        wanted.append("current")
    wanted += bent_needs(rng, theme)
    used = [name for name in FEATURES if name in wanted]  # in the order of the table
    used = [name for name in used if FEATURES[name][1](draft) is not False]
    used += bend(draft, theme, model)
    if not bent and not model.has_rate_goals and rng.random() < 0.2:
        _in_gib(draft.document)
        used.append("gib")
    return Case(seed, draft.document, model, frozenset(used))


def _in_gib(value: Any) -> None:
    """Turn bytes into GiB wherever a document states an amount of memory: large numbers, the same answers."""
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for entry in entries:
        _in_gib(entry)
    if isinstance(value, dict):
        for key in ("memory", "bytes"):
            if isinstance(value.get(key), int):
                value[key] = f"{value[key]}Gi"


def _model(rng: random.Random) -> tuple[Model, set[GoalId]]:
    number = rng.choice([1, 1, 2, 2, 3])
    goals = rng.sample(GOALS, number + rng.choice([0, 0, 1]))
    if rng.random() < 0.35:
        goals = [GoalId.PLACED, *(goal for goal in goals if goal is not GoalId.PLACED)]
    levels = []
    rest = list(goals)
    while rest:
        size = 2 if len(rest) > 1 and rng.random() < 0.2 else 1
        mine, rest = rest[:size], rest[size:]
        weights = [Fraction(rng.choice([1, 2, 3, 5]), rng.choice([1, 1, 2])) for _ in mine]
        if size == 1:
            weights = [Fraction(1)]
        absolute = Slack(Fraction(rng.choice([1, 2, 5])))
        relative = Slack(Fraction(rng.choice([5, 20, 50]), 100), True)
        slack = rng.choice([Slack(), Slack(), Slack(), Slack(), absolute, relative])
        levels.append(Level(tuple(_goal(rng, goal, weight) for goal, weight in zip(mine, weights, strict=True)), slack))
    return Model("random", "", tuple(levels)), set(goals)


def _goal(rng: random.Random, goal: GoalId, weight: Fraction) -> Goal:
    if goal is GoalId.PEAK and rng.random() < 0.5:
        return Goal(goal, weight, resources=("cpu",), at_level=rng.choice([None, "node"]))
    return Goal(goal, weight)


def _skeleton(rng: random.Random, *, rates: bool) -> Draft:
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
            site = {"level": "site", "name": f"s{number}", "children": []}
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


# ---------------------------------------------------------------- features: each adds one thing, or returns False


def _host_capacity(draft: Draft) -> None:
    domain = draft.rng.choice(draft.inner)
    domain.setdefault("capacity", {})[draft.rng.choice(["cpu", "memory"])] = draft.rng.choice([2, 3, 4, 5])


def _missing_capacity(draft: Draft) -> None:
    """Accelerators without memory of their own under a host that has it."""
    for rack in draft.inner:
        if rack["level"] == "rack" and rack["children"] and draft.rng.random() < 0.7:
            rack.setdefault("capacity", {})["memory"] = draft.rng.choice([4, 6, 9])
            for node in rack["children"]:
                node["capacity"].pop("memory", None)


def _slots(draft: Draft) -> None:
    draft.document["resources"].setdefault("slots", {"role": "other"})
    for node in draft.nodes:
        if draft.rng.random() < 0.8:
            node["capacity"]["slots"] = draft.rng.choice([1, 2])
    draft.pick()["requests"]["slots"] = 1


def _kinds(draft: Draft) -> None:
    for node in draft.nodes:
        node["kind"] = draft.rng.choice(["a", "b"])
    draft.nodes[-1]["kind"] = "b"
    workload = draft.pick()
    workload["by_kind"] = {"b": {"requests": {"cpu": draft.rng.choice([1, "1.5", 3])}}}


def _modes(draft: Draft) -> None:
    workload = draft.pick()
    workload["modes"] = {
        "lean": {"requests": {"cpu": draft.rng.choice(["500m", 1]), "memory": draft.rng.choice([3, 5])}},
        "fat": {"requests": {"cpu": draft.rng.choice([1, 2]), "memory": draft.rng.choice([1, 2])}},
    }


def _pool(draft: Draft) -> None:
    domain = draft.rng.choice(draft.inner)
    domain["pool"] = {"memory": draft.rng.choice([1, 2, 4])}
    for node in draft.nodes:
        if "memory" in node["capacity"]:
            node["capacity"]["memory"] = draft.rng.choice([1, 2, 3, 4])


def _labels(draft: Draft) -> None:
    for position, node in enumerate(draft.nodes):
        node["labels"] = {"zone": "x" if position % 2 else "y"}
    draft.rule(draft.pick())["require"] = {"zone": draft.rng.choice([["x"], ["y"], ["x", "y"]])}


def _taints(draft: Draft) -> None:
    draft.rng.choice(draft.nodes)["taints"] = ["odd"]
    if draft.rng.random() < 0.6:
        draft.rule(draft.pick())["tolerations"] = ["odd"]


def _within(draft: Draft) -> None:
    draft.rule(draft.pick())["within"] = draft.rng.sample(draft.inner_paths, draft.rng.choice([1, 1, 2]))


def _capabilities(draft: Draft) -> None:
    for node in draft.nodes:
        if draft.rng.random() < 0.6:
            node["capabilities"] = ["fp8"]
    draft.rule(draft.pick())["capabilities"] = ["fp8"]


def _work(draft: Draft) -> None:
    for position, workload in enumerate(draft.classes):
        if position == 0 or draft.rng.random() < 0.8:
            workload["work"] = {
                "rate": f"{draft.rng.choice([1, 2, 3])}/s",
                "cpu": draft.rng.choice(["500 ms", "1 s", "1.5 s"]),
                "parallel": draft.rng.choice([1, 2, 4]),
            }
            if draft.rng.random() < 0.3:
                workload["limits"] = {"cpu": 3}
            if draft.rng.random() < 0.3:
                workload["work"]["memory"] = draft.rng.choice([1, 2])
                workload["work"]["residence"] = draft.rng.choice(["500 ms", "1 s"])


def _team(draft: Draft) -> bool | None:
    big = [workload for workload in draft.classes if workload["count"] >= 2]
    if not big:
        return False
    workload = draft.rng.choice(big)
    size = draft.rng.choice(range(2, min(workload["count"], 3) + 1))
    members = {workload["class"]: size}
    others = [other for other in draft.classes if other is not workload]
    count = draft.rng.choice(range(1, workload["count"] // size + 1))
    if others and draft.rng.random() < 0.4:
        other = draft.rng.choice(others)
        if other["count"] >= count:
            members[other["class"]] = 1
    draft.document["teams"] = [
        {"team": "t", "count": count, "members": members, "traffic": {"pattern": "all-to-all", "rate": _rate(draft)}}
    ]
    return None


def _rate(draft: Draft) -> str:
    return f"{draft.rng.choice([1, 2, 3, 6])} bit/s"


def _flow(pattern: str) -> Callable[[Draft], bool | None]:
    def feature(draft: Draft) -> bool | None:
        source, target = draft.pick(), draft.pick()
        if pattern in ("ring", "chain"):  # within one class
            source = target = max(source, target, key=lambda workload: workload["count"])
        if source is target and source["count"] < 2:
            return False
        if pattern == "pair" and source is target:
            return False
        flow: dict[str, Any] = {"from": source["class"], "to": target["class"], "pattern": pattern}
        if pattern == "pair" and source["count"] != target["count"]:
            flow["pattern"] = "table"
            pairs = [(i, j) for i in range(source["count"]) for j in range(target["count"])]
            flow["table"] = [[i, j, _rate(draft)] for i, j in draft.rng.sample(pairs, min(3, len(pairs)))]
        else:
            flow["rate"] = _rate(draft)
        draft.document.setdefault("flows", []).append(flow)
        return None

    return feature


def _bandwidth(draft: Draft) -> None:
    for domain in [*draft.inner, *draft.nodes]:
        if draft.rng.random() < 0.7:
            domain.setdefault("uplink", {})["bandwidth"] = f"{draft.rng.choice([1, 2, 3, 4, 8])} bit/s"


def _oversubscription(draft: Draft) -> None:
    rack = draft.rng.choice([domain for domain in draft.inner if domain["level"] == "rack"])
    for child in rack["children"]:
        child.setdefault("uplink", {}).setdefault("bandwidth", "3 bit/s")
    rack.setdefault("uplink", {}).pop("bandwidth", None)
    rack["uplink"]["oversubscription"] = draft.rng.choice([1, 2, 3])


def _internal(draft: Draft) -> None:
    draft.rng.choice([*draft.inner, *draft.nodes])["internal"] = {"bandwidth": f"{draft.rng.choice([1, 2, 4])} bit/s"}


def _uplink_weight(draft: Draft) -> None:
    draft.rng.choice([*draft.inner, *draft.nodes]).setdefault("uplink", {})["weight"] = draft.rng.choice([0, 2, "1.5"])


def _matrix(draft: Draft) -> None:
    entries = {a: {b: draft.rng.choice([0, 1, 2, 5]) if a != b else 0 for b in draft.paths} for a in draft.paths}
    if draft.rng.random() < 0.3:
        entries[draft.paths[0]][draft.paths[0]] = 1
    draft.document["distances"] = {"matrix": entries}


def _current(draft: Draft) -> None:
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


def _overfull(draft: Draft) -> None:
    """A node that already holds more than it has room for."""
    runs = draft.document["current"]
    if not runs:
        return
    path = draft.rng.choice(runs)["node"]
    draft.nodes[draft.paths.index(path)]["capacity"]["cpu"] = draft.rng.choice(["0.5", 1])


def _transient(draft: Draft) -> None:
    draft.document["resources"].setdefault("memory", {})["transient"] = True


def _conflict(draft: Draft) -> None:
    draft.rule(draft.pick())["conflict"] = {"level": draft.level(), "at_most": draft.rng.choice([1, 1, 2])}
    if len(draft.classes) > 1 and draft.rng.random() < 0.3:
        for workload in draft.classes[:2]:
            workload["group"] = "both"


def _spread(draft: Draft) -> None:
    draft.rule(draft.pick())["spread"] = {"level": draft.level(), "at_least": draft.rng.choice([2, 2, 3])}


def _dependency(draft: Draft) -> bool | None:
    if len(draft.classes) < 2:
        return False
    a, b = draft.rng.sample(draft.classes, 2)
    draft.rule(a)["depends_on"] = {"group": b.get("group", b["class"]), "level": draft.level()}
    return None


def _gang(draft: Draft) -> bool | None:
    teams, flows = draft.document.get("teams", []), draft.document.get("flows", [])
    talking = {name for entry in teams for name in entry["members"]}
    talking |= {flow[end] for flow in flows for end in ("from", "to") if flow["pattern"] not in ("spread", "broadcast")}
    fit = [w for w in draft.classes if w["count"] >= 2 and w["class"] not in talking]
    if not fit:
        return False
    workload = draft.rng.choice(fit)
    size = draft.rng.choice([size for size in (2, 3) if workload["count"] % size == 0] or [workload["count"]])
    draft.rule(workload)["gang"] = {"size": size, "level": draft.rng.choice(["rack", "rack", draft.upper_level])}
    return None


def _moves(draft: Draft) -> None:
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


def _move_limit(draft: Draft) -> None:
    limit = draft.rng.choice([{"members": 0}, {"members": 1}, {"bytes": 3}, {"members": 2, "bytes": 4}])
    draft.document.setdefault("moves", {})["limit"] = limit


def _reserve(draft: Draft) -> None:
    resources = draft.rng.choice([[], ["cpu"], ["memory"]])
    draft.document["reserve"] = [{"level": draft.level(), **({"resources": resources} if resources else {})}]


def _power(draft: Draft) -> None:
    for node in draft.nodes:
        if draft.rng.random() < 0.8:
            idle = draft.rng.choice([5, 10, 20])
            node["power"] = {"idle": f"{idle} W", "busy": f"{idle + draft.rng.choice([0, 10, 30])} W"}


def _power_cap(draft: Draft) -> None:
    _power(draft)
    draft.rng.choice(draft.inner).setdefault("capacity", {})["power"] = draft.rng.choice([20, 35, 50])


def _safety(draft: Draft) -> None:
    for node in draft.nodes:
        if draft.rng.random() < 0.8:
            node["safety"] = {"cpu": draft.rng.choice([0, 1, 2])}
    if draft.rng.random() < 0.5:
        draft.inner[0]["safety"] = {"memory": draft.rng.choice([1, 3])}
        draft.document["resources"].setdefault("memory", {})["overload"] = draft.rng.choice([2, 10])


def _balance(draft: Draft) -> None:
    rng = draft.rng
    first, second = rng.choice([("cpu", "memory"), ("memory", "cpu")])
    draft.document["balance"] = [
        {
            "resources": [first, second],
            "target": rng.choice([1, 2, "0.5"]),
            "weight": rng.choice([1, 3]),
            "level": rng.choice(["node", "node", "rack"]),
        }
    ]


def _cost(draft: Draft) -> None:
    for workload in draft.classes:
        kinds = sorted({node["kind"] for node in draft.nodes})
        keys = draft.rng.sample([*kinds, "default", *draft.paths], 3)
        workload["cost"] = {key: draft.rng.choice([0, 1, 2, 5]) for key in keys}


def _node_weight(draft: Draft) -> None:
    for node in draft.nodes:
        node["weight"] = draft.rng.choice([1, 1, 2, 3])


FEATURES: dict[str, tuple[float, Callable[[Draft], bool | None]]] = {
    # name: (chance when no goal asks for it, what it adds); later ones may build on earlier ones
    "kinds": (0.3, _kinds),
    "modes": (0.25, _modes),
    "host_capacity": (0.25, _host_capacity),
    "missing_capacity": (0.1, _missing_capacity),
    "slots": (0.15, _slots),
    "pool": (0.15, _pool),
    "labels": (0.1, _labels),
    "taints": (0.1, _taints),
    "within": (0.08, _within),
    "capabilities": (0.08, _capabilities),
    "work": (0.1, _work),
    "team": (0.15, _team),
    "pair": (0.1, _flow("pair")),
    "spread_flow": (0.08, _flow("spread")),
    "broadcast": (0.08, _flow("broadcast")),
    "ring": (0.05, _flow("ring")),
    "chain": (0.05, _flow("chain")),
    "star": (0.05, _flow("star")),
    "bandwidth": (0.3, _bandwidth),
    "oversubscription": (0.1, _oversubscription),
    "internal": (0.12, _internal),
    "uplink_weight": (0.1, _uplink_weight),
    "matrix": (0.1, _matrix),
    "current": (0.15, _current),
    "overfull": (0.06, _overfull),
    "transient": (0.1, _transient),
    "conflict": (0.12, _conflict),
    "spread": (0.1, _spread),
    "dependency": (0.1, _dependency),
    "gang": (0.1, _gang),
    "moves": (0.05, _moves),
    "move_limit": (0.08, _move_limit),
    "reserve": (0.08, _reserve),
    "power": (0.05, _power),
    "power_cap": (0.08, _power_cap),
    "safety": (0.1, _safety),
    "balance": (0.05, _balance),
    "cost": (0.1, _cost),
    "node_weight": (0.1, _node_weight),
}

NEEDED: dict[GoalId, list[str]] = {
    GoalId.THROUGHPUT: ["work"],
    GoalId.FAIRNESS: ["work"],
    GoalId.TRAFFIC: ["team", "pair", "spread_flow", "broadcast", "ring"],
    GoalId.CONGESTION: ["team", "pair", "spread_flow", "broadcast", "star"],
    GoalId.OVERLOAD: ["safety"],
    GoalId.BALANCE: ["balance"],
    GoalId.MOVES: ["current"],
    GoalId.COST: ["cost"],
    GoalId.POWER: ["power"],
    GoalId.NODES: ["node_weight", "kinds"],
}
