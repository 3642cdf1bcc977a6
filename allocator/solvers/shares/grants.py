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

    def flows_over(self, links: list[Link]) -> dict[FlowKey, list[tuple[int, int]]]:
        """Flows with a rate that cross some links: (position in ``links``, ordered pairs) for each."""
        found: dict[FlowKey, list[tuple[int, int]]] = {}
        every = self.crossings
        if every is None:
            return found
        for name in ("up", "down", "met"):
            side = every.side(name)
            position = {link.domain: index for index, link in enumerate(links) if link.side == name}
            mine = np.isin(side.domain, list(position))
            for flow, domain, number in zip(
                side.flow[mine].tolist(), side.domain[mine].tolist(), side.number[mine].tolist(), strict=True
            ):
                if every.rates[flow]:
                    found.setdefault(every.keys[flow], []).append((position[domain], number))
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
    short = links.short
    parts = [link.limit / link.load for link in short]
    for key, crossed in links.flows_over(short).items():
        if key in theta:
            theta[key] = min(parts[index] for index, _ in crossed)
    return theta


def exact_grants(links: Links, theta: Mapping[FlowKey, float]) -> dict[FlowKey, Fraction]:
    """Exact fractions near floating ones that no link is exceeded by. ``theta``: of flows over links that run short."""
    exact = {key: _fraction(value) for key, value in theta.items()}
    every = links.crossings
    if every is None:
        return exact
    nothing = Fraction(0)
    factors = [rate * exact.get(key, nothing) for key, rate in zip(every.keys, every.rates, strict=True)]
    loads = {side: every.totals(side, factors) for side in ("up", "down", "met")}
    short = links.short
    over: dict[int, Fraction] = {}  # by position, the part that fits
    for index, link in enumerate(short):
        load = loads[link.side].get(link.domain, nothing)
        if load > link.limit:
            over[index] = link.limit / load
    for key, crossed in links.flows_over(short).items() if over else ():
        part = min((over[index] for index, _ in crossed if index in over), default=ONE)
        if key in exact and part < 1:
            exact[key] = Fraction(math.floor(exact[key] * part * THETA_DIGITS), THETA_DIGITS)
    return exact


def _fraction(value: float) -> Fraction:
    clipped = min(max(value, 0.0), 1.0)
    simple = Fraction(clipped).limit_denominator(SIMPLE)
    if abs(float(simple) - clipped) <= SAME:
        return simple
    return Fraction(round(clipped * THETA_DIGITS), THETA_DIGITS)
