"""Features of random documents that classes have: demands, rules of placement, teams and flows.

Each adds one thing, or returns False where the document has no room for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.oracle.draft import Draft

__all__ = [
    "capabilities",
    "conflict",
    "cost",
    "dependency",
    "flow",
    "gang",
    "labels",
    "modes",
    "spread",
    "taints",
    "team",
    "within",
    "work",
]


def modes(draft: Draft) -> None:
    workload = draft.pick()
    workload["modes"] = {
        "lean": {"requests": {"cpu": draft.rng.choice(["500m", 1]), "memory": draft.rng.choice([3, 5])}},
        "fat": {"requests": {"cpu": draft.rng.choice([1, 2]), "memory": draft.rng.choice([1, 2])}},
    }


def labels(draft: Draft) -> None:
    for position, node in enumerate(draft.nodes):
        node["labels"] = {"zone": "x" if position % 2 else "y"}
    draft.rule(draft.pick())["require"] = {"zone": draft.rng.choice([["x"], ["y"], ["x", "y"]])}


def taints(draft: Draft) -> None:
    draft.rng.choice(draft.nodes)["taints"] = ["odd"]
    if draft.rng.random() < 0.6:
        draft.rule(draft.pick())["tolerations"] = ["odd"]


def within(draft: Draft) -> None:
    draft.rule(draft.pick())["within"] = draft.rng.sample(draft.inner_paths, draft.rng.choice([1, 1, 2]))


def capabilities(draft: Draft) -> None:
    for node in draft.nodes:
        if draft.rng.random() < 0.6:
            node["capabilities"] = ["fp8"]
    draft.rule(draft.pick())["capabilities"] = ["fp8"]


def work(draft: Draft) -> None:
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


def cost(draft: Draft) -> None:
    for workload in draft.classes:
        kinds = sorted({node["kind"] for node in draft.nodes})
        keys = draft.rng.sample([*kinds, "default", *draft.paths], 3)
        workload["cost"] = {key: draft.rng.choice([0, 1, 2, 5]) for key in keys}


def conflict(draft: Draft) -> None:
    draft.rule(draft.pick())["conflict"] = {"level": draft.level(), "at_most": draft.rng.choice([1, 1, 2])}
    if len(draft.classes) > 1 and draft.rng.random() < 0.3:
        for workload in draft.classes[:2]:
            workload["group"] = "both"


def spread(draft: Draft) -> None:
    draft.rule(draft.pick())["spread"] = {"level": draft.level(), "at_least": draft.rng.choice([2, 2, 3])}


def dependency(draft: Draft) -> bool | None:
    if len(draft.classes) < 2:
        return False
    a, b = draft.rng.sample(draft.classes, 2)
    draft.rule(a)["depends_on"] = {"group": b.get("group", b["class"]), "level": draft.level()}
    return None


def gang(draft: Draft) -> bool | None:
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


def team(draft: Draft) -> bool | None:
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


def flow(pattern: str) -> Callable[[Draft], bool | None]:
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
