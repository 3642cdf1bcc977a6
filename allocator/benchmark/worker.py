"""One run in a process of its own: ``python -m allocator.benchmark.worker FOLDER``. Knows nothing of suites.

Reads ``job.json`` in the folder; writes ``trace.jsonl`` as things become known, ``plan.json`` when there is a plan, and
at the end ``answer.json``, whole. Ends when its standard input is closed, so that no run outlives its runner.

The clock of the run starts when Python and the packages of the method are loaded: what loading takes says nothing about
a method, and much about the disk and the neighbours.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from allocator.solvers.recorder import Event

__all__ = ["main"]

ANSWER = "answer.json"
PLAN = "plan.json"
TRACE = "trace.jsonl"
ADDRESS_SPACE_MIB = 6144
"""Address space that is reserved and never used (thread stacks, arenas): allowed beyond the memory limit."""

PACKAGES = (
    "allocator.checker",
    "allocator.compiled.compile",
    "allocator.compiled.restore",
    "allocator.instance.load",
    "allocator.model.load",
    "allocator.solvers.auto",
    "allocator.solvers.bounds.bottlenecks",
    "allocator.solvers.bounds.headroom",
    "allocator.solvers.explanation",
    "allocator.solvers.heuristic.greedy",
    "allocator.solvers.milp.method",
)
MORE_PACKAGES = {
    "cpsat": ("allocator.solvers.cpsat.method", "ortools.sat.python.cp_model"),
    "external:highs": ("allocator.benchmark.external.program", "allocator.benchmark.external.highs"),
    "external:cpsat": ("allocator.benchmark.external.program", "allocator.benchmark.external.mathopt"),
    "external:scip": ("allocator.benchmark.external.program", "allocator.benchmark.external.mathopt"),
    "external:best-fit": ("allocator.benchmark.external.scheduler",),
    "external:least-allocated": ("allocator.benchmark.external.scheduler",),
}


class TraceFile:
    """A listener that writes incumbents and bounds as they come, each when it says something new."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._last: tuple[int | None, float | None, float | None] | None = None
        self._level: int | None = None

    def __call__(self, event: Event) -> None:
        """Take one event, on any thread."""
        with self._lock:
            if event.level is not None:
                self._level = event.level
            state = self._level, _finite(event.value), _finite(event.bound)
            if event.kind == "phase" or state == self._last:
                return
            self._last = state
            self._stream.write(json.dumps([round(event.seconds, 4), *state]) + "\n")
            self._stream.flush()


def main(folder: Path) -> int:
    """Run the job in a folder; 0 whenever an answer is written, refusals and failures included."""
    threading.Thread(target=_end_with_runner, args=(folder,), name="runner", daemon=True).start()
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    memory = job["limits"]["memory_mib"]
    if memory is not None:
        _limit_address_space(memory)
    from allocator.errors import ClaimMismatch, MethodRefused

    answer: dict[str, Any] = {"outcome": "done", "error": None, "refuted": None, "result": None, "senses": []}
    try:
        with (folder / TRACE).open("w", encoding="utf-8") as stream:
            answer |= _solve(job, folder, TraceFile(stream))
    except MethodRefused as error:
        answer |= {"outcome": "refused", "error": str(error)}
    except ClaimMismatch as error:
        answer |= {"outcome": "crashed", "error": str(error), "refuted": str(error)}
    except MemoryError as error:
        answer |= {"outcome": "out_of_memory", "error": str(error) or "no memory could be had"}
    except Exception as error:  # noqa: BLE001 (whatever a method raises is an outcome of the run)
        import traceback

        traceback.print_exc()
        answer |= {"outcome": "crashed", "error": f"{type(error).__name__}: {error}"}
    written = folder / f"{ANSWER}.new"
    written.write_text(json.dumps(answer, ensure_ascii=False, allow_nan=False), encoding="utf-8")
    written.rename(folder / ANSWER)
    return 0


def _solve(job: Mapping[str, Any], folder: Path, listener: TraceFile) -> dict[str, Any]:
    from allocator.benchmark.external import EXTERNAL_PREFIX, external_method
    from allocator.instance import instance_from_dict
    from allocator.model import load_model
    from allocator.plan.document import result_document
    from allocator.plan.files import write_plan
    from allocator.solve import solve
    from allocator.solvers.budget import Limits

    limits = job["limits"]
    _load_packages(job["method"])
    budget = Limits(limits["seconds"], limits["iterations"]).start()
    instance = instance_from_dict(json.loads(job["document"]))
    model = load_model(job["model"])
    name = job["method"]
    method = external_method(name) if name.startswith(EXTERNAL_PREFIX) else name
    result = solve(
        instance,
        model,
        method=method,
        gap=limits["gap"],
        seed=job["seed"],
        threads=limits["threads"],
        iterations=limits["iterations"],
        listeners=(listener,),
        budget=budget,
    )
    document = result_document(result, instance, PLAN if result.plan is not None else None)
    if result.plan is not None:
        write_plan(folder / PLAN, replace(result.plan, result=document), instance)
    return {"result": document, "senses": [level.sense for level in model.levels]}


def _load_packages(method: str) -> None:
    """Import what every run needs, and what the method needs beside it."""
    for name in (*PACKAGES, *MORE_PACKAGES.get(method, ())):
        import_module(name)


def _end_with_runner(folder: Path) -> None:
    """Wait for the end of standard input, whose other end the runner holds; then nobody wants the folder any more."""
    with contextlib.suppress(OSError):
        while os.read(0, 1):
            pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _limit_address_space(memory_mib: int) -> None:
    """Stop a single huge allocation before the runner's watch over resident memory can see it."""
    size = (memory_mib + ADDRESS_SPACE_MIB) * 2**20
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _finite(value: float | None) -> float | None:
    return value if value is not None and value - value == 0 else None


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    sys.stderr.flush()
    os._exit(code)  # the answer is written; nothing is left to be taken apart
