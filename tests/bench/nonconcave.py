"""Curves of eight points that are not concave, on 20 uplinks: what is proven in a minute.

``python -m tests.bench.nonconcave``: seeded instances of ``fabrics`` (4 racks of 4 nodes, every uplink with the same
curve), solved by the command to a gap of 1 %; prints a table and, with ``-o``, writes it. Exit code 1 when one is not
proven.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.fabrics import Shape, bent_table, pipelines, singles, teams
from tests.bench.solving import Run, solve_document
from tests.bench.table import _processor

__all__ = ["instances", "line", "main"]

RACKS, FLAT = Shape(4, 4), Shape(1, 19)
SECONDS = 60.0
HEADER = (
    "| instance | members | value | bound | gap % | within 1 % | wall s | processor s |",
    "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
)


def instances(seeds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and documents."""
    for seed in range(1, seeds + 1):
        curve = bent_table(seed)
        yield f"teams of 4, 8, seed {seed}", teams(seed, curve, RACKS, 8, 4)
        yield f"teams of 4, 8, one rack, seed {seed}", teams(seed, curve, FLAT, 8, 4)
        yield f"pairs, 24, seed {seed}", pipelines(seed, curve, RACKS, 24, 2)
        yield f"pipelines of 4, 24, seed {seed}", pipelines(seed, curve, RACKS, 24, 4)
        for members in (8, 16, 24):
            yield f"random flows, {members}, seed {seed}", singles(seed, curve, RACKS, members, members * 5 // 4)


def line(name: str, document: dict[str, Any], run: Run) -> str:
    """A row of the table."""
    members = sum(int(workload["count"]) for workload in document["workloads"])
    gap = run.gap
    cells = [
        name,
        str(members),
        "" if run.value is None else f"{run.value:.2f}",
        "" if run.bound is None else f"{run.bound:.2f}",
        run.failure if gap is None else f"{100 * gap:.2f}",
        "yes" if gap is not None and gap <= 0.01 else "NO",
        f"{run.wall:.0f}",
        f"{run.cpu:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.nonconcave", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the names to run")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--method", default="milp")
    parser.add_argument("--time-limit", type=float, default=SECONDS)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md")
    arguments = parser.parse_args()
    lines = [f"{_processor()}, {os.cpu_count()} cores; method {arguments.method}, limit {arguments.time_limit:g} s", ""]
    lines += HEADER
    print("\n".join(lines), flush=True)
    proven = total = 0
    options = ("--gap", "0.01", "--method", arguments.method, "--threads", str(arguments.threads))
    for name, document in instances(arguments.seeds):
        if arguments.only in name:
            run = solve_document(document, "throughput", *options, time_limit=arguments.time_limit)
            lines.append(line(name, document, run))
            print(lines[-1], flush=True)
            total, proven = total + 1, proven + (run.gap is not None and run.gap <= 0.01)
    lines += ["", f"{proven} of {total} within 1 %"]
    print(lines[-1])
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if proven == total else 1


if __name__ == "__main__":
    sys.exit(main())
