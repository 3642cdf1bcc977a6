"""What the readers make of a file is the problem in it: every assignment has the value the file gives it."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from allocator.checker import check
from allocator.formats.document import write_document
from allocator.formats.registry import READERS
from allocator.instance import Instance, instance_from_dict, load_instance
from allocator.model import load_model
from allocator.plan.entities import PlacedGroup, Plan
from allocator.solve import solve
from tests.formats.references import OPTIMA, REFERENCES, TINY


def read(kind: str, path: Path) -> Instance:
    return instance_from_dict(READERS[kind](path), str(path))


def plan_of(instance: Instance, assignment: Sequence[int]) -> Plan:
    """Member i of single-member classes on node assignment[i]."""
    placed = []
    for workload, index in zip(instance.workloads, assignment, strict=True):
        node = instance.nodes[index]
        shares = workload.modes[0].demand(node.kind or "").requests
        placed.append(PlacedGroup(workload.name, 0, 1, workload.modes[0].name, (node.path,), dict(shares)))
    return Plan(instance.name, instance.digest, tuple(placed))


@pytest.mark.parametrize("kind", TINY)
def test_the_optimum_of_the_example_is_found(kind: str) -> None:
    result = solve(read(kind, TINY[kind]), time_limit=120, threads=1)
    assert result.status == "optimal"
    assert result.levels[0].value == result.levels[0].bound == OPTIMA[kind]


@pytest.mark.parametrize("kind", REFERENCES)
def test_the_stated_optimum_of_the_example_is_that_of_enumeration(kind: str) -> None:
    assert REFERENCES[kind](TINY[kind].read_text()).optimum() == OPTIMA[kind]


def random_text(kind: str, rng: random.Random) -> str:
    n, m = rng.randint(2, 4), rng.randint(2, 3)

    def some(count: int, top: int = 9) -> str:
        return " ".join(str(rng.choice([rng.randint(0, top), rng.randint(0, top) / 2])) for _ in range(count))

    room = " ".join(str(rng.randint(5, 14)) for _ in range(m))
    if kind == "gap":
        return f"{m} {n}\n{some(m * n)}\n{some(m * n)}\n{room}\n"
    if kind == "ctap":
        return f"{n}\n{m}\n{some(m * n)}\n{some(n * (n - 1) // 2)}\n{some(n, 6)}\n{room}\n"
    unit = rng.choice(["1", "0.25", "3"])
    return f"{n} {m} {unit}\n{some(n * n)}\n{some(m * m)}\n{some(n * m)}\n{some(n, 6)}\n{room}\n"


@pytest.mark.parametrize("kind", REFERENCES)
@pytest.mark.parametrize("seed", range(6))
def test_every_assignment_has_the_value_of_the_file(kind: str, seed: int, tmp_path: Path) -> None:
    text = TINY[kind].read_text() if seed == 0 else random_text(kind, random.Random(f"{kind}{seed}"))
    path = tmp_path / "problem.txt"
    path.write_text(text)
    reference = REFERENCES[kind](text)
    instance = read(kind, path)
    assert instance.model is not None
    model = load_model(instance.model)
    assert len(model.levels) == 1
    for assignment in product(range(reference.nodes), repeat=reference.items):
        evaluation = check(instance, model, plan_of(instance, assignment))
        assert evaluation.feasible == reference.fits(assignment), assignment
        assert evaluation.levels[0] == reference.value(assignment), assignment


def test_vbp_offers_as_many_bins_as_first_fit_needs(tmp_path: Path) -> None:
    instance = read("vbp", TINY["vbp"])
    assert len(instance.nodes) == 4  # more than the optimum of 3
    assert [w.count for w in instance.workloads] == [1, 1, 2, 2, 2]
    path = tmp_path / "many.vbp"
    path.write_text("1\n10\n2\n6 5\n4 3\n")
    assert len(read("vbp", path).nodes) == 5


def test_vbp_states_an_item_larger_than_a_bin_and_finds_it_infeasible(tmp_path: Path) -> None:
    path = tmp_path / "large.vbp"
    path.write_text("2\n10 10\n2\n11 1 2\n4 4 1\n")
    result = solve(read("vbp", path), time_limit=60, threads=1)
    assert result.status == "infeasible"


@pytest.mark.parametrize("kind", TINY)
@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_document_written_and_read_is_the_same_instance(kind: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"instance{suffix}"
    document = READERS[kind](TINY[kind])
    write_document(document, path)
    loaded = load_instance(path)
    assert loaded.digest == instance_from_dict(document).digest
    assert loaded.model == document["model"]


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_strange_names_survive_the_document(suffix: str, tmp_path: Path) -> None:
    names = ["no", "1e9", "12:30", "a b", "ä/~", "- x", "#c", "'q\"", "null", "{y}"]
    document = {
        "format": "allocator/v1",
        "name": "yes",
        "topology": [{"level": "node", "name": name, "capacity": {"cpu": 1}} for name in names],
        "workloads": [{"class": name, "requests": {"cpu": "0.5"}} for name in names],
    }
    path = tmp_path / f"names{suffix}"
    write_document(document, path)
    loaded = load_instance(path)
    assert [w.name for w in loaded.workloads] == names
    assert loaded.digest == instance_from_dict(document).digest


def test_the_registry_imports_a_format_only_when_it_is_used() -> None:
    code = (
        "import sys; import allocator.formats.registry as r; "
        "late = {'allocator.formats.gap', 'allocator.formats.programs', 'numpy', 'pyomo', 'yaml'}; "
        "print(sorted(set(sys.modules) & late))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
