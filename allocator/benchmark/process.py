"""One run watched from outside: its process started, held to its time and memory, and what it left behind gathered.

Knows the worker's files, nothing of suites or records. ``execute`` takes and returns plain data, so that any executor
can carry it, to another machine as well.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from allocator.benchmark.worker import ANSWER, PLAN, TRACE

__all__ = ["execute"]

POLL_SECONDS = 0.03
SHOWN_ERROR = 2000


@dataclass
class _Watch:
    """What was seen of a process. ``end``: why it was ended from outside."""

    code: int | None = None
    seconds: float = 0.0
    cpu_seconds: float | None = None
    peak_mib: float | None = None
    end: str | None = None


def execute(job: Mapping[str, Any], stop: threading.Event | None = None) -> dict[str, Any] | None:
    """Run a job in a process of its own.

    Parameters
    ----------
    job : as ``Run.job`` gives it.
    stop : set to end the process early; the run then has no outcome and None is returned.

    Returns
    -------
    dict
        ``outcome``, ``error``, ``refuted``, ``result``, ``senses``, ``plan`` (text of the plan file), ``trace``,
        ``seconds``, ``cpu_seconds``, ``peak_memory_mib``, ``started``.
    """
    started = datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="allocator-bench-") as name:
        folder = Path(name)
        (folder / "job.json").write_text(json.dumps(job, ensure_ascii=False), encoding="utf-8")
        limits = job["limits"]
        watch = _run(folder, limits["seconds"] + job["grace"], limits["memory_mib"], limits["threads"], stop)
        if watch.end == "stopped":
            return None
        answer = _answer(folder, watch, job)
        plan = folder / PLAN
        return {
            **answer,
            "plan": plan.read_text(encoding="utf-8") if answer["outcome"] == "done" and plan.is_file() else None,
            "trace": _trace(folder / TRACE),
            "seconds": round(watch.seconds, 4),
            "cpu_seconds": None if watch.cpu_seconds is None else round(watch.cpu_seconds, 4),
            "peak_memory_mib": None if watch.peak_mib is None else round(watch.peak_mib, 1),
            "started": started.isoformat(timespec="seconds"),
        }


def _run(folder: Path, seconds: float, memory_mib: int | None, threads: int, stop: threading.Event | None) -> _Watch:
    """Start the worker and watch it to its end."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    pools = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    watch = _Watch()
    began = time.monotonic()
    with (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "allocator.benchmark.worker", str(folder)],
            stdin=subprocess.PIPE,  # never written to: its end tells the worker that the runner has gone
            stdout=stderr,
            stderr=stderr,
            cwd=folder,
            env={**os.environ, **pools, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # an interruption of the runner is for the runner alone
        )
    try:
        while process.returncode is None:
            _look(process, watch)
            if process.returncode is not None:
                break
            if watch.end is None:
                watch.end = _reason_to_end(watch, time.monotonic() - began, seconds, memory_mib, stop)
                if watch.end is not None:
                    _end(process)
            time.sleep(POLL_SECONDS)
    finally:
        watch.seconds = time.monotonic() - began
        if process.returncode is None:
            _end(process)
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
    watch.code = process.returncode
    return watch


def _look(process: subprocess.Popen[bytes], watch: _Watch) -> None:
    """Note the peak of resident memory, and the end of the process with the time it used."""
    peak = _peak_mib(process.pid)
    if peak is not None:
        watch.peak_mib = max(peak, watch.peak_mib or 0.0)
    pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    if pid:
        process.returncode = os.waitstatus_to_exitcode(status)
        watch.cpu_seconds = usage.ru_utime + usage.ru_stime


def _reason_to_end(
    watch: _Watch, elapsed: float, seconds: float, memory_mib: int | None, stop: threading.Event | None
) -> str | None:
    if stop is not None and stop.is_set():
        return "stopped"
    if memory_mib is not None and watch.peak_mib is not None and watch.peak_mib > memory_mib:
        return "memory"
    return "time" if elapsed > seconds else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the worker's whole session, which holds nothing else."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        process.kill()


def _peak_mib(pid: int) -> float | None:
    """Largest resident memory so far, MiB; None where the system does not tell."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return None


def _answer(folder: Path, watch: _Watch, job: Mapping[str, Any]) -> dict[str, Any]:
    """What the worker wrote, or what its end says."""
    nothing: dict[str, Any] = {"refuted": None, "result": None, "senses": []}
    memory = job["limits"]["memory_mib"]
    if watch.end == "memory":
        return {**nothing, "outcome": "out_of_memory", "error": f"used more than {memory} MiB"}
    if watch.end == "time":
        late = f"still running {job['grace']:g} s after its time limit of {job['limits']['seconds']:g} s"
        return {**nothing, "outcome": "timed_out", "error": late}
    try:
        answer: dict[str, Any] = json.loads((folder / ANSWER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = (folder / "stderr").read_text(encoding="utf-8", errors="replace").strip()
        if "bad_alloc" in said or "MemoryError" in said:
            return {**nothing, "outcome": "out_of_memory", "error": "no memory could be had"}
        return {**nothing, "outcome": "crashed", "error": _last_words(watch.code, said)}
    return answer


def _last_words(code: int | None, said: str) -> str:
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = "unknown"
        how = f"ended by signal {-code} ({name})"
    else:
        how = f"exit code {code} without an answer"
    lines = [line for line in said.splitlines() if line.strip()]
    return f"{how}: {lines[-1][:SHOWN_ERROR]}" if lines else how


def _trace(path: Path) -> list[list[Any]]:
    """Points that were written whole."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    except OSError:
        return []
    return [json.loads(line) for line in lines]
