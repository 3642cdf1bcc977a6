"""Records for tests, from a few words."""

from __future__ import annotations

from typing import Any

from allocator.plan.record import Record


def make(
    case: str = "a",
    method: str = "m",
    *,
    seed: int = 0,
    value: float | None = 10,
    bound: float | None = None,
    sense: str = "min",
    seconds: float = 1.0,
    outcome: str = "done",
    trace: tuple[Any, ...] = (),
    limit: float = 60.0,
    wrong: bool = False,
    levels: tuple[dict[str, Any], ...] | None = None,
    **fields: Any,
) -> Record:
    """A record; ``optimal`` where value and bound agree, ``unknown`` without a value."""
    status = None if outcome != "done" else "unknown" if value is None else "optimal" if value == bound else "feasible"
    has_plan = outcome == "done" and value is not None
    only = ({"goals": {"cost": 1}, "sense": sense, "value": value, "bound": bound, "gap": None, "slack": 0},)
    tree: dict[str, Any] = {
        "run": f"{case}-{method}-{seed}",
        "suite": "s",
        "case": case,
        "instance": {"name": case, "digest": f"digest of {case}", "members": 3, "nodes": 2},
        "model": "cost",
        "method": method,
        "seed": seed,
        "limits": {"seconds": limit, "gap": 0.0, "threads": 1, "memory_mib": None, "iterations": None},
        "versions": {"allocator": "1"},
        "machine": {"cpu": "c", "cores": 2},
        "outcome": outcome,
        "error": None,
        "status": status,
        "reason": None,
        "levels": (levels if levels is not None else only) if outcome == "done" else (),
        "result": None,
        "checked": {
            "feasible": (not wrong) if has_plan else None,
            "as_claimed": (not wrong) if has_plan else None,
            "mismatches": ["it is not so"] if wrong else [],
        },
        "trace": trace,
        "first_plan_seconds": next((point[0] for point in trace if point[2] is not None), None),
        "seconds": seconds,
        "cpu_seconds": seconds,
        "peak_memory_mib": 100.0,
        "size": {"variables": 5, "constraints": 4},
        "best_known": None,
        "plan": "plans/x.json" if has_plan else None,
        "started": "2026-01-01T00:00:00+00:00",
    }
    return Record(**{**tree, **fields})
