"""Features of random documents that domains have: capacities, links, watts, and rules about them. Each adds one."""

from __future__ import annotations

from tests.oracle.draft import Draft

__all__ = [
    "balance",
    "bandwidth",
    "host_capacity",
    "internal",
    "kinds",
    "matrix",
    "missing_capacity",
    "node_weight",
    "oversubscription",
    "pool",
    "power",
    "power_cap",
    "reserve",
    "safety",
    "slots",
    "uplink_weight",
]


def host_capacity(draft: Draft) -> None:
    domain = draft.rng.choice(draft.inner)
    domain.setdefault("capacity", {})[draft.rng.choice(["cpu", "memory"])] = draft.rng.choice([2, 3, 4, 5])


def missing_capacity(draft: Draft) -> None:
    """Accelerators without memory of their own under a host that has it."""
    for rack in draft.inner:
        if rack["level"] == "rack" and rack["children"] and draft.rng.random() < 0.7:
            rack.setdefault("capacity", {})["memory"] = draft.rng.choice([4, 6, 9])
            for node in rack["children"]:
                node["capacity"].pop("memory", None)


def slots(draft: Draft) -> None:
    draft.document["resources"].setdefault("slots", {"role": "other"})
    for node in draft.nodes:
        if draft.rng.random() < 0.8:
            node["capacity"]["slots"] = draft.rng.choice([1, 2])
    draft.pick()["requests"]["slots"] = 1


def kinds(draft: Draft) -> None:
    for node in draft.nodes:
        node["kind"] = draft.rng.choice(["a", "b"])
    draft.nodes[-1]["kind"] = "b"
    workload = draft.pick()
    workload["by_kind"] = {"b": {"requests": {"cpu": draft.rng.choice([1, "1.5", 3])}}}


def pool(draft: Draft) -> None:
    domain = draft.rng.choice(draft.inner)
    domain["pool"] = {"memory": draft.rng.choice([1, 2, 4])}
    for node in draft.nodes:
        if "memory" in node["capacity"]:
            node["capacity"]["memory"] = draft.rng.choice([1, 2, 3, 4])


def bandwidth(draft: Draft) -> None:
    for domain in [*draft.inner, *draft.nodes]:
        if draft.rng.random() < 0.7:
            domain.setdefault("uplink", {})["bandwidth"] = f"{draft.rng.choice([1, 2, 3, 4, 8])} bit/s"


def oversubscription(draft: Draft) -> None:
    rack = draft.rng.choice([domain for domain in draft.inner if domain["level"] == "rack"])
    for child in rack["children"]:
        child.setdefault("uplink", {}).setdefault("bandwidth", "3 bit/s")
    rack.setdefault("uplink", {}).pop("bandwidth", None)
    rack["uplink"]["oversubscription"] = draft.rng.choice([1, 2, 3])


def internal(draft: Draft) -> None:
    draft.rng.choice([*draft.inner, *draft.nodes])["internal"] = {"bandwidth": f"{draft.rng.choice([1, 2, 4])} bit/s"}


def uplink_weight(draft: Draft) -> None:
    draft.rng.choice([*draft.inner, *draft.nodes]).setdefault("uplink", {})["weight"] = draft.rng.choice([0, 2, "1.5"])


def matrix(draft: Draft) -> None:
    entries = {a: {b: draft.rng.choice([0, 1, 2, 5]) if a != b else 0 for b in draft.paths} for a in draft.paths}
    if draft.rng.random() < 0.3:
        entries[draft.paths[0]][draft.paths[0]] = 1
    draft.document["distances"] = {"matrix": entries}


def power(draft: Draft) -> None:
    for node in draft.nodes:
        if draft.rng.random() < 0.8:
            idle = draft.rng.choice([5, 10, 20])
            node["power"] = {"idle": f"{idle} W", "busy": f"{idle + draft.rng.choice([0, 10, 30])} W"}


def power_cap(draft: Draft) -> None:
    power(draft)
    draft.rng.choice(draft.inner).setdefault("capacity", {})["power"] = draft.rng.choice([20, 35, 50])


def safety(draft: Draft) -> None:
    for node in draft.nodes:
        if draft.rng.random() < 0.8:
            node["safety"] = {"cpu": draft.rng.choice([0, 1, 2])}
    if draft.rng.random() < 0.5:
        draft.inner[0]["safety"] = {"memory": draft.rng.choice([1, 3])}
        draft.document["resources"].setdefault("memory", {})["overload"] = draft.rng.choice([2, 10])


def balance(draft: Draft) -> None:
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


def reserve(draft: Draft) -> None:
    resources = draft.rng.choice([[], ["cpu"], ["memory"]])
    draft.document["reserve"] = [{"level": draft.level(), **({"resources": resources} if resources else {})}]


def node_weight(draft: Draft) -> None:
    for node in draft.nodes:
        node["weight"] = draft.rng.choice([1, 1, 2, 3])
