"""Floating shares and fractions to exact ones that fit exactly: round near integers, then give back any excess."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.links import carried
from allocator.solvers.evaluation.loads import FlowCrossings, FlowKey
from allocator.solvers.evaluation.power import domain_watts
from allocator.solvers.evaluation.use import domain_use, node_use
from allocator.solvers.shares.placement_program import PlacementProgram
from allocator.solvers.shares.program import unit_of

__all__ = ["rounded"]

Shares = dict[tuple[int, int, int, int], int]
ROUND = 10**6  # parts of a unit that make a round number
NEAR = 1e-8  # units: values this close to a round number are taken to be it, for floats carry the solver's tolerance
THETA_DIGITS = 10**13


def rounded(made: PlacementProgram, solution: npt.NDArray[np.float64]) -> tuple[Shares, dict[FlowKey, Fraction]]:
    """Exact totals of shares per (block, option, node, resource) and exact granted fractions, all limits kept."""
    compiled = made.compiled
    shares: Shares = {}
    for (spot, r), column in made.extra.items():
        _, option, node = spot
        unit = unit_of(compiled, r)
        room = round(made.program.upper[column] * unit)
        amount = min(max(0, _near(float(solution[column]), unit)), room)
        floor = int(compiled.floor[option, compiled.node_kind[node], r]) * made.counts[spot]
        if amount:
            shares[*spot, r] = floor + amount
    _give_back_shares(made, shares)
    theta = {key: _fraction(solution[column]) for key, column in made.theta.items()}
    _give_back_grants(compiled, made.flows, theta)
    return shares, theta


def _near(value: float, unit: int) -> int:
    """Integer amount of a value in units."""
    step = max(1, unit // ROUND)
    whole = round(value * unit / step) * step
    return whole if abs(value * unit - whole) <= NEAR * unit else round(value * unit)


def _fraction(value: float) -> Fraction:
    return Fraction(min(max(round(value * THETA_DIGITS), 0), THETA_DIGITS), THETA_DIGITS)


def _give_back_shares(made: PlacementProgram, shares: Shares) -> None:
    """Where rounding exceeds a limit by some units, take them from the largest extra shares there."""
    compiled = made.compiled
    use = domain_use(compiled, node_use(compiled, made.counts, shares, transient=True))
    for domain in range(compiled.num_domains):
        for r, name in enumerate(compiled.resources):
            limit = int(compiled.limit[domain, r])
            if name == "power" or limit < 0:
                continue
            excess = use[domain][r] - limit
            if excess > 0:
                _take(made, shares, domain, r, excess)
                use = domain_use(compiled, node_use(compiled, made.counts, shares, transient=True))
    _give_back_pools(made, shares)
    _give_back_power(made, shares)


def _give_back_power(made: PlacementProgram, shares: Shares) -> None:
    """Where rounding exceeds a cap of power, take shares of compute from the nodes there until their draw fits."""
    compiled = made.compiled
    for domain, limit in enumerate(compiled.power_limit):
        if limit is None:
            continue
        excess = domain_watts(compiled, made.counts, shares, transient=True)[domain] - limit
        for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
            power, r = compiled.instance.nodes[node].power, int(compiled.compute_resource[node])
            if excess <= 0:
                break
            if power is None or r < 0 or power.busy <= power.idle:
                continue
            leaf = int(compiled.node_domain[node])
            watts = (power.busy - power.idle) / int(compiled.capacity[leaf, r])
            excess -= watts * _take(made, shares, leaf, r, math.ceil(excess / watts))


def _give_back_pools(made: PlacementProgram, shares: Shares) -> None:
    compiled = made.compiled
    for domain in range(compiled.num_domains):
        for r in range(len(compiled.resources)):
            pool = int(compiled.pool_limit[domain, r])
            if pool < 0:
                continue
            use = node_use(compiled, made.counts, shares, transient=True)
            drawn = {
                node: use[node][r] - max(0, int(compiled.capacity[compiled.node_domain[node], r]))
                for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain]))
            }
            excess = sum(max(0, above) for above in drawn.values()) - pool
            for node, above in drawn.items():
                if excess > 0 and above > 0:
                    taken = min(excess, above)
                    _take(made, shares, int(compiled.node_domain[node]), r, taken)
                    excess -= taken


def _take(made: PlacementProgram, shares: Shares, domain: int, r: int, excess: int) -> int:
    """Take up to ``excess`` amounts from the extra shares in a domain, the largest first; how many were taken."""
    compiled = made.compiled
    low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
    here = sorted((key for key in shares if key[3] == r and low <= key[2] < high), key=lambda key: (-shares[key], key))
    left = excess
    for key in here:
        block, option, node, _ = key
        floor = int(compiled.floor[option, compiled.node_kind[node], r]) * made.counts[block, option, node]
        taken = min(left, shares[key] - floor)
        shares[key] -= taken
        left -= taken
        if left <= 0:
            break
    return excess - left


def _give_back_grants(compiled: Compiled, flows: list[FlowCrossings], theta: dict[FlowKey, Fraction]) -> None:
    for domain in compiled.instance.domains:
        for side in ("up", "down", "met"):
            limit = carried(domain, flows, side)
            if limit is None:
                continue
            crossing = [flow for flow in flows if getattr(flow, side).get(domain.index) and flow.key in theta]
            load = sum((theta[f.key] * f.rate * getattr(f, side)[domain.index] for f in crossing), Fraction(0))
            if load > limit:
                for flow in crossing:
                    scaled = theta[flow.key] * limit / load
                    theta[flow.key] = Fraction(math.floor(scaled * THETA_DIGITS), THETA_DIGITS)
