"""Goals ``traffic`` and ``congestion`` (equations 18, 20): linear, or convex piecewise linear, in the offered loads."""

from __future__ import annotations

from fractions import Fraction

from allocator.model.entities import Goal
from allocator.solvers.evaluation.goals import CONGESTION_PIECES
from allocator.solvers.milp.fabric.loads import link_load
from allocator.solvers.milp.fabric.matrix import matrix_traffic
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.goals.base import GoalTerms, greatest_common_divisor
from allocator.solvers.milp.terms import Terms

__all__ = ["congestion", "traffic"]


def traffic(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Offered rate times distance, summed over flows with both ends placed."""
    compiled = form.compiled
    instance = compiled.instance
    rates = [team.rate for team in compiled.teams]
    rates += [pair.rate for pair in compiled.pairs]
    rates += [group.rate for group in compiled.groups]
    if instance.distances.matrix is not None:
        terms = matrix_traffic(form, instance.distances.matrix)
        steps = [rate * distance for rate in set(rates) for distance in set(instance.distances.matrix.values())]
        return GoalTerms(terms, greatest_common_divisor(steps))
    terms = Terms()
    weights = set()
    for domain in instance.domains:
        if domain.uplink is None or domain.uplink.weight == 0:
            continue
        weights.add(domain.uplink.weight)
        for direction in ("up", "down"):
            terms.extend(link_load(form, domain.index, direction), domain.uplink.weight)
    steps = [rate * weight for rate in set(rates) for weight in weights]
    return GoalTerms(terms.merged(), greatest_common_divisor(steps))


def congestion(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Sum over links and directions of C psi(load / C)."""
    terms = Terms()
    for domain in form.compiled.instance.domains:
        bandwidth = domain.uplink.bandwidth if domain.uplink else None
        if bandwidth is None:
            continue
        for direction in ("up", "down"):
            load = link_load(form, domain.index, direction)
            if not load:
                continue
            if not bandwidth:
                terms.extend(load, CONGESTION_PIECES[-1][1])
                continue
            price = form.real("congestion")  # in units of the bandwidth
            intercept, value_at, last_slope, last_start = Fraction(0), Fraction(0), 0, Fraction(0)
            for start, slope in CONGESTION_PIECES:
                value_at += last_slope * (start - last_start)
                intercept = value_at - slope * start
                line = Terms().extend(load, slope / bandwidth).extend(Terms([(-1, price)]))
                form.at_most("congestion", line, -intercept)
                last_slope, last_start = slope, start
            terms.add(bandwidth, price)
    return GoalTerms(terms, None)
