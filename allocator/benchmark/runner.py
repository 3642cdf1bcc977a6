"""Running a suite into a report folder: what is missing is run, what comes back is checked and recorded at once.

Owns the order of things and the folder's manifest. The check here is the runner's own, of the plan file as written.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from allocator.benchmark.cases import Case, find_cases
from allocator.benchmark.forecast import Forecast
from allocator.benchmark.machine import commit, machine, versions
from allocator.benchmark.process import execute
from allocator.benchmark.records import MANIFEST, RecordFile, read_manifest
from allocator.benchmark.runs import Run, expand
from allocator.benchmark.suite import Suite, load_suite
from allocator.benchmark.verdict import check_plan, record_of
from allocator.errors import ArgumentError
from allocator.plan.record import Record
from allocator.plan.whole import write_whole

__all__ = ["RunEvent", "RunListener", "run_suite"]

REPORT_FORMAT = "allocator/report/v1"
AHEAD = 2
"""Runs handed to an executor beyond those that can be going on: none waits for the runner, none is queued for long."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that happened. ``kind``: "note" (see ``text``), "begin", "finished" (see ``record``).

    ``done`` and ``total`` count runs, those of an earlier start included; ``seconds_left`` is an estimate, None when
    there is nothing to estimate it from.
    """

    kind: str
    done: int
    total: int
    seconds_left: float | None = None
    record: Record | None = None
    text: str = ""


class RunListener(Protocol):
    """Told of events, on the thread that runs the suite."""

    def __call__(self, event: RunEvent) -> None:
        """Take one event."""


def run_suite(
    suite: Suite | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    executor: Executor | None = None,
    jobs: int = 1,
    listener: RunListener | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    keep: str | None = None,
    methods: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    seconds: float | None = None,
) -> list[Record]:
    """Run what the folder has no record of yet.

    Parameters
    ----------
    suite : a suite, the name of a shipped one, or its file.
    folder : made if it is not there. A run is recorded when it ends; after an interruption the same call goes on.
    executor : where runs are started from (each is a process of its own there); None: threads of this process.
    jobs : runs at a time.
    data : folder of public data.
    keep : pattern of labels; others are left out.
    methods : instead of the suite's.
    seeds, seconds : instead of the suite's; they hold for the whole folder.

    Returns
    -------
    list of Record
        All records of the folder, in the order they were finished.

    Raises
    ------
    ArgumentError
        The folder belongs to another suite, is being written to, or there is nothing to run.
    InputError
        Suite, instance or records are wrong.
    """
    if jobs < 1:
        raise ArgumentError(f"jobs = {jobs}: must be at least 1")
    chosen = suite if isinstance(suite, Suite) else load_suite(suite)
    tell = listener or (lambda _event: None)
    target = Path(folder)
    found = find_cases(chosen, None if data is None else Path(data), keep)
    limits = chosen.limits if seconds is None else replace(chosen.limits, seconds=seconds)
    used_seeds = tuple(seeds) if seeds is not None else chosen.seeds
    runs = list(expand(chosen, found.cases, methods or chosen.methods, used_seeds, limits))
    _check_methods({run.method for run in runs})
    for part in ("instances", "plans"):
        (target / part).mkdir(parents=True, exist_ok=True)
    with RecordFile(target) as file:
        _manifest(target, chosen, found.cases, runs, file.records)
        finished = {record.run for record in file.records}
        pending = [run for run in {run.id: run for run in runs}.values() if run.id not in finished]
        total = len({run.id for run in runs} | finished)
        for text in found.skipped:
            tell(RunEvent("note", len(finished), total, text=f"left out: {text}"))
        tell(RunEvent("begin", len(finished), total))
        _Loop(chosen.name, target, file, pending, total=total, tell=tell).run(executor, jobs)
        return list(file.records)


def _check_methods(names: set[str]) -> None:
    """Raise ``ArgumentError`` for a method that does not exist, before anything is run."""
    from allocator.benchmark.external import EXTERNAL_PREFIX, external_method
    from allocator.solvers.registry import METHODS

    for name in sorted(names):
        if name.startswith(EXTERNAL_PREFIX):
            external_method(name)
        elif name not in ("auto", *METHODS):
            raise ArgumentError(f"method = {name}: unknown; the methods are {', '.join(['auto', *METHODS])}")


def _manifest(
    folder: Path, suite: Suite, cases: Sequence[Case], runs: Sequence[Run], records: Sequence[Record]
) -> None:
    """Write the manifest and the instances, or see that they are of this suite."""
    path = folder / MANIFEST
    now = datetime.now(UTC).isoformat(timespec="seconds")
    limits, seeds = runs[0].limits.to_tree(), sorted({run.seed for run in runs})
    digests = {case.label: case.instance.digest for case in cases}
    models = {run.model.name: run.model_tree for run in runs}
    if path.exists():
        old = read_manifest(folder)
        _same_suite(folder, old, suite, seeds=seeds, limits=limits, digests=digests)
        again = {"at": now, "commit": commit(), "versions": versions()}
        tree = {**old, "digests": {**old["digests"], **digests}, "models": {**old["models"], **models}}
        tree["continued"] = [*old["continued"], again]
    elif records:
        raise ArgumentError(f"{folder}: holds records and no {MANIFEST}; choose another folder")
    else:
        tree = {
            "format": REPORT_FORMAT,
            "suite": suite.name,
            "suite_file": suite.text,
            "commit": commit(),
            "started": now,
            "versions": versions(),
            "machine": machine(),
            "seeds": seeds,
            "limits": limits,
            "digests": digests,
            "models": models,
            "continued": [],
        }
    for case in cases:
        document = folder / "instances" / f"{case.instance.digest}.json"
        if not document.exists():
            write_whole(document, case.document.encode() + b"\n")
    write_whole(path, (json.dumps(tree, ensure_ascii=False, indent=1) + "\n").encode())


def _same_suite(
    folder: Path,
    old: Mapping[str, Any],
    suite: Suite,
    *,
    seeds: list[int],
    limits: Mapping[str, Any],
    digests: Mapping[str, str],
) -> None:
    """Raise unless the folder was begun with this suite, these limits and these versions."""
    why = None
    if (old["suite"], old["suite_file"]) != (suite.name, suite.text):
        why = f"another suite ({old['suite']})" if old["suite"] != suite.name else "another version of this suite"
    elif old["seeds"] != seeds:
        why = f"the seeds {', '.join(map(str, old['seeds']))}"
    elif old["limits"] != limits:
        why = f"other limits ({old['limits']['seconds']:g} s a run)"
    elif old["versions"] != versions():
        changed = [name for name, version in versions().items() if old["versions"].get(name) != version]
        why = f"other versions of {', '.join(changed)}"
    else:
        other = [case for case, digest in digests.items() if old["digests"].get(case, digest) != digest]
        if other:
            why = f"another content of {', '.join(other[:5])}"
    if why is not None:
        raise ArgumentError(f"{folder}: was begun with {why}; choose another folder, one holds one experiment")


class _Loop:
    """The runs that are going on, and those that wait."""

    def __init__(
        self, suite: str, folder: Path, file: RecordFile, pending: list[Run], *, total: int, tell: RunListener
    ) -> None:
        self._suite = suite
        self._folder = folder
        self._file = file
        self._pending = pending[::-1]
        self._total = total
        self._tell = tell
        self._going: dict[Future[dict[str, Any] | None], Run] = {}
        self._place = {"versions": versions(), "machine": machine()}

    def run(self, executor: Executor | None, jobs: int) -> None:
        """Run everything; on any interruption end what is going on and leave what is recorded."""
        stop = threading.Event()
        forecast = Forecast(self._file.records, jobs)
        with ExitStack() as stack:
            if executor is None:
                pool: Executor = stack.enter_context(ThreadPoolExecutor(jobs))
                stack.callback(stop.set)
            else:
                pool = executor
            try:
                self._drain(pool, stop if executor is None else None, jobs, forecast)
            except BaseException:
                stop.set()
                for future in self._going:
                    future.cancel()
                raise

    def _drain(self, pool: Executor, stop: threading.Event | None, jobs: int, forecast: Forecast) -> None:
        while self._pending or self._going:
            while self._pending and len(self._going) < jobs + (0 if stop is not None else AHEAD):
                run = self._pending.pop()
                job = run.job()
                self._going[pool.submit(execute, job, stop) if stop is not None else pool.submit(execute, job)] = run
            ready, _ = wait(self._going, return_when=FIRST_COMPLETED)
            for future in sorted(ready, key=lambda each: self._going[each].id):
                run = self._going.pop(future)
                answer = future.result()
                if answer is None:
                    continue
                record = self._record(run, answer)
                self._file.append(record)
                forecast.add(record)
                left = forecast.seconds_left([*self._pending, *self._going.values()])
                self._tell(RunEvent("finished", len(self._file.records), self._total, left, record))

    def _record(self, run: Run, answer: Mapping[str, Any]) -> Record:
        """Write the plan, check the file as written, and make the record."""
        plan: str | None = None
        checked = None
        if answer["plan"] is not None:
            plan = f"plans/{run.id}.json"
            write_whole(self._folder / plan, answer["plan"].encode())
            checked = check_plan(self._folder / plan, run.case.instance, run.model)
        return record_of(self._suite, run, answer, plan, checked, **self._place)
