"""GPU clusters filled beyond their capacity: ``python -m tests.bench.openb --data FOLDER``.

The requests of a list, shuffled and repeated up to a load, against published online policies on the same cluster. Ours
sees all requests at once, an advantage that no online policy has. What is allocated is summed up anew from the plan.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator.formats.document import write_document
from allocator.formats.registry import READERS
from tests.bench.process import solve_file, warm
from tests.bench.runs import Budget, on_time
from tests.bench.table import Demand, protocol

__all__ = ["Run", "allocation", "demands", "published", "run"]

SECONDS = 60.0
LEAST = Fraction(97, 100)
NODES, REQUESTS, PUBLISHED = "openb_node_list_gpu_node.csv", "openb_pod_list_{}.csv", "fgd_alloc_summary.csv"
_NAME = re.compile(r"(?:gpu(?:(\d+)x)?(\d+)m-)?cpu(\d+)m-memory(\d+)Mi(.*)")


@dataclass(frozen=True)
class Run:
    """One seed: GPUs asked for, allocated and there, in thousandths; the part of the requests without GPU placed."""

    seed: int
    asked: int = 0
    allocated: int | None = None
    there: int = 1
    cpu_only: Fraction | None = None
    wrong: str = ""
    value: Fraction | None = None
    bound: Fraction | None = None
    seconds: float = 0.0
    peak_mib: float = 0.0
    failure: str = ""

    @property
    def share(self) -> Fraction | None:
        """GPU allocation."""
        return None if self.allocated is None else Fraction(self.allocated, self.there)


def allocation(placements: Sequence[Mapping[str, Any]], nodes: Path) -> tuple[int, int, str]:
    """GPU allocated by a plan in thousandths, members without GPU that are placed, and what does not fit, if anything.

    Reads demands from the names of the classes, and the cluster from the file of its nodes.
    """
    gpu: Counter[str] = Counter()
    cpu: defaultdict[str, Fraction] = defaultdict(Fraction)
    memory: defaultdict[str, Fraction] = defaultdict(Fraction)
    gangs: Counter[tuple[str, int, str]] = Counter()
    sizes: dict[str, int] = {}
    placed = 0
    with nodes.open(newline="", encoding="utf-8") as stream:
        hosts = {row["sn"]: row for row in csv.DictReader(stream)}
    for group in placements:
        stated = _NAME.fullmatch(group["class"])
        if stated is None:
            return 0, 0, f"a class {group['class']} of no request"
        size, milli = int(stated[1] or 1), int(stated[2] or 0)
        for offset in range(group["count"]):
            path = group["nodes"][0 if len(group["nodes"]) == 1 else offset]
            host, leaf = path.split("/")
            if milli:
                gpu[path] += milli
                models = [each for each in stated[5].split("-") if each]
                if leaf == "cpu" or (models and hosts[host]["model"] not in models):
                    return 0, 0, f"{group['class']} on {path}"
            cpu[host] += Fraction(int(stated[3]), size)
            memory[host] += Fraction(int(stated[4]), size)
            placed += not milli
            if size > 1:
                sizes[group["class"]] = size
                gangs[group["class"], (group["first"] + offset) // size, host] += 1
                if gpu[path] > 1000 or gangs[group["class"], (group["first"] + offset) // size, host] > size:
                    return 0, 0, f"{group['class']} on {path} beside others"
    full = [path for path, used in gpu.items() if used > 1000]
    full += [host for host, used in cpu.items() if used > int(hosts[host]["cpu_milli"])]
    full += [host for host, used in memory.items() if used > int(hosts[host]["memory_mib"])]
    torn = [name for (name, _, _), count in gangs.items() if count < sizes[name]]
    wrong = f"{torn[0]} on several hosts" if torn else f"more than fits on {full[0]}" if full else ""
    return sum(gpu.values()), placed, wrong


def run(data: Path, requests: str, load: float, budget: Budget) -> Run:
    """Convert, solve in a process of its own, and add up what the plan allocates."""
    document = READERS["openb"](data / NODES, requests=data / REQUESTS.format(requests), load=load, seed=budget.seed)
    there = 1000 * sum(child.get("count", 0) for host in document["topology"] for child in host["children"])
    asked = sum(w["count"] * Fraction(w["value"]) * 1000 for w in document["workloads"])
    idle = sum(w["count"] for w in document["workloads"] if not Fraction(w["value"]))
    with tempfile.TemporaryDirectory() as folder:
        instance, plan = Path(folder) / "instance.json", Path(folder) / "plan.json"
        write_document(document, instance)
        done = solve_file(instance, budget, plan)
        if isinstance(done, str):
            return Run(budget.seed, int(asked), there=there, failure=done)
        if not plan.is_file():
            return Run(budget.seed, int(asked), there=there, seconds=done.seconds, failure="no plan")
        allocated, placed, wrong = allocation(json.loads(plan.read_text())["placements"], data / NODES)
    level = done.document["levels"][0]
    return Run(
        budget.seed,
        int(asked),
        allocated,
        there,
        Fraction(placed, idle) if idle else None,
        wrong,
        level["value"],
        level["bound"],
        done.seconds,
        float(done.document["peak_memory_mib"]),
    )


def demands(runs: Sequence[Run], limit: float) -> list[Demand]:
    """What must hold of every run."""

    def all_of(text: str, good: Mapping[int, bool]) -> Demand:
        names = {seed: f"seed {seed}" for seed in good}
        return Demand(text, [names[s] for s in good if good[s]], [names[s] for s in good if not good[s]])

    return [
        all_of("every run ends by itself, with a plan", {r.seed: not r.failure for r in runs}),
        all_of(
            "every plan fits the cluster and allocates what was said",
            {r.seed: not r.wrong and r.allocated is not None and r.value == Fraction(r.allocated, 1000) for r in runs},
        ),
        all_of(f"GPU allocation at least {float(LEAST):.0%}", {r.seed: (r.share or 0) >= LEAST for r in runs}),
        all_of("on time", {r.seed: r.seconds <= on_time(limit) for r in runs}),
    ]


def published(data: Path, requests: str, load: float) -> list[str]:
    """Table of the published policies on the same list and load, where it is stored."""
    column = f"gpu_alloc_pct_mean_at_{round(100 * load)}"
    lines = ["| published online policy | GPU allocation % |", "| --- | ---: |"]
    if (data / PUBLISHED).is_file():
        with (data / PUBLISHED).open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                if row["workload"] == f"openb_pod_list_{requests}" and row.get(column):
                    lines += [f"| {row['policy']} | {row[column]} |"]
    return lines if len(lines) > 2 else []


_COLUMNS = ("seed", "GPUs asked for", "allocated", "GPU allocation %", "bound %", "without GPU placed %", "seconds")
_HEADER = (f"| {' | '.join((*_COLUMNS, 'peak MiB', 'remark'))} |", "|" + " ---: |" * (len(_COLUMNS) + 1) + " --- |")


def _line(done: Run) -> str:
    cells = [
        str(done.seed),
        f"{done.asked / 1000:g}",
        "" if done.allocated is None else f"{done.allocated / 1000:g}",
        _percent(done.share),
        _percent(None if done.bound is None else done.bound * 1000 / done.there),
        _percent(done.cpu_only),
        f"{done.seconds:.1f}",
        f"{done.peak_mib:.0f}",
        (done.failure or done.wrong).replace("|", "/"),
    ]
    return f"| {' | '.join(cells)} |"


def _percent(value: Fraction | None) -> str:
    return "" if value is None else f"{float(100 * value):.2f}"


def main() -> int:
    """Run the seeds, print and write their table; 1 when a demand is missed."""
    arguments = _arguments()
    needed = [arguments.data / NODES, arguments.data / REQUESTS.format(arguments.requests)]
    if not all(path.is_file() for path in needed):
        print(f"{arguments.data} lacks {' or '.join(path.name for path in needed)}")
        return 2
    budgets = [Budget(arguments.time_limit, arguments.threads, seed, arguments.method) for seed in arguments.seeds]
    about = f"GPU cluster, list {arguments.requests} at {arguments.load:.0%} of its GPUs"
    lines = [*protocol(about, budgets[0], f"seeds {arguments.seeds}"), "", *_HEADER]
    print("\n".join(lines), flush=True)
    warm()
    runs = []
    for budget in budgets:
        runs.append(run(arguments.data, arguments.requests, arguments.load, budget))
        lines.append(_line(runs[-1]))
        print(lines[-1], flush=True)
    judged = demands(runs, arguments.time_limit)
    tail = ["", *published(arguments.data, arguments.requests, arguments.load), "", *(f"- {each}" for each in judged)]
    print("\n".join(tail), flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join([*lines, *tail]) + "\n", encoding="utf-8")
    return 0 if all(demand.met for demand in judged) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.openb", description="GPU clusters beyond capacity")
    parser.add_argument("--data", type=Path, required=True, help=f"folder of {NODES} and {REQUESTS.format('NAME')}")
    parser.add_argument("--requests", default="default", metavar="NAME", help="list of requests [%(default)s]")
    parser.add_argument("--load", type=float, default=1.3, help="GPUs asked for over GPUs there [%(default)s]")
    parser.add_argument("--time-limit", type=float, default=SECONDS, metavar="S", help="per run, reading included")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--threads", type=int, default=2, help="per run")
    parser.add_argument("--method", default="auto")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.md", help="write the table, too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
