"""Machine reassignment against stored values: ``python -m tests.bench.roadef --data FOLDER``.

Every plan's cost is computed anew from the two files of the problem. The score of a run is that of the challenge:
100 (cost - best known) / initial cost, the mean over the seeds summed over the instances.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import mean

from allocator.errors import InputError
from allocator.formats.document import write_document
from allocator.formats.registry import PLAN_WRITERS, READERS
from allocator.instance import load_instance
from allocator.plan.files import read_plan
from tests.bench.process import solve_file, warm
from tests.bench.runs import Budget, Known, on_time
from tests.bench.table import Demand, protocol
from tests.formats.reassignment import read_files

__all__ = ["Problem", "Run", "demands", "problems", "score"]

SECONDS = 300.0
SCORE = Fraction(7)
FIRST_IMPROVED = 5.0  # s, on the largest instance
MEMORY_MIB = 1536
PERCENT = Fraction(1, 100)
NEAR = {  # to the best known value
    **dict.fromkeys(("a1_1", "a1_3", "a1_5"), PERCENT / 1000),
    **dict.fromkeys(("a1_2", "a2_4"), PERCENT / 10),
    **dict.fromkeys(("b_1", "b_3"), PERCENT * 3 / 2),
    **dict.fromkeys(("b_5",), PERCENT / 10),
    **dict.fromkeys(("b_2", "b_4", "b_6", "b_8", "b_9"), PERCENT / 20),
}
CERTIFIED = {**dict.fromkeys(("b_2", "b_4", "b_6", "b_8", "b_9"), PERCENT / 20), "b_5": PERCENT * 12 / 100}


@dataclass(frozen=True)
class Problem:
    """A model file, the assignment of its start, and what is stored about it."""

    name: str
    model: Path
    assignment: Path
    known: Known

    @property
    def initial(self) -> Fraction | None:
        """Stored cost of the start."""
        return self.known.number("initial")

    @property
    def best(self) -> Fraction | None:
        """Best value that is known."""
        return self.known.number("best_known")


@dataclass(frozen=True)
class Run:
    """What came out of one problem with one seed. ``cost``: of the plan, from the files; ``value``: as was said."""

    problem: Problem
    seed: int
    status: str = "failed"
    cost: int | None = None
    broken: frozenset[str] = frozenset()
    value: Fraction | None = None
    bound: Fraction | None = None
    start: int = 0
    first_improved: float | None = None
    seconds: float = 0.0
    peak_mib: float = 0.0
    failure: str = ""

    @property
    def certified(self) -> Fraction | None:
        """Gap to the run's own bound."""
        if self.cost is None or self.bound is None:
            return None
        return (self.cost - self.bound) / self.cost if self.cost else Fraction(0)

    @property
    def over_initial(self) -> Fraction | None:
        """Distance to the run's own bound over the cost of the start."""
        return (self.cost - self.bound) / self.start if self.cost is not None and self.bound is not None else None

    @property
    def above(self) -> Fraction | None:
        """Distance to the best known value, relative to it."""
        best = self.problem.best
        return (self.cost - best) / best if self.cost is not None and best else None

    @property
    def points(self) -> Fraction | None:
        """Score of the challenge."""
        best, initial = self.problem.best, self.problem.initial
        return 100 * (self.cost - best) / initial if self.cost is not None and best is not None and initial else None


def problems(data: Path, only: str) -> Iterator[Problem]:
    """Pairs of files below a folder; ``bestknown.csv`` stands in it."""
    known: dict[str, Known] = {}
    if (data / "bestknown.csv").is_file():
        with (data / "bestknown.csv").open(newline="", encoding="utf-8") as stream:
            known = {row["instance"]: Known(row) for row in csv.DictReader(stream)}
    for model in sorted(data.rglob("model*.txt")):
        assignment = model.with_name(model.name.replace("model", "assignment", 1))
        name = model.stem.removeprefix("model").strip("_") or model.parent.name.removeprefix("roadef_")
        if assignment.is_file() and fnmatch.fnmatch(name, only):
            yield Problem(name, model, assignment, known.get(name, Known({})))


