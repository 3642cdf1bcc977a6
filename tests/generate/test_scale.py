"""What it takes to read, compile, number, check, write and sum up large instances: CPU seconds and memory, as a table.

Each size runs in a process of its own, since the peak of memory is one of the whole process. Members are dealt out team
by team; whether the plan fits is not the question here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STAGES = ("read", "compile", "plan", "check", "write", "summary")
# family, agents, CPU seconds to read and compile, to check, write and sum up, MiB at most
SIZES = (
    ("claims", 40_000, 1.2, 2.0, 1024),
    ("mixed", 40_000, 1.2, 2.0, 1024),
    ("twin", 40_000, 1.2, 2.0, 1024),
    ("claims", 200_000, 3.0, 6.0, 1024),
    ("mixed", 200_000, 3.0, 6.0, 1024),
    ("claims", 1_000_000, 10.0, 20.0, 4096),
    ("mixed", 1_000_000, 10.0, 30.0, 4096),
)

PROGRAM = """
import json, resource, sys, time
from fractions import Fraction
from pathlib import Path
import allocator.compiled.compile, allocator.instance.load, allocator.report.summary, pint
from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.restore import plan_of
from allocator.formats.document import write_document
from allocator.generate import generate
from allocator.instance import load_instance
from allocator.model import load_model
from allocator.plan.files import write_plan
from allocator.plan.result import Result, Status, Termination, TerminationReason
from allocator.report.summary import summarize

family, agents, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
file = folder / "instance.json"
write_document(generate(family, agents=agents), file)
seconds, last = {}, time.process_time()

def lap(stage):
    global last
    seconds[stage] = time.process_time() - last
    last = time.process_time()

instance = load_instance(file)
lap("read")
model = load_model("throughput")
compiled = compile_instance(instance, model)
lap("compile")
places = [[n for n in range(compiled.num_nodes) if ok[n]] for ok in compiled.eligible.tolist()]
counts = {}
for block in compiled.blocks:
    option = int(compiled.first_option[block.workload])
    nodes = places[option]
    at = block.team if block.team >= 0 else block.index
    each, more = divmod(block.count, len(nodes) if block.team < 0 else 1)
    for i in range(min(block.count, len(nodes)) if block.team < 0 else 1):
        counts[block.index, option, nodes[(at + i) % len(nodes)]] = each + (i < more)
theta = {("team", team.index): Fraction(1) for team in compiled.teams}
theta |= {("pair", i): Fraction(1) for i in range(len(compiled.pairs))}
theta |= {("group", i): Fraction(1) for i in range(len(compiled.groups))}
last = time.process_time()
plan = plan_of(compiled, counts, {}, theta)
lap("plan")
evaluation = check(instance, model, plan)
lap("check")
write_plan(folder / "plan.json", plan, instance)
lap("write")
result = Result(
    status=Status.FEASIBLE, termination=Termination(TerminationReason.CONVERGED, ""), levels=(), goals=(), plan=plan,
    evaluation=evaluation, method="dealt", model=model.name, seed=0, threads=1, seconds={"total": 1.0}, ignored=(),
    linearization=None, infeasibility=None, bottlenecks=(), headroom=None, peak_memory_mib=0.0, size={}, warnings=(),
)
summarize(result, instance)
lap("summary")
placed = sum(outcome.placed for outcome in evaluation.classes)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "peak_mib": peak, "placed": placed}))
"""


@pytest.mark.bench
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}-{size[1]}")
def test_large_instances_take_little_beside_the_search(
    size: tuple[str, int, float, float, int], tmp_path: Path
) -> None:
    family, agents, before, after, mebibytes = size
    command = [sys.executable, "-c", PROGRAM, family, str(agents), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    found = json.loads(done.stdout)
    seconds = found["seconds"]
    shown = "  ".join(f"{stage} {seconds[stage]:.2f} s" for stage in STAGES)
    print(f"\n{family} {agents:,}: {shown}  peak {found['peak_mib']:.0f} MiB")
    assert found["placed"] == agents
    assert seconds["read"] + seconds["compile"] <= before
    assert seconds["check"] + seconds["write"] + seconds["summary"] <= after
    assert found["peak_mib"] <= mebibytes
