"""Shares at which every member completes as many tasks as it ever can: if they fit, every rate goal is at its best.

Owns what one member can complete at most (equation 6 with every flow granted in full). Must not know levels.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.shares.cohorts import Cohort, Cohorts

__all__ = ["fastest", "full_totals", "task_speeds"]

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
    kind = int(compiled.node_kind[cohort.node])
    speeds = task_speeds(compiled, cohort.option, kind)
    rate = workload.rate
    demand = workload.modes[int(compiled.option_mode[cohort.option])].demand(compiled.kinds[kind])
    for need in demand.work.compute.values():
        if need > 0:
            rate = min(rate, workload.parallel / need)
    for r, speed in speeds.items():
        rate = min(rate, cohort.ranges[r][1] * speed)
    return rate, {r: -(-rate // speed) for r, speed in speeds.items()}


def task_speeds(compiled: Compiled, option: int, kind: int) -> dict[int, Fraction]:
    """Tasks/s that one unit of each resource of the work allows (equation 6)."""
    workload = compiled.instance.workloads[int(compiled.option_workload[option])]
    work = workload.modes[int(compiled.option_mode[option])].demand(compiled.kinds[kind]).work
    needs = {name: need for name, need in work.compute.items() if need > 0}
    needs.update({name: held for name, need in work.memory.items() if (held := need * (workload.residence or 0)) > 0})
    return {
        compiled.resources.index(name): Fraction(10) ** compiled.instance.resources[name].exponent / need
        for name, need in needs.items()
    }
