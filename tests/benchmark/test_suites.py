"""Suite files, the cases they come to, and that every case stands alone."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from allocator.benchmark.cases import find_cases, shipped_folder
from allocator.benchmark.runs import expand, model_document
from allocator.benchmark.suite import list_suites, load_suite
from allocator.errors import ArgumentError, InputError
from allocator.instance import instance_from_dict
from allocator.model import list_models, load_model
from allocator.model.entities import Goal, Level, Model, Slack
from allocator.model.families import Family, GoalId
from tests.benchmark.small_instances import documents, write

MINIMAL = "format: allocator/suite/v1\ninstances: [{shipped: gap_tiny/*, from: gap}]\nmethods: [milp]\n"


def suite_file(folder: Path, text: str = MINIMAL) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_the_shipped_suites_can_be_read() -> None:
    assert set(list_suites()) >= {"small", "gap", "ctap", "gqap", "vbp"}
    for name in list_suites():
        suite = load_suite(name)
        assert suite.name == name
        assert suite.about
        assert "auto" in suite.methods


def test_an_unknown_suite_is_named_with_those_there_are() -> None:
    with pytest.raises(ArgumentError, match="small"):
        load_suite("smal")


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = """
format: allocator/suite/v2
instances:
  - {shipped: a, data: b}
  - {path: c, from: gapp, best_known: {table: t.csv}}
methods: []
seeds: [0, 1, 1, -2]
limits: {seconds: never, memory: 5}
colour: red
"""
    with pytest.raises(InputError) as caught:
        load_suite(suite_file(tmp_path, text))
    paths = {problem.path for problem in caught.value.problems}
    assert paths == {
        "format",
        "suite.colour",
        "instances[0]",
        "instances[1].from",
        "instances[1].best_known.source",
        "instances[1].best_known.columns",
        "methods",
        "seeds",
        "seeds[3]",
        "limits.seconds",
        "limits.memory",
    }


def test_the_small_instances_are_those_the_script_makes(tmp_path: Path) -> None:
    write(tmp_path)
    shipped = shipped_folder() / "small"
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) >= 12
    assert sorted(path.name for path in shipped.glob("*.yaml")) == names
    for name in names:
        assert (tmp_path / name).read_bytes() == (shipped / name).read_bytes()


def test_the_small_suite_covers_them_and_the_tiny_ones_with_their_optima() -> None:
    found = find_cases(load_suite("small"), None)
    cases = {case.label: case for case in found.cases}
    assert found.skipped == ()
    assert {f"small/{name}" for name in documents()} | {"quickstart/quickstart"} <= set(cases)
    assert cases["gap_tiny/problem"].best_known == {"value": 20, "source": "enumeration (optimum)"}
    assert cases["vbp_tiny/problem"].best_known is not None
    assert cases["vbp_tiny/problem"].best_known["value"] == 3
    assert cases["quickstart/quickstart"].best_known is None


def test_every_document_stands_alone() -> None:
    for case in find_cases(load_suite("small"), None).cases:
        assert instance_from_dict(json.loads(case.document)).digest == case.instance.digest


def test_tables_matrices_and_a_current_plan_are_put_inside(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("class,count,requests.cpu\nc,2,1\nd,1,500m\n")
    (tmp_path / "links.csv").write_text("from,to,rate\n0,0,3 bit/s\n1,0,2 bit/s\n")
    (tmp_path / "far.csv").write_text("from,to,distance\nn0,n1,2.5\nn1,n0,3\n")
    (tmp_path / "steps.csv").write_text("from,to,cost\nn0,n1,4\n")
    (tmp_path / "now.csv").write_text("class,member,mode,node\nc,0,default,n0\nc,1,default,n1\n")
    (tmp_path / "one.yaml").write_text(
        """
