"""Equation (2), ``eligibility``: labels, taints, capabilities and domains a class is confined to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from allocator.checker.situation import Situation
from allocator.instance.entities import Domain, Instance, Placement
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["eligibility"]


def eligibility(situation: Situation) -> Iterator[Violation]:
    """One violation for each class and node where members stand that may not."""
    instance = situation.instance
    counts: Counter[tuple[int, int]] = Counter()
    for batch in situation.standing.batches:
        counts[batch.workload, batch.node] += batch.count
    for (workload, node), count in counts.items():
        reason = _reason(instance, instance.workloads[workload].placement, instance.nodes[node])
        if count and reason is not None:
            message = f"{count} members on {instance.nodes[node].path}: {reason}"
            yield Violation(Family.ELIGIBILITY, instance.workloads[workload].name, message)


def _reason(instance: Instance, placement: Placement, node: Domain) -> str | None:
    """Why a member may not stand on the node; None when it may."""
    for label, accepted in placement.require.items():
        value = _label(node, label)
        if value not in accepted:
            stated = "is not stated" if value is None else f"is {value}"
            return f"label {label} {stated}, accepted: {', '.join(accepted)}"
    refused = sorted(node.taints - placement.tolerations)
    if refused:
        return f"taint not tolerated: {', '.join(refused)}"
    lacking = sorted(placement.capabilities - node.capabilities)
    if lacking:
        return f"capability not offered: {', '.join(lacking)}"
    if placement.within and not {domain.path for domain in instance.ancestors(node)} & set(placement.within):
        return f"outside of {', '.join(placement.within)}"
    return None


def _label(node: Domain, label: str) -> str | None:
    """Value of a label; a stated one wins over the implicit ``kind``, ``name`` and ``path``."""
    if label in node.labels:
        return node.labels[label]
    if label == "kind":
        return node.kind
    if label == "path":
        return node.path
    if label == "name":
        return node.path.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")
    return None
