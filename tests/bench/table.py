"""The command of a benchmark: its arguments, its Markdown table, its demands and its exit code."""

from __future__ import annotations

import argparse
import fnmatch
import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import allocator
from tests.bench.runs import ROOT, Budget, Known, Row, find_known, instance_files, run_instance

__all__ = ["Demand", "Suite", "judge", "main", "protocol"]


@dataclass(frozen=True)
class Demand:
    """Something that the results must satisfy: how many of how many do, and the least share (1: all of them)."""

    text: str
    good: Sequence[str]
    bad: Sequence[str]
    least: Fraction = Fraction(1)

    @property
    def met(self) -> bool:
        """Whether enough do; true when nothing was to be judged."""
        total = len(self.good) + len(self.bad)
        return len(self.good) >= self.least * total

    def __str__(self) -> str:
        total = len(self.good) + len(self.bad)
        verdict = ("met" if self.met else "MISSED") if total else "nothing to judge"
        misses = f"; not: {', '.join(self.bad)}" if self.bad else ""
        return f"{verdict}: {self.text}: {len(self.good)} of {total}{misses}"


@dataclass(frozen=True)
class Suite:
    """A benchmark: format, files, stored value to compare with, demands on the rows.

    ``no_instances``: file names that are none of the format, and why; they are told of and not run.
    """

    kind: str
    about: str
    pattern: str
    time_limit: float
    best: Callable[[Known], Fraction | None]
    demands: Callable[[Sequence[Row]], Sequence[Demand]]
    no_instances: Mapping[str, str] = field(default_factory=dict)


def judge(rows: Sequence[Row], text: str, holds: Callable[[Row], bool], least: Fraction = Fraction(1)) -> Demand:
    """Demand that a condition holds for the rows, or a share of them."""
    good = [row.name for row in rows if holds(row)]
    bad = [row.name for row in rows if not holds(row)]
    return Demand(text, good, bad, least)


def main(suite: Suite) -> int:
    """Run the instances of a folder, print and write their table; 1 when a demand is missed."""
    arguments = _arguments(suite)
    data: Path = arguments.data
    known = find_known(data.resolve())
    chosen = [
        (name, path)
        for name, path in instance_files(data, suite.pattern)
        if fnmatch.fnmatch(name, arguments.only) or fnmatch.fnmatch(path.name, arguments.only)
    ]
    left_out = [path.name for _, path in chosen if path.name in suite.no_instances]
    chosen = [(name, path) for name, path in chosen if path.name not in suite.no_instances]
    if not chosen:
        print(f"no instance in {data} matches {arguments.only}")
        return 2
    budget = Budget(arguments.time_limit, arguments.threads, arguments.seed, arguments.method)
    lines = [*protocol(suite.about, budget, f"seed {budget.seed}"), "", *_HEADER]
    print("\n".join(lines), flush=True)
    rows: list[Row] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        pending = {
            pool.submit(run_instance, suite.kind, path, name, known.get(path.resolve(), Known({})), budget): name
            for name, path in chosen
        }
        for done in as_completed(pending):
            rows.append(done.result())
            print(_line(rows[-1], suite), flush=True)
    rows.sort(key=lambda row: row.name)
    demands = [*suite.demands(rows), contradictions(rows, suite), answered(rows)]
    summary = _summary(rows, suite, demands)
    summary += [f"- left out: {name}: {suite.no_instances[name]}" for name in left_out]
    print("\n".join(["", *summary]), flush=True)
    if arguments.output:
        table = [*lines, *(_line(row, suite) for row in rows), "", *summary]
        arguments.output.write_text("\n".join(table) + "\n", encoding="utf-8")
    return 0 if all(demand.met for demand in demands) else 1


def contradictions(rows: Sequence[Row], suite: Suite) -> Demand:
    """No bound above a value that is known to be reached, no value below an optimum or bound that is stored."""

    def sound(row: Row) -> bool:
        best = suite.best(row.known)
        least = row.known.number("best_bound") or row.known.number("LB")
        optimal = row.known.columns.get("value_status", "").startswith("optimal")
        least = best if optimal and best is not None else least
        below = row.value is not None and least is not None and row.value < least
        above = row.bound is not None and best is not None and row.bound > best
        crossed = row.value is not None and row.bound is not None and row.bound > row.value
        return not (below or above or crossed)

    return judge(rows, "no answer contradicts a stored value or itself", sound)


def answered(rows: Sequence[Row]) -> Demand:
    """Every run ends with an answer."""
    return judge(rows, "every run ends by itself, with a document", lambda row: not row.failure)


def _arguments(suite: Suite) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m tests.bench.{suite.kind}", description=suite.about)
    parser.add_argument("--data", type=_folder, required=True, help="folder of instances, bestknown.csv in or above it")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names to run, such as 'chu1997/c*'")
    parser.add_argument("--time-limit", type=float, default=suite.time_limit, metavar="S", help="per instance")
    parser.add_argument("--threads", type=int, default=2, help="per instance")
    parser.add_argument("--jobs", type=int, default=1, help="instances at a time; more than 1 blurs the times")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", default="auto")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md", help="write the table, too")
    return parser.parse_args()


def _folder(text: str) -> Path:
    path = Path(text)
    if not text or not path.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text!r}; give the folder of the instances")
    return path


_HEADER = (
    "| instance | items | nodes | value | bound | gap % | best known | to best % | status | seconds | peak MiB |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
)


def _line(row: Row, suite: Suite) -> str:
    best = suite.best(row.known)
    cells = [
        row.name,
        str(row.items),
        str(row.nodes),
        _number(row.value),
        _number(row.bound),
        _percent(row.gap),
        _number(best),
        _percent(row.above(best)),
        row.failure.replace("|", "/") or row.status,
        f"{row.seconds:.1f}",
        "" if row.peak_mib is None else f"{row.peak_mib:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def _number(value: Fraction | None) -> str:
    if value is None:
        return ""
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"


def _percent(value: Fraction | None) -> str:
    return "" if value is None else f"{float(100 * value):.2f}"


def _summary(rows: Sequence[Row], suite: Suite, demands: Sequence[Demand]) -> list[str]:
    proven = sum(row.status == "optimal" for row in rows)
    failed = sum(bool(row.failure) for row in rows)
    aside = [value for row in rows if (value := row.above(suite.best(row.known))) is not None]
    mean = f"{float(100 * sum(aside) / len(aside)):.3f} %" if aside else "not known"
    head = f"{len(rows)} instances, {proven} proven optimal, {failed} failed; mean distance to best known {mean}"
    return [head, "", *(f"- {demand}" for demand in demands)]


def protocol(about: str, budget: Budget, seeds: str) -> list[str]:
    """Head of a table: what made it, within what limits, on what machine."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, check=False)
    made_by = f"allocator {allocator.__version__} ({commit.stdout.decode().strip() or 'no commit'})"
    budgeted = f"method {budget.method}, {seeds}, {budget.threads} threads, limit {budget.time_limit:g} s"
    machine = f"{_processor()}, {os.cpu_count()} cores"
    note = "The limit holds per instance, reading included; seconds are the wall time of the whole process."
    return [f"# {about}", "", f"{made_by}; {budgeted}; {machine}. {note}"]


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
