"""Report folders for tests: a few small instances, really solved, with records as the runner writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from allocator import instance_from_dict, load_model, solve
from allocator.instance.entities import Instance
from allocator.plan.document import result_document
from allocator.plan.files import write_plan
from allocator.plan.record import Record
from allocator.plan.result import Result

NASTY = {
    "script": "</script><script>alert('x')</script>",
    "quotes": "\"double\" 'single' `back` & <b>",
    "emoji": "agent \U0001f9ea",
    "long": "n" * 253,
    "formula": "=1+1|%{{7*7}}",
}


def document(name: str = "pair", *, nasty: bool = False, members: int = 4) -> dict[str, Any]:
    """Two racks of two servers; web servers that talk to each other and a store."""
    web, store = (NASTY["script"], NASTY["quotes"]) if nasty else ("web", "store")
    workloads = [
        {"class": web, "count": members, "requests": {"cpu": 1, "memory": "1 GiB"}},
        {"class": store, "count": 2, "requests": {"cpu": 2, "memory": "4 GiB"}},
    ]
    if nasty:
        workloads += [
            {"class": NASTY[key], "count": 1, "requests": {"cpu": "100m"}} for key in ("emoji", "long", "formula")
        ]
    return {
        "format": "allocator/v1",
        "name": NASTY["script"] if nasty else name,
        "topology": [
            {
                "level": "rack",
                "name": NASTY["quotes"] if nasty else "rack",
                "count": 2,
                "uplink": {"bandwidth": "100 Mbit/s"},
                "capacity": {"power": "1 kW"},
                "children": [
                    {
                        "level": "node",
                        "name": NASTY["long"] if nasty else "node",
                        "count": 2,
                        "kind": "server",
                        "capacity": {"cpu": 4, "memory": "8 GiB"},
                        "uplink": {"bandwidth": "1 Gbit/s"},
                        "power": {"idle": "100 W", "busy": "300 W"},
                    }
                ],
            }
        ],
        "workloads": workloads,
        "flows": [{"from": web, "to": store, "pattern": "spread", "rate": "5 Mbit/s"}],
    }


@cache
def solved(text: str, model: str, method: str, seed: int) -> tuple[Instance, Result]:
    """The instance of a JSON text and a result for it; kept for the next test."""
    instance = instance_from_dict(json.loads(text))
    return instance, solve(instance, model, method=method, seed=seed, threads=1, time_limit=60, iterations=None)


def make_folder(
    folder: Path,
    *,
    documents: Sequence[dict[str, Any]] | None = None,
    methods: Sequence[str] = ("milp", "greedy"),
    seeds: Sequence[int] = (0, 1, 2),
    slower: float = 1.0,
    failures: bool = True,
) -> Path:
    """A report folder: every document x method x seed, and with ``failures`` runs that crashed and were stopped.

    Parameters
    ----------
    slower : factor on the recorded times.
    """
    documents = [document(), document("larger", members=8)] if documents is None else documents
    for part in ("instances", "plans"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    records = []
    digests = {}
    for tree in documents:
        text = json.dumps(tree)
        for method in methods:
            for seed in seeds:
                instance, result = solved(text, "place-close", method, seed)
                digests[tree["name"]] = instance.digest
                (folder / "instances" / f"{instance.digest}.json").write_text(text, encoding="utf-8")
                records.append(_record(folder, tree["name"], instance, result, method=method, seed=seed, slower=slower))
    first = records[0]
    if failures:
        for method, outcome, error in (
            ("crasher", "crashed", "Segmentation fault <at> 'x'"),
            ("sleeper", "timed_out", None),
            ("hungry", "out_of_memory", None),
            ("picky", "refused", "method picky does not support: fabric"),
        ):
            records.append(_failed(first, method, outcome, error))
    manifest = {
        "format": "allocator/report/v1",
        "suite": "tests",
        "suite_file": "format: allocator/suite/v1\nname: tests # <b>not bold</b>\n",
        "commit": None,
        "started": "2026-11-30T08:00:00+00:00",
        "versions": {"allocator": "0.1.0", "highspy": "1.16.0", "ortools": None},
        "machine": {"cpu": "test <CPU>", "cores": 2, "memory_mib": 4096, "platform": "Linux", "python": "3.11"},
        "seeds": list(seeds),
        "limits": {"seconds": 60.0, "gap": 0.0, "threads": 1, "memory_mib": None, "iterations": None},
        "digests": digests,
        "models": {},
        "continued": [],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    write_records(folder, records)
    return folder


def write_records(folder: Path, records: Sequence[Record]) -> None:
    """Write the records, replacing those that are there."""
    (folder / "records.jsonl").write_text("".join(record.to_json() + "\n" for record in records), encoding="utf-8")


def _record(
    folder: Path, case: str, instance: Instance, result: Result, *, method: str, seed: int, slower: float
) -> Record:
    run = f"{instance.digest[:12]}{method}{seed}"
    plan = f"plans/{run}.json" if result.plan is not None else None
    elapsed = (1.0 + 0.01 * seed) * (2.0 if method == "greedy" else 1.0) * slower
    tree = result_document(result, instance, plan)
    tree["seconds"]["total"] = elapsed
    if plan is not None and result.plan is not None:
        from dataclasses import replace

        write_plan(folder / plan, replace(result.plan, result=tree), instance)
    model = load_model("place-close")
    levels = tuple(
        {**{key: entry[key] for key in ("goals", "value", "bound", "gap", "slack")}, "sense": level.sense}
        for entry, level in zip(tree["levels"], model.levels, strict=True)
    )
    trace = []
    for number, level in enumerate(levels):
        if level["value"] is not None:
            start = 0.2 + 0.3 * number
            trace += [(start, number, level["value"], None), (elapsed, number, level["value"], level["bound"])]
    return Record(
        run=run,
        suite="tests",
        case=case,
        instance={
            "name": instance.name,
            "digest": instance.digest,
            "members": instance.num_members,
            "nodes": len(instance.nodes),
        },
        model="place-close",
        method=method,
        seed=seed,
        limits={"seconds": 60.0, "gap": 0.0, "threads": 1, "memory_mib": None, "iterations": None},
        versions={"allocator": "0.1.0"},
        machine={"cpu": "test <CPU>", "cores": 2},
        outcome="done",
        error=None,
        status=tree["status"],
        reason=tree["termination"]["reason"],
        levels=levels,
        result=tree,
        checked={
            "feasible": None if plan is None else True,
            "as_claimed": None if plan is None else True,
            "mismatches": [],
        },
        trace=tuple(sorted(trace)),
        first_plan_seconds=0.2 if plan is not None else None,
        seconds=elapsed + 1.0,
        cpu_seconds=elapsed,
        peak_memory_mib=100.0 + 10 * seed,
        size={"variables": 10, "constraints": 5},
        best_known=None,
        plan=plan,
        started="2026-11-30T08:00:00+00:00",
    )


def _failed(like: Record, method: str, outcome: Any, error: str | None) -> Record:
    from dataclasses import replace

    return replace(
        like,
        run=f"{like.run}{method}",
        method=method,
        outcome=outcome,
        error=error,
        status=None,
        reason=None,
        levels=(),
        result=None,
        checked={"feasible": None, "as_claimed": None, "mismatches": []},
        trace=(),
        first_plan_seconds=None,
        plan=None,
        size={"variables": None, "constraints": None},
    )
