"""MPS and LP files hold the level that they say: HiGHS and SCIP, reading them, find its value."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import highspy
import pytest
from ortools.linear_solver.python import model_builder

from allocator.errors import UnsupportedFamily
from allocator.formats.registry import MODEL_WRITERS, READERS
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.solve import solve
from tests.formats.references import OPTIMA, TINY

ODD: dict[str, Any] = {
    "format": "allocator/v1",
    "name": "odd names\nand more",
    "topology": [
        {"level": "node", "name": name, "kind": "k", "capacity": {"cpu": room}}
        for name, room in (("a b", 3), ("a+b", 2), ("ä/ö", 2), ("3e5", 1), ("free", 4))
    ],
    "workloads": [
        {"class": "end", "count": 2, "value": "0.5", "requests": {"cpu": 1}},
        {"class": "st", "count": 3, "value": 3, "requests": {"cpu": 2}},
        {"class": "* x", "value": 4, "requests": {"cpu": 4}, "modes": {"in f": {}, "-inf": {"requests": {"cpu": 3}}}},
        {"class": "n" * 300, "value": 1, "requests": {"cpu": 1}},
        {"class": "x y", "value": 1, "requests": {"cpu": 1}},
    ],
}

MOVING: dict[str, Any] = {
    "format": "allocator/v1",
    "name": "moving",
    "topology": [{"level": "node", "name": "n", "count": 2, "capacity": {"cpu": 4}, "safety": {"cpu": 2}}],
    "workloads": [{"class": "c", "count": 3, "move_cost": "0.25", "requests": {"cpu": 1}}],
    "current": [{"class": "c", "count": 3, "node": "n0"}],
}


def by_highs(path: Path) -> float:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


def by_scip(path: Path) -> float:
    model = model_builder.Model()
    assert model.import_from_mps_file(str(path))
    solver = model_builder.Solver("SCIP")
    assert solver.solve(model) == model_builder.SolveStatus.OPTIMAL
    return float(solver.objective_value)


def lp_to_mps(path: Path) -> Path:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    target = path.with_suffix(".again.mps")
    solver.writeModel(str(target))
    return target


@pytest.mark.parametrize("kind", TINY)
def test_both_solvers_find_the_optimum_in_both_files(kind: str, tmp_path: Path) -> None:
    instance = instance_from_dict(READERS[kind](TINY[kind]))
    mps, lp = tmp_path / "p.mps", tmp_path / "p.lp"
    model = load_model(str(instance.model))
    MODEL_WRITERS["mps"](instance, model, mps)
    MODEL_WRITERS["lp"](instance, model, lp)
    for value in (by_highs(mps), by_scip(mps), by_highs(lp), by_scip(lp_to_mps(lp))):
        assert value == pytest.approx(OPTIMA[kind], rel=1e-6)


def test_a_maximised_level_is_negated_in_mps_and_keeps_its_sense_in_lp(tmp_path: Path) -> None:
    instance = instance_from_dict(ODD)
    best = solve(instance, "place", time_limit=60, threads=1).levels[0].value
    assert best is not None
    mps, lp = tmp_path / "p.mps", tmp_path / "p.lp"
    MODEL_WRITERS["mps"](instance, load_model("place"), mps)
    MODEL_WRITERS["lp"](instance, load_model("place"), lp)
    assert "is minus the objective" in mps.read_text()
    assert by_highs(mps) == by_scip(mps) == -best
    assert by_highs(lp) == best


def test_the_constant_of_a_goal_is_in_the_objective(tmp_path: Path) -> None:
    instance = instance_from_dict(MOVING)
    model = load_model("rebalance")
    best = solve(instance, model, time_limit=60, threads=1).levels[0].value
    # one member moves at 1/4; staying would cost 1 of overload
    assert best == pytest.approx(0.25)
    for name in ("mps", "lp"):
        path = tmp_path / f"p.{name}"
        MODEL_WRITERS[name](instance, model, path)
        assert by_highs(path) == pytest.approx(0.25)
    assert by_scip(tmp_path / "p.mps") == pytest.approx(0.25)


def test_names_are_legal_unique_and_tell_class_mode_and_node(tmp_path: Path) -> None:
    path = tmp_path / "p.mps"
    MODEL_WRITERS["mps"](instance_from_dict(ODD), load_model("place"), path)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(path))
    lp = solver.getLp()
    names = [*lp.col_names_, *lp.row_names_]
    assert len(set(lp.col_names_)) == lp.num_col_
    assert len(set(lp.row_names_)) == lp.num_row_
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_.]{0,200}", name) for name in names)
    assert any(re.fullmatch(r"x\d+_end_a.b", name) for name in names)
    assert any(re.fullmatch(r"x\d+_x_inf_free", name) for name in names)
    text = path.read_text()
    assert text.isascii()
    assert "odd.names.and.more" in text.splitlines()[0]


def test_the_header_says_which_level_it_is(tmp_path: Path) -> None:
    instance = instance_from_dict(ODD)
    model = load_model({"name": "two", "goals": ["nodes", {"cost": 1}]})
    path = tmp_path / "p.lp"
    MODEL_WRITERS["lp"](instance, model, path)
    head = path.read_text().splitlines()[:4]
    assert all(line.startswith("\\ ") for line in head)
    assert "model two, level 1 of 2: min nodes" in head[1]
    assert instance.digest in head[0]


def test_a_goal_without_an_exact_formulation_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "p.mps"
    with pytest.raises(UnsupportedFamily, match="p99"):
        MODEL_WRITERS["mps"](instance_from_dict(ODD), load_model({"name": "fast", "goals": ["p99"]}), path)
    assert not path.exists()
    MODEL_WRITERS["mps"](instance_from_dict(ODD), load_model("p99"), path)  # its first level is ``placed``
    assert path.exists()
