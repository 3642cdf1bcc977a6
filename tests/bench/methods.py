"""Methods side by side at equal limits on large instances: ``python -m tests.bench.methods``.

The best value is the best that any of the methods found for the instance and model; what is told of the way there are
the values that progress reports, a second apart.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from allocator.formats.document import write_document
from allocator.generate import generate
from allocator.model import load_model
from tests.bench.process import warm
from tests.bench.runs import Budget
from tests.bench.scale import Solve, solve_once
from tests.bench.table import protocol

METHODS = ("uniform", "adjust", "greedy", "genetic", "lns", "local-search", "auto")
MODELS = {"claims": ("p99", "traffic"), "mixed": ("p99", "traffic"), "twin": ("traffic",)}
SAME = Fraction(1, 10**6)  # relative difference of values that counts as none


def ahead(first: Solve, second: Solve, senses: Sequence[str]) -> bool:
    """Whether the first answer is better, level by level."""
    if not answered(first) or not answered(second):
        return answered(first)
    for a, b, sense in zip(first.levels, second.levels, senses, strict=True):
        x, y = a.value or Fraction(0), b.value or Fraction(0)
        if abs(x - y) > SAME * max(abs(x), abs(y)):
            return x < y if sense == "min" else x > y
    return False


def answered(run: Solve) -> bool:
    """Whether there is a plan."""
    return not run.failure and run.status in ("optimal", "feasible")


def deciding(runs: Sequence[Solve]) -> int:
    """First level in which the answers differ."""
    good = [run for run in runs if answered(run)]
    for index in range(len(good[0].levels) if good else 0):
        values = [float(run.levels[index].value or 0) for run in good]
        if max(values) - min(values) > float(SAME) * max(map(abs, values)):
            return index
    return 0


def within(run: Solve, best: float, part: float) -> str:
    """Seconds until progress told of a value within a part of the best; a dash when it never did."""
    for when, value in run.best:
        if abs(value - best) <= part * abs(best):
            return f"{when:.1f}"
    return "-"


def rows(runs: Sequence[Solve], senses: Sequence[str]) -> list[str]:
    """Rows of one instance and model: first level that tells the methods apart."""
    index = deciding(runs)
    good = [run for run in runs if answered(run)]
    values = [run.levels[index].value or Fraction(0) for run in good]
    best = float((min if senses[index] == "min" else max)(values)) if values else 0.0
    found = []
    for run in runs:
        if not answered(run):
            found.append(f"| {run.name} | {run.model} | {run.method} | {run.failure or run.status} | | | | | |")
            continue
        level = run.levels[index]
        value = float(level.value or 0)
        cells = [
            run.name,
            run.model,
            run.method,
            f"{'+'.join(level.goals)} {value:.6g}",
            f"{100 * abs(value - best) / abs(best):.2f}" if best else f"{value - best:.3g}",
            "" if level.gap is None else f"{float(100 * level.gap):.2f}",
            "" if run.first is None else f"{run.first:.1f}",
            within(run, best, 0.01),
            within(run, best, 0.001),
        ]
        found.append(f"| {' | '.join(cells)} |")
    return found


HEADER = (
    "| instance | model | method | value | to best % | gap % | first plan s | to 1 % s | to 0.1 % s |",
    "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
)


def main() -> int:
    """Run, print and write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.methods", description=__doc__)
    parser.add_argument("--agents", type=int, nargs="+", default=[4_000, 40_000])
    parser.add_argument("--families", nargs="+", default=list(MODELS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--load", type=float, default=0.85)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=30.0)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md")
    arguments = parser.parse_args()
    wins: dict[str, int] = defaultdict(int)
    tables: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm()
        limits = Budget(arguments.time_limit, arguments.threads, 0, "each")
        head = protocol("Methods on large instances", limits, f"{arguments.seeds} seeds, load {arguments.load}")
        print("\n".join([*head, "", *HEADER]), flush=True)
        for agents in arguments.agents:
            for family in arguments.families:
                for seed in range(arguments.seeds):
                    path = folder / f"{family}-{agents}-{seed}.json"
                    write_document(generate(family, agents=agents, load=arguments.load, seed=seed), path)
                    for model in MODELS[family]:
                        senses = [level.sense for level in load_model(model).levels]
                        runs = [
                            solve_once(
                                path,
                                f"{family} {agents} seed {seed}",
                                arguments.load,
                                model,
                                Budget(arguments.time_limit, arguments.threads, seed, method),
                            )
                            for method in arguments.methods
                        ]
                        for run in runs:
                            if answered(run) and not any(ahead(other, run, senses) for other in runs):
                                wins[run.method] += 1
                        tables += rows(runs, senses)
                        print("\n".join(tables[-len(runs) :]), flush=True)
    never = [method for method in arguments.methods if not wins[method]]
    said = [f"- best or as good as the best: {method} {wins[method]} times" for method in arguments.methods]
    said.append(f"- never wins: {', '.join(never) or 'nothing'}")
    print("\n".join(["", *said]))
    if arguments.output:
        arguments.output.write_text("\n".join([*head, "", *HEADER, *tables, "", *said]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