format: allocator/v1
name: one
model: traffic
topology: [{level: node, name: n, count: 2, kind: k, capacity: {cpu: 4}}]
tables: {workloads: items.csv, links: links.csv, distances: far.csv, steps: steps.csv}
flows: [{from: c, to: d, pattern: table, table: links}]
moves: {machine: steps, weights: {machine: 1}}
current: now.csv
"""
    )
    text = "format: allocator/suite/v1\ninstances: [{path: one.yaml}]\nmethods: [milp]\n"
    (case,) = find_cases(load_suite(suite_file(tmp_path, text)), None).cases
    alone = instance_from_dict(json.loads(case.document), base_dir=tmp_path / "nowhere")
    assert alone.digest == case.instance.digest
    assert alone.distances.matrix is not None
    assert alone.distances.matrix["n0", "n1"] == Fraction(5, 2)
    assert alone.current is not None
    assert len(alone.flows[0].pairs) == 2


def test_public_data_that_is_not_there_is_left_out_and_told(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="--data"):
        find_cases(load_suite("gap"), None)
    with pytest.raises(ArgumentError, match="no folder"):
        find_cases(load_suite("gap"), tmp_path / "nowhere")
    text = MINIMAL.replace("}]", "}, {data: '*', from: vbp}]")
    found = find_cases(load_suite(suite_file(tmp_path, text)), None)
    assert len(found.cases) == 1
    assert "--data" in found.skipped[0]


def test_public_data_is_found_by_path_with_its_stored_values(tmp_path: Path) -> None:
    data = tmp_path / "gap" / "c"
    data.mkdir(parents=True)
    for name in ("p1", "p2", "p3"):
        shutil.copy(shipped_folder() / "gap_tiny" / "problem.txt", data / name)
    (tmp_path / "gap" / "bestknown.csv").write_text("path,optimum,upper_bound_to_beat\nc/p1,20,20\nc/p2,,21.5\n")
    for folder, prefix in ((tmp_path / "gap", "c/"), (data, "")):
        found = {case.label: case.best_known for case in find_cases(load_suite("gap"), folder).cases}
        assert found == {
            f"{prefix}p1": {"value": 20, "source": "stored with the public instances (optimum)"},
            f"{prefix}p2": {"value": 21.5, "source": "stored with the public instances (upper_bound_to_beat)"},
            f"{prefix}p3": None,
        }
    assert [case.label for case in find_cases(load_suite("gap"), data, "p[12]").cases] == ["p1", "p2"]


def test_a_value_that_is_not_known_to_be_good_is_left_out(tmp_path: Path) -> None:
    shutil.copy(shipped_folder() / "gqap_tiny" / "problem.txt", tmp_path / "p.txt")
    for status, known in (("optimal (enumeration)", 7), ("upper bound only", None)):
        (tmp_path / "bestknown.csv").write_text(f"path,value,value_status\np.txt,7.0,{status}\n")
        (case,) = find_cases(load_suite("gqap"), tmp_path).cases
        assert (case.best_known or {}).get("value") == known


def test_a_run_is_named_by_everything_that_decides_it(tmp_path: Path) -> None:
    suite = load_suite(suite_file(tmp_path))
    cases = find_cases(suite, None).cases

    def ids(**change: object) -> set[str]:
        given = {"methods": ("milp",), "seeds": (0,), "limits": suite.limits, **change}
        return {run.id for run in expand(suite, cases, **given)}  # type: ignore[arg-type]

    (usual,) = ids()
    assert ids() == {usual}
    for change in (
        {"methods": ("cpsat",)},
        {"seeds": (1,)},
        {"limits": replace(suite.limits, seconds=1.0)},
        {"limits": replace(suite.limits, threads=2)},
    ):
        assert usual not in ids(**change)
    assert ids(limits=replace(suite.limits, grace=1.0)) == {usual}


def test_a_model_survives_its_document() -> None:
    for name in list_models():
        model = load_model(name)
        assert load_model(model_document(model)) == model
    peak = Goal(GoalId.PEAK, Fraction(1, 2), resources=("cpu",), at_level="node")
    levels = (
        Level((Goal(GoalId.COST), peak), Slack(Fraction(1, 20), relative=True)),
        Level((Goal(GoalId.NODES),), Slack(Fraction(2))),
    )
    model = Model("odd", "odd", levels, frozenset({Family.GANG, Family.FABRIC}))
    assert load_model(model_document(model)) == model
