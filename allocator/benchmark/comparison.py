"""Two sets of records compared: what got better or worse, per case and method, with its uncertainty over seeds.

Each side's runs differ in their seeds only. A change counts as certain when the 95 % bootstrap interval of the
difference of medians leaves zero out and each side has at least three seeds; with fewer it is called a change without
certainty (two runs say little). Source: percentile bootstrap, Efron and Tibshirani (1993), chapter 13.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from allocator.plan.record import Record

__all__ = ["Change", "Comparison", "Verdict", "bootstrap_interval", "compare"]

Verdict = Literal["better", "worse", "perhaps better", "perhaps worse", "same", "not comparable"]

RESAMPLES = 2000
CONFIDENCE = 0.95
FEWEST_SEEDS = 3
SLOWER = 0.1
"""Relative change of the median time below which times count as the same: clocks are not that steady."""


@dataclass(frozen=True, slots=True)
class Change:
    """One measure of one case, model and method on both sides.

    ``before`` and ``after``: medians over the seeds that have the measure, None without any. ``change``: after less
    before, positive is worse, relative to before (absolute for counts and where before is 0). ``low`` and ``high``:
    95 % interval of it, None when a side has a single value.
    """

    case: str
    model: str
    method: str
    measure: str  # "value", "solved", "failed", "seconds"
    before: float | None
    after: float | None
    seeds: tuple[int, int]
    change: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All changes, and what stands on one side only as (case, model, method)."""

    changes: tuple[Change, ...]
    only_before: tuple[tuple[str, str, str], ...]
    only_after: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]

    def count(self, verdict: Verdict, measure: str | None = None) -> int:
        """Number of changes with a verdict, of a measure or of all."""
        return sum(each.verdict == verdict and measure in (None, each.measure) for each in self.changes)

    def rows(self) -> list[dict[str, Any]]:
        """The changes as flat rows for a table."""
        return [
            {
                "case": each.case,
                "model": each.model,
                "method": each.method,
                "measure": each.measure,
                "before": each.before,
                "after": each.after,
                "seeds_before": each.seeds[0],
                "seeds_after": each.seeds[1],
                "change": each.change,
                "low": each.low,
                "high": each.high,
                "verdict": each.verdict,
                "note": each.note,
            }
            for each in self.changes
        ]


def compare(records_a: Iterable[Record], records_b: Iterable[Record]) -> Comparison:
    """What changed from a (before) to b (after).

    Measures: ``value`` of the first level at confirmed plans; ``solved`` and ``failed``, shares of the runs;
    ``seconds`` of solved runs. Runs without a confirmed plan or proof count in ``failed`` and are averaged
    into nothing.
    """
    before, after = _groups(records_a), _groups(records_b)
    changes: list[Change] = []
    for key in before:
        if key in after:
            changes += _changes(key, before[key], after[key])
    return Comparison(
        tuple(changes),
        tuple(key for key in before if key not in after),
        tuple(key for key in after if key not in before),
        tuple(_notes(before, after)),
    )


def _groups(records: Iterable[Record]) -> dict[tuple[str, str, str], list[Record]]:
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record.case, record.model, record.method].append(record)
    return {key: groups[key] for key in sorted(groups)}


def _notes(
    before: dict[tuple[str, str, str], list[Record]], after: dict[tuple[str, str, str], list[Record]]
) -> Iterable[str]:
    sides = [[record for group in side.values() for record in group] for side in (before, after)]
    for name in ("cpu", "cores"):
        there, here = ({str(record.machine.get(name)) for record in side} for side in sides)
        if there != here and there and here:
            names = f"{', '.join(sorted(there))} and {', '.join(sorted(here))}"
            yield f"machines differ ({name}: {names}): times say little"
    limits = [{record.limits["seconds"] for record in side} for side in sides]
    if limits[0] != limits[1] and all(limits):
        yield "time limits differ: values and solved counts are of unequal searches"


def _changes(key: tuple[str, str, str], before: list[Record], after: list[Record]) -> list[Change]:
    if {record.instance["digest"] for record in before} != {record.instance["digest"] for record in after}:
        counts = len(before), len(after)
        why = "the instance changed"
        return [Change(*key, "value", None, None, counts, None, None, None, "not comparable", why)]
    sense = next((record.sense for record in (*before, *after) if record.sense), "min")
    sign = 1.0 if sense == "min" else -1.0
    values = [[float(record.value) for record in side if record.value is not None] for side in (before, after)]
    solved = [[float(record.solved) for record in side] for side in (before, after)]
    failed = [[float(not record.has_plan and not record.solved) for record in side] for side in (before, after)]
    seconds = [[record.run_seconds for record in side if record.solved] for side in (before, after)]
    return [
        _change(key, "value", values, sign=sign, tolerance=1e-9),
        _share(key, "solved", solved, sign=-1.0),
        _share(key, "failed", failed, sign=1.0),
        _change(key, "seconds", seconds, sign=1.0, tolerance=SLOWER),
    ]


def _change(
    key: tuple[str, str, str], measure: str, sides: Sequence[Sequence[float]], *, sign: float, tolerance: float
) -> Change:
    """Change of a median, relative to the one before."""
    old, new = sides
    counts = len(old), len(new)
    if not old or not new:
        missing = "neither side has it" if not old and not new else "one side has it"
        medians = median(old) if old else None, median(new) if new else None
        return Change(*key, measure, *medians, counts, None, None, None, "not comparable", missing)
    was, now = median(old), median(new)
    scale = abs(was) or 1.0
    change = sign * (now - was) / scale
    low, high = bootstrap_interval(old, new)
    if low is not None and high is not None:
        low, high = sorted((sign * low / scale, sign * high / scale))
    certain = low is not None and high is not None and (low > 0 or high < 0) and min(counts) >= FEWEST_SEEDS
    return Change(*key, measure, was, now, counts, change, low, high, _verdict(change, tolerance, certain=certain))


def _share(key: tuple[str, str, str], measure: str, sides: Sequence[Sequence[float]], *, sign: float) -> Change:
    """Change of a share of runs, absolute."""
    old, new = sides
    was, now = sum(old) / len(old), sum(new) / len(new)
    change = sign * (now - was)
    low, high = bootstrap_interval(old, new, statistic=_mean)
    if low is not None and high is not None:
        low, high = sorted((sign * low, sign * high))
    counts = len(old), len(new)
    certain = low is not None and high is not None and (low > 0 or high < 0) and min(counts) >= FEWEST_SEEDS
    return Change(*key, measure, was, now, counts, change, low, high, _verdict(change, 0.0, certain=certain))


def _verdict(change: float, tolerance: float, *, certain: bool) -> Verdict:
    if abs(change) <= tolerance:
        return "same"
    if change > 0:
        return "worse" if certain else "perhaps worse"
    return "better" if certain else "perhaps better"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def bootstrap_interval(
    before: Sequence[float], after: Sequence[float], *, statistic: Any = median, resamples: int = RESAMPLES
) -> tuple[float | None, float | None]:
    """95 % percentile bootstrap interval of statistic(after) - statistic(before); always the same for the same numbers.

    None, None when a side has fewer than two values, from which nothing can be said about spread.
    """
    if min(len(before), len(after)) < 2:
        return None, None
    draw = random.Random(0)
    differences = sorted(
        statistic(draw.choices(after, k=len(after))) - statistic(draw.choices(before, k=len(before)))
        for _ in range(resamples)
    )
    tail = round(resamples * (1 - CONFIDENCE) / 2)
    return differences[tail], differences[-tail - 1]
