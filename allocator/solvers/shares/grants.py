"""Links of a placement: what they carry, which run short when every flow gets all it offers, and exact grants.

Loads are constants of the placement (equations 7 and 14). Must not know shares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.evaluation.links import carried_load
from allocator.solvers.evaluation.loads import Crossings, FlowKey, crossings_of, flow_ends, flow_keys
from allocator.solvers.evaluation.spots import spot_table
from allocator.solvers.evaluation.use import Counts

__all__ = ["Link", "Links", "exact_grants", "fair_grants", "full_grants", "links_of"]

ONE = Fraction(1)
THETA_DIGITS = 10**13
SIMPLE = 10**6  # largest denominator that a float is taken for
SAME = 1e-12  # how near it must be


@dataclass(frozen=True, slots=True)
class Link:
    """One direction of an uplink ("up", "down") or the inside ("met") of a domain; bit/s."""

    domain: int
    side: str
    load: Fraction
    limit: Fraction

    @property
    def short(self) -> bool:
        """Whether it cannot carry all that is offered."""
        return self.load > self.limit


@dataclass(frozen=True)
class Links:
    """Links that carry something and are limited; none where the model asks for no grants."""

    crossings: Crossings | None
    links: tuple[Link, ...]

    @property
    def short(self) -> list[Link]:
        """Links that run short."""
        return [link for link in self.links if link.short]

    def flows_over(self, links: list[Link]) -> dict[FlowKey, dict[Link, int]]:
        """Flows with a rate that cross some links: ordered pairs over each."""
        found: dict[FlowKey, dict[Link, int]] = {}
        every = self.crossings
        for name in ("up", "down", "met") if every is not None and links else ():
            side = every.side(name)  # type: ignore[union-attr]
            of_domain = {link.domain: link for link in links if link.side == name}
            mine = np.isin(side.domain, list(of_domain))
            for flow, domain, number in zip(
                side.flow[mine].tolist(), side.domain[mine].tolist(), side.number[mine].tolist(), strict=True
            ):
                if every is not None and every.rates[flow]:
                    found.setdefault(every.keys[flow], {})[of_domain[domain]] = number
        return found

    def limiting_flows(self, compiled: Compiled) -> dict[int, tuple[FlowKey, ...]]:
        """Flows of each block that cross a link which runs short; other flows get all they offer."""
        scarce = self.flows_over(self.short)
        found: dict[int, tuple[FlowKey, ...]] = {}
        for key, _, sources, targets in flow_keys(compiled) if scarce else ():
            if key in scarce:
                for block in dict.fromkeys((*sources, *targets)):
                    found[block] = (*found.get(block, ()), key)
        return found


def links_of(compiled: Compiled, counts: Counts) -> Links:
    """Links of a placement under a model whose rates feel grants."""
    if not _feels_grants(compiled) or not {GoalId.THROUGHPUT, GoalId.FAIRNESS} & set(compiled.model.goal_ids):
        return Links(None, ())
    return _links(compiled, counts)


def _feels_grants(compiled: Compiled) -> bool:
    return compiled.model.has_rate_goals and not {Family.FABRIC, Family.RATES} & compiled.model.ignore


def _links(compiled: Compiled, counts: Counts) -> Links:
    every = crossings_of(compiled, flow_ends(compiled, spot_table(compiled, counts)))
    found = []
    for side in ("up", "down", "met"):
        for domain, load in every.loads(side).items():
            limit = carried_load(compiled.instance.domains[domain], load, side)
            if limit is not None and load:
                found.append(Link(domain, side, load, limit))
    return Links(every, tuple(found))


def _granted_keys(compiled: Compiled, counts: Counts) -> list[FlowKey]:
    """Flows that limit the rate of somebody placed."""
    offers = [workload.rate > 0 for workload in compiled.instance.workloads]
    working = {block for (block, _, _), count in counts.items() if count}
    working = {block for block in working if offers[compiled.blocks[block].workload]}
    return [
        key
        for key, _, sources, targets in flow_keys(compiled)
        if any(block in working for block in sources) or any(block in working for block in targets)
    ]


def full_grants(compiled: Compiled, counts: Counts) -> dict[FlowKey, Fraction]:
    """Everything offered is granted, to flows that limit a rate."""
    return dict.fromkeys(_granted_keys(compiled, counts), ONE) if _feels_grants(compiled) else {}


def fair_grants(compiled: Compiled, counts: Counts) -> dict[FlowKey, Fraction]:
    """Grants where no goal feels them: every link shares what it carries in proportion to what is offered."""
    theta = full_grants(compiled, counts)
    if not theta:
        return theta
    links = _links(compiled, counts)
    for key, crossed in links.flows_over(links.short).items():
        if key in theta:
            theta[key] = min(link.limit / link.load for link in crossed)
    return theta


def exact_grants(links: Links, theta: Mapping[FlowKey, float]) -> dict[FlowKey, Fraction]:
    """Exact fractions near floating ones that no link is exceeded by. ``theta``: of flows over links that run short."""
    exact = {key: _fraction(value) for key, value in theta.items()}
    every = links.crossings
    if every is None:
        return exact
    over = links.flows_over(links.short)
    rate_of = dict(zip(every.keys, every.rates, strict=True))
    for link in links.short:
        crossing = {key: rate_of[key] * crossed[link] for key, crossed in over.items() if link in crossed}
        load = sum((exact.get(key, Fraction(0)) * amount for key, amount in crossing.items()), Fraction(0))
        if load > link.limit:
            for key in crossing:
                scaled = exact.get(key, Fraction(0)) * link.limit / load
                exact[key] = Fraction(math.floor(scaled * THETA_DIGITS), THETA_DIGITS)
    return exact


def _fraction(value: float) -> Fraction:
    clipped = min(max(value, 0.0), 1.0)
    simple = Fraction(clipped).limit_denominator(SIMPLE)
    if abs(float(simple) - clipped) <= SAME:
        return simple
    return Fraction(round(clipped * THETA_DIGITS), THETA_DIGITS)
