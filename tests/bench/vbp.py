"""Vector bin packing against stored optima and heuristics: ``python -m tests.bench.vbp --data FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction

from tests.bench.runs import Known, Row
from tests.bench.table import Demand, Suite, judge, main

SECONDS = 60.0
SMALL = 41


def best(known: Known) -> Fraction | None:
    """Optimum where it is known, else the best published heuristic value."""
    optimum = known.number("OPT(-1=unknown)")
    return heuristic(known) if optimum in (None, -1) else optimum


def heuristic(known: Known) -> Fraction | None:
    """Best published heuristic value."""
    return known.number("best_heuristic_in_paper")


def demands(rows: Sequence[Row]) -> list[Demand]:
    """Most small instances proven; the others near the best published heuristic, with a bound."""
    stored = [row for row in rows if heuristic(row.known) is not None]
    small = [row for row in stored if row.items <= SMALL]
    large = [row for row in stored if row.items > SMALL]
    return [
        judge(
            small,
            f"at least 80 % of those up to {SMALL} items proven at the optimum",
            lambda row: row.proven_at(best(row.known), SECONDS),
            Fraction(4, 5),
        ),
        judge(large, "the others at most 2 % above the best published heuristic, with a bound", _near),
    ]


def _near(row: Row) -> bool:
    above = row.above(heuristic(row.known))
    return above is not None and above <= Fraction(2, 100) and row.bound is not None


NO_INSTANCES = {"classC_120_10_5.vbp": "three sizes are negative, which the format's own definition rules out"}

if __name__ == "__main__":
    sys.exit(main(Suite("vbp", "Vector bin packing", "*.vbp", SECONDS, best, demands, NO_INSTANCES)))
