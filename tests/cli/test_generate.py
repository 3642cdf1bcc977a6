"""``allocator generate`` writes instances that ``allocator check`` accepts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allocator.cli.generate import NAMES
from allocator.generate import FAMILIES

Run = Callable[..., Any]


def test_every_family_can_be_asked_for() -> None:
    assert set(NAMES) == set(FAMILIES)


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_what_is_written_passes_the_check(family: str, suffix: str, run: Run) -> None:
    done = run("generate", family, "--agents", "300", "--load", "90 %", "--seed", "5", "-o", f"made{suffix}")
    assert done.returncode == 0, done.stderr
    assert "300 agents" in done.stdout
    checked = run("check", f"made{suffix}")
    assert checked.returncode == 0, checked.stderr
    assert f"{family}-300-0.9-5" in checked.stdout


def test_yaml_and_json_hold_the_same_instance(run: Run, tmp_path: Path) -> None:
    from allocator.instance import load_instance

    for suffix in (".yaml", ".json"):
        assert run("generate", "mixed", "--agents", "200", "-o", f"made{suffix}").returncode == 0
    assert load_instance(tmp_path / "made.yaml").digest == load_instance(tmp_path / "made.json").digest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("magic",), "claims"),
        (("claims", "--agents", "5"), "100 to 1000000"),
        (("claims", "--load", "9"), "0.01 to 4"),
        (("claims", "--load", "much"), "not a ratio"),
        (("claims", "--seed", "-1"), "seed"),
    ],
)
def test_bad_arguments_say_what_would_be_right(
    arguments: tuple[str, ...], words: str, run: Run, tmp_path: Path
) -> None:
    done = run("generate", *arguments, "-o", "made.yaml")
    assert done.returncode == 2
    assert words in done.stderr
    assert not (tmp_path / "made.yaml").exists()


def test_the_file_must_be_an_instance_file(run: Run) -> None:
    done = run("generate", "claims", "-o", "made.txt")
    assert done.returncode == 2
    assert ".yaml" in done.stderr
