"""Running published instances through the command line, each in a process of its own, and telling what came out.

Owns the protocol: conversion, one fresh process an instance, exact comparison with stored values. Knows no format's
demands; ``gap``, ``ctap``, ``gqap`` and ``vbp`` beside it state them.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from allocator.errors import InputError
from allocator.formats.document import write_document
from allocator.formats.registry import READERS

__all__ = ["Budget", "Known", "Row", "find_known", "run_instance"]

ROOT = Path(__file__).resolve().parents[2]
LATE_SECONDS = 120.0
"""How long after its time limit a process is stopped as a failure."""


@dataclass(frozen=True)
class Budget:
    """What each run may use."""

    time_limit: float
    threads: int
    seed: int
    method: str


@dataclass(frozen=True)
class Known:
    """What is stored of an instance: the columns of its row in ``bestknown.csv``, empty when there is none."""

    columns: Mapping[str, str]

    def number(self, column: str) -> Fraction | None:
        """Number in a column; None when nothing is there."""
        text = self.columns.get(column, "").strip()
        return Fraction(text) if text else None


@dataclass(frozen=True)
class Row:
    """One instance and what came out. ``failure`` says why there is no answer at all; the numbers are then None."""

    name: str
    items: int
    nodes: int
    known: Known
    status: str
    value: Fraction | None
    bound: Fraction | None
    seconds: float
    peak_mib: float | None
    failure: str = ""

    @property
    def gap(self) -> Fraction | None:
        """Gap between value and bound."""
        if self.value is None or self.bound is None:
            return None
        if self.value == self.bound:
            return Fraction(0)
        return abs(self.value - self.bound) / max(abs(self.value), abs(self.bound))

    def above(self, best: Fraction | None) -> Fraction | None:
        """How far the value lies above another one, relative to that (everything here is minimised)."""
        if self.value is None or not best:
            return None
        return (self.value - best) / best

    def proven_at(self, optimum: Fraction | None, seconds: float) -> bool:
        """Whether the optimum was reached and proven in that time."""
        return self.status == "optimal" and self.value == optimum and self.seconds <= on_time(seconds)


def on_time(limit: float) -> float:
    """Latest end that a limit allows: the larger of 1 s and 5 % more, and 1 s for starting the process."""
    return limit + max(1.0, limit * 0.05) + 1.0


def find_known(data: Path) -> dict[Path, Known]:
    """Rows of the ``bestknown.csv`` in a folder or one of the two above it, by the file they are about."""
    for folder in (data, data.parent, data.parent.parent):
        table = folder / "bestknown.csv"
        if table.is_file():
            with table.open(newline="", encoding="utf-8") as stream:
                return {(folder / row["path"]).resolve(): Known(row) for row in csv.DictReader(stream)}
    return {}


def run_instance(kind: str, path: Path, name: str, known: Known, budget: Budget) -> Row:
    """Convert one file and solve it by ``python -m allocator solve --json``."""
    try:
        document = READERS[kind](path)
    except InputError as error:
        return Row(name, 0, 0, known, "failed", None, None, 0.0, None, str(error))
    items = sum(int(workload.get("count", 1)) for workload in document["workloads"])
    nodes = sum(int(domain.get("count", 1)) for domain in document["topology"])
    with tempfile.TemporaryDirectory() as folder:
        instance = Path(folder) / "instance.json"
        write_document(document, instance)
        began = time.monotonic()
        done = _solve(instance, budget)
        seconds = time.monotonic() - began
    if isinstance(done, str):
        return Row(name, items, nodes, known, "failed", None, None, seconds, None, done)
    level = done["levels"][0]
    return Row(
        name,
        items,
        nodes,
        known,
        done["status"],
        level["value"],
        level["bound"],
        seconds,
        float(done["peak_memory_mib"]),
    )


def _solve(instance: Path, budget: Budget) -> dict | str:  # type: ignore[type-arg]
    """The document that the command prints, or why there is none."""
    command = [sys.executable, "-m", "allocator", "solve", str(instance), "--json", "--quiet"]
    command += ["--method", budget.method, "--time-limit", f"{budget.time_limit}s"]
    command += ["--threads", str(budget.threads), "--seed", str(budget.seed)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    try:
        done = subprocess.run(
            command,
            cwd=instance.parent,
            env=environment,
            capture_output=True,
            timeout=budget.time_limit + LATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"still running {LATE_SECONDS:g} s after its time limit"
    if done.returncode not in (0, 1):
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing said"]
        return f"exit code {done.returncode}: {said[0]}"
    return json.loads(done.stdout, parse_int=Fraction, parse_float=Fraction)


def instance_files(data: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    """Files of a folder that may be instances, with their names relative to it, sorted."""
    skipped = {".csv", ".md"}
    for path in sorted(data.rglob(pattern)):
        if path.is_file() and path.suffix not in skipped and path.name != "format.txt":
            yield path.relative_to(data).as_posix(), path
