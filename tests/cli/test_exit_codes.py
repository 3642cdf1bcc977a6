"""Exit codes and messages: 0 a plan, 1 none, 2 bad input, 3 an internal fault; never a traceback unasked."""

from __future__ import annotations

import importlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allocator.cli import main
from allocator.errors import InternalError, MethodRefused

Run = Callable[..., Any]
Spawn = Callable[..., "subprocess.Popen[bytes]"]


def test_a_plan_gives_0(run: Run, small: Path) -> None:
    done = run("solve", small, "--model", "traffic", "--time-limit", "30s", "-q")
    assert done.returncode == 0, done.stderr
    assert "All 6 members are placed" in done.stdout
    assert done.stderr == ""


def test_a_partial_plan_gives_0(run: Run, infeasible: Path, tmp_path: Path) -> None:
    model = tmp_path / "most.yaml"
    model.write_text("name: most\nabout: place as much as possible\ngoals: [placed]\n")
    done = run("solve", infeasible, "--model", model, "--json", "-q")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [goal["value"] for goal in document["goals"]] == [4]


def test_no_plan_gives_1(run: Run, infeasible: Path) -> None:
    done = run("solve", infeasible, "--model", "traffic", "-q")
    assert done.returncode == 1, done.stderr
    assert "no plan exists" in done.stdout
    assert "Traceback" not in done.stderr


def test_json_is_one_document_on_stdout(run: Run, small: Path) -> None:
    done = run("solve", small, "--model", "traffic", "--json")
    document = json.loads(done.stdout)
    assert document["status"] == "optimal"
    assert done.stderr  # progress goes there


def test_json_of_no_plan_is_a_document_too(run: Run, infeasible: Path) -> None:
    done = run("solve", infeasible, "--model", "traffic", "--json", "-q")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "infeasible"


