"""Sizes on a cluster of two architectures. Owns what ``load`` means there.

A class that may run on either is divided between the two halves in one proportion for all, such that both halves are
equally full: to the load asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from allocator.generate.cluster import Cluster
from allocator.generate.drafts import ARM, X86, Draft, Sizes, arm_millicores, cooling_watts
from allocator.generate.sizing import whole_amounts

__all__ = ["balanced"]

MEMORY_LOAD = 0.9  # of the load of the CPU, on the half that has less


def balanced(
    drafts: Sequence[Draft], load: float, cluster: Cluster, kinds: tuple[str, str]
) -> tuple[Sizes, dict[str, float]]:
    """Sizes of the classes, and the cooling that each half then needs (mW, by kind).

    Parameters
    ----------
    drafts : the classes on CPUs.
    load : of the CPUs of both halves; memory stays below.
    kinds : profiles of the x86-64 and of the Arm CPU.
    """
    num_nodes = cluster.num_sleds(0.5) * cluster.cpus
    nodes = [cluster.node(kind) for kind in kinds]
    cpu = [num_nodes * millicores for millicores, _ in nodes]
    memory = [num_nodes * mib for _, mib in nodes]
    part = _part_on_arm(drafts, cpu[1] / cpu[0])
    on_arm = [{X86: 0.0, ARM: 1.0}.get(draft.arch, part) for draft in drafts]
    # members, weighted by what one takes against its size on x86-64
    weights = [
        draft.count * ((1 - share) + share * (draft.arm if draft.arch != ARM else 1.0))
        for draft, share in zip(drafts, on_arm, strict=True)
    ]
    millicores = _fitted([draft.cores for draft in drafts], weights, load * sum(cpu))
    nominal = [draft.memory for draft in drafts]
    use = [
        sum(size * draft.count * abs(half - share) for size, draft, share in zip(nominal, drafts, on_arm, strict=True))
        for half in (1, 0)
    ]
    factor = MEMORY_LOAD * load * min(space / used for space, used in zip(memory, use, strict=True))
    mib = whole_amounts([size * factor for size in nominal], [draft.count for draft in drafts], factor * sum(use))
    heat = dict.fromkeys(kinds, 0.0)
    for draft, share, floor in zip(drafts, on_arm, millicores, strict=True):
        heat[kinds[0]] += (1 - share) * draft.count * cooling_watts(draft, floor)
        on_arm_floor = arm_millicores(draft, floor) if draft.arch != ARM else floor
        heat[kinds[1]] += share * draft.count * cooling_watts(draft, on_arm_floor)
    return Sizes(millicores, mib, [0] * len(drafts), cooling=True), heat


def _part_on_arm(drafts: Sequence[Draft], ratio: float) -> float:
    """Part of the members free to choose that stand on Arm when it holds ``ratio`` times what x86-64 holds."""
    only = {X86: 0.0, ARM: 0.0}
    here = there = 0.0
    for draft in drafts:
        size = draft.count * draft.cores
        if draft.arch in only:
            only[draft.arch] += size
        else:
            here += size
            there += size * draft.arm
    # ratio (X + (1 - p) here) = A + p there
    part = (ratio * (only[X86] + here) - only[ARM]) / (there + ratio * here)
    return min(1.0, max(0.0, part))


def _fitted(nominal: Sequence[float], weights: Sequence[float], capacity: float) -> list[int]:
    total = sum(size * weight for size, weight in zip(nominal, weights, strict=True))
    return whole_amounts([size * capacity / total for size in nominal], weights, capacity)
