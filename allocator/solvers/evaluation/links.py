"""What links carry of the offered load of a placement (equation 7): rational values that grants may rely on."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from allocator.instance.entities import Domain, Goodput
from allocator.linearization.functions import Fair, Function, Knee
from allocator.linearization.polyline import Table
from allocator.solvers.evaluation.loads import FlowCrossings

__all__ = ["carried", "carried_load", "curve_of", "offered"]


def curve_of(goodput: Goodput) -> Function:
    """The goodput curve phi as a function of load over capacity."""
    if goodput.curve == "knee":
        return Knee(goodput.p)
    if goodput.curve == "table":
        return Table(goodput.points)
    return Fair()


def offered(flows: Iterable[FlowCrossings], domain: int, side: str) -> Fraction:
    """Load that all flows offer on one direction of an uplink ("up", "down"), or inside a domain ("met"), bit/s."""
    return sum((flow.rate * getattr(flow, side).get(domain, 0) for flow in flows), Fraction(0))


def carried(domain: Domain, flows: Iterable[FlowCrossings], side: str) -> Fraction | None:
    """What the uplink (sides "up", "down") or the inside ("met") of a domain carries, bit/s; None: no limit."""
    return carried_load(domain, offered(flows, domain.index, side), side)


def carried_load(domain: Domain, load: Fraction, side: str) -> Fraction | None:
    """What an uplink or inside carries of an offered load, bit/s; None: no limit.

    For an irrational curve the lower end of its enclosure, so that grants within it are within the curve.
    """
    if side == "met":
        return domain.internal
    uplink = domain.uplink
    if uplink is None or uplink.bandwidth is None:
        return None
    if uplink.goodput.curve == "fair" or not uplink.bandwidth:
        return uplink.bandwidth
    return uplink.bandwidth * curve_of(uplink.goodput).value(load / uplink.bandwidth).lower
