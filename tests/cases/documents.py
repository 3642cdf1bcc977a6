"""Short spellings of instance documents for the table of cases, and what is read off a plan by hand.

Use of a node is added up here from the document's own numbers, in exact decimals; no code of the package takes part.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator import Result, instance_from_dict, solve
from allocator.instance.entities import Instance

__all__ = [
    "EXACT",
    "Document",
    "Done",
    "cli",
    "document",
    "node",
    "placed",
    "run",
    "where",
    "workload",
]

ROOT = Path(__file__).resolve().parents[2]
EXACT = ("milp", "cpsat", "auto")
"""Methods that have to give the right answer of every row."""

Document = dict[str, Any]


def node(name: str, **more: Any) -> Document:
    """A node; capacities by resource as keywords, other keys as they are."""
    other = {key: more.pop(key) for key in ("kind", "labels", "count", "uplink", "safety", "weight") if key in more}
    return {"level": "node", "name": name, "capacity": more, **other}


def workload(name: str, count: int = 1, /, **more: Any) -> Document:
    """A class; requests by resource as keywords, other keys as they are."""
    keys = ("placement", "cost", "value", "limits", "work", "modes", "group", "move_cost", "by_kind")
    other = {key: more.pop(key) for key in keys if key in more}
    return {"class": name, "count": count, "requests": more, **other}


def document(topology: list[Document], workloads: list[Document], **more: Any) -> Document:
    return {"format": "allocator/v1", "name": "case", "topology": topology, "workloads": workloads, **more}


def run(whole: Document | Instance, model: Any, method: str, *, seconds: float = 30.0, **more: Any) -> Result:
    """Solve on one thread."""
    from allocator import load_model

    instance = whole if isinstance(whole, Instance) else instance_from_dict(whole)
    return solve(instance, load_model(model), method=method, time_limit=seconds, threads=1, **more)


def where(result: Result) -> dict[str, Counter[str]]:
    """Members of each class by node path."""
    assert result.plan is not None, result.termination
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, _, _, path in result.plan.members():
        found[name][path] += 1
    return dict(found)


def placed(result: Result, name: str | None = None) -> int:
    """Number of placed members, of a class or of all."""
    found = where(result)
    return sum(sum(nodes.values()) for key, nodes in found.items() if name in (None, key))


def used(result: Result, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Fraction]]:
    """Sum of requests by node and resource; ``requests`` maps class to plain numbers by resource."""
    total: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for name, nodes in where(result).items():
        for path, count in nodes.items():
            for resource, amount in requests[name].items():
                total[path][resource] += count * Fraction(str(amount))
    return {path: dict(amounts) for path, amounts in total.items()}


@dataclass(frozen=True)
class Done:
    """What one run of the program left behind."""

    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def json(self) -> Any:
        """What was printed, as JSON."""
        return json.loads(self.stdout)


def cli(folder: Path, *arguments: str | Path, timeout: float = 120.0, **environment: str) -> Done:
    """Run ``python -m allocator ARGUMENTS`` in a folder."""
    kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "ALLOCATOR_DEBUG", "NO_COLOR"}}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "allocator", *map(str, arguments)],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        timeout=timeout,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode(), time.monotonic() - began)
