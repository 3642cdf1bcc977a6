"""Equation (7), ``fabric``: granted traffic fits the goodput of every uplink and the internal bandwidth of domains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from allocator.checker.crossings import largest_messages
from allocator.checker.curves import carries, goodput
from allocator.checker.link_delay import Spare, delay_of, spare_of
from allocator.checker.situation import Situation
from allocator.model.families import Family
from allocator.plan.evaluation import LinkUse, Violation
from allocator.plan.numbers import measured

__all__ = ["fabric", "link_uses"]

ZERO = Fraction(0)
BITS = "bit/s"


def fabric(situation: Situation) -> Iterator[Violation]:
    """Uplinks and domains that are granted more than they carry."""
    traffic = situation.traffic
    for domain in situation.instance.domains:
        inside = traffic.inside.get(domain.index, ZERO)
        if domain.internal is not None and inside > domain.internal:
            message = (
                f"internal bandwidth: {measured(inside, BITS)} granted, it carries {measured(domain.internal, BITS)}"
            )
            yield Violation(Family.FABRIC, domain.path, message, inside - domain.internal)
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        for direction, offered, granted in _directions(situation, domain.index):
            bandwidth, curve = domain.uplink.bandwidth, domain.uplink.goodput
            if not carries(curve, bandwidth, offered, granted):
                carried = goodput(curve, bandwidth, offered)
                message = f"uplink {direction}: {measured(granted, BITS)} granted, it carries {measured(carried, BITS)}"
                yield Violation(Family.FABRIC, domain.path, message, granted - carried)


def link_uses(situation: Situation) -> Iterator[LinkUse]:
    """Both directions of every uplink that states a bandwidth or has traffic."""
    messages: dict[str, Mapping[int, Fraction]] = {"up": {}, "down": {}}
    spare = Spare({}, {})
    if situation.flows.carries_messages:
        up, down = largest_messages(situation.standing, situation.flows, situation.chains)
        messages, spare = {"up": up, "down": down}, spare_of(situation.instance, situation.traffic)
    for domain in situation.instance.domains:
        if domain.uplink is None:
            continue
        bandwidth = domain.uplink.bandwidth
        for direction, offered, granted in _directions(situation, domain.index):
            if bandwidth is None and not offered:
                continue
            carried = offered if bandwidth is None else goodput(domain.uplink.goodput, bandwidth, offered)
            message = messages[direction].get(domain.index)
            delay = None
            if message is not None:
                wait = delay_of(message, spare.side(direction), domain.index)
                delay = None if wait is None else domain.uplink.latency + wait
            yield LinkUse(
                domain.path,
                domain.level,
                direction,
                offered,
                granted,
                bandwidth,
                proportional=carried,
                carried=carried,
                message=message,
                delay=delay,
            )


def _directions(situation: Situation, domain: int) -> tuple[tuple[str, Fraction, Fraction], ...]:
    traffic = situation.traffic
    return (
        ("up", traffic.offered_up.get(domain, ZERO), traffic.granted_up.get(domain, ZERO)),
        ("down", traffic.offered_down.get(domain, ZERO), traffic.granted_down.get(domain, ZERO)),
    )
