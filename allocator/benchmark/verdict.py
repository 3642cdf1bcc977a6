"""From what a run left behind to its record: the plan file checked anew, the trace thinned and closed. Runs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from allocator.benchmark.runs import Run
from allocator.errors import AllocatorError
from allocator.instance import Instance
from allocator.model.entities import Model
from allocator.plan.record import Record, TracePoint

__all__ = ["check_plan", "record_of"]

MAX_TRACE = 300
SHOWN = 20


def check_plan(path: Path, instance: Instance, model: Model) -> dict[str, Any]:
    """The checker's word on a plan file: ``feasible``, ``as_claimed``, ``mismatches``.

    A file that is no plan of the instance counts as refuted: whoever wrote it claimed that it is one.
    """
    from allocator.checker import check, check_claims
    from allocator.plan.files import read_plan

    try:
        plan = read_plan(path, instance, same_instance=True)
        evaluation = check(instance, model, plan)
    except AllocatorError as error:
        return {"feasible": False, "as_claimed": False, "mismatches": [str(error).replace(str(path), path.name)]}
    except Exception as error:  # noqa: BLE001 (a plan that the checker cannot judge must not end the suite, nor pass)
        message = f"the check itself failed: {type(error).__name__}: {error}"
        return {"feasible": None, "as_claimed": False, "mismatches": [message]}
    claims = ["the plan carries no result"] if plan.result is None else check_claims(evaluation, plan.result)
    broken = [f"{violation.family}: {violation.where}: {violation.message}" for violation in evaluation.violations]
    return {
        "feasible": evaluation.feasible,
        "as_claimed": not claims,
        "mismatches": [*broken[:SHOWN], *claims[:SHOWN]],
    }


def record_of(
    suite: str,
    run: Run,
    answer: Mapping[str, Any],
    plan: str | None,
    checked: Mapping[str, Any] | None,
    *,
    versions: Mapping[str, str | None],
    machine: Mapping[str, Any],
) -> Record:
    """The record of a run.

    Parameters
    ----------
    answer : what ``process.execute`` returned.
    plan : its plan file relative to the folder, if there is one, and ``checked`` the word on it.
    """
    result: Mapping[str, Any] | None = answer["result"]
    if checked is None:
        refuted = answer["refuted"]
        if refuted is None and result is not None and result["status"] in ("optimal", "feasible"):
            refuted = f"status: {result['status']} is claimed and no plan was written"
        checked = {
            "feasible": None,
            "as_claimed": None if refuted is None else False,
            "mismatches": [] if refuted is None else [refuted],
        }
    levels = _levels(result, answer["senses"])
    trace = _trace(answer["trace"], result, levels)
    instance = run.case.instance
    return Record(
        run=run.id,
        suite=suite,
        case=run.case.label,
        instance={
            "name": instance.name,
            "digest": instance.digest,
            "members": instance.num_members,
            "nodes": len(instance.nodes),
        },
        model=run.model.name,
        method=run.method,
        seed=run.seed,
        limits=run.limits.to_tree(),
        versions=versions,
        machine=machine,
        outcome=answer["outcome"],
        error=answer["error"],
        status=None if result is None else result["status"],
        reason=None if result is None else result["termination"]["reason"],
        levels=levels,
        result=None if result is None else {**result, "plan": plan},
        checked=checked,
        trace=trace,
        first_plan_seconds=next((point[0] for point in trace if point[2] is not None), None),
        seconds=answer["seconds"],
        cpu_seconds=answer["cpu_seconds"],
        peak_memory_mib=answer["peak_memory_mib"],
        size={name: None if result is None else result["size"][name] for name in ("variables", "constraints")},
        best_known=run.case.best_known,
        plan=plan,
        started=answer["started"],
    )


def _levels(result: Mapping[str, Any] | None, senses: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    if result is None:
        return ()
    return tuple(
        {
            "goals": level["goals"],
            "sense": sense,
            **{name: level[name] for name in ("value", "bound", "gap", "slack")},
        }
        for level, sense in zip(result["levels"], senses, strict=True)
    )


def _trace(
    points: Sequence[Sequence[Any]], result: Mapping[str, Any] | None, levels: Sequence[Mapping[str, Any]]
) -> tuple[TracePoint, ...]:
    """The points in order of time, thinned, and at the end one a level with what the answer says of it."""
    kept = sorted(((p[0], p[1], p[2], p[3]) for p in points if p[1] is not None), key=lambda point: point[0])
    while len(kept) > MAX_TRACE:
        half = len(kept) // 2
        kept = kept[:1] + kept[1:half:2] + kept[half:]  # the newer half whole: its end is what counts
        if half < MAX_TRACE // 4:
            break
    if result is None:
        return tuple(kept)
    end = max(round(result["seconds"]["total"], 4), kept[-1][0] if kept else 0.0)
    closing = [(end, index, level["value"], level["bound"]) for index, level in enumerate(levels)]
    return (*kept, *(point for point in closing if point[2] is not None or point[3] is not None))
