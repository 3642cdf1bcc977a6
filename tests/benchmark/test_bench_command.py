"""The command: an interruption loses nothing, a wrong record fails it, wrong arguments are told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allocator.benchmark.records import read_manifest, read_records
from allocator.plan.record import Record
from tests.benchmark.suite_of_two import ROOT, suite


def bench(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "allocator", "bench", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def start(*arguments: str, temporary: Path) -> subprocess.Popen[bytes]:
    temporary.mkdir()
    command = [sys.executable, "-m", "allocator", "bench", *arguments]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def wait_for(condition: Callable[[], bool], seconds: float = 300.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened in time"
        time.sleep(0.02)


def lines(folder: Path) -> list[str]:
    path = folder / "records.jsonl"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def workers_of(pid: int) -> list[int]:
    """Processes whose parent that is, while it lives."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_kill_in_the_middle_loses_repeats_and_tears_nothing(tmp_path: Path) -> None:
    path = suite(tmp_path, "greedy, milp, cpsat")
    folder = tmp_path / "report"
    process = start(str(path), "-o", str(folder), "--jobs", "2", "--quiet", temporary=tmp_path / "tmp")
    wait_for(lambda: len(lines(folder)) >= 3 and len(workers_of(process.pid)) > 0)
    workers = workers_of(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for(lambda: not any(alive(worker) for worker in workers))  # no run outlives its runner
    wait_for(lambda: not any((tmp_path / "tmp").iterdir()))  # nor does its folder
    before = lines(folder)
    assert 3 <= len(before) < 12
    for _ in range(2):  # the second time there is nothing left to do
        done = bench(str(path), "-o", str(folder), "--jobs", "2")
        assert done.returncode == 0, done.stderr
        assert f"{len(before)} of 12 runs are recorded already" in done.stderr or "12 of 12" in done.stderr
        after = lines(folder)
        assert after[: len(before)] == before
        records = [Record.from_json(line) for line in after]
        combinations = Counter((record.case, record.method, record.seed) for record in records)
        assert len(combinations) == 12
        assert set(combinations.values()) == {1}
    assert "12 runs" in done.stdout
    assert (folder / "records.csv").read_text().count("\n") == 13
    assert len(read_manifest(folder)["continued"]) == 2


def test_an_interruption_ends_what_is_going_on_and_keeps_what_is_done(tmp_path: Path) -> None:
    path = suite(tmp_path, "greedy, milp, cpsat")
    folder = tmp_path / "report"
    process = start(str(path), "-o", str(folder), "--jobs", "2", "--quiet", temporary=tmp_path / "tmp")
    wait_for(lambda: len(lines(folder)) >= 1 and len(workers_of(process.pid)) > 0)
    workers = workers_of(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted" in said
    wait_for(lambda: not any(alive(worker) for worker in workers))
    assert 1 <= len(read_records(folder)) < 12


def test_a_refuted_record_fails_the_command_and_is_named(tmp_path: Path) -> None:
    path = suite(tmp_path, "greedy")
    folder = tmp_path / "report"
    assert bench(str(path), "-o", str(folder), "--only", "gangs").returncode == 0
    records = read_records(folder)
    spoilt = json.loads(records[0].to_json())
    spoilt["checked"] = {"feasible": False, "as_claimed": True, "mismatches": ["capacity: acc0: too much"]}
    (folder / "records.jsonl").write_text("\n".join([json.dumps(spoilt), records[1].to_json(), ""]))
    done = bench(str(path), "-o", str(folder), "--only", "gangs")
    assert done.returncode == 1
    assert "WRONG: small/gangs, model place, method greedy" in done.stdout
    assert "capacity: acc0: too much" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "suite = nosuch"),
        (["gap"], "--data DIR"),
        (["small", "--only", "nothing*"], "nothing to run"),
        (["small", "--seeds", "3-1"], "range of seeds"),
        (["small", "--methods", "milp,milp"], "none twice"),
        (["small", "--methods", "mlip"], "unknown"),
        (["small", "--time-limit", "soon"], "not a duration"),
    ],
)
def test_wrong_arguments_are_told(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = bench(*arguments, "-o", str(tmp_path / "report"))
    assert done.returncode == 2
    assert said in done.stderr
