"""Task assignment with communication against stored optima: ``python -m tests.bench.ctap --data FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction

from tests.bench.runs import Known, Row
from tests.bench.table import Demand, Suite, judge, main

SECONDS = 120.0


def best(known: Known) -> Fraction | None:
    """Stored optimum."""
    return known.number("value")


def demands(rows: Sequence[Row]) -> list[Demand]:
    """Stored optima proven, and most of the instances of 20 tasks on 5 processors."""
    stored = [row for row in rows if best(row.known) is not None]
    middle = [row for row in rows if (row.items, row.nodes) == (20, 5)]
    return [
        judge(
            stored,
            f"every stored optimum reached and proven within {SECONDS:g} s",
            lambda row: row.proven_at(best(row.known), SECONDS),
        ),
        judge(
            middle,
            f"at least 80 % of those of 20 tasks on 5 processors proven within {SECONDS:g} s",
            lambda row: row.proven_at(row.value, SECONDS),
            Fraction(4, 5),
        ),
    ]


if __name__ == "__main__":
    sys.exit(main(Suite("ctap", "Task assignment with communication", "*.dat", SECONDS, best, demands)))
