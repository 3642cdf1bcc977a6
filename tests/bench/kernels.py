"""Speed of the compiled moves: ``python -m tests.bench.kernels``.

Moves evaluated a second and core at 40,000 agents on 384 CPUs with all families on; and shifts without traffic beside
the same loop in C, compiled for this measurement alone, which must take the same decisions bit for bit. With ``--data``
a problem of machine reassignment too, kind of move by kind of move, cold and where some worsenings are taken.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.compiled.compile import compile_instance
from allocator.formats.registry import READERS
from allocator.generate import generate
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.kernels import indices, layout, moves, price, response, walk
from allocator.solvers.heuristic.search.heat import heat_for
from allocator.solvers.heuristic.search.mixes import mix_of
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from tests.bench.roadef import problems

LEAST_SHIFTS = 1_500_000
LEAST_OF_C = 0.85
LEAST_REASSIGNING = 200_000
KINDS = {"shift": moves.SHIFT, "swap": moves.SWAP, "chain": moves.CHAIN, "make room": moves.MAKE_ROOM}
SOURCE = Path(__file__).with_name("shift.c")
C = Callable[[Walker, int, npt.NDArray[np.float64], float, int], None]


def search_of(document: Mapping[str, Any], model: str) -> Search:
    """A search with everybody placed."""
    compiled = compile_instance(instance_from_dict(document), load_model(model))
    budget = Limits(None).start()
    search = Search(compiled, budget, Recorder(budget.elapsed, ()), 0, 1)
    search._first_placement(None)
    return search


def without_traffic(document: Mapping[str, Any]) -> dict[str, Any]:
    """An instance whose members talk to nobody."""
    return {key: value for key, value in document.items() if key not in ("teams", "flows")}


def in_c(folder: Path) -> C | None:
    """The loop in C, None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    names = {**vars(indices), **vars(layout)}
    macros = [f"#define {name} {value}" for name, value in names.items() if name.isupper() and isinstance(value, int)]
    macros += [
        f"#define {name} {value!r}" for name, value in (("UNKNOWN", price.UNKNOWN), ("STARVED", response.STARVED))
    ]
    macros.append(f"#define NEGLIGIBLE {walk.NEGLIGIBLE!r}")
    (folder / "positions.h").write_text("\n".join(macros) + "\n", encoding="utf-8")
    library = folder / "shift.so"
    flags = [
        "-O3",
        "-march=native",
        "-ffp-contract=off",
        "-fno-fast-math",
        "-shared",
        "-fPIC",
        "-include",
        "positions.h",
    ]
    subprocess.run([compiler, *flags, str(SOURCE), "-lm", "-o", str(library)], cwd=folder, check=True)
    function = ctypes.CDLL(str(library)).walk
    function.restype = None

    def run(walker: Walker, level: int, caps: npt.NDArray[np.float64], heat: float, rounds: int) -> None:
        function(
            ctypes.c_void_p(walker._problem_table),
            ctypes.c_void_p(walker.table),
            ctypes.c_int64(level),
            ctypes.c_void_p(caps.ctypes.data),
            ctypes.c_double(heat),
            ctypes.c_int64(rounds),
            ctypes.c_void_p(walker.counts.ctypes.data),
            ctypes.c_int64(moves.NUM_MOVES),
        )

    return run


def rate(run: Callable[[], None], rounds: int) -> float:
    """Moves a second of CPU time of this thread."""
    began = time.thread_time()
    run()
    return rounds / (time.thread_time() - began)


def families(rounds: int, repeats: int) -> list[str]:
    """Rows for whole instances, mixtures of moves as the search takes them."""
    rows = []
    for family, model in (("mixed", "place-close"), ("mixed", "p99"), ("claims", "place-close"), ("claims", "p99")):
        search = search_of(generate(family, agents=40_000, load=0.85, seed=0), model)
        walker = search.walkers[0]
        level = len(search.compiled.model.levels)
        caps = np.full(level + 1, np.inf)
        mix = mix_of(search.problem, left=False)
        walker.walk(level, caps, 1e-300, 1000, mix)
        walking = partial(walker.walk, level, caps, 1e-300, rounds, mix)
        rates = [rate(walking, rounds) for _ in range(repeats)]
        rows.append(f"| {family} 40000, {model}, all moves | {statistics.median(rates):,.0f} | | |")
        print(rows[-1], flush=True)
    return rows


