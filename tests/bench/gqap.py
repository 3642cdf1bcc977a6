"""Generalised quadratic assignment against stored values: ``python -m tests.bench.gqap --data FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction

from tests.bench.runs import Known, Row
from tests.bench.table import Demand, Suite, judge, main

SECONDS = 120.0
LARGEST = 16


def best(known: Known) -> Fraction | None:
    """Best value that is known to be good; a mere upper bound, taken from another instance's file, is not."""
    good = known.columns.get("value_status", "").startswith(("optimal", "best-known"))
    return known.number("value") if good else None


def demands(rows: Sequence[Row]) -> list[Demand]:
    """Stored optima reached and half of the small instances (Lee and Ma) proven; larger ones are shown, not judged."""
    small = [row for row in rows if row.items <= LARGEST]
    stored = [row for row in small if row.known.columns.get("value_status", "").startswith("optimal")]
    return [
        judge(stored, "every stored optimum reached", lambda row: row.value == best(row.known)),
        judge(
            small,
            f"at least half of those up to {LARGEST} facilities proven within {SECONDS:g} s",
            lambda row: row.proven_at(row.value, SECONDS),
            Fraction(1, 2),
        ),
    ]


if __name__ == "__main__":
    sys.exit(main(Suite("gqap", "Generalised quadratic assignment", "*.txt", SECONDS, best, demands)))