def run(problem: Problem, budget: Budget) -> Run:
    """Convert, solve in a process of its own, and judge the plan by the files."""
    try:
        document = READERS["roadef2012"](problem.model, assignment=problem.assignment)
    except InputError as error:
        return Run(problem, budget.seed, failure=str(error))
    reference = read_files(problem.model, problem.assignment)
    start = reference.cost(reference.start)
    with tempfile.TemporaryDirectory() as folder:
        instance, plan, answer = (Path(folder) / name for name in ("instance.json", "plan.json", "answer.txt"))
        write_document(document, instance)
        done = solve_file(instance, budget, plan)
        if isinstance(done, str):
            return Run(problem, budget.seed, start=start, failure=done)
        level = done.document["levels"][0]
        cost, broken = None, frozenset[str]()
        if plan.is_file():
            loaded = load_instance(instance)
            PLAN_WRITERS["roadef2012"](read_plan(plan, loaded), loaded, answer)
            where = [int(word) for word in answer.read_text().split()]
            cost, broken = reference.cost(where), frozenset(reference.broken(where))
    return Run(
        problem,
        budget.seed,
        done.document["status"],
        cost,
        broken,
        level["value"],
        level["bound"],
        start,
        done.first_below(Fraction(start)),
        done.seconds,
        float(done.document["peak_memory_mib"]),
    )


def score(runs: Sequence[Run]) -> Fraction | None:
    """Sum over the instances of the mean score of their runs; None when one has none."""
    by_name: dict[str, list[Fraction | None]] = {}
    for each in runs:
        by_name.setdefault(each.problem.name, []).append(each.points)
    total = Fraction(0)
    for points in by_name.values():
        stated = [each for each in points if each is not None]
        if len(stated) < len(points):
            return None
        total += sum(stated, Fraction(0)) / len(stated)
    return total


def demands(runs: Sequence[Run], limit: float) -> list[Demand]:
    """What must hold of every run, and how near some instances must come within the challenge's time."""
    named = [(f"{each.problem.name}/{each.seed}", each) for each in runs]

    def all_of(text: str, holds: Callable[[Run], bool], among: Callable[[Run], bool] = lambda _: True) -> Demand:
        judged = [(name, holds(each)) for name, each in named if among(each)]
        return Demand(text, [name for name, good in judged if good], [name for name, good in judged if not good])

    def within(measured: Fraction | None, most: Fraction) -> bool:
        return measured is not None and measured <= most

    found = [
        all_of("every run ends by itself, with a plan", lambda r: not r.failure and r.cost is not None),
        all_of("every plan keeps the rules and costs what was said", lambda r: not r.broken and r.cost == r.value),
        all_of("no plan costs more than the start", lambda r: r.cost is not None and r.cost <= r.start),
        all_of(
            "no bound lies above a known value", lambda r: r.bound is None or r.bound <= (r.problem.best or r.bound)
        ),
        all_of("on time", lambda r: r.seconds <= on_time(limit)),
        all_of(f"at most {MEMORY_MIB} MiB", lambda r: r.peak_mib <= MEMORY_MIB),
    ]
    if limit >= FIRST_IMPROVED:
        text = f"first improved plan of b_9 within {FIRST_IMPROVED:g} s"
        early = all_of(text, lambda r: (r.first_improved or limit) <= FIRST_IMPROVED, lambda r: r.problem.name == "b_9")
        found.append(early)
    if limit >= SECONDS:
        text = "near the best known value"
        found.append(all_of(text, lambda r: within(r.above, NEAR[r.problem.name]), lambda r: r.problem.name in NEAR))
        text = "near the own bound"
        found.append(
            all_of(
                text, lambda r: within(r.certified, CERTIFIED[r.problem.name]), lambda r: r.problem.name in CERTIFIED
            )
        )
        total = score(runs)
        good = total is not None and total <= SCORE
        text = f"score at most {float(SCORE):g}"
        found.append(Demand(text, ["sum"] if good else [], [] if good else ["sum"]))
    return found


_COLUMNS = (
    *("instance", "initial", "best known", "winner 300 s", "cost, mean", "least", "most", "to best %", "score"),
    *("winner's", "bound", "gap %", "gap over initial %", "first better s", "seconds", "peak MiB", "status"),
)
_HEADER = (f"| {' | '.join(_COLUMNS)} |", "| --- |" + " ---: |" * (len(_COLUMNS) - 2) + " --- |")


