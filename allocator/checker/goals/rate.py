"""Goals on task rates: ``throughput`` (16) and ``fairness`` (17)."""

from __future__ import annotations

from fractions import Fraction

from allocator.checker.situation import Situation
from allocator.model.entities import Goal

__all__ = ["fairness", "throughput"]


def throughput(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Weighted tasks/s completed."""
    workloads = situation.instance.workloads
    return sum(
        (workload.weight * rate for workload, rate in zip(workloads, situation.class_rates, strict=True)), Fraction(0)
    )


def fairness(situation: Situation, goal: Goal) -> Fraction:  # noqa: ARG001 - goals share one signature
    """Smallest completed fraction of what a class offers; 1 when no class offers anything."""
    fractions = [
        rate / (workload.rate * workload.count)
        for workload, rate in zip(situation.instance.workloads, situation.class_rates, strict=True)
        if workload.rate * workload.count > 0
    ]
    return min(fractions, default=Fraction(1))
