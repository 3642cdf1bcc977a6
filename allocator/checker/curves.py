"""Goodput curves: what an uplink carries of an offered load. The true curves, never a linearisation of them.

``fair`` and ``table`` are exact. ``knee`` is irrational: whether a granted load fits is decided exactly for integer
p up to 64, otherwise on the rounded value; values are rounded down in the 40th significant digit.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from allocator.instance.entities import Goodput

__all__ = ["carries", "goodput"]

DIGITS = 40
MAX_EXACT_POWER = 64


def goodput(curve: Goodput, capacity: Fraction, load: Fraction) -> Fraction:
    """G(L) = C phi(L / C) in bit/s; 0 without load or capacity."""
    if load <= 0 or capacity <= 0:
        return Fraction(0)
    if curve.curve == "fair":
        return min(load, capacity)
    if curve.curve == "table":
        return capacity * _table(curve.points, load / capacity)
    return capacity * _knee(curve.p, load / capacity)


def carries(curve: Goodput, capacity: Fraction, load: Fraction, granted: Fraction) -> bool:
    """Whether granted <= G(load)."""
    if granted <= 0:
        return True
    if load <= 0 or capacity <= 0:
        return False
    if curve.curve == "knee" and curve.p.denominator == 1 and curve.p <= MAX_EXACT_POWER:
        power = int(curve.p)
        # granted <= L C / (C^p + L^p)^(1/p), without the root
        return granted**power * (capacity**power + load**power) <= (load * capacity) ** power
    return granted <= goodput(curve, capacity, load)


def _table(points: tuple[tuple[Fraction, Fraction], ...], ratio: Fraction) -> Fraction:
    """Linear between the measured points, from (0, 0), constant after the last."""
    left, low = Fraction(0), Fraction(0)
    for right, high in points:
        if ratio <= right:
            return high if right == left else low + (high - low) * (ratio - left) / (right - left)
        left, low = right, high
    return low


def _knee(power: Fraction, ratio: Fraction) -> Fraction:
    """The curve rho / (1 + rho^p)^(1/p), rounded down."""
    work = Context(prec=2 * DIGITS, Emin=-(10**9), Emax=10**9, traps=[])
    exponent = work.divide(Decimal(power.numerator), Decimal(power.denominator))
    rho = work.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
    small = rho if ratio <= 1 else work.divide(Decimal(1), rho)
    # the same curve from either side: rho / (1 + rho^p)^(1/p) = 1 / (1 + rho^-p)^(1/p)
    root = work.power(work.add(Decimal(1), work.power(small, exponent)), work.divide(Decimal(1), exponent))
    value = work.divide(rho if ratio <= 1 else Decimal(1), root)
    return Fraction(Context(prec=DIGITS, rounding=ROUND_FLOOR, traps=[]).plus(value))
