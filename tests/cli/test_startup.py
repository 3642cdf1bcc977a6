"""Importing the package and asking for help load nothing heavy."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import allocator

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("highspy", "numpy", "ortools", "pandas", "pint", "pydantic", "pyomo", "rich", "scipy", "yaml")

HELP = """
import json, sys
from allocator.cli import main
code = main({arguments!r})
print("\\n" + json.dumps([code, sorted(sys.modules)]))
"""


def modules_after(arguments: list[str]) -> tuple[int, set[str]]:
    code = HELP.format(arguments=arguments)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT, encoding="utf-8"
    )
    exit_code, modules = json.loads(done.stdout.splitlines()[-1])
    return exit_code, set(modules)


def test_import_loads_nothing_heavy() -> None:
    code = "import allocator, json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = set(json.loads(done.stdout))
    assert "allocator" in loaded
    assert not loaded & {*HEAVY, "click"}
    assert not [name for name in loaded if name.startswith("allocator.")]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["versions"], ["solve", "--help"], ["check", "--help"]]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code, modules = modules_after(arguments)
    assert code == 0
    assert "allocator.cli.root" in modules
    assert not modules & set(HEAVY)


def test_help_imports_no_command() -> None:
    _, modules = modules_after(["--help"])
    assert "allocator.cli.solve" not in modules
    assert "allocator.cli.versions" not in modules


def test_help_is_fast() -> None:
    """Generous: the aim is 0.5 s on an idle machine; the best of three counts on a busy one."""
    command = [sys.executable, "-m", "allocator", "--help"]
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        times.append(time.perf_counter() - begin)
    assert min(times) < 1.5


def test_every_public_name_exists() -> None:
    for name in allocator.__all__:
        assert getattr(allocator, name) is not None


def test_public_names_are_listed() -> None:
    assert set(allocator.__all__) <= set(dir(allocator))
    assert "__version__" in dir(allocator)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sovle'"):
        allocator.sovle  # noqa: B018


def test_solve_stays_a_function_after_its_module_is_imported() -> None:
    code = "import allocator.solve\nfrom allocator import solve\nassert callable(solve), solve"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    importlib.import_module("allocator.solve")
    assert callable(allocator.solve)
