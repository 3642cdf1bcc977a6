"""The resources and links nearest to their limits, the most valuable first. Reads prices, computes none."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.evaluation import Evaluation
from allocator.plan.result import Bottleneck

__all__ = ["bottlenecks"]

BANDWIDTH = "bandwidth"


def bottlenecks(
    evaluation: Evaluation, prices: Mapping[tuple[int, str], float], instance: Instance, limit: int = 5
) -> tuple[Bottleneck, ...]:
    """Domains with a resource, or links, in order of falling price, then of falling utilisation.

    Parameters
    ----------
    prices : worth of one more base unit by (domain index, resource or "bandwidth"); what has none comes after what has.
    limit : how many at most. Unused resources without a price are never among them.

    Notes
    -----
    A link is an entry of resource "bandwidth" with the busier of its two directions; offered load may exceed 1.
    """
    domain_index = {domain.path: domain.index for domain in instance.domains}
    utilization: dict[tuple[str, str], Fraction] = {}
    for use in evaluation.uses:
        if use.utilization is not None:
            utilization[use.domain, use.resource] = use.utilization
    for link in evaluation.links:
        if link.capacity:
            key = link.domain, BANDWIDTH
            utilization[key] = max(utilization.get(key, Fraction(0)), link.offered / link.capacity)
    found = []
    for (domain, resource), ratio in utilization.items():
        price = prices.get((domain_index[domain], resource))
        if ratio or price:
            found.append(Bottleneck(domain, resource, ratio, price))
    found.sort(
        key=lambda entry: (-(entry.price or 0.0), -entry.utilization, domain_index[entry.domain], entry.resource)
    )
    return tuple(found[:limit])
