"""Ctrl-C gives the best plan so far; a second one ends at once; a kill while writing leaves the old file whole."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Spawn = Callable[..., "subprocess.Popen[bytes]"]

WAITING = """
import threading, sys
from allocator.cli.signals import interruptible
with interruptible(lambda: print("asked", flush=True)):
    print("ready", flush=True)
    threading.Event().wait(60)
"""

RESTORED = """
import signal
from allocator.cli.signals import interruptible
before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
with interruptible(lambda: None):
    assert signal.getsignal(signal.SIGINT) is not before[0]
assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
"""

KILLED_WHILE_WRITING = """
import os, pathlib, signal, sys
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.replace = os.replace = os.rename = pathlib.Path.rename = killed
from allocator.cli import main
main(["solve", sys.argv[1], "--model", "traffic", "-o", sys.argv[2], "-q"])
"""


def hard_instance(path: Path) -> Path:
    """Traffic between 60 members on 10 nodes: plans are found at once, proofs take minutes."""
    draw = random.Random(0)
    rows = [
        [i, j, f"{draw.randint(1, 50)} Mbit/s"] for i in range(60) for j in range(60) if i != j and draw.random() < 0.1
    ]
    document = {
        "format": "allocator/v1",
        "name": "hard",
        "topology": [
            {
                "level": "rack",
                "name": "rack",
                "count": 2,
                "children": [{"level": "node", "name": "node", "count": 5, "capacity": {"cpu": 8, "memory": "64 GiB"}}],
            }
        ],
        "workloads": [{"class": "agent", "count": 60, "requests": {"cpu": 1, "memory": "1 GiB"}}],
        "flows": [{"from": "agent", "to": "agent", "pattern": "table", "table": rows}],
    }
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_returns_the_best_plan(number: signal.Signals, tmp_path: Path, spawn: Spawn) -> None:
    hard = hard_instance(tmp_path / "hard.json")
    plan = tmp_path / "plan.json"
    process = spawn(
        "-m", "allocator", "solve", hard, "--model", "traffic", "--json", "-o", plan, "--time-limit", "120s"
    )
    assert process.stderr is not None
    for line in process.stderr:
        if b"best" in line:
            break
    begin = time.monotonic()
    process.send_signal(number)
    output, error = process.communicate(timeout=60)
    assert time.monotonic() - begin < 20
    assert process.returncode == 0, error
    document = json.loads(output)
    assert document["status"] == "feasible"
    assert document["termination"]["reason"] == "interrupted"
    assert sum(group["count"] for group in json.loads(plan.read_text())["placements"]) == 60


def test_a_second_signal_ends_at_once(spawn: Spawn) -> None:
    process = spawn("-c", WAITING)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == b"asked\n"
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"once more to stop at once" in error
    assert b"Traceback" not in error


def test_handlers_are_put_back(spawn: Spawn) -> None:
    process = spawn("-c", RESTORED)
    assert process.communicate(timeout=20) == (b"", b"")
    assert process.returncode == 0


@pytest.mark.parametrize("name", ["plan.json", "plan.csv"])
def test_a_kill_while_writing_leaves_the_old_file_whole(name: str, small: Path, tmp_path: Path) -> None:
    plan = tmp_path / name
    plan.write_text("the old plan")
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(small), str(plan)]
    done = subprocess.run(command, cwd=root, capture_output=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert plan.read_text() == "the old plan"
