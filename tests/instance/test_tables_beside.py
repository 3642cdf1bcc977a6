"""CSV tables and the current plan: big data beside the instance."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from allocator.errors import InputError
from allocator.instance import Instance, instance_from_dict
from allocator.instance.entities import CurrentPlacement
from tests.instance.documents import base


def load(folder: Path, files: dict[str, str], **changes: Any) -> Instance:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return instance_from_dict(base(**changes), base_dir=folder)


def words(folder: Path, files: dict[str, str], **changes: Any) -> str:
    with pytest.raises(InputError) as caught:
        load(folder, files, **changes)
    return "\n".join(str(problem) for problem in caught.value.problems)


def test_rows_are_classes(tmp_path: Path) -> None:
    """A row of the table is a class, a column a key of it, dotted where nested; empty cells state nothing."""
    text = (
        "class,count,requests.cpu,requests.memory,work.rate,cost.n0,placement.tolerations,placement.require.arch\n"
        "x,3,500m,1Gi,0.5/s,7,a|b,arm\n"
        '"y, z",,,,,,,\n'
    )
    found = load(tmp_path, {"items.csv": text}, tables={"workloads": "items.csv"})
    assert [workload.name for workload in found.workloads] == ["a", "x", "y, z"]
    x, y = found.workloads[1:]
    assert (x.count, x.rate, dict(x.cost), x.placement.tolerations) == (3, Fraction(1, 2), {"n0": 7}, {"a", "b"})
    assert dict(x.placement.require) == {"arch": ("arm",)}
    assert (y.count, dict(y.modes[0].default.requests)) == (1, {})


def test_a_table_is_the_same_as_the_document(tmp_path: Path) -> None:
    """The same classes and flows inline have the same digest."""
    table = load(
        tmp_path,
        {"w.csv": "class,requests.cpu\nx,1\n", "f.csv": "from,to,pattern,rate\na,x,spread,5\n"},
        tables={"workloads": "w.csv", "flows": "f.csv"},
    )
    document = base(flows=[{"from": "a", "to": "x", "pattern": "spread", "rate": 5}])
    document["workloads"].append({"class": "x", "requests": {"cpu": 1}})
    assert table == instance_from_dict(document)


def test_costs_distances_and_pairs(tmp_path: Path) -> None:
    """Long tables of numbers: costs by class and node, distances, machine costs, flows between members."""
    found = load(
        tmp_path,
        {
            "c.csv": "class,node,cost\na,n0,1\na,n1,2.5\n",
            "d.csv": "from,to,distance\nn0,n1,1\nn1,n0,2\n",
            "m.csv": "from,to,cost\nn0,n1,4\n",
            "p.csv": "from,to,rate\n0,1,2 kbit/s\n",
        },
        tables={"costs": "c.csv", "distances": "d.csv", "machine": "m.csv", "pairs": "p.csv"},
        moves={"machine": "machine"},
        flows=[{"from": "a", "to": "a", "pattern": "table", "table": "pairs"}],
    )
    assert dict(found.workloads[0].cost) == {"n0": 1, "n1": Fraction(5, 2)}
    assert dict(found.distances.matrix or {}) == {("n0", "n1"): 1, ("n1", "n0"): 2}
    assert found.moves is not None
    assert dict(found.moves.machine_cost) == {("n0", "n1"): 4}
    assert found.flows[0].pairs == ((0, 1, 2000),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class,requests.cpu\nx,1\ny,-3\n", "items.csv line 3.requests.cpu = -3: must be at least 0 (class y)"),
        ("class,cuont\nx,1\n", "items.csv line 2.cuont: there is no such key; did you mean count?"),
        ("class\nx\nx\n", "items.csv line 3.class = x: has the name of items.csv line 2"),
        ("class,count\nx\n", "tables.workloads = items.csv: line 2 has 1 cells, and the header 2"),
        ("class,class\nx,y\n", "tables.workloads = items.csv: has the column class twice"),
        ("class,requests,requests.cpu\nx,1,1\n", "has a column that is a part of another"),
        ("", "needs a first line"),
        ('class\n"x', "is not CSV"),
    ],
)
def test_bad_rows_name_file_and_line(tmp_path: Path, text: str, expected: str) -> None:
    """A problem in a table is named by its file and line."""
    assert expected in words(tmp_path, {"items.csv": text}, tables={"workloads": "items.csv"})


def test_bad_numbers_and_missing_files(tmp_path: Path) -> None:
    """Costs of nobody, numbers that are none, pairs stated twice and files that are not there are all named."""
    found = words(
        tmp_path,
        {"c.csv": "class,node,cost\nzz,n0,1\na,n0,-1\na,n1,nan\n", "d.csv": "f,t,d\nn0,n1,x\nn1,n0,1\nn1,n0,1\n"},
        tables={"costs": "c.csv", "distances": "d.csv", "workloads": "gone.csv"},
    )
    assert "c.csv line 2 = zz: there is no such class" in found
    assert "workloads[0].cost.n0 = -1: must be at least 0" in found
    assert "workloads[0].cost.n1 = nan: must be a finite number" in found
    assert "d.csv line 2 = x: d must begin with a decimal number" in found
    assert "d.csv line 4: n1 to n0 is stated twice" in found
    assert "tables.workloads = gone.csv: No such file" in found


# ---------------------------------------------------------------- current plan


def test_a_plan_is_where_things_run_now(tmp_path: Path) -> None:
    """Placements of a plan file, one node for all or one each, become runs in order of class and member."""
    plan = {
        "format": "allocator/plan/v1",
        "placements": [
            {"class": "a", "first": 4, "count": 1, "mode": "default", "nodes": ["n0"], "shares": {"cpu": 1}},
            {"class": "a", "first": 0, "count": 4, "mode": "default", "nodes": ["n1", "n1", "n0", "n0"], "shares": {}},
        ],
    }
    found = load(tmp_path, {"plan.json": json.dumps(plan)}, workloads=[{"class": "a", "count": 6}], current="plan.json")
    assert found.current == (CurrentPlacement("a", 0, 2, "default", "n1"), CurrentPlacement("a", 2, 3, "default", "n0"))


def test_a_plan_in_rows(tmp_path: Path) -> None:
    """A plan written as CSV serves as well; members without a node do not run."""
    text = "class,member,mode,node\na,0,default,n1\na,1,,\n"
    found = load(tmp_path, {"plan.csv": text}, current="plan.csv")
    assert found.current == (CurrentPlacement("a", 0, 1, "default", "n1"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "current (p.json): line 1"),
        ("{}", "current = p.json: is no plan file"),
        ('{"placements": [1]}', "placements[0]: must be a placement"),
        ('{"placements": [{"class": "a", "first": 0, "count": 2, "nodes": ["n0", "n1", "n0"]}]}', "as many as count"),
        ('{"placements": [{"class": "a", "first": "x", "count": 2, "nodes": ["n0"]}]}', "must be a placement"),
        ('{"placements": [{"class": "zz", "first": 0, "count": 1, "nodes": ["n9"]}]}', "placements[0].class = zz"),
        ('{"placements": [{"class": "a", "first": 1, "count": 9, "nodes": ["n0"]}]}', "reaches member 9"),
        ('{"placements": [{"class": "a", "first": 0, "count": 1, "nodes": ["n0"], "mode": "m"}]}', "no such mode"),
    ],
)
def test_plans_that_do_not_belong(tmp_path: Path, text: str, expected: str) -> None:
    """A plan of another instance, or no plan at all, is refused by its place."""
    assert expected in words(tmp_path, {"p.json": text}, current="p.json")


def test_a_member_runs_once(tmp_path: Path) -> None:
    """A member that is said to run on two nodes is refused."""
    twice = [{"class": "a", "first": 0, "count": 2, "node": "n0"}, {"class": "a", "first": 1, "node": "n1"}]
    assert "current[1].first = 1: member 1 of class a is stated to run on n0 already" in words(
        tmp_path, {}, current=twice
    )
