"""One solve of an instance file in a fresh process, through the command line, with what it says while it runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator.formats.document import write_document
from allocator.generate import generate
from tests.bench.runs import LATE_SECONDS, ROOT, Budget

__all__ = ["BEST", "Solved", "solve_file", "warm"]

BEST = re.compile(r"^\s*([0-9.]+) s .*\bbest (-?[0-9][0-9.,]*(?:e[+-]?[0-9]+)?)")


@dataclass(frozen=True)
class Solved:
    """``document``: what the command printed. ``best``: (seconds since the start, best value) as progress told it."""

    document: Mapping[str, Any]
    seconds: float
    best: tuple[tuple[float, float], ...]

    def first_below(self, value: Fraction) -> float | None:
        """When progress first told of a better value, s; its lines are a second apart but for the first two."""
        return next((when for when, best in self.best if best < value), None)


def solve_file(instance: Path, budget: Budget, plan: Path) -> Solved | str:
    """Run ``python -m allocator solve --json``; why there is no answer, when there is none."""
    command = [sys.executable, "-m", "allocator", "solve", str(instance), "--json", "-o", str(plan)]
    command += ["--method", budget.method, "--time-limit", f"{budget.time_limit}s"]
    command += ["--threads", str(budget.threads), "--seed", str(budget.seed)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            cwd=instance.parent,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            timeout=budget.time_limit + LATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"still running {LATE_SECONDS:g} s after its time limit"
    seconds = time.monotonic() - began
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode not in (0, 1):
        return f"exit code {done.returncode}: {(said or ['nothing said'])[-1]}"
    document = json.loads(done.stdout, parse_int=Fraction, parse_float=Fraction)
    found = filter(None, map(BEST.match, said))
    return Solved(document, seconds, tuple((float(m[1]), float(m[2].replace(",", ""))) for m in found))


def warm() -> None:
    """Tiny solves that compile every kernel, as on any machine that ran them once; the last one has to fill."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "tiny.json"
        for load, model in ((0.85, "p99"), (0.85, "throughput"), (1.2, "place")):
            write_document({**generate("mixed", agents=1000, load=load, seed=0), "model": model}, path)
            solve_file(path, Budget(2.0, 2, 0, "local-search"), Path(name) / "plan.json")
