"""Every example runs, as a user would run it, and shows what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {
    "build_in_python.py": ("two-racks: proven optimal", "web/5 runs on rack", "Hottest uplinks"),
    "from_dataframes.py": ("members", "cores", "utilization", "worker"),
}


def test_no_example_is_forgotten() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", ROOT / "examples" / name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for fact in EXAMPLES[name]:
        assert fact in done.stdout
    assert not list(tmp_path.iterdir())
