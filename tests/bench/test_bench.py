"""A benchmark says what was missed, and cannot call an answer good that contradicts what is stored."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tests.bench import ctap, gap, gqap, vbp
from tests.bench.runs import ROOT, Known, Row, find_known, instance_files
from tests.bench.table import Demand, Suite, contradictions, judge

GAP = {"optimum": "100", "best_bound": "100", "upper_bound_to_beat": "100"}
SUITE = Suite("gap", "", "*", 60, gap.best, gap.demands)


def row(name: str = "c05100", value: int | None = 100, bound: int | None = 100, **fields: object) -> Row:
    status = "optimal" if value == bound and value is not None else "feasible"
    numbers = [None if number is None else Fraction(number) for number in (value, bound)]
    made = Row(name, 100, 5, Known(GAP), status, numbers[0], numbers[1], 10.0, 100.0)
    return replace(made, **fields)  # type: ignore[arg-type]


def met(demands: list[Demand]) -> list[bool]:
    return [demand.met for demand in demands]


def test_an_easy_instance_must_be_proven_in_time() -> None:
    assert met(gap.demands([row()])) == [True, True, True]
    assert met(gap.demands([row(bound=99)]))[0] is False
    assert met(gap.demands([row(value=101, bound=101)]))[0] is False
    assert met(gap.demands([row(seconds=66.0)]))[0] is False
    assert met(gap.demands([row(name="x/e05100", bound=99)])) == [False, True, True]
    assert met(gap.demands([row(bound=99, items=400)]))[0] is True


def test_hard_instances_have_a_distance_by_size() -> None:
    stored = Known({**GAP, "upper_bound_to_beat": "1000", "optimum": "", "best_bound": ""})
    for name in ("e20100", "d20200"):
        assert met(gap.demands([row(name=name, value=1002, bound=900, known=stored)])) == [True, True, True]
        assert met(gap.demands([row(name=name, value=1003, bound=900, known=stored)])) == [True, False, True]
        assert met(gap.demands([row(name=name, value=None, bound=None, known=stored)])) == [True, False, True]
        large = row(name=name, bound=900, known=stored, items=400)
        assert met(gap.demands([replace(large, value=Fraction(1010))])) == [True, True, True]
        assert met(gap.demands([replace(large, value=Fraction(1011))])) == [True, True, False]


def test_a_share_of_the_instances_may_be_missed() -> None:
    rows = [row(name=str(number), bound=100 if number else 90) for number in range(5)]
    assert judge(rows, "", lambda each: each.status == "optimal", Fraction(4, 5)).met
    assert not judge(rows[:4], "", lambda each: each.status == "optimal", Fraction(4, 5)).met
    middle = [replace(each, items=20, nodes=5, known=Known({"value": ""})) for each in rows]
    assert met(ctap.demands(middle)) == [True, True]
    assert met(ctap.demands(middle[:4])) == [True, False]
    assert met(gqap.demands([replace(each, items=12) for each in middle[:2]])) == [True, True]


def test_packing_is_judged_by_size() -> None:
    stored = Known({"OPT(-1=unknown)": "-1", "best_heuristic_in_paper": "100", "LB": "90"})
    assert vbp.best(stored) == 100
    assert vbp.best(Known({**stored.columns, "OPT(-1=unknown)": "95"})) == 95
    assert met(vbp.demands([row(value=102, bound=90, items=60, known=stored)])) == [True, True]
    assert met(vbp.demands([row(value=103, bound=90, items=60, known=stored)])) == [True, False]
    assert met(vbp.demands([row(value=102, bound=None, items=60, known=stored)])) == [True, False]
    assert met(vbp.demands([row(value=102, bound=90, items=41, known=stored)])) == [False, True]


def test_a_mere_upper_bound_is_no_value_to_compare_with() -> None:
    assert gqap.best(Known({"value": "7.0", "value_status": "optimal (enumeration)"})) == 7
    assert gqap.best(Known({"value": "7.0", "value_status": "of another name: upper bound only"})) is None


@pytest.mark.parametrize(("value", "bound"), [(99, 99), (99, 90), (105, 101), (100, 101), (None, 101)])
def test_an_impossible_answer_is_found(value: int | None, bound: int | None) -> None:
    assert not contradictions([row(value=value, bound=bound)], SUITE).met


@pytest.mark.parametrize(("value", "bound"), [(100, 100), (105, 90), (None, None)])
def test_a_possible_answer_passes(value: int | None, bound: int | None) -> None:
    assert contradictions([row(value=value, bound=bound)], SUITE).met


def test_stored_values_are_found_in_or_above_the_folder(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "p1").touch()
    (tmp_path / "bestknown.csv").write_text("path,optimum\nset/p1,7\n")
    for folder in (tmp_path, tmp_path / "set"):
        assert find_known(folder)[(tmp_path / "set" / "p1").resolve()].number("optimum") == 7
        assert [path.name for _, path in instance_files(folder, "*")] == ["p1"]


def run(folder: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.bench.gap", "--data", str(folder), "--threads", "1", "-o", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_the_command_tells_by_its_exit_code_whether_the_demands_are_met(tmp_path: Path) -> None:
    # a name of the easy classes, so that the demand applies
    shutil.copy(ROOT / "instances" / "gap_tiny" / "problem.txt", tmp_path / "a")
    stored = (ROOT / "instances" / "gap_tiny" / "bestknown.csv").read_text().replace("problem.txt", "a")
    table = tmp_path / "table.md"
    (tmp_path / "bestknown.csv").write_text(stored)
    good = run(tmp_path, table)
    assert good.returncode == 0, good.stdout + good.stderr
    assert "| a | 5 | 3 | 20 | 20 | 0.00 | 20 | 0.00 | optimal |" in table.read_text()
    assert "met: a, b, c, gap* and e05100" in good.stdout
    (tmp_path / "bestknown.csv").write_text(stored.replace("20", "19"))
    bad = run(tmp_path, table)
    assert bad.returncode == 1
    assert "MISSED" in bad.stdout
