"""Running the command line as a user does: in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

SMALL = """\
format: allocator/v1
name: small
topology:
  - level: rack
    name: rack
    count: 2
    uplink: {bandwidth: 10 Gbit/s}
    children:
      - {level: node, name: node, count: 2, kind: server, capacity: {cpu: 4, memory: 8 GiB},
         uplink: {bandwidth: 1 Gbit/s}, power: {idle: 100 W, busy: 300 W}}
workloads:
  - {class: web, count: 4, requests: {cpu: 1, memory: 1 GiB}}
  - {class: store, count: 2, requests: {cpu: 2, memory: 2 GiB}}
flows:
  - {from: web, to: store, pattern: spread, rate: 100 Mbit/s}
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "ALLOCATOR_DEBUG", "NO_COLOR"}}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **extra}


Spawn = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def spawn(tmp_path: Path) -> Spawn:
    """Start ``python ARGUMENTS`` with pipes, in a fresh folder."""

    def call(*arguments: str | Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.Popen(
            command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    return call


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``allocator ARGUMENTS`` in a fresh folder."""

    def call(*arguments: str | Path, timeout: float = 120, **extra: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "allocator", *map(str, arguments)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment(**extra),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            encoding="utf-8",
        )

    return call


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A feasible instance with traffic and power: 6 members on 4 nodes."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def infeasible(tmp_path: Path) -> Path:
    """One member that is larger than any node."""
    path = tmp_path / "infeasible.yaml"
    path.write_text(SMALL.replace("requests: {cpu: 2, memory: 2 GiB}", "requests: {cpu: 5, memory: 2 GiB}"))
    return path