def test_a_written_plan_checks_and_a_changed_one_does_not(run: Run, small: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert run("solve", small, "--model", "traffic", "-o", plan, "-q").returncode == 0
    assert run("check", small, plan).returncode == 0
    assert json.loads(run("check", small, plan, "--json").stdout)["holds"] is True

    document = json.loads(plan.read_text())
    lost = document["placements"].pop()
    plan.write_text(json.dumps(document))
    done = run("check", small, plan)
    assert done.returncode == 1
    assert lost["class"] in done.stdout
    assert "Violations" in done.stdout


def test_a_false_claim_does_not_check(run: Run, small: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert run("solve", small, "--model", "traffic", "-o", plan, "-q").returncode == 0
    document = json.loads(plan.read_text())
    for level in document["result"]["levels"]:
        level["value"] = (level["value"] or 0) + 5
    plan.write_text(json.dumps(document))
    done = run("check", small, plan)
    assert done.returncode == 1
    assert "Not as claimed" in done.stdout


def test_a_plan_of_another_instance_does_not_check(run: Run, small: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    assert run("solve", small, "--model", "traffic", "-o", plan, "-q").returncode == 0
    small.write_text(small.read_text().replace("memory: 8 GiB", "memory: 9 GiB"))
    done = run("check", small, plan)
    assert done.returncode == 1
    assert "another version" in done.stdout


def test_a_plan_by_a_model_file_checks_with_that_file(run: Run, small: Path, tmp_path: Path) -> None:
    model, plan = tmp_path / "few.yaml", tmp_path / "plan.json"
    model.write_text("name: few\nabout: as few nodes as possible\ngoals: [nodes]\n")
    assert run("solve", small, "--model", model, "-o", plan, "-q").returncode == 0
    unknown = run("check", small, plan)
    assert unknown.returncode == 2
    assert "few" in unknown.stderr
    assert run("check", small, plan, "--model", model).returncode == 0
    other = run("check", small, plan, "--model", "traffic")  # feasible there, and claims of another model do not count
    assert other.returncode == 0, other.stdout


def test_check_without_a_plan_says_what_is_in_it(run: Run, small: Path) -> None:
    done = run("check", small)
    assert done.returncode == 0
    for fact in ("valid", "4 nodes", "6 members", "2 rack", "web", "store", "memory 1 GiB"):
        assert fact in done.stdout
    document = json.loads(run("check", small, "--json").stdout)
    assert document["valid"] is True
    assert document["resources"]["cpu"] == {"capacity": 16, "requested": 8}


def test_a_csv_plan_has_a_row_a_member(run: Run, small: Path, tmp_path: Path) -> None:
    assert run("solve", small, "--model", "traffic", "-o", tmp_path / "plan.csv", "-q").returncode == 0
    assert len((tmp_path / "plan.csv").read_text().splitlines()) == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["solve", "none.yaml"], "no file"),
        (["solve", "."], "unknown file type"),
        (["solve", "small.yaml", "--method", "magic"], "magic"),
        (["solve", "small.yaml", "--model", "magic"], "magic"),
        (["solve", "small.yaml", "--model", "small.yaml"], "small.yaml"),
        (["solve", "small.yaml", "--time-limit", "soon"], "not a duration"),
        (["solve", "small.yaml", "--gap", "200 %"], "at most 1"),
        (["solve", "small.yaml", "--threads", "0"], "--threads"),
        (["solve", "small.yaml", "--seed", "-1"], "--seed"),
        (["solve", "small.yaml", "-o", "plan.txt"], "unknown file type"),
        (["solve", "small.yaml", "-o", "none/plan.json"], "no folder"),
        (["solve", "small.yaml", "--warm-start", "none.json"], "no file"),
        (["solve", "small.yaml", "--warm-start", "small.json"], "small.json"),
        (["solve", "small.yaml", "--no-such-option"], "no-such-option"),
        (["solve"], "INSTANCE"),
        (["check", "small.yaml", "small.json"], "small.json"),
        (["check", "small.yaml", "--model", "magic"], "magic"),
        (["convert", "small.yaml", "x.json", "--from", "magic", "--to", "gap"], "magic"),
        (["catalog", "no-such-entry"], "no-such-entry"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_bad_arguments_give_2_and_one_message(
    arguments: list[str], message: str, small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(small.parent)
    Path("small.json").write_text("{}")
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.startswith("allocator: ")
    assert "Traceback" not in captured.err
    assert not Path("plan.json").exists()


def test_an_instance_without_a_model_needs_one(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small.write_text(small.read_text().replace("model: traffic\n", ""))
    assert main(["solve", str(small), "-q"]) == 2
    error = capsys.readouterr().err
    assert "choose one with --model" in error
    assert "throughput" in error


def test_no_arguments_show_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("Usage: allocator")


def test_an_internal_fault_gives_3_and_says_how_to_see_more(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise InternalError("something that must hold does not")

    monkeypatch.setattr(importlib.import_module("allocator.solve"), "solve", broken)
    monkeypatch.delenv("ALLOCATOR_DEBUG", raising=False)
    assert main(["solve", str(small), "-q"]) == 3
    error = capsys.readouterr().err
    assert "something that must hold does not" in error
    assert "ALLOCATOR_DEBUG=1" in error
    assert "Traceback" not in error
    for arguments in (["--debug", "solve", str(small), "-q"], ["solve", str(small), "-q", "--debug"]):
        assert main(arguments) == 3
        assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("ALLOCATOR_DEBUG", "1")
    assert main(["solve", str(small), "-q"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_an_unforeseen_exception_gives_3(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(importlib.import_module("allocator.solve"), "solve", broken)
    monkeypatch.delenv("ALLOCATOR_DEBUG", raising=False)
    assert main(["solve", str(small), "-q"]) == 3
    assert "internal fault: ZeroDivisionError: division by zero" in capsys.readouterr().err


def test_a_refusing_method_gives_2(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise MethodRefused("method milp: too large; use local-search")

    monkeypatch.setattr(importlib.import_module("allocator.solve"), "solve", refuses)
    assert main(["solve", str(small), "-q"]) == 2
    assert capsys.readouterr().err == "allocator: method milp: too large; use local-search\n"


@pytest.mark.parametrize(
    "arguments", [["schema"], ["versions"], ["check", "small.yaml"], ["solve", "small.yaml", "-q"]]
)
def test_a_closed_stdout_ends_quietly(arguments: list[str], small: Path, spawn: Spawn) -> None:
    process = spawn("-m", "allocator", *arguments)
    assert process.stdout is not None
    process.stdout.close()
    _, error = process.communicate(timeout=120)
    assert error == b""
    assert process.returncode == 0


def test_names_that_the_terminal_cannot_show_are_escaped(small: Path, spawn: Spawn) -> None:
    small.write_text(small.read_text().replace("web", "\N{SNOWMAN}").replace("store", '"a\\e[31mred\\nline"'))
    output, error = spawn("-m", "allocator", "check", small, PYTHONIOENCODING="ascii").communicate(timeout=120)
    assert error == b""
    assert b"\\u2603" in output
    assert b"\x1b" not in output
    output, _ = spawn("-m", "allocator", "check", small, "--json", PYTHONIOENCODING="ascii").communicate(timeout=120)
    assert "\N{SNOWMAN}" in json.loads(output)["classes"]


def test_versions_name_every_dependency(run: Run) -> None:
    text = run("versions").stdout
    for name in ("allocator", "python", "highspy", "ortools", "pyomo", "pydantic"):
        assert any(line.startswith(name) for line in text.splitlines())


def test_versions_cover_what_the_project_depends_on() -> None:
    import tomllib

    from allocator.cli.versions import DEPENDENCIES

    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    named = {entry.split(">")[0].split("[")[0].strip() for entry in project["dependencies"]}
    assert named == set(DEPENDENCIES)


def test_the_schema_is_json(run: Run) -> None:
    schema = json.loads(run("schema").stdout)
    assert "workloads" in schema["properties"]
