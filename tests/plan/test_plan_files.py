"""Plan files: exact both ways, judged in shape alone, never a traceback."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allocator.errors import InputError, InternalError
from allocator.instance.entities import Instance, Resource, Role
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup
from allocator.plan.files import read_plan, write_plan
from tests.builders import build, known_as, node, team, workload

RESOURCES = {
    "cpu": Resource("cpu", Role.COMPUTE, "core", exponent=-3),
    "memory": Resource("memory", Role.MEMORY, "B"),
    "coarse": Resource("coarse", Role.OTHER, "", exponent=6),
    "fine": Resource("fine", Role.OTHER, "", exponent=-12),
}
NAMES = [
    "agent-1",
    "agent 1",
    "agent/1",
    "agent_1",
    "b",
    "free",
    "inf",
    "e9",
    "nan",
    "1",
    "агент",
    "代理",
    "🤖",
    "x" * 253,
    '"\\\n,;',
]


def instance(names: list[str] | None = None) -> Instance:
    return build(
        *(node(name) for name in names or ["x", "y"]),
        workloads=[workload(name, 5) for name in names or ["a", "b"]],
        teams=(team("t", 1, {(names or ["a"])[0]: 2}, 10),),
        resources=RESOURCES,
    )


INSTANCE = instance()
PLAN = Plan(
    "test",
    "d1",
    (
        PlacedGroup("a", 0, 2, "default", ("x",), {"cpu": 1, "memory": 2**60, "coarse": 3, "fine": 7}),
        PlacedGroup("a", 2, 2, "default", ("x", "y"), {"cpu": 1500}),
        PlacedGroup("b", 0, 5, "default", ("y",), {}),
    ),
    (FlowGrant("t/0", "t/0", Fraction(3, 8)),),
    (UnplacedGroup("a", 4, 1, "1 core short", {"cpu": 1000}),),
    "throughput",
    {"status": "feasible", "goals": [{"id": "placed", "value": 1.5, "bound": None}], "plan": "p.json"},
)


def test_a_plan_comes_back_as_it_was(tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", PLAN, INSTANCE)
    assert read_plan(tmp_path / "p.json", INSTANCE) == PLAN
    assert read_plan(tmp_path / "p.json") == PLAN


def test_shares_stand_in_base_units(tmp_path: Path) -> None:
    """1 millicore is 0.001, 3 units of a million are 3000000; the rate is 10 bit/s x 3/8."""
    write_plan(tmp_path / "p.json", PLAN, INSTANCE)
    tree = json.loads((tmp_path / "p.json").read_text(), parse_float=Decimal)
    assert list(tree)[:3] == ["format", "instance", "model"]
    assert tree["format"] == "allocator/plan/v1"
    assert tree["instance"] == {"name": "test", "digest": "d1"}
    assert tree["placements"][0] == {
        "class": "a",
        "first": 0,
        "count": 2,
        "mode": "default",
        "nodes": ["x"],
        "shares": {"cpu": Decimal("0.001"), "memory": 2**60, "coarse": 3000000, "fine": Decimal("0.000000000007")},
    }
    assert tree["flows"] == [{"from": "t/0", "to": "t/0", "granted": Decimal("0.375"), "rate": Decimal("3.75")}]
    assert tree["unplaced"][0]["short"] == {"cpu": 1}


def test_awkward_names_are_distinct_and_come_back(tmp_path: Path) -> None:
    """Case 22, in classes, nodes and reasons."""
    named = instance(NAMES)
    paths = [leaf.path for leaf in named.nodes]
    assert len(set(paths)) == len(NAMES)
    plan = Plan(
        "test",
        "d1",
        tuple(PlacedGroup(name, 0, 4, "default", (path,), {}) for name, path in zip(NAMES, paths, strict=True)),
        unplaced=tuple(UnplacedGroup(name, 4, 1, name) for name in NAMES),
    )
    write_plan(tmp_path / "p.json", plan, named)
    assert read_plan(tmp_path / "p.json", named) == plan
    write_plan(tmp_path / "p.csv", plan, named)
    with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 5 * len(NAMES)
    assert {row["class"] for row in rows} == set(NAMES)


def test_csv_has_a_row_for_each_member(tmp_path: Path) -> None:
    write_plan(tmp_path / "p.CSV", PLAN, INSTANCE)
    rows = (tmp_path / "p.CSV").read_text().splitlines()
    assert rows[0] == "class,member,mode,node,reason,share:cpu,share:memory,share:coarse,share:fine"
    assert rows[1] == "a,0,default,x,,0.001,1152921504606846976,3000000,0.000000000007"
    assert rows[4] == "a,3,default,y,,1.5,0,0,0"
    assert rows[-1] == "a,4,,,1 core short,,,,"
    assert len(rows) == 1 + 9 + 1
    with pytest.raises(InputError, match=r"read the \.json plan"):
        read_plan(tmp_path / "p.CSV", INSTANCE)


def test_a_grant_without_a_short_decimal_is_rounded_down(tmp_path: Path) -> None:
    plan = replace(PLAN, flows=(FlowGrant("t/0", "t/0", Fraction(1, 3)),))
    write_plan(tmp_path / "p.json", plan, INSTANCE)
    assert read_plan(tmp_path / "p.json", INSTANCE).flows[0].granted == Fraction(333333333333333333, 10**18)


@given(st.integers(min_value=-(2**70), max_value=2**70), st.sampled_from(sorted(RESOURCES)))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_amount_comes_back_exactly(tmp_path: Path, amount: int, resource: str) -> None:
    plan = Plan("test", "d1", (PlacedGroup("a", 0, 5, "default", ("x",), {resource: amount}),))
    write_plan(tmp_path / "p.json", plan, INSTANCE)
    assert read_plan(tmp_path / "p.json", INSTANCE) == plan
    assert read_plan(tmp_path / "p.json") == plan


def write_tree(path: Path, **changes: Any) -> Path:
    """A small plan file with some top-level keys replaced (None: left out)."""
    tree = {
        "format": "allocator/plan/v1",
        "instance": {"name": "test", "digest": "d1"},
        "model": None,
        "placements": [
            {"class": "a", "first": 0, "count": 1, "mode": "default", "nodes": ["x"], "shares": {"cpu": 0.5}}
        ],
        "flows": [],
        "unplaced": [],
    }
    tree.update(changes)
    path.write_text(json.dumps({key: value for key, value in tree.items() if value is not None}))
    return path


def entry(**changes: Any) -> list[dict[str, Any]]:
    return [{"class": "a", "first": 0, "count": 1, "mode": "default", "nodes": ["x"], "shares": {}, **changes}]


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"format": "allocator/plan/v2"}, "format"),
        ({"placements": None}, "placements"),
        ({"placements": {}}, "placements"),
        ({"placements": [1]}, "placements[0]"),
        ({"placements": entry(nodes="x")}, "placements[0].nodes"),
        ({"placements": entry(nodes=[1])}, "placements[0].nodes"),
        ({"placements": entry(nodes=[])}, "placements[0].nodes"),
        ({"placements": entry(nodes=["x", "y"])}, "placements[0].nodes"),
        ({"placements": entry(count=0)}, "placements[0].count"),
        ({"placements": entry(count=1.5)}, "placements[0].count"),
        ({"placements": entry(count=True)}, "placements[0].count"),
        ({"placements": entry(count=10**30)}, "placements[0].count"),
        ({"placements": entry(first=-1)}, "placements[0].first"),
        ({"placements": entry(first="0")}, "placements[0].first"),
        ({"placements": entry(**{"class": 7})}, "placements[0].class"),
        ({"placements": entry(mode=None)}, "placements[0].mode"),
        ({"placements": entry(shares=[])}, "placements[0].shares"),
        ({"placements": entry(shares={"cpu": 0.0005})}, "placements[0].shares.cpu"),
        ({"placements": entry(shares={"memory": 0.5})}, "placements[0].shares.memory"),
        ({"placements": entry(shares={"cpu": "1"})}, "placements[0].shares.cpu"),
        ({"placements": entry(shares={"cpu": 10**200})}, "placements[0].shares.cpu"),
        ({"placements": entry(shares={"ghost": 1})}, "placements[0].shares.ghost"),
        ({"flows": [{"from": "t/0", "to": "t/0"}]}, "flows[0].granted"),
        ({"flows": [{"from": 1, "to": "t/0", "granted": 1}]}, "flows[0].from"),
        ({"unplaced": [{"class": "a", "first": 0, "count": 1, "reason": 5}]}, "unplaced[0].reason"),
        ({"instance": []}, "instance"),
        ({"instance": "test"}, "instance"),
        ({"result": 5}, "result"),
        ({"model": 5}, "model"),
    ],
)
def test_a_wrong_shape_is_named_with_its_path(tmp_path: Path, changes: dict[str, Any], where: str) -> None:
    path = write_tree(tmp_path / "p.json", **changes)
    with pytest.raises(InputError) as caught:
        read_plan(path, INSTANCE)
    assert [problem.path for problem in caught.value.problems] == [where]
    assert str(path) in str(caught.value)


def test_all_problems_are_found_at_once(tmp_path: Path) -> None:
    wrong = entry(count=0) + entry(first=-1) + entry(shares={"ghost": 1})
    with pytest.raises(InputError) as caught:
        read_plan(write_tree(tmp_path / "p.json", placements=wrong, flows=3), INSTANCE)
    assert len(caught.value.problems) == 4


def test_a_unit_that_is_not_known_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not stated in exponents"):
        read_plan(write_tree(tmp_path / "p.json"))
    assert read_plan(write_tree(tmp_path / "p.json", exponents={"cpu": -1})).placements[0].shares == {"cpu": 5}


BYTES = [
    b"",
    b"\x00",
    b"\xff\xfe{}",
    b"null",
    b"[]",
    b"5",
    b'"x"',
    b"{",
    b"{}",
    b'{"format": "allocator/plan/v1", "format": "allocator/plan/v1"}',
    b'{"format": NaN}',
    b'{"format": "allocator/plan/v1", "placements": [{"count": Infinity}]}',
    b'{"format": "allocator/plan/v1", "placements": [], "result": {"value": 1e999}}',
    b'{"format": "allocator/plan/v1", "placements": [], "result": {"value": 1e99999999999999999999999999}}',
    b'{"a": ' + b"9" * 5000 + b"}",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"format: allocator/plan/v1\nplacements: []\n",
    '{"format": "allocator/plan/v1"}'.encode("utf-16"),
]


@pytest.mark.parametrize("data", BYTES, ids=range(len(BYTES)))
def test_bytes_that_are_no_plan_give_an_input_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.json").write_bytes(data)
    with pytest.raises(InputError):
        read_plan(tmp_path / "p.json", INSTANCE)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("a") | st.just("x"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["class", "first", "count", "nodes", "shares", "cpu", "from", "to", "granted", "reason", "short"]
            )
            | st.text(max_size=3),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)


@given(
    st.fixed_dictionaries(
        {"format": st.just("allocator/plan/v1"), "placements": JSON},
        optional={"flows": JSON, "unplaced": JSON, "instance": JSON, "result": JSON, "exponents": JSON},
    )
)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_gives_a_plan_or_an_input_error(tmp_path: Path, tree: dict[str, Any]) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(tree))
    for known in (INSTANCE, None):
        try:
            found = read_plan(path, known)
        except InputError:
            continue
        assert isinstance(found, Plan)


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_a_plan_or_an_input_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.json").write_bytes(data)
    with pytest.raises(InputError):
        read_plan(tmp_path / "p.json", INSTANCE)


def test_a_plan_of_another_instance_is_refused_when_asked(tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", PLAN, INSTANCE)
    other = known_as(INSTANCE, "d2")
    assert read_plan(tmp_path / "p.json", other).instance_digest == "d1"
    with pytest.raises(InputError, match=r"instance\.digest = d1") as caught:
        read_plan(tmp_path / "p.json", other, same_instance=True)
    assert "this one is d2" in str(caught.value)
    assert read_plan(tmp_path / "p.json", INSTANCE, same_instance=True) == PLAN


def test_a_plan_that_does_not_fit_says_that_it_is_of_another_instance(tmp_path: Path) -> None:
    """That is the first problem told, before the names that do not exist; a plan of this very instance has no such."""
    write_plan(tmp_path / "p.json", PLAN, INSTANCE)
    resources = {name: each for name, each in RESOURCES.items() if name != "coarse"}
    other = known_as(replace(INSTANCE, name="other", resources=resources), "d2")
    with pytest.raises(InputError) as caught:
        read_plan(tmp_path / "p.json", other)
    first, *rest = caught.value.problems
    assert first.path == "instance.name"
    assert first.value == "test"
    assert "another instance or version of it, and does not fit this one (other)" in str(caught.value)
    assert [problem.path for problem in rest] == ["placements[0].shares.coarse"]
    with pytest.raises(InputError) as caught:
        read_plan(tmp_path / "p.json", known_as(other, "d1"))
    assert [problem.path for problem in caught.value.problems] == ["placements[0].shares.coarse"]


def test_missing_files_and_folders_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_plan(tmp_path / "ghost.json", INSTANCE)
    with pytest.raises(InputError, match="is a folder"):
        read_plan(tmp_path, INSTANCE)
    with pytest.raises(InputError):
        read_plan("p\0.json", INSTANCE)


def test_infinity_in_a_result_is_a_fault_of_the_caller_and_leaves_the_old_file(tmp_path: Path) -> None:
    write_plan(tmp_path / "p.json", PLAN, INSTANCE)
    before = (tmp_path / "p.json").read_bytes()
    with pytest.raises(InternalError):
        write_plan(tmp_path / "p.json", replace(PLAN, result={"value": float("inf")}), INSTANCE)
    assert (tmp_path / "p.json").read_bytes() == before
