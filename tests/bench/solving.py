"""One document through ``python -m allocator solve --json`` in a process of its own, and what it took."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.runs import LATE_SECONDS, ROOT

__all__ = ["Run", "solve_document"]


@dataclass(frozen=True)
class Run:
    """What came out: the printed document, wall and processor seconds of the process. ``failure``: or why not."""

    document: Mapping[str, Any]
    wall: float
    cpu: float
    failure: str = ""

    @property
    def value(self) -> float | None:
        """Value of the first level."""
        return self._level("value")

    @property
    def bound(self) -> float | None:
        """Bound of the first level."""
        return self._level("bound")

    @property
    def gap(self) -> float | None:
        """Gap of the first level."""
        return self._level("gap")

    def _level(self, name: str) -> float | None:
        levels = self.document.get("levels") or [{}]
        number = levels[0].get(name)
        return None if number is None else float(number)


def solve_document(document: Mapping[str, Any], model: str, *options: str, time_limit: float = 60.0) -> Run:
    """Solve with the command's options, such as ``--gap 0.01``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "instance.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        command = [sys.executable, "-m", "allocator", "solve", str(path), "--json", "--quiet", "--model", model]
        command += ["--time-limit", f"{time_limit}s", *options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        used, began = _children(), time.monotonic()
        try:
            done = subprocess.run(
                command,
                env=environment,
                cwd=folder,
                capture_output=True,
                check=False,
                timeout=time_limit + LATE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return Run({}, time.monotonic() - began, _children() - used, "did not end")
        wall, cpu = time.monotonic() - began, _children() - used
        if done.returncode not in (0, 1):
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing said"]
            return Run({}, wall, cpu, f"exit code {done.returncode}: {said[0]}")
        return Run(json.loads(done.stdout), wall, cpu)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
