"""Plans found without ``link_load``: taken with shares for the true delays where it holds, and not at all elsewhere."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import pytest

from allocator import solve
from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.instance import instance_from_dict
from allocator.model.families import Family
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.auto import first_plan
from allocator.solvers.base import Answer, Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.response import LN_100
from allocator.solvers.heuristic.loosened import attempt, loosened, tightened
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.recorder import Recorder
from allocator.solvers.registry import method_named
from tests.builders import model


def pair(rate: str, cores: int = 2, **more: Any) -> Compiled:
    """Two members on two nodes, a target of 1 s, messages of 1 kB over links of 1 Mbit/s that may be used to 80 %."""
    work = {"rate": "1/s", "cpu": "200 ms", "parallel": 2}
    node = {"level": "node", "name": "n", "count": 2, "capacity": {"cpu": cores}, "uplink": {"bandwidth": "1 Mbit/s"}}
    whole = {
        "format": "allocator/v1",
        "name": "pair",
        "link_load": 0.8,
        "topology": [node],
        "workloads": [{"class": "c", "count": 2, "requests": {"cpu": 1}, "work": work, "slo": {"p99": "1 s"}}],
        "flows": [{"from": "c", "to": "c", "pattern": "ring", "rate": rate, "message": "1 kB"}],
        **more,
    }
    return compile_instance(instance_from_dict(whole), model("cost"))


def apart(compiled: Compiled) -> Answer:
    counts = {(block.index, 0, node): 1 for node, block in enumerate(compiled.blocks)}
    termination = Termination(TerminationReason.CONVERGED, "")
    return Answer(Status.FEASIBLE, termination, Assignment(counts), (Fraction(0),), (None,))


def test_shares_are_those_that_the_true_delays_need() -> None:
    """Without link_load 0.2 (1 + ln(100)) cores; with it two links of 0.184 s leave 0.632 s of the target."""
    compiled = pair("0.5 Mbit/s")
    assert loosened(compiled).link_load is None
    assert Family.LINK_LOAD not in compiled.model.ignore
    found = tightened(compiled, apart(compiled))
    assert found is not None
    assert found.assignment is not None
    assert checked(compiled, found.assignment)
    unit = Fraction(10) ** compiled.instance.resources["cpu"].exponent
    wait = 2 * Fraction(ceil(8000 * LN_100 / 200_000 * 10**9), 10**9)
    least = ceil(Fraction(1, 5) * (1 + LN_100 / (1 - wait)) / unit)
    assert set(found.assignment.shares.values()) == {least}
    assert least * unit > Fraction(1, 5) * (1 + LN_100)


@pytest.mark.parametrize(("rate", "cores"), [("0.9 Mbit/s", 2), ("0.5 Mbit/s", 1)])
def test_a_plan_that_breaks_the_limit_or_a_target_is_not_taken(rate: str, cores: int) -> None:
    compiled = pair(rate, cores)
    assert tightened(compiled, apart(compiled)) is None


def test_no_plan_stays_no_plan() -> None:
    compiled = pair("0.5 Mbit/s")
    nothing = Answer(Status.UNKNOWN, Termination(TerminationReason.CONVERGED, ""), None, (None,), (None,))
    assert tightened(compiled, nothing) is None


def tried(compiled: Compiled, recorder: Recorder, method: str = "greedy") -> Answer | None:
    budget = Limits(5).start()
    return attempt(method_named(method), compiled, budget=budget, recorder=recorder, start=None, seed=0, threads=1)


def test_an_attempt_by_who_does_not_know_the_limit_is_judged_and_heard_of_by_nobody() -> None:
    compiled, recorder = pair("0.5 Mbit/s"), Recorder(lambda: 0.0)
    found = tried(compiled, recorder)
    assert found is not None
    assert found.assignment is not None
    assert checked(compiled, found.assignment)
    assert not recorder.trace
    without = loosened(compiled)
    assert tried(without, recorder) is not None
    assert recorder.trace


def test_an_attempt_by_who_refuses_is_none() -> None:
    compiled = pair("0.5 Mbit/s", reserve={"level": "node", "resources": ["cpu"]})
    assert tried(compiled, Recorder(lambda: 0.0), "uniform") is None


def test_auto_starts_from_a_plan_of_greedy_that_keeps_the_limit() -> None:
    compiled = pair("0.5 Mbit/s")
    found = first_plan(compiled, Limits(5).start(), Recorder(lambda: 0.0), 0)
    assert found is not None
    assert checked(compiled, found)


@pytest.mark.parametrize("method", ["auto", "lns"])
def test_methods_that_start_from_it_answer_with_plans_that_hold(method: str) -> None:
    compiled = pair("0.5 Mbit/s")
    result = solve(
        compiled.instance, model("placed", "traffic"), method=method, time_limit=10, iterations=50, threads=1
    )
    assert result.evaluation is not None
    assert result.evaluation.feasible
    assert result.evaluation.classes[0].placed == 2
