"""Rules over ``label:NAME``: exact methods and brute force agree on random instances whose labels cross the tree."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from allocator.instance import instance_from_dict
from tests.oracle.brute_force import brute_force
from tests.oracle.placements import TooMany
from tests.oracle.random_instances import random_case
from tests.property.test_methods_agree import Tally, judge

SEEDS = 220
RULES = ("conflict", "spread", "depends_on")


def leaves(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        yield from leaves(entry["children"]) if entry.get("children") else [entry]


def relabelled(document: dict[str, Any], seed: int) -> bool:
    """Let the rules of a document count over shelves that cut across its racks; False without such a rule."""
    rng = random.Random(f"shelves {seed}")
    rules = [
        workload["placement"][rule]
        for workload in document["workloads"]
        for rule in RULES
        if rule in workload.get("placement", {})
    ]
    if not rules:
        return False
    for number, node in enumerate(leaves(document["topology"])):
        if number == 0 or rng.random() < 0.85:
            node["labels"] = {**node.get("labels", {}), "shelf": rng.choice("uvw")}
    for rule in rules:
        rule["level"] = rng.choice(["label:shelf", "label:shelf", "label:kind"])
    return True


def test_exact_methods_agree_with_brute_force_on_levels_of_labels() -> None:
    tally = Tally()
    for seed in range(SEEDS):
        case = random_case(seed)
        if not relabelled(case.document, seed):
            continue
        instance = instance_from_dict(case.document)
        try:
            truth = brute_force(instance, case.model)
        except TooMany:
            continue
        tally.instances += 1
        tally.infeasible += not truth.feasible
        for method in ("milp", "cpsat"):
            problem, _ = judge(instance, case.model, truth, method, tally)
            if problem is not None:
                tally.disagreements.append(f"seed {seed}, {method}: {problem}")
    assert not tally.disagreements, tally.table()
    assert tally.instances > 40, tally.table()
    assert tally.infeasible < tally.instances / 2, tally.table()