def shifts(rounds: int, repeats: int, heat: float) -> tuple[list[str], list[str]]:
    """Row for shifts without traffic, and what is missed."""
    document = without_traffic(generate("claims", agents=40_000, load=0.85, seed=0))
    search = search_of(document, "p99")
    level = 2
    caps = np.full(level + 1, np.inf)
    caps[0] = caps[1] = 1e-9
    caps[1] = float(search.walkers[0].values[1]) + 1e-6
    mix = np.full(moves.NUM_MOVES, 2.0)  # shifts alone: the first kind
    ours, theirs = search.walkers[0], Walker(search.problem, search.table, search.items, 1)
    theirs.adopt(ours)
    theirs.state.random[...] = ours.state.random
    with tempfile.TemporaryDirectory() as name:
        other = in_c(Path(name))
        rates: list[float] = []
        ratios: list[float] = []
        for _ in range(repeats):
            rates.append(rate(lambda: ours.walk(level, caps, heat, rounds, mix), rounds))
            if other is not None:
                in_theirs = rate(lambda: other(theirs, level, caps, heat, rounds), rounds)
                ratios.append(rates[-1] / in_theirs)
    missed = []
    if other is None:
        print("no C compiler: nothing to compare with")
    else:
        for mine, his, field in zip(ours.state, theirs.state, ours.state._fields, strict=True):
            if field in ("where", "option", "values", "use", "root", "random") and not np.array_equal(mine, his):
                missed.append(f"the loop in C decides otherwise: {field}")
        if statistics.median(ratios) < LEAST_OF_C:
            missed.append(f"shifts at {statistics.median(ratios):.2f} of the speed of C, wanted {LEAST_OF_C}")
    if statistics.median(rates) < LEAST_SHIFTS:
        missed.append(f"{statistics.median(rates):,.0f} shifts a second, wanted {LEAST_SHIFTS:,}")
    taken = ours.counts[2, 0] / ours.counts[0, 0]
    part = f"{statistics.median(ratios):.2f}" if ratios else ""
    what = f"claims 40000 without traffic, p99, shifts, heat {heat:g}"
    row = f"| {what} | {statistics.median(rates):,.0f} | {part} | {taken:.3f} |"
    print(row, flush=True)
    return [row], missed


def reassigning(data: Path, only: str, rounds: int, repeats: int) -> tuple[list[str], list[str]]:
    """Rows for machine reassignment from where processes run now, and what is missed."""
    rows: list[str] = []
    missed: list[str] = []
    for problem in problems(data, only):
        document = READERS["roadef2012"](problem.model, assignment=problem.assignment)
        search = search_of(document, "rebalance")
        walker, caps = search.walkers[0], np.full(2, np.inf)
        mix = mix_of(search.problem, left=False)
        walker.walk(1, caps, 1e-300, 2 * rounds, mix)
        for taken in (0.0, 0.001, 0.1):
            heat = heat_for(walker.sampled(), taken) if taken else 1e-300
            what = f"{problem.name}, {taken:.1%} of the worsenings taken" if taken else f"{problem.name}, cold"
            for name, kind in ({"all moves": -1} | KINDS).items():
                alone = mix if kind < 0 else np.where(np.arange(moves.NUM_MOVES) < kind, 0.0, 2.0)
                walking = partial(walker.walk, 1, caps, heat, rounds, alone)
                before = walker.counts.sum(axis=1)
                rates = [rate(walking, rounds) for _ in range(repeats)]
                tried, _, kept, _ = walker.counts.sum(axis=1) - before
                rows.append(f"| {what}, {name} | {statistics.median(rates):,.0f} | | {kept / tried:.4f} |")
                print(rows[-1], flush=True)
                if kind < 0 and statistics.median(rates) < LEAST_REASSIGNING:
                    missed.append(
                        f"{what}: {statistics.median(rates):,.0f} moves a second, wanted {LEAST_REASSIGNING:,}"
                    )
    return rows, missed


def main() -> int:
    """Run, print and write the table; 1 when a demand is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.kernels", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", type=Path, help="folder of machine reassignment problems")
    parser.add_argument("--only", default="b_9", help="which of them [%(default)s]")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md")
    arguments = parser.parse_args()
    head = ["| moves | a second and core | of C | taken |", "| --- | ---: | ---: | ---: |"]
    print("\n".join(head))
    rows, missed = [], []
    for heat in (1e-300, 1e-4):
        found, wrong = shifts(arguments.rounds, arguments.repeats, heat)
        rows += found
        missed += wrong
    rows += families(max(1, arguments.rounds // 5), arguments.repeats)
    if arguments.data:
        found, wrong = reassigning(arguments.data, arguments.only, arguments.rounds, arguments.repeats)
        rows += found
        missed += wrong
    said = [f"- MISSED: {text}" for text in missed] or ["- met: moves a second, and shifts beside C"]
    print("\n".join(["", *said]))
    if arguments.output:
        arguments.output.write_text("\n".join([*head, *rows, "", *said]) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
