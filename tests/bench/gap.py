"""Generalised assignment against stored optima and bounds: ``python -m tests.bench.gap --data FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import PurePosixPath

from tests.bench.runs import Known, Row
from tests.bench.table import Demand, Suite, judge, main

SECONDS = 60.0
LARGEST = 200
EASY = ("a", "b", "c", "gap")


def best(known: Known) -> Fraction | None:
    """Best value that is known."""
    return known.number("upper_bound_to_beat")


def demands(rows: Sequence[Row]) -> list[Demand]:
    """Proven optima of the easy classes, small gaps of the others."""
    judged = [row for row in rows if best(row.known) is not None]
    names = {row.name: PurePosixPath(row.name).name for row in judged}
    small = [row for row in judged if row.items <= LARGEST]
    easy = [row for row in small if names[row.name].startswith(EASY) or names[row.name] == "e05100"]
    hard = [row for row in judged if names[row.name].startswith(("d", "e")) and row not in easy]
    return [
        judge(
            easy,
            f"a, b, c, gap* and e05100 up to {LARGEST} jobs proven at the stored optimum within {SECONDS:g} s",
            lambda row: row.proven_at(row.known.number("optimum"), SECONDS),
        ),
        judge(
            [row for row in hard if row in small],
            f"d and e up to {LARGEST} jobs within 0.2 % of the best known",
            lambda row: _within(row, Fraction(2, 1000)),
        ),
        judge(
            [row for row in hard if row not in small],
            f"d and e of more than {LARGEST} jobs within 1 % of the best known",
            lambda row: _within(row, Fraction(1, 100)),
        ),
    ]


def _within(row: Row, share: Fraction) -> bool:
    above = row.above(best(row.known))
    return above is not None and above <= share


if __name__ == "__main__":
    sys.exit(main(Suite("gap", "Generalised assignment", "*", SECONDS, best, demands)))
