"""How far a value is from the best that is known and from the bound. Exact numbers; None where something is missing.

A gap is |value - reference| / max(|value|, |reference|), 0 where they are equal: the definition of the result document.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from allocator.benchmark.statistics.groups import CaseKey, by_case
from allocator.plan.record import Record, exact
from allocator.plan.result import gap_between

__all__ = ["Best", "best_values", "gap_to_best", "gap_to_bound", "relative_gap"]

IN_SUITE = "best in this suite"


@dataclass(frozen=True, slots=True)
class Best:
    """Value of the first level to compare with. ``proven``: some run proves that there is none better."""

    value: Fraction
    source: str
    sense: str
    proven: bool


def best_values(records: Iterable[Record]) -> dict[CaseKey, Best]:
    """For every case and model the stored best known value, or a better one found here, else the best found here."""
    found = {}
    for key, group in by_case(records).items():
        sense = next((record.sense for record in group if record.sense is not None), None)
        if sense is None:
            continue
        pick = min if sense == "min" else max
        stored = next((record.best_known for record in group if record.best_known is not None), None)
        values = [record.value for record in group if record.value is not None]
        known = None if stored is None else exact(stored["value"])
        candidates = [*values, *([] if known is None else [known])]
        if not candidates:
            continue
        best = pick(candidates)
        source = str(stored["source"]) if stored is not None and best == known else IN_SUITE
        if stored is not None and best != known:
            source = f"{IN_SUITE}, better than the stored one"
        bounds = [record.bound for record in group if record.bound is not None]
        found[key] = Best(best, source, sense, any(relative_gap(best, bound, sense) <= 0 for bound in bounds))
    return found


def relative_gap(value: Fraction, reference: Fraction, sense: str) -> Fraction:
    """Gap with a sign: positive when the value is worse than the reference, negative when it is better."""
    size = gap_between(value, reference) or Fraction(0)
    worse = value > reference if sense == "min" else value < reference
    return size if worse else -size


def gap_to_best(record: Record, best: Best | None) -> Fraction | None:
    """Signed gap of a confirmed plan to the best value; None without either."""
    value = record.value
    return None if value is None or best is None else relative_gap(value, best.value, best.sense)


def gap_to_bound(record: Record) -> Fraction | None:
    """Gap between a confirmed plan and the run's own bound, at least 0; None without either."""
    return gap_between(record.value, record.bound)
