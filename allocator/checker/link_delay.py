"""Delay of a message on a link that others load (equations 13 and 29): M K / (C - L), an M/M/1 server of messages.

Owns the formula: at the load that a plan offers, and at the largest that ``link_load`` allows. Knows no flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from allocator.checker.traffic import Traffic
from allocator.instance.entities import Instance

__all__ = ["LN_100", "NANO", "Spare", "delay_at_limit", "delay_of", "spare_of"]

LN_100 = Fraction(4605170185988091368035982909368728415203, 10**39)
"""ln 100 to 40 digits, rounded up."""

BUSIEST = Fraction(99, 100)
"""Most of its bandwidth that a link may be offered for its delay to have a bound: stability with 1 % to spare."""

NANO = 10**9
ZERO = Fraction(0)


def delay_at_limit(message: Fraction, bandwidth: Fraction, link_load: Fraction) -> Fraction:
    """Delay of a message of so many bits at the largest load that ``link_load`` allows, s, up to whole nanoseconds.

    0 where the bandwidth is 0: nothing may cross such a link.
    """
    if not bandwidth:
        return ZERO
    return Fraction(ceil(message * LN_100 / ((1 - link_load) * bandwidth) * NANO), NANO)


def delay_of(message: Fraction, side: Mapping[int, Fraction | None], domain: int) -> Fraction | None:
    """Delay of a message on a link with so much to spare each way, s; None without a bound, 0 on an unlimited link."""
    spare = side.get(domain, ZERO)
    return None if spare is None else message * LN_100 / spare if spare else ZERO


@dataclass(frozen=True, slots=True)
class Spare:
    """C - L in bit/s of uplinks that state a bandwidth, by domain index and direction; None above 99 % of it."""

    up: Mapping[int, Fraction | None]
    down: Mapping[int, Fraction | None]

    def side(self, direction: str) -> Mapping[int, Fraction | None]:
        """That of direction "up" or "down"."""
        return self.up if direction == "up" else self.down


def spare_of(instance: Instance, traffic: Traffic) -> Spare:
    """What all links have to spare at the load they are offered."""
    sides: tuple[dict[int, Fraction | None], dict[int, Fraction | None]] = ({}, {})
    for domain in instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        bandwidth = domain.uplink.bandwidth
        for side, loads in zip(sides, (traffic.offered_up, traffic.offered_down), strict=True):
            offered = loads.get(domain.index, ZERO)
            fits = bandwidth > 0 and offered <= BUSIEST * bandwidth
            side[domain.index] = bandwidth - offered if fits else None
    return Spare(*sides)
