"""Whole processes at 40,000 and 200,000 agents: ``python -m tests.bench.scale``.

Seconds from start to end of the process, CPU seconds, when the first plan was there, the certified gap of each level,
and resident memory; medians over seeds. Kernels are compiled before, by a tiny solve, as they are on any machine that
has run them once.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from allocator.formats.document import write_document
from allocator.generate import generate
from tests.bench.process import BEST, warm
from tests.bench.runs import LATE_SECONDS, ROOT, Budget
from tests.bench.table import Demand, protocol

__all__ = ["Level", "Solve", "demands", "line", "solve_once"]

MODELS = ("place", "throughput", "p99", "place-close")
JUDGED = frozenset({"placed", "throughput", "p99"})  # goals whose gap is demanded
MOST_GAP = {0.85: Fraction(1, 100), 0.97: Fraction(3, 100)}
FIRST_PLAN_SECONDS = 3.0
MEMORY_MIB = 1024.0
LARGE = 200_000
SECONDS = {40_000: 10.0, LARGE: 60.0}
MARGIN = {40_000: 2.5, LARGE: 12.0}  # s of the whole process that are no part of the limit given


@dataclass(frozen=True)
class Level:
    """A level of an answer: its goals, and value, bound and gap as the document says."""

    goals: tuple[str, ...]
    value: Fraction | None
    bound: Fraction | None
    gap: Fraction | None


@dataclass(frozen=True)
class Solve:
    """One process. ``best``: (seconds, value) as progress told; ``failure``: why there is no answer."""

    name: str
    load: float
    model: str
    method: str
    seed: int
    status: str = ""
    seconds: float = 0.0
    cpu: float = 0.0
    first: float | None = None
    peak_mib: float = 0.0
    levels: tuple[Level, ...] = ()
    best: tuple[tuple[float, float], ...] = ()
    failure: str = ""


def solve_once(path: Path, name: str, load: float, model: str, budget: Budget) -> Solve:
    """Solve a file by the command line, in a fresh process."""
    command = [sys.executable, "-m", "allocator", "solve", str(path), "--json", "--model", model]
    command += ["--method", budget.method, "--time-limit", f"{budget.time_limit}s"]
    command += ["--threads", str(budget.threads), "--seed", str(budget.seed)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd=path.parent,
            capture_output=True,
            timeout=budget.time_limit + LATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Solve(name, load, model, budget.method, budget.seed, failure="still running long after its limit")
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode not in (0, 1):
        why = (said or ["nothing said"])[-1]
        return Solve(name, load, model, budget.method, budget.seed, failure=f"exit code {done.returncode}: {why}")
    document = json.loads(done.stdout, parse_int=Fraction, parse_float=Fraction)
    best = tuple((float(m[1]), float(m[2].replace(",", ""))) for m in map(BEST.match, said) if m)
    levels = tuple(
        Level(tuple(level["goals"]), level["value"], level["bound"], level["gap"]) for level in document["levels"]
    )
    return Solve(
        name,
        load,
        model,
        budget.method,
        budget.seed,
        document["status"],
        seconds,
        cpu,
        best[0][0] if best else None,
        float(document["peak_memory_mib"] or 0),
        levels,
        best,
    )


def line(runs: Sequence[Solve]) -> str:
    """A row of the table: medians over seeds."""
    first, answered = runs[0], [run for run in runs if not run.failure]
    if not answered:
        return f"| {first.name} | {first.load} | {first.model} | {first.failure} | | | | | |"
    firsts = [run.first for run in answered if run.first is not None]
    gaps = []
    for index, level in enumerate(answered[0].levels):
        known = [float(100 * gap) for run in answered if (gap := run.levels[index].gap) is not None]
        gaps.append(f"{'+'.join(level.goals)} {statistics.median(known):.2f}" if known else f"{level.goals[0]} -")
    failed = len(runs) - len(answered)
    states = sorted({run.status for run in answered} | ({f"{failed} failed"} if failed else set()))
    cells = [
        first.name,
        f"{first.load}",
        first.model,
        "/".join(states),
        f"{statistics.median(run.seconds for run in answered):.1f}",
        f"{statistics.median(run.cpu for run in answered):.1f}",
        f"{statistics.median(firsts):.1f}" if firsts else "",
        ", ".join(gaps),
        f"{max(run.peak_mib for run in answered):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def demands(runs: Sequence[Solve]) -> list[Demand]:
    """What the issue of large instances asks for, judged run by run."""

    def judged(text: str, holds: dict[str, bool]) -> Demand:
        return Demand(
            text, [name for name, good in holds.items() if good], [n for n, good in holds.items() if not good]
        )

    label = {id(run): f"{run.name} {run.load} {run.model} seed {run.seed}" for run in runs}
    gaps = {
        f"{label[id(run)]} {level.goals[0]}": level.gap is not None and level.gap <= MOST_GAP[run.load]
        for run in runs
        for level in run.levels
        if run.load in MOST_GAP and set(level.goals) <= JUDGED
    }
    small = [run for run in runs if not run.name.endswith(f" {LARGE}")]
    large = [run for run in runs if run.name.endswith(f" {LARGE}")]
    return [
        judged("a feasible plan", {label[id(run)]: run.status in ("optimal", "feasible") for run in runs}),
        judged("gap within 1 % (3 % at load 0.97) on placed, throughput and p99", gaps),
        judged("whole process under 10 s", {label[id(run)]: run.seconds < SECONDS[40_000] for run in small}),
        judged(f"{LARGE:,} agents in under 60 s", {label[id(run)]: run.seconds < SECONDS[LARGE] for run in large}),
        judged(
            "first plan within 3 s of the start",
            {label[id(run)]: run.first is not None and run.first <= FIRST_PLAN_SECONDS for run in small},
        ),
        judged("under 1 GiB resident", {label[id(run)]: run.peak_mib < MEMORY_MIB for run in small}),
    ]


HEADER = (
    "| instance | load | model | status | seconds | CPU s | first plan s | gap by level, % | peak MiB |",
    "| --- | ---: | --- | --- | ---: | ---: | ---: | --- | ---: |",
)


def main() -> int:
    """Run, print and write the table; 1 when a demand is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scale", description=__doc__)
    parser.add_argument("--agents", type=int, nargs="+", default=[40_000, LARGE])
    parser.add_argument("--families", nargs="+", default=["mixed", "claims"])
    parser.add_argument("--loads", type=float, nargs="+", default=[0.85, 0.97])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds, of instances and of solves")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--time-limit", type=float, help="s; default: 10 s (60 s for 200,000) less start and end")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md")
    arguments = parser.parse_args()
    runs: list[Solve] = []
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm()
        head = protocol(
            "Large instances, whole processes",
            Budget(arguments.time_limit or SECONDS[40_000], arguments.threads, 0, arguments.method),
            f"medians of {arguments.seeds} seeds",
        )
        print("\n".join([*head, "", *HEADER]), flush=True)
        for agents in arguments.agents:
            # the largest ones: once a family, at the lower load
            large = agents >= LARGE
            limit = arguments.time_limit or SECONDS[LARGE if large else 40_000] - MARGIN[LARGE if large else 40_000]
            for family in arguments.families:
                for load in arguments.loads[:1] if large else arguments.loads:
                    paths = []
                    for seed in range(arguments.seeds):
                        paths.append(folder / f"{family}-{agents}-{load}-{seed}.json")
                        write_document(generate(family, agents=agents, load=load, seed=seed), paths[-1])
                    for model in arguments.models:
                        found = [
                            solve_once(
                                path,
                                f"{family} {agents}",
                                load,
                                model,
                                Budget(limit, arguments.threads, seed, arguments.method),
                            )
                            for seed, path in enumerate(paths)
                        ]
                        runs += found
                        lines.append(line(found))
                        print(lines[-1], flush=True)
    judged = [f"- {demand}" for demand in demands(runs)]
    print("\n".join(["", *judged]))
    if arguments.output:
        arguments.output.write_text("\n".join([*head, "", *HEADER, *lines, "", *judged]) + "\n", encoding="utf-8")
    return 0 if all(demand.met for demand in demands(runs)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
