"""Numbers by two nodes: stored densely they are the same mapping, with the same digest as a sparse spelling of them."""

from __future__ import annotations

import pickle
import random
from fractions import Fraction
from typing import Any

import pytest

from allocator.errors import InputError
from allocator.instance import instance_from_dict
from allocator.instance.node_matrix import LEAST_NODES, NodeMatrix, node_matrix


def rows_of(size: int, seed: int, *, filled: float) -> list[list[Fraction]]:
    rng = random.Random(seed)
    some = [Fraction(1, 2), Fraction(3), Fraction(7, 4)]
    return [[rng.choice(some) if rng.random() < filled else Fraction(0) for _ in range(size)] for _ in range(size)]


@pytest.mark.parametrize(
    ("size", "filled", "dense"), [(LEAST_NODES, 0.7, True), (LEAST_NODES, 0.1, False), (5, 1, False)]
)
def test_dense_or_not_it_is_the_mapping_of_the_pairs(size: int, filled: float, dense: bool) -> None:
    paths = [f"n{index}" for index in range(size)]
    rows = rows_of(size, size, filled=filled)
    found = node_matrix(paths, rows)
    expected = {(a, b): v for a, row in zip(paths, rows, strict=True) for b, v in zip(paths, row, strict=True) if v}
    assert isinstance(found, NodeMatrix) == dense
    assert dict(found) == expected
    assert len(found) == len(expected)
    assert all(found.get((a, b), Fraction(0)) == expected.get((a, b), 0) for a in paths for b in paths)
    assert found.get(("n0", "none")) is None
    assert found.get(("none", "n0"), Fraction(9)) == 9


def test_a_missing_pair_is_no_key() -> None:
    matrix = node_matrix([f"n{i}" for i in range(LEAST_NODES)], rows_of(LEAST_NODES, 2, filled=0.6))
    absent = next(p for p in ((f"n{i}", f"n{j}") for i in range(9) for j in range(9)) if p not in matrix)
    with pytest.raises(KeyError):
        matrix[absent]
    assert matrix == pickle.loads(pickle.dumps(matrix))


def test_numbers_too_large_for_an_integer_are_kept_as_they_are() -> None:
    rows = [[Fraction(10**30)] * LEAST_NODES] * LEAST_NODES
    found = node_matrix([f"n{i}" for i in range(LEAST_NODES)], rows)
    assert not isinstance(found, NodeMatrix)
    assert found["n0", "n1"] == 10**30


def document(size: int, machine: Any) -> dict[str, Any]:
    return {
        "format": "allocator/v1",
        "topology": [{"level": "node", "name": "n", "count": size, "capacity": {"cpu": 1}}],
        "workloads": [{"class": "c", "requests": {"cpu": 1}}],
        "moves": {"weights": {"machine": 2}, "machine": machine},
    }


@pytest.mark.parametrize("size", [3, LEAST_NODES + 1])
def test_rows_mean_the_same_however_they_are_spelt(size: int) -> None:
    numbers = rows_of(size, 3, filled=0.8)
    texts = [" ".join(str(float(value)) for value in row) for row in numbers]
    lists = [[float(value) for value in row] for row in numbers]
    spaced = ["  ".join(f"{float(value):.3f}" for value in row) for row in numbers]
    instances = [instance_from_dict(document(size, {"rows": rows})) for rows in (texts, lists, spaced)]
    assert len({instance.digest for instance in instances}) == 1
    for instance in instances:
        assert instance.moves is not None
        assert instance.moves.machine_cost.get(("n0", "n2"), 0) == numbers[0][2]
    other = [list(row) for row in lists]
    other[size - 1][0] += 1
    assert instance_from_dict(document(size, {"rows": other})).digest != instances[0].digest


WRONG = [
    ({"rows": ["0 1 1", "1 0"]}, "moves.machine.rows[1]: has 2 numbers, and there are 3 nodes"),
    ({"rows": ["0 1 1", "1 0 1"]}, "moves.machine.rows: has 2 rows, and there are 3 nodes"),
    ({"rows": ["0 1 1", "1 0 x", "1 1 0"]}, "moves.machine.rows[1]"),
    ({"rows": ["0 1 1", "1 0 -1", "1 1 0"]}, "must be at least 0"),
    ({"rows": ["0 1 1"], "more": 1}, "moves.machine.more"),
]


@pytest.mark.parametrize(("machine", "said"), WRONG)
def test_wrong_rows_are_refused_where_they_are_wrong(machine: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        instance_from_dict(document(3, machine))
    assert said in str(caught.value)


def test_a_node_called_rows_is_still_a_node() -> None:
    stated = document(1, {"rows": {"n0": 3}})
    stated["topology"].append({"level": "node", "name": "rows", "capacity": {"cpu": 1}})
    moves = instance_from_dict(stated).moves
    assert moves is not None
    assert dict(moves.machine_cost) == {("rows", "n0"): 3}
