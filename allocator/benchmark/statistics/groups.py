"""Records put together by what is compared. Owns the keys that all statistics use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from allocator.plan.record import Record

__all__ = ["CaseKey", "RunKey", "by_case", "by_method", "run_key"]

CaseKey = tuple[str, str]
"""Case and model."""
RunKey = tuple[str, str, int]
"""Case, model and seed: the same problem for every method."""


def run_key(record: Record) -> RunKey:
    """Key of the problem that a run is about."""
    return record.case, record.model, record.seed


def by_method(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Records of every method; methods and records in order."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.method].append(record)
    return {method: sorted(groups[method], key=run_key) for method in sorted(groups)}


def by_case(records: Iterable[Record]) -> dict[CaseKey, list[Record]]:
    """Records of every case and model, in order."""
    groups: dict[CaseKey, list[Record]] = defaultdict(list)
    for record in records:
        groups[record.key].append(record)
    return {key: sorted(groups[key], key=lambda each: (each.method, each.seed)) for key in sorted(groups)}
