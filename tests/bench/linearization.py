"""What tolerance costs and what is certified: ``python -m tests.bench.linearization`` (``make bench-linearization``).

Two tables. *Errors*: for each curve and for P99, at tolerances of 10 %, 1 % and 0.1 %, the certified error beside the
one that brute force finds on tiny instances, pieces and solve time. *Price of bending*: processor time of an instance
under each curve at 1 % over that of the same instance under ``fair``, both to a gap of 1 %; the median over the suite.
Exit code 1 when an error exceeds its certificate, or the median of ``knee`` is above 3.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator import solve
from allocator.errors import AllocatorError
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.linearization import Fair, Function, Knee, Table, geometric_tangents, outer
from allocator.model.entities import Goal, Level, Linearization, Model
from allocator.model.families import GoalId
from allocator.plan.result import Result
from tests.bench.fabrics import COLLAPSE, Curve, Shape, bent_table, pipelines, singles, teams
from tests.bench.table import _processor
from tests.oracle.brute_force import brute_force

__all__ = ["CURVES", "Judged", "errors", "judge", "main", "prices", "suite"]

TOLERANCES = (Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))
CURVES: Mapping[str, Curve] = {
    "fair": {"curve": "fair"},
    "knee": {"curve": "knee", "p": 4},
    "table": bent_table(5),
    "collapse": COLLAPSE,
}
ALLOWED = 3.0  # times the time of the linear curve
FLOATS = Fraction(1, 10**6)  # relative: the oracle computes in floats
RANGE = Fraction(4)  # times the capacity, for the number of pieces
THROUGHPUT = Model("throughput", "", (Level((Goal(GoalId.THROUGHPUT),)),))
RESPONSE = Model("p99", "", (Level((Goal(GoalId.P99),)),))


@dataclass(frozen=True)
class Judged:
    """One instance at one tolerance, all errors relative.

    ``certified`` of the pieces, ``measured`` of them at the plan; ``loss`` of the plan against the truth, and how far
    the ``bound`` lies beyond the truth (negative: it is wrong).
    """

    certified: Fraction
    measured: Fraction
    loss: Fraction
    bound: Fraction
    seconds: float

    def holds(self, tolerance: Fraction) -> bool:
        """The plan is as good as the tolerance asks, the bound is one, and the error at the plan within the proven."""
        return (
            -FLOATS <= self.loss <= tolerance + FLOATS
            and self.bound >= -FLOATS
            and self.measured <= self.certified + FLOATS
        )


def judge(instance: Instance, model: Model, truth: Fraction, tolerance: Fraction) -> Judged:
    """Solve to gap 0 at the tolerance, and compare with the optimum by brute force."""
    chosen = replace(model, linearization=Linearization(tolerance))
    began = time.process_time()
    result = solve(instance, chosen, method="milp", time_limit=120, seed=0, threads=1)
    seconds = time.process_time() - began
    level, certificate = result.levels[0], result.linearization
    if level.value is None or level.bound is None or certificate is None:
        raise AssertionError(f"no answer: {result.termination}")
    sign = 1 if level.level.sense == "max" else -1
    scale = abs(truth) or Fraction(1)
    return Judged(
        certificate.max_relative_error,
        certificate.measured,
        sign * (truth - level.value) / scale,
        sign * (level.bound - truth) / scale,
        seconds,
    )


def tiny(curve: Curve, seed: int) -> Instance:
    """Four members on four nodes, six uplinks."""
    made = teams(seed, curve, Shape(2, 2), 2, 2) if seed % 2 else singles(seed, curve, Shape(2, 2), 4, 5)
    return instance_from_dict(made)


def tiny_queues(seed: int) -> Instance:
    """The same with four critical classes, whose response times are the goal."""
    document = singles(seed, {"curve": "fair"}, Shape(2, 2), 4, 4)
    document["topology"][0]["uplink"]["latency"] = "100 ms"
    for number, workload in enumerate(document["workloads"]):
        workload["work"] = {"rate": f"{1 + (seed + number) % 3}/s", "cpu": "200 ms", "parallel": 4}
        workload["slo"] = {"critical": True}
    return instance_from_dict(document)


def pieces(name: str, curve: Curve, tolerance: Fraction) -> str:
    """Number of pieces over four times the capacity; of a table that is not concave its segments, exact."""
    function: Function = Fair()
    if name == "knee":
        function = Knee(Fraction(int(curve["p"])))
    elif curve["curve"] == "table":
        table = Table(tuple((Fraction(x), Fraction(y)) for x, y in curve["points"]))
        return f"{len(table.polyline(RANGE).simplified().points) - 1} exact"
    return str(len(outer(function, Fraction(0), RANGE, tolerance).segments))


def errors(seeds: int, *, response: bool = True) -> Iterator[tuple[str, Fraction, str, list[Judged]]]:
    """Rows: curve or P99, tolerance, pieces, what came out of every instance."""
    kinds: list[tuple[str, Model, list[Instance]]] = [
        (name, THROUGHPUT, [tiny(curve, seed) for seed in range(seeds)]) for name, curve in CURVES.items()
    ]
    if response:
        kinds.append(("P99", RESPONSE, [tiny_queues(seed) for seed in range(seeds)]))
    for name, model, instances in kinds:
        truths = [Fraction(brute_force(instance, model).values[0]) for instance in instances]
        for tolerance in TOLERANCES:
            if name == "P99":
                number = str(len(geometric_tangents(Fraction(1, 8), Fraction(500), tolerance).grid))
            else:
                number = pieces(name, CURVES[name], tolerance)
            yield (
                name,
                tolerance,
                number,
                [judge(i, model, t, tolerance) for i, t in zip(instances, truths, strict=True)],
            )


def suite(seeds: int, curve: Curve) -> list[dict[str, Any]]:
    """Instances that differ in nothing but their curve."""
    shape = Shape(2, 3)
    found = []
    for seed in range(1, seeds + 1):
        found += [
            singles(seed, curve, shape, 8, 9),
            teams(seed, curve, shape, 3, 3),
            pipelines(seed, curve, shape, 8, 2),
        ]
    return found


def prices(seeds: int, seconds: float) -> dict[str, list[float]]:
    """Processor time under each curve over that under ``fair``, instance by instance, in turn."""
    found: dict[str, list[float]] = {name: [] for name in CURVES if name != "fair"}
    for instances in zip(*(suite(seeds, curve) for curve in CURVES.values()), strict=True):
        times = {name: _time(instance_from_dict(each), seconds) for name, each in zip(CURVES, instances, strict=True)}
        for name, ratios in found.items():
            ratios.append(times[name] / times["fair"])
    return found


def _time(instance: Instance, seconds: float) -> float:
    began = time.process_time()
    result: Result = solve(
        instance, "throughput", method="milp", time_limit=seconds, gap=0.01, tolerance=0.01, seed=0, threads=1
    )
    if result.plan is None:
        raise AssertionError(f"no plan: {result.termination}")
    return time.process_time() - began


def error_row(name: str, tolerance: Fraction, number: str, judged: Sequence[Judged]) -> str:
    """A row of the first table: the worst of all instances, the median time."""
    certified = max(each.certified for each in judged)
    held = sum(each.holds(tolerance) for each in judged)
    cells = [
        name,
        _percent(tolerance),
        number,
        _percent(certified),
        _percent(max(each.measured for each in judged)),
        _percent(max(Fraction(0), *(each.loss for each in judged))),
        _percent(max(Fraction(0), *(each.bound for each in judged))),
        f"{held} of {len(judged)}",
        f"{statistics.median(each.seconds for each in judged):.2f}",
    ]
    return f"| {' | '.join(cells)} |"


def _percent(number: Fraction) -> str:
    return f"{float(100 * number):.3g} %"


def main() -> int:
    """Run both, print, write."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.linearization", description=__doc__)
    parser.add_argument("--seeds", type=int, default=6, help="tiny instances a curve")
    parser.add_argument("--suite", type=int, default=3, help="seeds of the suite of times")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S")
    parser.add_argument("--no-response", action="store_true", help="leave P99 out")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md")
    arguments = parser.parse_args()
    lines = [f"{_processor()}, {os.cpu_count()} cores; method milp, 1 thread, seconds of processor time.", ""]
    lines += [
        "| | tolerance | pieces | certified | at the plan | lost to the optimum | bound beyond it | holds | s |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    print("\n".join(lines), flush=True)
    good = True
    try:
        for name, tolerance, number, judged in errors(arguments.seeds, response=not arguments.no_response):
            lines.append(error_row(name, tolerance, number, judged))
            print(lines[-1], flush=True)
            good = good and all(each.holds(tolerance) for each in judged)
    except AllocatorError as error:
        lines.append(f"stopped: {error}")
        print(lines[-1])
        good = False
    ratios = prices(arguments.suite, arguments.time_limit)
    lines += [
        "",
        "| curve | instances | median of times over `fair` | least | most |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    ratios["all"] = [ratio for each in ratios.values() for ratio in each]
    for name, each in ratios.items():
        lines.append(f"| {name} | {len(each)} | {statistics.median(each):.2f} | {min(each):.2f} | {max(each):.2f} |")
    print("\n".join(lines[-2 - len(ratios) :]))
    good = good and statistics.median(ratios["knee"]) <= ALLOWED
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
