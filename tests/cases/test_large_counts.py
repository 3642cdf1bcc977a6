"""A class of a million members: methods stop in time, and the checker counts classes instead of members."""

from __future__ import annotations

import time

import pytest

from allocator import Status, check, instance_from_dict
from allocator.model import load_model
from allocator.plan.entities import PlacedGroup, Plan, UnplacedGroup
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.greedy import construct
from tests.cases.documents import Document, document, node, run, workload

MODEL = load_model({"goals": ["placed"]})
MILLION = 1_000_000


def million() -> Document:
    return document([node("n", cpu=MILLION // 2)], [workload("a", MILLION, cpu=1)])


def test_one_pass_ends_when_its_time_does() -> None:
    from allocator.compiled.compile import compile_instance

    compiled = compile_instance(instance_from_dict(million()), MODEL)
    began = time.process_time()
    construct(compiled, Limits(0.2).start())
    assert time.process_time() - began < 2.0, "half a million members one by one take ten times as long"


def test_the_checker_counts_classes() -> None:
    instance = instance_from_dict(million())
    half = MILLION // 2
    plan = Plan(
        instance.name,
        instance.digest,
        (PlacedGroup("a", 0, half, "default", ("n",), {"cpu": 1}),),
        (),
        (UnplacedGroup("a", half, half, "full"),),
    )
    began = time.process_time()
    evaluation = check(instance, MODEL, plan)
    assert evaluation.feasible
    assert evaluation.levels == (half,)
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize("method", ["milp", "auto"])
def test_the_exact_model_has_one_variable(method: str) -> None:
    whole = document([node("n", cpu=20_000)], [workload("a", 40_000, cpu=1)])
    result = run(whole, {"goals": ["placed"]}, method)
    assert (result.status, result.levels[0].value) == (Status.OPTIMAL, 20_000)
