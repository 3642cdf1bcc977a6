"""A time limit holds while building and while solving; an interruption returns the best plan.

Clocks count the process's own time, so a busy machine does not matter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.errors import BudgetExhausted
from allocator.plan.result import Status, TerminationReason
from allocator.solvers.budget import Limits
from allocator.solvers.milp.build import build
from allocator.solvers.recorder import Event
from tests.builders import model
from tests.solvers.milp.slow_instances import hard_assignment, large_aggregated

ROOT = Path(__file__).resolve().parents[3]
HARD = hard_assignment()


def test_a_model_that_takes_longer_to_build_than_there_is_time_stops_in_time() -> None:
    """A million placement variables and 2 s: the answer comes within another second."""
    instance = large_aggregated(1000, 1000)
    budget = Limits(2.0).start(time.process_time)
    result = solve(instance, model("cost"), method="milp", budget=budget, threads=1)
    assert budget.elapsed() < 3.5
    assert result.termination.reason is TerminationReason.TIME_LIMIT
    assert result.status is Status.UNKNOWN
    assert result.plan is None
    assert result.levels[0].value is None


def test_building_stops_within_a_fraction_of_a_second_of_its_limit() -> None:
    compiled = compile_instance(large_aggregated(400, 500), model("cost"))
    budget = Limits(0.3).start(time.process_time)
    with pytest.raises(BudgetExhausted):
        build(compiled, budget)
    assert budget.elapsed() < 0.8


def test_a_search_that_takes_longer_returns_its_best_plan_in_time() -> None:
    budget = Limits(2.0).start()
    began = time.process_time()
    result = solve(HARD, model("cost"), method="milp", budget=budget, threads=1)
    assert time.process_time() - began < 3.0
    assert result.termination.reason is TerminationReason.TIME_LIMIT
    assert result.status is Status.FEASIBLE
    value, bound = result.levels[0].value, result.levels[0].bound
    assert value is not None
    assert bound is not None
    assert bound < value


def test_an_interruption_from_another_thread_returns_the_plan_found_so_far() -> None:
    """As soon as a plan is known, a thread asks to stop; ten minutes of limit are left."""
    budget = Limits(600.0).start()

    def stop(event: Event) -> None:
        if event.kind == "incumbent":
            threading.Thread(target=budget.interrupt).start()

    began = time.process_time()
    result = solve(HARD, model("cost"), method="milp", budget=budget, threads=1, listeners=[stop])
    assert result.termination.reason is TerminationReason.INTERRUPTED
    assert result.status is Status.FEASIBLE
    assert result.plan is not None
    assert not result.plan.unplaced
    assert time.process_time() - began < 20


def test_an_interruption_before_the_start_is_honoured_while_building() -> None:
    budget = Limits(600.0).start()
    budget.interrupt()
    result = solve(large_aggregated(50, 50), model("cost"), method="milp", budget=budget, threads=1)
    assert result.termination.reason is TerminationReason.INTERRUPTED
    assert result.status is Status.UNKNOWN


MEASURED = """
import time
from allocator.compiled.compile import compile_instance
from allocator.solvers.budget import Limits
from allocator.solvers.milp.build import build
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import compile_matrix
from tests.builders import model
from tests.solvers.milp.slow_instances import large_aggregated
compiled = compile_instance(large_aggregated(200, 400), model("cost"))
began = time.process_time()
form, objectives = build(compiled, Limits().start())
matrix = compile_matrix(form, objectives)
run = HighsRun(matrix, seed=0, threads=1)
spent = time.process_time() - began
with open('/proc/self/status') as status:
    peak = next(int(line.split()[1]) for line in status if line.startswith('VmHWM'))
print(run.solver.getNumCol(), spent, peak / 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss would count the parent, and only Linux has VmHWM")
def test_an_aggregated_model_of_80_000_variables_is_built_and_handed_over_quickly() -> None:
    """200 classes on 400 nodes: under 5 s of processor time and 500 MiB."""
    untraced = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-c", MEASURED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=untraced)
    columns, seconds, mebibytes = (float(word) for word in done.stdout.split())
    assert columns == 80_000
    assert seconds < 5
    assert mebibytes < 500
