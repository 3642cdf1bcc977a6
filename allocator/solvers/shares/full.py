"""Shares at which every member completes as many tasks as it ever can: if they fit, every rate goal is at its best.

Owns what one member can complete at most (equation 6 with every flow granted in full). Must not know levels.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.shares.cohorts import Cohort, Cohorts

__all__ = ["fastest", "full_totals"]

Int64 = npt.NDArray[np.int64]


def full_totals(cohorts: Cohorts) -> Int64:
    """Least totals at which everybody is as fast as it can be; never below ``least``."""
    totals = cohorts.least.copy()
    known: dict[tuple[int, int, tuple[tuple[int, tuple[int, int]], ...]], dict[int, int]] = {}
    kinds: list[int] = cohorts.compiled.node_kind.tolist()
    needs = []
    for cohort in cohorts.cohorts:
        key = cohort.option, kinds[cohort.node], tuple(cohort.ranges.items())
        if key not in known:
            known[key] = fastest(cohorts.compiled, cohort)[1]
        needs.append(known[key])
    for entry, (owner, r) in enumerate(zip(cohorts.owner.tolist(), cohorts.resource.tolist(), strict=True)):
        needed = needs[owner].get(r, 0) * cohorts.cohorts[owner].count
        totals[entry] = max(int(totals[entry]), min(needed, int(cohorts.most[entry])))
    return totals


def fastest(compiled: Compiled, cohort: Cohort) -> tuple[Fraction, dict[int, int]]:
    """Tasks/s that one member completes at most, and the units of each resource that it needs for them."""
    workload = compiled.instance.workloads[cohort.workload]
    mode = workload.modes[int(compiled.option_mode[cohort.option])]
    work = mode.demand(compiled.kinds[int(compiled.node_kind[cohort.node])]).work
    rate = workload.rate
    speeds: dict[int, Fraction] = {}
    for name, need in work.compute.items():
        if need > 0:
            rate = min(rate, workload.parallel / need)
            speeds[compiled.resources.index(name)] = Fraction(10) ** compiled.instance.resources[name].exponent / need
    for name, need in work.memory.items():
        held = need * (workload.residence or 0)
        if held > 0:
            speeds[compiled.resources.index(name)] = Fraction(10) ** compiled.instance.resources[name].exponent / held
    for r, speed in speeds.items():
        rate = min(rate, cohort.ranges[r][1] * speed)
    return rate, {r: -(-rate // speed) for r, speed in speeds.items()}
