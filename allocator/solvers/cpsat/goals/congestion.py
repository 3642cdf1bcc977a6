"""Goal ``congestion`` (equation 20)."""

from __future__ import annotations

from fractions import Fraction

from allocator.model.entities import Goal
from allocator.solvers.cpsat.derived import largest
from allocator.solvers.cpsat.fabric import load
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]

BREAKS = (Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(9, 10), Fraction(1), Fraction(11, 10))
SLOPES = (1, 3, 10, 70, 500, 5000)


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum over uplinks and directions of C psi(L / C) = max over pieces of slope L - offset C, since psi is convex."""
    value = Linear()
    for domain in symbols.compiled.instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        for offered in load(symbols, domain.index):
            pieces = [offered.scaled(slope).plus(-offset * domain.uplink.bandwidth) for slope, offset in _pieces()]
            value.add_scaled(largest(symbols.builder, pieces, "the goal congestion"))
    return value


def _pieces() -> list[tuple[int, Fraction]]:
    """(slope, offset) of the lines whose maximum is psi."""
    pieces: list[tuple[int, Fraction]] = []
    slope, offset = 0, Fraction(0)
    for start, steeper in zip(BREAKS, SLOPES, strict=True):
        offset += (steeper - slope) * start
        slope = steeper
        pieces.append((slope, offset))
    return pieces
