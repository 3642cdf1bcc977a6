"""Records that cannot all be right: a bound that a confirmed plan passes, an infeasibility that a plan refutes.

Every plan counts only when the check confirms it, so the bound is what is wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from allocator.plan.numbers import shown
from allocator.plan.record import Record

__all__ = ["contradictions"]

TOLERANCE = Fraction(1, 10**9)


def contradictions(records: Iterable[Record]) -> list[str]:
    """Sentences, one for each record that another one refutes; on first levels, where every run means the same."""
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.instance["digest"], record.case, record.model].append(record)
    return [sentence for group in groups.values() for sentence in _within(group)]


def _within(records: list[Record]) -> list[str]:
    held = [record for record in records if record.value is not None]
    if not held:
        return []
    sense = held[0].sense
    best = (min if sense == "min" else max)(held, key=lambda record: record.value or Fraction(0))
    value = best.value
    found = []
    for record in records:
        name = f"{record.case}, model {record.model}, method {record.method}, seed {record.seed}"
        bound = record.bound
        if record.outcome == "done" and record.status == "infeasible":
            found.append(f"{name}: calls infeasible what {best.method}, seed {best.seed}, has a plan for")
        elif bound is not None and value is not None and _passes(bound, value, sense):
            found.append(
                f"{name}: its bound {shown(bound)} is refuted by the plan of {best.method}, seed {best.seed}, "
                f"of value {shown(value)}"
            )
    return found


def _passes(bound: Fraction, value: Fraction, sense: str | None) -> bool:
    if abs(bound - value) <= TOLERANCE * max(abs(bound), abs(value)):
        return False
    return bound > value if sense == "min" else bound < value
