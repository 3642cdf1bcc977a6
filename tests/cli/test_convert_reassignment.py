"""A machine reassignment comes in from its two files, is solved, and goes out as an assignment again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.formats.reassignment import TINY, read_files

Run = Callable[..., Any]
MODEL, ASSIGNMENT = TINY / "model.txt", TINY / "assignment.txt"
OPTIMUM = 153


def test_a_plan_goes_out_as_one_line_that_has_its_value_in_the_files(tmp_path: Path, run: Run) -> None:
    instance, plan, answer = tmp_path / "start.json", tmp_path / "plan.json", tmp_path / "answer.txt"
    done = run("convert", MODEL, instance, "--from", "roadef2012", "--to", "allocator", "--assignment", ASSIGNMENT)
    assert done.returncode == 0, done.stderr
    assert run("solve", instance, "-o", plan, "-q", "--threads", "1").returncode == 0
    done = run("convert", plan, answer, "--from", "allocator", "--to", "roadef2012", "--instance", instance)
    assert done.returncode == 0, done.stderr
    where = [int(word) for word in answer.read_text().split()]
    assert answer.read_text() == " ".join(map(str, where)) + "\n"
    reference = read_files(MODEL, ASSIGNMENT)
    assert not reference.broken(where)
    assert reference.cost(where) == OPTIMUM


def test_the_start_has_to_be_named(tmp_path: Path, run: Run) -> None:
    done = run("convert", MODEL, tmp_path / "a.json", "--from", "roadef2012", "--to", "allocator")
    assert done.returncode == 2
    assert "--assignment" in done.stderr


def test_an_option_of_another_format_is_refused(tmp_path: Path, run: Run) -> None:
    done = run("convert", MODEL, tmp_path / "a.json", "--from", "gap", "--to", "allocator", "--assignment", ASSIGNMENT)
    assert done.returncode == 2
    assert "--assignment belongs to --from roadef2012" in done.stderr
