"""Wins, ties and losses of each method against each other one, by the plans they found on the same problems.

A confirmed plan beats none. Two plans are compared level by level; a level decides when they differ there by more than
its slack allows and by more than 1e-9 of the values. Times decide nothing. Where neither has a plan, or one of them
refused the problem, crashed or was ended, the problem is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from allocator.benchmark.statistics.groups import by_method, run_key
from allocator.plan.record import Record, exact

__all__ = ["Duel", "duels", "quality_order"]

SAME = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Duel:
    """Problems of ``first`` against ``second``: won, tied and lost by the first, and those counted apart."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    apart: int


def duels(records: Iterable[Record]) -> list[Duel]:
    """Every ordered pair of methods."""
    runs = {method: {run_key(record): record for record in group} for method, group in by_method(records).items()}
    table = []
    for first, mine in runs.items():
        for second, theirs in runs.items():
            if first == second:
                continue
            orders = [quality_order(mine[key], theirs[key]) for key in sorted(mine.keys() & theirs.keys())]
            table.append(
                Duel(first, second, orders.count(-1), orders.count(0), orders.count(1), sum(o is None for o in orders))
            )
    return table


def quality_order(first: Record, second: Record) -> int | None:
    """-1 where the first run has the better plan, 1 where the second has, 0 for a tie; None: not to be compared."""
    if any(record.outcome != "done" or record.wrong for record in (first, second)):
        return None
    if not first.has_plan and not second.has_plan:
        return None
    if first.has_plan != second.has_plan:
        return -1 if first.has_plan else 1
    for mine, theirs in zip(first.levels, second.levels, strict=True):
        order = _level_order(mine, theirs)
        if order:
            return order
    return 0


def _level_order(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> int:
    a, b = exact(mine["value"]), exact(theirs["value"])
    if a is None or b is None:
        raise ValueError("a confirmed plan has a value on every level")
    better = min(a, b) if mine["sense"] == "min" else max(a, b)
    allowed = max(_allowance(mine["slack"], better), SAME * max(abs(a), abs(b)))
    if abs(a - b) <= allowed:
        return 0
    return -1 if a == better else 1


def _allowance(slack: object, reached: Fraction) -> Fraction:
    """What a slack allows: a number is absolute, a text such as "1 %" relative."""
    if isinstance(slack, str):
        return abs(reached) * Fraction(slack.removesuffix("%").strip()) / 100
    return exact(slack) or Fraction(0) if isinstance(slack, (int, float)) else Fraction(0)
