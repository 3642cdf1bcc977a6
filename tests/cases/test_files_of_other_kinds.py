"""Pipes and devices under the name of a file: refused at once, neither waited for nor read without end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from allocator import InputError, load_instance, load_model
from allocator.cli import main
from tests.cases.documents import document, node, workload


@pytest.fixture
def odd(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "odd.json"
    if request.param == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(request.param)
    return path


@pytest.mark.parametrize("odd", ["pipe", "/dev/zero", "/dev/null"], indirect=True)
def test_only_regular_files_are_read(odd: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = tmp_path / "case.json"
    case.write_text(json.dumps(document([node("n", cpu=1)], [workload("a", cpu=1)], model="cost")))
    for arguments in (
        ["solve", str(odd), "--model", "cost"],
        ["check", str(case), str(odd)],
        ["solve", str(case), "--warm-start", str(odd)],
        ["solve", str(case), "--model", str(odd)],
    ):
        assert main(arguments) == 2
        assert "odd.json" in capsys.readouterr().err
    for read in (load_instance, load_model):
        with pytest.raises(InputError, match="regular file"):
            read(odd)
    linked = tmp_path / "linked.json"
    linked.write_text(json.dumps(document([node("n", cpu=1)], [workload("a", cpu=1)], current="odd.json")))
    with pytest.raises(InputError, match="regular file"):
        load_instance(linked)
