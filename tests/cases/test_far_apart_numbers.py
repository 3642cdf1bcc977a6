"""Numbers of very different sizes: the right answer or a refusal, never a wrong answer, never a fault."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from allocator import MethodRefused, Result, Status
from tests.cases.documents import EXACT, Document, document, node, run, workload


def outcome(whole: Document, model: str, method: str) -> Result | None:
    """The result, None for a refusal."""
    try:
        return run(whole, {"goals": [model]}, method)
    except MethodRefused:
        return None


def rates(rate: str, seconds: str, request: Any = 1) -> Document:
    return document([node("n", cpu=1)], [workload("a", cpu=request, work={"rate": rate, "cpu": seconds})])


def two_costs(first: tuple[str, str], second: tuple[str, str]) -> Document:
    """Two members, each on a node of its own; costs on the two kinds of nodes."""
    machines = [node("n", kind="k", cpu=1), node("m", kind="l", cpu=1)]
    items = [
        workload(name, cpu=1, cost=dict(zip("kl", cost, strict=True))) for name, cost in (("a", first), ("b", second))
    ]
    return document(machines, items)


CASES: dict[str, tuple[Document, str, Fraction]] = {
    "a rate beyond a solver's infinity": (rates("1e30/s", "1e-30 s"), "throughput", Fraction(10**30)),
    "a rate below a solver's zero": (rates("1e-12/s", "1e12 s", "0.5"), "throughput", Fraction(1, 10**12)),
    "costs that differ in the sixteenth digit": (
        two_costs(("1e15", "1000000000000001"), ("0", "0.5")),
        "cost",
        Fraction(2 * 10**15 + 1, 2),
    ),
    "costs beyond a solver's infinity": (two_costs(("1e30", "1e30"), ("0", "1e-9")), "cost", Fraction(10**30)),
}


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("case", CASES)
def test_the_right_answer_or_a_refusal(case: str, method: str) -> None:
    whole, model, value = CASES[case]
    result = outcome(whole, model, method)
    if result is None:
        assert method != "auto", "auto takes any instance"
    else:
        assert (result.status, result.levels[0].value) == (Status.OPTIMAL, value)


@pytest.mark.parametrize("method", EXACT)
def test_a_resource_or_level_that_the_instance_lacks_has_no_peak(method: str) -> None:
    whole = document([node("n", cpu=2)], [workload("a", cpu=1)])
    for narrow in ({"resources": ["hbm"]}, {"level": "rack"}, {"resources": ["no such"], "level": "node"}):
        result = run(whole, {"goals": [{"peak": narrow}]}, method)
        assert (result.status, result.levels[0].value) == (Status.OPTIMAL, 0)


@pytest.mark.parametrize("method", [*EXACT, "greedy"])
@pytest.mark.parametrize("iterations", [0, 1, 10**21])
def test_any_number_of_iterations(method: str, iterations: int) -> None:
    whole = document([node("n", cpu=2)], [workload("a", 2, cpu=1)])
    assert run(whole, "cost", method, iterations=iterations).status in (Status.OPTIMAL, Status.FEASIBLE, Status.UNKNOWN)


@pytest.mark.parametrize("method", EXACT)
def test_traffic_of_rate_0_limits_nobody(method: str) -> None:
    work = {"rate": "1/s", "cpu": "100 ms"}
    whole = document(
        [node("n", cpu=2, uplink={"bandwidth": 0}), node("m", cpu=2)],
        [workload("a", 3, cpu=1, work=work)],
        flows=[{"from": "a", "to": "a", "pattern": "ring", "rate": 0}],
        teams=[{"team": "t", "members": {"a": 3}, "traffic": {"rate": 0}}],
    )
    result = run(whole, "throughput", method)
    assert (result.status, result.levels[0].value) == (Status.OPTIMAL, 3)
