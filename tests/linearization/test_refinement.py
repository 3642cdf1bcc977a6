"""Refinement closes the error where it was measured; the loop ends with outer and inner agreed at the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest

from allocator.errors import ArgumentError
from allocator.linearization import Adaptive, Knee, Pieces, Range, Reciprocal, inner, outer, refine
from allocator.linearization.pieces import active_lines

ONE = Fraction(1)


@pytest.mark.parametrize("approximation", [outer, inner])
def test_measured_errors_fall_below_the_tolerance(approximation) -> None:  # type: ignore[no-untyped-def]
    coarse = approximation(Knee(), Fraction(0), Fraction(4), Fraction(1, 5))
    points = [Fraction(1, 2), Fraction(9, 10), Fraction(11, 10), Fraction(2)]
    fine = refine(coarse, points, Fraction(1, 1000))
    assert all(fine.error_at(x) <= Fraction(1, 1000) for x in points)
    assert fine.max_error <= coarse.max_error
    assert len(fine.segments) <= len(coarse.segments) + len(points)
    assert refine(fine, points, Fraction(1, 1000)) is fine


def test_tangents_are_only_added() -> None:
    coarse = outer(Reciprocal(), ONE / 10, Fraction(10), Fraction(1, 5))
    fine = refine(coarse, [ONE, Fraction(2)], Fraction(1, 10**6))
    for x in (ONE / 10, ONE, Fraction(3), Fraction(10)):
        assert fine.value(x) >= coarse.value(x)
    assert set(coarse.contacts) < set(fine.contacts)


def test_points_outside_the_range_are_refused() -> None:
    with pytest.raises(ArgumentError, match="proven over"):
        refine(outer(Knee(), Fraction(0), ONE, Fraction(1, 5)), [Fraction(2)], Fraction(1, 100))


def _best(pieces: Pieces, price: Fraction) -> Fraction:
    """Where the least of lines less price * x is greatest: at a corner."""
    corners = [start for start, _, _ in active_lines(pieces.segments, pieces.low, pieces.high)] + [pieces.high]
    return max(corners, key=lambda x: pieces.value(x) - price * x)


def test_the_loop_finds_the_nonlinear_optimum_within_the_tolerance() -> None:
    """Max phi(rho) - rho / 2: outer and inner value bracket the true one and meet to 0.1 %."""
    price = Fraction(1, 2)

    def solve(above: Mapping[str, Pieces], below: Mapping[str, Pieces]) -> dict[str, list[Fraction]]:
        return {"link": [_best(above["link"], price), _best(below["link"], price)]}

    loop = Adaptive({"link": Range(Knee(), Fraction(0), Fraction(4))}, Fraction(1, 1000))
    outcome = loop.run(solve)
    assert outcome.converged
    assert outcome.measured <= Fraction(1, 1000)
    assert 1 < outcome.rounds < 20
    above, below = outcome.outer["link"], outcome.inner["link"]
    best = max(Knee().value(Fraction(i, 500)).middle - price * Fraction(i, 500) for i in range(2001))
    bound = above.value(_best(above, price)) - price * _best(above, price)
    reached = below.value(_best(below, price)) - price * _best(below, price)
    assert reached <= best + Fraction(1, 10**6)
    assert best <= bound
    assert bound - reached <= Fraction(1, 200)
    # far fewer pieces than proving 0.1 % everywhere takes
    assert len(above.segments) < len(outer(Knee(), Fraction(0), Fraction(4), Fraction(1, 1000)).segments)


def test_the_loop_gives_up_after_its_rounds_and_says_so() -> None:
    visited = iter([Fraction(1, 2), ONE])
    loop = Adaptive({"a": Range(Knee(), Fraction(0), Fraction(4))}, Fraction(1, 10**4), max_rounds=2)
    outcome = loop.run(lambda above, below: {"a": [next(visited)]})
    assert outcome.rounds == 2
    assert not outcome.converged
    assert outcome.measured > loop.tolerance


def test_wrong_use_of_the_loop_is_refused() -> None:
    loop = Adaptive({"a": Range(Knee(), Fraction(0), Fraction(4))}, Fraction(1, 100))
    with pytest.raises(ArgumentError, match="not approximated"):
        loop.run(lambda above, below: {"b": [ONE]})
    with pytest.raises(ArgumentError, match="needs a round"):
        Adaptive({}, Fraction(1, 100), max_rounds=0)
