"""Running the command line, in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from allocator.cli import main

ROOT = Path(__file__).resolve().parents[2]

SMALL = """\
format: allocator/v1
name: small
model: traffic
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


def environment(**extra: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "ALLOCATOR_DEBUG", "NO_COLOR"}}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **extra}


Spawn = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def spawn(tmp_path: Path) -> Spawn:
    """Start ``python ARGUMENTS`` with pipes, in a fresh folder."""

    def call(*arguments: str | Path, **extra: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, *map(str, arguments)]
        return subprocess.Popen(
            command, cwd=tmp_path, env=environment(**extra), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    return call


@dataclass(frozen=True)
class Done:
    """What a run of the command line left behind."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run ``allocator ARGUMENTS`` in this process; what native code prints is caught, too."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "ALLOCATOR_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str | Path) -> Done:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        return Done(code, *capfd.readouterr())

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
