"""Quick answers agree with CP-SAT, and large instances are explained within their time."""

from __future__ import annotations

import random
import time

import pytest

from allocator.compiled.compile import compile_instance
from allocator.instance import instance_from_dict
from allocator.solvers.budget import Limits
from allocator.solvers.explanation import alone, explain_infeasible, question, without
from allocator.solvers.explanation.elements import elements_of
from allocator.solvers.explanation.oracle import Oracle, reduced
from allocator.solvers.explanation.quick import quick_answer
from allocator.solvers.explanation.symmetry import interchangeable
from tests.solvers.explanation.broken import MODEL, document, node, rack, workload
from tests.solvers.explanation.judging import has_plan


def never() -> bool:
    return False


def test_quick_answers_are_right() -> None:
    answers = []
    for seed in range(40):
        rng = random.Random(seed)
        topology = [
            rack(
                f"r{i}",
                *(node(f"n{j}", rng.randint(2, 6), rng.randint(2, 9)) for j in range(2)),
                capacity={"cpu": rng.randint(4, 12)},
            )
            for i in range(2)
        ]
        classes = [workload(f"w{k}", rng.randint(1, 4), rng.randint(1, 3), rng.randint(0, 3)) for k in range(3)]
        asked = question(instance_from_dict(document(topology, classes)), MODEL)
        answer = quick_answer(compile_instance(asked, Oracle(frozenset(), Limits().start()).model), never)
        answers.append(answer)
        if answer is not None:
            assert answer == has_plan(asked), f"seed {seed}"
    assert {True, False} <= set(answers)


def test_equal_nodes_and_equal_classes_stand_for_one_another() -> None:
    topology = [rack(f"r{i}", node("n0"), node("n1"), node("n2", 8)) for i in range(2)]
    instance = instance_from_dict(document(topology, [workload("a", 1), workload("b", 1), workload("c", 1, 2)]))
    asked = question(instance, MODEL)
    elements = elements_of(asked)
    cpus = [e for e in elements if e.get("resource") == "cpu"]
    sets = interchangeable(asked, elements, cpus)
    assert sorted(sorted(e["domain"] for e in alike) for alike in sets) == [
        ["r0/n0", "r0/n1", "r1/n0", "r1/n1"],
        ["r0/n2", "r1/n2"],
    ]
    fewer = [e for e in elements if e.get("domain") != "r0/n0"]
    sets = interchangeable(asked, fewer, [e for e in cpus if e["domain"] != "r0/n0"])
    assert ["r1/n0", "r1/n1"] in [[e["domain"] for e in alike] for alike in sets], "r0 is no longer like r1"
    placed = [e for e in elements if e["family"] == "assignment"]
    assert [[e["class"] for e in alike] for alike in interchangeable(asked, elements, placed)] == [["a", "b"], ["c"]]
    assert [w.count for w in reduced(asked).workloads] == [2, 0, 1]


def test_what_is_pinned_to_a_node_has_no_equal() -> None:
    topology = [rack("r", node("n0"), node("n1"))]
    pinned = workload("a", 1, placement={"within": ["r/n0"]})
    asked = question(instance_from_dict(document(topology, [pinned])), MODEL)
    cpus = [e for e in elements_of(asked) if e.get("resource") == "cpu"]
    assert len(interchangeable(asked, elements_of(asked), cpus)) == 2


@pytest.mark.parametrize("trouble", ["totals", "label", "conflict"])
def test_forty_thousand_members_on_384_nodes(trouble: str) -> None:
    topology = [
        rack(f"r{i}", *(node(f"n{j}", 192, "768 GiB", labels={"arch": ["x", "y"][j % 2]}) for j in range(48)))
        for i in range(8)
    ]
    size = 1500 if trouble == "totals" else 500
    classes = [workload(f"c{k}", 5000, f"{size + 100 * k}m", "4 GiB") for k in range(8)]
    if trouble == "label":
        classes.append(workload("z", 10, placement={"require": {"arch": ["mips"]}}))
    if trouble == "conflict":
        classes.append(workload("z", 10, placement={"conflict": {"level": "rack", "at_most": 1}}))
    instance = instance_from_dict(document(topology, classes))
    began = time.monotonic()
    why = explain_infeasible(instance, MODEL, budget=Limits(20.0).start())
    assert time.monotonic() - began < 20.0 + 3.0, "the limit holds, a slow machine forgiven"
    assert len(why.reasons) >= 1
    assert len(why.conflict) == {"totals": 8 + 384, "label": 2, "conflict": 2}[trouble]
    core = alone(question(instance, MODEL), why.conflict)
    oracle = Oracle(frozenset(), Limits(20.0).start())
    assert oracle.feasible(core) is False
    for element in (why.conflict[0], why.conflict[-1]):
        assert oracle.feasible(without(core, element)) is True
