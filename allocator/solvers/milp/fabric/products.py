"""Exact products: counts in unary, a unary count times anything bounded, and two binary presences. Knows no flow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["Unary", "both", "joint", "product", "scaled", "unary"]

PART = "fabric"


@dataclass(frozen=True, slots=True)
class Unary:
    """Exactly one of ``picks[a]`` is 1: the count is a."""

    picks: tuple[Any, ...]

    def weighted(self, weights: list[int]) -> Terms:
        """Sum weights[a] picks[a]."""
        return Terms(zip(weights, self.picks, strict=True))


def unary(form: Formulation, key: object, count: Terms, upper: int) -> Unary:
    """Binaries that pick the value of an integral count in 0..upper; one set per key."""
    cached = form.cache.get(("unary", key))
    if cached is not None:
        found: Unary = cached
        return found
    picks = tuple(form.binary(PART) for _ in range(upper + 1))
    form.equal(PART, Terms((1, pick) for pick in picks), 1)
    form.equal(PART, count.copy().extend(Terms(enumerate(picks)), -1), 0)
    made = Unary(picks)
    form.cache["unary", key] = made
    return made


def product(form: Formulation, key: object, count: Unary, other: Terms, upper: int) -> Terms:
    """Count times another quantity in [0, upper]: sum_a a v_a, sum_a v_a = other, v_a <= upper pick_a. Exact."""
    cached = form.cache.get(("product", key))
    if cached is None:
        parts = []
        for pick in count.picks:
            part = form.real(PART, float(upper))
            form.at_most(PART, Terms([(1, part), (-upper, pick)]), 0)
            parts.append(part)
        form.equal(PART, other.copy().extend(Terms((1, part) for part in parts), -1), 0)
        cached = form.cache["product", key] = Terms(enumerate(parts))
    found: Terms = cached
    return found


def scaled(form: Formulation, key: object, count: Unary, fraction: Any) -> tuple[Any, ...]:
    """w_a = fraction * pick_a for a fraction in [0, 1]: sum_a w_a = fraction, w_a <= pick_a. Exact."""
    cached = form.cache.get(("scaled", key))
    if cached is None:
        parts = tuple(form.real(PART, 1.0) for _ in count.picks)
        for part, pick in zip(parts, count.picks, strict=True):
            form.at_most(PART, Terms([(1, part), (-1, pick)]), 0)
        form.equal(PART, Terms((1, part) for part in parts).extend(Terms([(-1, fraction)])), 0)
        cached = form.cache["scaled", key] = parts
    found: tuple[Any, ...] = cached
    return found


def joint(form: Formulation, key: object, first: Unary, second: Unary, fraction: Any) -> Terms:
    """Fraction * a * c for two unary counts: w_ac <= pick_ac, sum w = fraction, picks with the given margins. Exact."""
    cached = form.cache.get(("joint", key))
    if cached is None:
        total = Terms([(-1, fraction)])
        value = Terms()
        columns = [Terms([(-1, pick)]) for pick in second.picks]
        for a, row_pick in enumerate(first.picks):
            row = Terms([(-1, row_pick)])
            for c, column in enumerate(columns):
                pick, part = form.binary(PART), form.real(PART, 1.0)
                row.add(1, pick)
                column.add(1, pick)
                form.at_most(PART, Terms([(1, part), (-1, pick)]), 0)
                total.add(1, part)
                value.add(a * c, part)
            form.equal(PART, row, 0)
        for column in columns:
            form.equal(PART, column, 0)
        form.equal(PART, total, 0)
        cached = form.cache["joint", key] = value
    found: Terms = cached
    return found


def both(form: Formulation, i: int, first: int, j: int, second: int) -> Terms:
    """1 iff the member of block i is in domain ``first`` and that of block j in domain ``second``. Exact.

    The root stands for "placed"; where every member must be placed it needs no product.
    """
    if (i, first) > (j, second):
        i, first, j, second = j, second, i, first
    everyone = not form.compiled.model.may_leave_out
    if everyone and first == 0:
        return form.count_in(j, second) if second else Terms(constant=1)
    if everyone and second == 0:
        return form.count_in(i, first)
    key = "both", i, first, j, second
    if key not in form.cache:
        here, there = form.count_in(i, first), form.count_in(j, second)
        if not here or not there:
            form.cache[key] = Terms()
        else:
            together = form.real(PART, 1.0)
            form.at_most(PART, Terms([(1, together)]).extend(here, -1), 0)
            form.at_most(PART, Terms([(1, together)]).extend(there, -1), 0)
            form.at_most(PART, here.copy().extend(there).extend(Terms([(-1, together)])), 1)
            form.cache[key] = Terms([(1, together)])
    found: Terms = form.cache[key]
    return found
