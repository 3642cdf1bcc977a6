"""``allocator check`` without a plan: an instance that cannot be solved as it says is not called valid."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_an_instance_that_names_an_unknown_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(
        "format: allocator/v1\nname: bad\nmodel: plce\n"
        "topology: [{level: node, name: n, capacity: {cpu: 1}}]\n"
        "workloads: [{class: a, count: 1, requests: {cpu: 1}}]\n"
    )
    command = [sys.executable, "-m", "allocator", "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "plce" in done.stderr