def _line(runs: Sequence[Run]) -> str:
    """One instance with all its seeds."""
    problem = runs[0].problem
    costs = [each.cost for each in runs if each.cost is not None]
    winner, initial, best = problem.known.number("winner_300s_mean"), problem.initial, problem.best
    theirs = 100 * (winner - best) / initial if winner is not None and best is not None and initial else None
    failures = {each.failure for each in runs if each.failure}
    first = [each.first_improved for each in runs if each.first_improved is not None]
    cells = [
        problem.name,
        str(runs[0].start),
        _whole(best),
        _whole(winner),
        _whole(mean(costs) if costs else None),
        _whole(min(costs, default=None)),
        _whole(max(costs, default=None)),
        _percent(_mean([each.above for each in runs]), 4),
        _number(_mean([each.points for each in runs])),
        _number(theirs),
        _whole(max((each.bound for each in runs if each.bound is not None), default=None)),
        _percent(_mean([each.certified for each in runs]), 4),
        _percent(_mean([each.over_initial for each in runs]), 4),
        f"{max(first):.1f}" if first else "",
        f"{max(each.seconds for each in runs):.1f}",
        f"{max(each.peak_mib for each in runs):.0f}",
        "; ".join(sorted(failures)).replace("|", "/") or " ".join(sorted({each.status for each in runs})),
    ]
    return f"| {' | '.join(cells)} |"


def _mean(values: Sequence[Fraction | None]) -> Fraction | None:
    stated = [value for value in values if value is not None]
    return sum(stated, Fraction(0)) / len(stated) if stated else None


def _whole(value: Fraction | float | None) -> str:
    return "" if value is None else str(round(value))


def _number(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):.3f}"


def _percent(value: Fraction | None, digits: int) -> str:
    return "" if value is None else f"{float(100 * value):.{digits}f}"


def main() -> int:
    """Run the problems of a folder, print and write their table; 1 when a demand is missed."""
    arguments = _arguments()
    chosen = list(problems(arguments.data, arguments.only))
    if not chosen:
        print(f"no pair of model and assignment in {arguments.data} matches {arguments.only}")
        return 2
    budget = Budget(arguments.time_limit, arguments.threads, arguments.seeds[0], arguments.method)
    lines = [*protocol("Machine reassignment", budget, f"seeds {arguments.seeds}"), "", *_HEADER]
    print("\n".join(lines), flush=True)
    warm()
    runs: list[Run] = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        pending = [
            [pool.submit(run, problem, Budget(*_with_seed(budget, seed))) for seed in arguments.seeds]
            for problem in chosen
        ]
        for of_problem in pending:
            done = [each.result() for each in of_problem]
            runs += done
            lines.append(_line(done))
            print(lines[-1], flush=True)
    theirs = [each.known.number("winner_300s_mean") for each in chosen]
    stored = [
        100 * (winner - each.best) / each.initial
        for each, winner in zip(chosen, theirs, strict=True)
        if winner is not None and each.best is not None and each.initial
    ]
    judged = demands(runs, arguments.time_limit)
    summary = [
        f"score {_number(score(runs))}; the challenge's winner in 300 s: {_number(sum(stored, Fraction(0)))}",
        "",
    ]
    summary += [f"- {demand}" for demand in judged]
    print("\n".join(["", *summary]), flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join([*lines, "", *summary]) + "\n", encoding="utf-8")
    return 0 if all(demand.met for demand in judged) else 1


def _with_seed(budget: Budget, seed: int) -> tuple[float, int, int, str]:
    return budget.time_limit, budget.threads, seed, budget.method


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.roadef", description="Machine reassignment")
    parser.add_argument("--data", type=Path, required=True, help="folder of model and assignment files, bestknown.csv")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="names to run, such as 'b_*'")
    parser.add_argument("--time-limit", type=float, default=SECONDS, metavar="S", help="per run, reading included")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=2, help="per run")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; more than 1 blurs the times")
    parser.add_argument("--method", default="auto")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md", help="write the table, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
