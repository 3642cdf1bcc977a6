"""Rows 17 to 25 of the table of cases: what does not fit is named; strange values and names; empty instances."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from allocator import InputError, Status, check, instance_from_dict, load_instance, read_plan
from allocator.model import load_model
from tests.cases.documents import EXACT, Document, cli, document, node, placed, run, where, workload

COST = {"goals": ["cost"]}
PLACE = {"goals": ["placed"]}
NODES = {"goals": ["nodes"]}


def problems(whole: Document) -> list[str]:
    """What is wrong with a document."""
    with pytest.raises(InputError) as caught:
        instance_from_dict(whole)
    return [str(problem) for problem in caught.value.problems]


# ---------------------------------------------------------------- row 17


def hopeless() -> Document:
    return document(
        [node("small", cpu=2, memory=8), node("large", cpu=4, memory=16, labels={"zone": "a"})],
        [
            workload("whale", cpu=1, memory=20),
            workload("pinned", 2, cpu="1.5", memory=1, placement={"within": ["small"]}),
            workload("lost", cpu=1, placement={"require": {"zone": ["z"]}}),
            workload("fine", 2, cpu="500m"),
        ],
    )


@pytest.mark.parametrize("method", EXACT)
def test_row_17_item_node_resource_and_amount_are_named(method: str) -> None:
    """An item too big for any node, two pinned to one small node, a label nobody has: named, with what is short."""
    result = run(hopeless(), PLACE, method)
    assert (result.status, placed(result), placed(result, "pinned"), placed(result, "fine")) == (
        Status.OPTIMAL,
        3,
        1,
        2,
    )
    assert result.plan is not None
    left = {group.workload: group for group in result.plan.unplaced}
    assert {name: group.count for name, group in left.items()} == {"whale": 1, "pinned": 1, "lost": 1}
    assert left["whale"].short == {"memory": 4}
    assert "large" in left["whale"].reason
    assert "4 B of memory" in left["whale"].reason
    assert "small" in left["pinned"].reason
    assert "cpu" in left["pinned"].reason
    assert set(left["pinned"].short) == {"cpu"}
    assert "label zone = z" in left["lost"].reason


@pytest.mark.parametrize("method", EXACT)
def test_row_17_without_the_goal_placed_there_is_no_plan_and_all_three_are_named(method: str) -> None:
    result = run(hopeless(), COST, method)
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility is not None
    text = " ".join(result.infeasibility.reasons)
    for name in ("whale", "pinned", "lost"):
        assert name in text
    assert "4 B of memory" in text


# ---------------------------------------------------------------- row 18


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("classes", [1, 30])
def test_row_18_two_are_placed_and_each_of_the_others_has_its_reason(method: str, classes: int) -> None:
    """30 items of 32 GiB for one node of 70 GiB: 2 placed, 28 not, each with its reason."""
    items = [workload(f"i{i}", 30 // classes, memory="32 GiB") for i in range(classes)]
    result = run(document([node("n", memory="70 GiB")], items), PLACE, method)
    assert (result.status, placed(result)) == (Status.OPTIMAL, 2)
    assert result.plan is not None
    assert sum(group.count for group in result.plan.unplaced) == 28
    for group in result.plan.unplaced:
        assert group.short == {"memory": 26 * 2**30}
        assert "26 GiB of memory" in group.reason


# ---------------------------------------------------------------- row 19


def overfull() -> Document:
    """Five old members of 1 on a node of 3; two new ones."""
    return document(
        [node("full", cpu=3), node("free", cpu=1)],
        [workload("old", 5, cpu=1), workload("new", 2, cpu=1)],
        current=[{"class": "old", "count": 5, "node": "full"}],
    )


@pytest.mark.parametrize("method", EXACT)
def test_row_19_an_overfull_node_takes_nobody_in(method: str) -> None:
    """Items already placed exceed their node: use at most what it was, no new member, a warning, nothing negative."""
    result = run(overfull(), PLACE, method)
    assert (result.status, placed(result)) == (Status.OPTIMAL, 6)
    found = where(result)
    assert found.get("new", {}).get("full", 0) == 0
    assert sum(nodes["full"] for nodes in found.values()) <= 5
    assert any("full" in warning for warning in result.warnings)
    assert result.headroom is None or result.headroom.copies >= 0


@pytest.mark.parametrize("method", EXACT)
def test_row_19_staying_is_feasible(method: str) -> None:
    whole = {**overfull(), "workloads": overfull()["workloads"][:1]}
    result = run(whole, {"goals": ["moves"]}, method)
    assert (result.status, result.levels[0].value, where(result)) == (Status.OPTIMAL, 0, {"old": {"full": 5}})
    assert result.warnings


def test_row_19_in_the_summary(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(overfull()))
    done = cli(tmp_path, "solve", "case.json", "--model", "place", "-q")
    assert done.code == 0, done.stderr
    assert "full" in done.stdout
    assert "-2" not in done.stdout


# ---------------------------------------------------------------- row 20


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("model", [PLACE, COST, NODES, {"goals": ["peak"]}, {"goals": ["power"]}])
@pytest.mark.parametrize("capacity", [{"cpu": 0}, {"cpu": 0, "memory": 0, "storage": 0}, {}])
def test_row_20_asking_for_nothing_where_there_is_nothing(
    method: str, model: dict[str, Any], capacity: dict[str, int]
) -> None:
    """An item asking for nothing; a node with 0 of a resource, or of everything: placed free of charge, no NaN."""
    for item in (workload("i", 3), workload("i", 3, cpu=0, memory=0)):
        result = run(document([node("n", **capacity)], [item]), model, method)
        assert (result.status, placed(result)) == (Status.OPTIMAL, 3)
        if model not in (PLACE, NODES):
            assert result.levels[0].value == 0


def test_row_20_no_nan_in_any_output(tmp_path: Path) -> None:
    machines = [node("n", cpu=0, memory=0), {**node("m"), "power": {"idle": "0 W", "busy": "0 W"}}]
    (tmp_path / "case.json").write_text(json.dumps(document(machines, [workload("i", 2), workload("j", cpu=0)])))
    for model in ("place", "balance", "consolidate", "throughput", "fairness", "traffic"):
        done = cli(tmp_path, "solve", "case.json", "--model", model, "--json", "-q")
        assert done.code == 0, done.stderr
        assert json.loads(done.stdout, parse_constant=pytest.fail)["status"] == "optimal"
        done = cli(tmp_path, "solve", "case.json", "--model", model, "-q")
        assert done.code == 0, done.stderr
        assert "nan" not in done.stdout.lower().replace("finance", "")


# ---------------------------------------------------------------- row 21

BAD = [float("nan"), float("inf"), float("-inf"), "NaN", ".nan", ".inf", "inf", "", "  ", None]


@pytest.mark.parametrize("value", BAD, ids=repr)
def test_row_21_no_number(value: object) -> None:
    """NaN, inf, an empty string or null in cpu, capacity, cost, traffic: an error naming item and field."""
    good = document(
        [node("n", cpu=4)],
        [workload("a", 2, cpu=1, cost={"n": 1})],
        flows=[{"from": "a", "to": "a", "pattern": "ring", "rate": 1}],
    )
    instance_from_dict(good)
    for at, text in {
        ("topology", 0, "capacity", "cpu"): "topology[0].capacity.cpu",
        ("workloads", 0, "requests", "cpu"): "workloads[0].requests.cpu",
        ("workloads", 0, "cost", "n"): "workloads[0].cost.n",
        ("flows", 0, "rate"): "flows[0].rate",
    }.items():
        bad = json.loads(json.dumps(good))
        place = bad
        for key in at[:-1]:
            place = place[key]
        place[at[-1]] = value
        found = problems(bad)
        assert all(problem.startswith(text) for problem in found), found


# ---------------------------------------------------------------- row 22

NAMES = [
    "agent-1", "agent 1", "agent/1", "agent_1", "agent~1", "agent~01", "b", "free", "inf", "e9", "1e9", "nan", "1",
    "01", "1.0", "null", "no", "true", "~", "12:30", "агент", "代理", "🤖", "é", "e\u0301", "x" * 253, "a,b", 'a"b',
    "#",
    "-", " lead", "trail ", ".", "..",
]  # fmt: skip


@pytest.mark.parametrize("method", EXACT)
def test_row_22_names_stay_apart_and_come_back(method: str, tmp_path: Path) -> None:
    """Names that other programs mix up, as class and as node: all distinct, round-tripped."""
    count = len(NAMES)
    machines = [node(name, kind=f"k{i}", cpu=1) for i, name in enumerate(NAMES)]
    items = [
        workload(name, cpu=1, cost={f"k{i}": 1 if i == (7 * number) % count else 100 for i in range(count)})
        for number, name in enumerate(NAMES)
    ]
    (tmp_path / "case.json").write_text(json.dumps(document(machines, items)))
    done = cli(tmp_path, "solve", "case.json", "--model", "cost", "--method", method, "-o", "plan.json", "-q")
    assert done.code == 0, done.stderr
    instance = load_instance(tmp_path / "case.json")
    plan = read_plan(tmp_path / "plan.json", instance)
    assert check(instance, load_model("cost"), plan).levels == (count,)
    paths = [name.replace("~", "~0").replace("/", "~1") for name in NAMES]
    assert {name: path for name, _, _, path in plan.members()} == {
        name: paths[(7 * number) % count] for number, name in enumerate(NAMES)
    }
    again = cli(tmp_path, "check", "case.json", "plan.json")
    assert again.code == 0, again.stdout


def test_row_22_plain_yaml_scalars_are_names(tmp_path: Path) -> None:
    """Names that YAML readers turn into numbers, truth values or times."""
    names = ["no", "yes", "on", "1", "1.0", "01", "0x10", "1e9", "12:30", "2001-01-01", "nan", ".inf", "true", "inf"]
    lines = [f"  - {{class: {name}, requests: {{cpu: 1}}}}" for name in names]
    text = "format: allocator/v1\ntopology:\n  - {level: node, name: n, capacity: {cpu: 99}}\nworkloads:\n"
    (tmp_path / "case.yaml").write_text(text + "\n".join(lines) + "\n")
    assert [item.name for item in load_instance(tmp_path / "case.yaml").workloads] == names


# ---------------------------------------------------------------- row 23


def test_row_23_both_places_are_named() -> None:
    """Two items of one name; one node twice: an error naming both places."""
    found = problems(document([node("n", cpu=1)], [workload("b"), workload("a"), workload("a")]))
    assert len(found) == 1
    assert "workloads[1]" in found[0]
    assert "workloads[2]" in found[0]
    found = problems(document([node("n", cpu=1), node("m", cpu=1), node("n", cpu=1)], [workload("a")]))
    assert len(found) == 1
    assert "topology[0]" in found[0]
    assert "topology[2]" in found[0]


def test_row_23_a_counted_node_meets_a_named_one() -> None:
    found = problems(document([node("n", count=3, cpu=1), node("n1", cpu=1)], [workload("a")]))
    assert len(found) == 1
    assert "topology[1]" in found[0]
    assert "topology[0]" in found[0]


# ---------------------------------------------------------------- row 24

MODELS = (
    "cost",
    "consolidate",
    "traffic",
    "balance",
    "throughput",
    "place",
    "place-close",
    "rebalance",
    "task-assignment",
)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", MODELS)
def test_row_24_empty_instances(method: str, name: str) -> None:
    """No items, no nodes, neither: value 0. Items but no nodes: infeasible with the reason, or 0 placed."""
    machines, items = [node("n", cpu=1)], [workload("a", cpu=1)]
    for whole in (document(machines, []), document([], []), document(machines, [workload("a", 0, cpu=1)])):
        result = run(whole, name, method)
        assert (result.status, [level.value for level in result.levels]) == (Status.OPTIMAL, [0] * len(result.levels))
    result = run(document([], items), name, method)
    if load_model(name).may_leave_out:
        assert (result.status, placed(result), result.levels[0].value) == (Status.OPTIMAL, 0, 0)
        assert result.plan is not None
        assert "no node" in result.plan.unplaced[0].reason
    else:
        assert result.status is Status.INFEASIBLE
        assert result.infeasibility is not None
        assert "no node" in " ".join(result.infeasibility.reasons)


def test_row_24_exit_codes(tmp_path: Path) -> None:
    machines, items = [node("n", cpu=1)], [workload("a", cpu=1)]
    for whole, code in (
        (document(machines, []), 0),
        (document([], []), 0),
        ({"format": "allocator/v1"}, 0),
        (document([], items), 1),
    ):
        (tmp_path / "case.json").write_text(json.dumps(whole))
        done = cli(tmp_path, "solve", "case.json", "--model", "cost", "-q")
        assert done.code == code, done.stderr
        assert done.stdout


# ---------------------------------------------------------------- row 25


@pytest.mark.parametrize(
    ("machine", "item", "field"),
    [
        (node("n", cpu=4), workload("a", cpu=-1), "workloads[0].requests.cpu"),
        (node("n", cpu=-5), workload("a", cpu=1), "topology[0].capacity.cpu"),
        (node("n", cpu="-5m"), workload("a", cpu=1), "topology[0].capacity.cpu"),
        (node("n", cpu=4), workload("a", cpu=1, limits={"cpu": -2}), "workloads[0].limits.cpu"),
        (node("n", cpu=4), workload("a", -3, cpu=1), "workloads[0].count"),
    ],
)
def test_row_25_negative_amounts_name_their_field(machine: Document, item: Document, field: str) -> None:
    """A cpu of -1, a capacity of -5: an error naming the field."""
    found = problems(document([machine], [item]))
    assert len(found) == 1
    assert found[0].startswith(field), found
    assert "at least 0" in found[0]
