"""From a report folder back to results: every plan in it is read and judged anew. Owns "wrong"; needs no solver.

A record is wrong when the runner's check refuted it, when this one does, when its plan file is missing or was changed,
or when another record contradicts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from allocator.errors import AllocatorError, UnsupportedFamily
from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.model.families import GoalId, sense_of
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation
from allocator.plan.record import Record, exact
from allocator.plan.result import (
    Bottleneck,
    GoalOutcome,
    Headroom,
    Infeasibility,
    LevelOutcome,
    LinearizationCertificate,
    Result,
    Status,
    Termination,
    TerminationReason,
)

__all__ = ["Folder", "Judged", "read_folder", "restore"]

SHOWN = 10


@dataclass(frozen=True)
class Judged:
    """A record with what this reading of the folder finds of it.

    ``wrong``: why it is refuted, empty when it is not. ``note``: why it could not be judged again, or nothing.
    """

    record: Record
    wrong: tuple[str, ...]
    note: str = ""
    result: Result | None = None
    instance: Instance | None = None


@dataclass(frozen=True)
class Folder:
    """A report folder as read. ``clashes``: records that contradict each other, in words."""

    path: Path
    manifest: Mapping[str, Any]
    runs: tuple[Judged, ...]
    clashes: tuple[str, ...]

    @property
    def records(self) -> list[Record]:
        """Records in the order they were finished."""
        return [run.record for run in self.runs]

    @property
    def wrong(self) -> tuple[Judged, ...]:
        """Runs that are refuted."""
        return tuple(run for run in self.runs if run.wrong)

    def instance(self, digest: str) -> Instance | None:
        """The instance of that digest, where a run has it."""
        return next((run.instance for run in self.runs if run.record.instance["digest"] == digest), None)


def read_folder(path: Path) -> Folder:
    """Read a folder and judge every plan in it.

    Raises
    ------
    InputError
        It is no report folder, or its records cannot be read.
    """
    from allocator.benchmark.records import read_manifest, read_records
    from allocator.benchmark.statistics.contradictions import contradictions

    manifest = read_manifest(path)
    records = read_records(path)
    reader = _Reader(path, manifest)
    runs = tuple(reader.judge(record) for record in records)
    return Folder(path, manifest, runs, tuple(contradictions(records)))


class _Reader:
    """Reads instances, models and plans of one folder, each instance and model once."""

    def __init__(self, path: Path, manifest: Mapping[str, Any]) -> None:
        self._path = path
        self._models = manifest.get("models") or {}
        self.instance = cache(self._instance)
        self.model = cache(self._model)

    def judge(self, record: Record) -> Judged:
        """A record with its plan judged anew."""
        wrong = tuple(record.checked.get("mismatches") or ("the check refuted it",)) if record.wrong else ()
        try:
            instance = self.instance(record.instance["digest"])
            model = self.model(record.model)
        except AllocatorError as error:
            return Judged(record, wrong, f"not judged again: {error}")
        if record.result is None:
            return Judged(record, wrong, instance=instance)
        try:
            plan, evaluation, found = self._plan(record, instance, model)
        except UnsupportedFamily as error:
            return Judged(record, wrong, f"not judged again: {error}", instance=instance)
        except AllocatorError as error:
            return Judged(record, wrong or (self._short(error),), instance=instance)
        wrong = wrong or tuple(found[:SHOWN])
        try:
            result = restore(record.result, model, plan, evaluation)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            wrong = wrong or (f"its result cannot be read: {error!r}",)
            return Judged(record, wrong, instance=instance)
        return Judged(record, wrong, result=result, instance=instance)

    def _plan(
        self, record: Record, instance: Instance, model: Model
    ) -> tuple[Plan | None, Evaluation | None, list[str]]:
        """Plan, what the checker says of it, and how that differs from the record."""
        from allocator.checker import check, check_claims
        from allocator.plan.files import read_plan

        if record.plan is None:
            return None, None, []
        file = self._path / record.plan
        if not file.resolve().is_relative_to(self._path.resolve()):
            return None, None, [f"{record.plan}: lies outside the folder"]
        plan = read_plan(file, instance, same_instance=True)
        evaluation = check(instance, model, plan)
        broken = [f"{item.family}: {item.where}: {item.message}" for item in evaluation.violations]
        claimed = {**(record.result or {}), "levels": [dict(level) for level in record.levels]}
        return plan, evaluation, [*broken, *check_claims(evaluation, claimed)]

    def _instance(self, digest: str) -> Instance:
        from allocator.errors import InputError, Problem
        from allocator.instance import load_instance

        file = self._path / "instances" / f"{digest}.json"
        instance = load_instance(file)
        if instance.digest != digest:
            message = "the file was changed: its name is its digest"
            raise InputError(str(file), [Problem("digest", instance.digest, message)])
        return instance

    def _model(self, name: str) -> Model:
        from allocator.model import load_model

        tree = self._models.get(name)
        return load_model(tree if isinstance(tree, Mapping) else name)

    def _short(self, error: AllocatorError) -> str:
        return str(error).replace(f"{self._path}/", "")


def restore(document: Mapping[str, Any], model: Model, plan: Plan | None, evaluation: Evaluation | None) -> Result:
    """The result that a ``--json`` document tells of; values are the checker's own, exact.

    Raises
    ------
    KeyError, TypeError, ValueError, AttributeError
        The document has another shape.
    """
    values = evaluation.levels if evaluation is not None else (None,) * len(model.levels)
    bounds = {str(goal["id"]): exact(goal["bound"]) for goal in document["goals"]}
    goals: Mapping[GoalId, Fraction] = evaluation.goals if evaluation is not None else {}
    termination = document["termination"]
    trouble, proof, room = document["infeasibility"], document["linearization"], document["headroom"]
    return Result(
        status=Status(document["status"]),
        termination=Termination(TerminationReason(termination["reason"]), str(termination["detail"])),
        levels=tuple(
            LevelOutcome(level, value, exact(entry["bound"]))
            for level, value, entry in zip(model.levels, values, document["levels"], strict=True)
        ),
        goals=tuple(
            GoalOutcome(name, sense_of(name), goals.get(name), bounds.get(name.value)) for name in model.goal_ids
        ),
        plan=plan,
        evaluation=evaluation,
        method=str(document["method"]),
        model=str(document["model"]),
        seed=int(document["seed"]),
        threads=int(document["threads"]),
        seconds={name: float(value) for name, value in document["seconds"].items() if value is not None},
        ignored=tuple(map(str, document["ignored"])),
        linearization=None
        if proof is None or plan is None
        else LinearizationCertificate(
            exact(proof["max_relative_error"]) or Fraction(0),
            exact(proof["measured"]) or Fraction(0),
            str(proof["proven_over"]),
        ),
        infeasibility=Infeasibility(
            tuple(trouble.get("reasons", ())), tuple(trouble["conflict"]), tuple(trouble["relaxation"])
        ),
        bottlenecks=tuple(
            Bottleneck(
                str(item["domain"]), str(item["resource"]), exact(item["utilization"]) or Fraction(0), item["price"]
            )
            for item in document["bottlenecks"]
        ),
        headroom=None
        if not room
        else Headroom(exact(room["copies"]) or Fraction(0), str(room["kind"]), room["resource"]),
        peak_memory_mib=document["peak_memory_mib"],
        size=dict(document["size"]),
        warnings=tuple(map(str, document["warnings"])),
    )
