"""The one JSON document of a result, as the command line prints it and a plan file carries it.

Owns names and order of its keys. Numbers are integers where they are whole, else the nearest float; what is missing
is null, never 0 or infinity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from allocator.instance.entities import Instance
from allocator.model.entities import Level, Slack
from allocator.plan.evaluation import Evaluation, LinkUse, Use
from allocator.plan.numbers import decimal_text, plain_number, shown
from allocator.plan.result import Result, gap_between

__all__ = ["evaluation_parts", "result_document"]

PHASES = ("read", "compile", "build", "solve", "check", "total")
BITS = 8
SIZES = ("members", "nodes", "variables", "constraints")


def result_document(result: Result, instance: Instance, plan_file: str | None = None) -> dict[str, Any]:
    """The document of a result.

    Parameters
    ----------
    plan_file : name of the file that the plan was written to, if any.
    """
    certificate, trouble, headroom = result.linearization, result.infeasibility, result.headroom
    parts = evaluation_parts(result.evaluation)
    size = {"members": instance.num_members, "nodes": len(instance.nodes), **result.size}
    return {
        "status": result.status.value,
        "termination": {"reason": result.termination.reason.value, "detail": result.termination.detail},
        "goals": [
            {"id": goal.id.value, **_outcome(goal.value, goal.bound), "sense": goal.sense} for goal in result.goals
        ],
        "levels": [
            {
                "goals": _weights(outcome.level),
                **_outcome(outcome.value, outcome.bound),
                "slack": _slack(outcome.level.slack),
            }
            for outcome in result.levels
        ],
        "linearization": None
        if certificate is None
        else {
            "max_relative_error": plain_number(certificate.max_relative_error),
            "measured": plain_number(certificate.measured),
            "proven_over": certificate.proven_over,
        },
        "violations": parts["violations"],
        "ignored": list(result.ignored),
        "infeasibility": {
            "conflict": [] if trouble is None else [_plain(entry) for entry in trouble.conflict],
            "relaxation": [] if trouble is None else [_plain(entry) for entry in trouble.relaxation],
            "reasons": [] if trouble is None else list(trouble.reasons),
        },
        "method": result.method,
        "model": result.model,
        "seed": result.seed,
        "threads": result.threads,
        "seconds": {**dict.fromkeys(PHASES), **{name: _plain(value) for name, value in result.seconds.items()}},
        "peak_memory_mib": _plain(result.peak_memory_mib),
        "size": {**dict.fromkeys(SIZES), **size},
        "utilization": parts["utilization"],
        "classes": parts["classes"],
        "bottlenecks": [
            {
                "domain": entry.domain,
                "resource": entry.resource,
                "utilization": plain_number(entry.utilization),
                "price": _plain(entry.price),
            }
            for entry in result.bottlenecks
        ],
        "headroom": None
        if headroom is None
        else {"copies": plain_number(headroom.copies), "kind": headroom.kind, "resource": headroom.resource},
        "plan": plan_file,
        "warnings": list(result.warnings),
        "messages": [] if result.evaluation is None else _messages(result.evaluation.links),
    }


def evaluation_parts(evaluation: Evaluation | None) -> dict[str, list[dict[str, Any]]]:
    """``violations``, ``utilization`` and ``classes`` of an evaluation; empty lists without one."""
    if evaluation is None:
        return {"violations": [], "utilization": [], "classes": []}
    return {
        "violations": [
            {
                "family": violation.family.value,
                "where": violation.where,
                "message": violation.message,
                "amount": plain_number(violation.amount),
            }
            for violation in evaluation.violations
        ],
        "utilization": [*_utilization(evaluation.uses), *_link_utilization(evaluation.links)],
        "classes": [
            {
                "class": outcome.workload,
                "count": outcome.count,
                "placed": outcome.placed,
                "unplaced": outcome.count - outcome.placed,
                "rate": plain_number(outcome.rate),
                "offered": plain_number(outcome.offered),
                "p99": plain_number(outcome.p99),
                "target": plain_number(outcome.target),
                "moved": outcome.moved,
            }
            for outcome in evaluation.classes
        ],
    }


def _outcome(value: Fraction | None, bound: Fraction | None) -> dict[str, Any]:
    return {
        "value": plain_number(value),
        "bound": plain_number(bound),
        "gap": plain_number(gap_between(value, bound)),
    }


def _weights(level: Level) -> dict[str, Any]:
    return {goal.id.value: plain_number(goal.weight) for goal in level.goals}


def _slack(slack: Slack) -> int | float | str | None:
    """An absolute slack is a number; a relative one is written as in a model file, in percent."""
    if not slack.relative or not slack.value:
        return plain_number(slack.value)
    percent = slack.value * 100
    return f"{decimal_text(percent) or shown(percent)} %"


def _utilization(uses: Iterable[Use]) -> list[dict[str, Any]]:
    """One entry for each level and resource: sums, mean and highest utilisation, and where that is."""
    groups: dict[tuple[str, str], list[Use]] = {}
    for use in uses:
        groups.setdefault((use.level, use.resource), []).append(use)
    return [
        _summary(level, resource, [(use.domain, use.used, use.capacity) for use in found])
        for (level, resource), found in groups.items()
    ]


def _link_utilization(links: Iterable[LinkUse]) -> list[dict[str, Any]]:
    """The same for the offered load of uplinks that state a bandwidth, by direction."""
    groups: dict[tuple[str, str], list[tuple[str, Fraction, Fraction]]] = {}
    for link in links:
        if link.capacity is not None:
            entry = (link.domain, link.offered, link.capacity)
            groups.setdefault((link.level, link.direction), []).append(entry)
    return [_summary(level, f"uplink {direction}", found) for (level, direction), found in groups.items()]


def _messages(links: Iterable[LinkUse]) -> list[dict[str, Any]]:
    """Link directions that messages of a stated size cross; ``p99`` is null where ``bounded`` is false."""
    return [
        {
            "domain": link.domain,
            "direction": link.direction,
            "offered": plain_number(link.offered),
            "capacity": plain_number(link.capacity),
            "bytes": plain_number(link.message / BITS),
            "bounded": link.delay is not None,
            "p99": plain_number(link.delay),
        }
        for link in links
        if link.message is not None
    ]


def _summary(level: str, resource: str, found: list[tuple[str, Fraction, Fraction]]) -> dict[str, Any]:
    used = sum((entry[1] for entry in found), Fraction(0))
    capacity = sum((entry[2] for entry in found), Fraction(0))
    ratios = [(entry[1] / entry[2], entry[0]) for entry in found if entry[2]]
    highest = max(ratios, key=lambda ratio: ratio[0], default=None)
    return {
        "level": level,
        "resource": resource,
        "used": plain_number(used),
        "capacity": plain_number(capacity),
        "mean": plain_number(used / capacity if capacity else None),
        "max": None if highest is None else plain_number(highest[0]),
        "where": None if highest is None else highest[1],
    }


def _plain(value: Any) -> Any:
    """Any value as JSON has it: fractions become numbers, infinity and NaN become null."""
    if isinstance(value, Fraction):
        return plain_number(value)
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
