"""Importing the package and asking for help cost next to nothing: no heavy module, little processor time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = {"numpy", "pandas", "pyomo", "highspy", "ortools", "pint", "pydantic", "scipy"}
LIMIT = 0.5  # s of processor time

PROBE = """
import json, sys, time
before = set(sys.modules)
began = time.process_time()
{what}
spent = time.process_time() - began
print()
print(json.dumps([spent, sorted(set(sys.modules) - before)]))
"""


def probed(what: str) -> tuple[float, set[str]]:
    """Processor time of a statement in a fresh interpreter, and the modules it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(what=what)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    seconds, modules = json.loads(done.stdout.splitlines()[-1])
    return seconds, set(modules)


WAYS = {
    "import": "import allocator",
    "help": "from allocator.cli import main; main(['--help'])",
    "solve help": "from allocator.cli import main; main(['solve', '--help'])",
    "errors": "from allocator import AllocatorError, InputError, Limits, Status",
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_heavy_is_loaded(way: str) -> None:
    _, modules = probed(WAYS[way])
    assert "allocator" in modules
    assert not {name for name in modules if name.split(".")[0] in HEAVY}


@pytest.mark.parametrize("way", WAYS)
def test_little_time_is_spent(way: str) -> None:
    assert min(probed(WAYS[way])[0] for _ in range(2)) < LIMIT


@pytest.mark.parametrize(
    ("module", "without"),
    [
        ("allocator.checker", {"highspy", "ortools", "pyomo", "scipy"}),
        ("allocator.instance.entities", HEAVY),
        ("allocator.model.entities", HEAVY),
        ("allocator.plan.result", HEAVY),
        ("allocator.compiled.compile", {"highspy", "ortools", "pyomo", "scipy", "pandas"}),
        ("allocator.solvers.milp.method", {"ortools", "pyomo", "scipy", "pandas"}),
    ],
)
def test_a_module_loads_no_package_of_a_layer_above_it(module: str, without: set[str]) -> None:
    """Import contracts look at our own modules only; this looks at what really gets loaded."""
    _, modules = probed(f"import {module}")
    assert not {name for name in modules if name.split(".")[0] in without}


def test_an_instance_of_common_units_needs_no_registry_of_units() -> None:
    _, modules = probed("from allocator import load_instance; load_instance('instances/quickstart/quickstart.yaml')")
    assert "pint" not in modules
