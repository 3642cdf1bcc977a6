"""Traffic of a production network against graph partitioners: ``python -m tests.bench.twin``.

The baseline is the best of the presets of mtkahypar, each mapped onto the topology tree (racks, sleds, nodes split one
after another, with the room that the load leaves) and repaired: what does not fit goes, largest first, where it adds
the least traffic among the nodes looked at. No local search follows. Ours is the command line with a time limit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from allocator.compiled.compile import compile_instance
from allocator.formats.document import write_document
from allocator.generate.families import generate
from allocator.instance import instance_from_dict
from allocator.model.load import load_model
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.partition.arrange import start_of
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.recorder import Recorder
from tests.bench.process import solve_file, warm
from tests.bench.runs import Budget
from tests.bench.table import protocol

__all__ = ["Pair", "baselines"]

PRESETS = ("LARGE_K", "DEFAULT", "QUALITY", "HIGHEST_QUALITY")
MOST = 0.97  # of the baseline's traffic


@dataclass(frozen=True)
class Pair:
    """Traffic of one instance: by preset after repair (None: not everybody has a place), and ours; seconds of both."""

    seed: int
    presets: dict[str, float | None]
    partitioning: float
    ours: float | None
    bound: float | None
    seconds: float
    failure: str = ""

    @property
    def ratio(self) -> float | None:
        """Our traffic to that of the best preset."""
        known = [value for value in self.presets.values() if value is not None]
        return None if self.ours is None or not known else self.ours / min(known)


def baselines(document: object, seed: int) -> dict[str, float | None]:
    """Traffic by preset, after repair."""
    compiled = compile_instance(instance_from_dict(document), load_model("traffic"))  # type: ignore[arg-type]
    found: dict[str, float | None] = {}
    for preset in PRESETS:
        budget = Limits(None, 1).start()
        search = Search(compiled, budget, Recorder(budget.elapsed), seed, 1)
        where = start_of(search.problem, seconds=None, seed=seed, threads=2, preset=preset)
        if where is None:
            continue
        walker = search.walkers[0]
        walker.put(where, search.problem.first_option[search.problem.workload])
        search.construct(walker)
        found[preset] = None if walker.num_left else float(walker.values[1])
    return found


def run(agents: int, load: float, seed: int, time_limit: float, folder: Path) -> Pair:
    """Both, on one instance."""
    document = generate("twin", agents=agents, load=load, seed=seed)
    path = folder / f"twin-{seed}.json"
    write_document(document, path)
    began = time.monotonic()
    presets = baselines(document, seed)
    partitioning = time.monotonic() - began
    solved = solve_file(path, Budget(time_limit, 2, seed, "auto"), folder / f"plan-{seed}.json")
    if isinstance(solved, str):
        return Pair(seed, presets, partitioning, None, None, 0.0, solved)
    plan = json.loads((folder / f"plan-{seed}.json").read_text(), parse_float=Fraction)
    level = plan["result"]["levels"][0]
    bound = level["bound"]
    ours, least = float(level["value"]), None if bound is None else float(bound)
    return Pair(seed, presets, partitioning, ours, least, solved.seconds)


def report(pairs: Sequence[Pair]) -> str:
    """The table, in Mbit/s times distance."""
    lines = [
        "| seed | " + " | ".join(PRESETS) + " | partitioners s | ours | bound | process s | ratio |",
        "| --- |" + " ---: |" * (len(PRESETS) + 5),
    ]
    for pair in pairs:
        cells = [_amount(pair.presets.get(preset)) for preset in PRESETS]
        ratio = "-" if pair.ratio is None else f"{pair.ratio:.3f}"
        ours = pair.failure or _amount(pair.ours)
        row = (
            str(pair.seed),
            *cells,
            f"{pair.partitioning:.0f}",
            ours,
            _amount(pair.bound),
            f"{pair.seconds:.1f}",
            ratio,
        )
        lines.append("| " + " | ".join(row) + " |")
    ratios = [pair.ratio for pair in pairs if pair.ratio is not None]
    if ratios:
        middle, worst = statistics.median(ratios), max(ratios)
        lines += ["", f"Median ratio {middle:.3f}, largest {worst:.3f}; demanded: at most {MOST}."]
    return "\n".join(lines)


def _amount(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e6:,.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when a ratio is missing or above the demanded one."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.twin", description=__doc__)
    parser.add_argument("--agents", type=int, default=40_000)
    parser.add_argument("--load", type=float, default=0.85)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    parser.add_argument("--time-limit", type=float, default=57.0, help="s; the process start comes on top")
    parser.add_argument("-o", "--output", type=Path)
    chosen = parser.parse_args(arguments)
    warm()
    with tempfile.TemporaryDirectory() as folder:
        pairs = [run(chosen.agents, chosen.load, seed, chosen.time_limit, Path(folder)) for seed in chosen.seeds]
    seeds = f"seeds {' '.join(map(str, chosen.seeds))}"
    head = protocol("Traffic of a production network", Budget(chosen.time_limit, 2, 0, "auto"), seeds)
    text = "\n".join((*head, "", report(pairs))) + "\n"
    if chosen.output:
        chosen.output.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0 if all(pair.ratio is not None and pair.ratio <= MOST for pair in pairs) else 1


if __name__ == "__main__":
    sys.exit(main())
