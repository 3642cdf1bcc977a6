"""A result as pandas DataFrames: placements, utilisation, links, classes. Floats in base units, for analysis.

The exact numbers stay in the result; a frame is a view for tables and plots.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from allocator.plan.numbers import base_units

if TYPE_CHECKING:
    import pandas as pd

    from allocator.instance.entities import Instance
    from allocator.plan.evaluation import Evaluation
    from allocator.plan.result import Result

__all__ = ["classes_frame", "links_frame", "placements_frame", "utilization_frame"]


def placements_frame(result: Result, instance: Instance | None = None) -> pd.DataFrame:
    """One row a member, unplaced ones included: class, member, mode, node, reason.

    Parameters
    ----------
    instance : the instance that was solved; with it, one column per resource holds the member's share in base units
        (cores, bytes, bit/s), which cannot be told from the plan alone.

    Raises
    ------
    ValueError
        The result has no plan.
    """
    import pandas as pd

    if result.plan is None:
        raise ValueError(_no_plan(result))
    rows: list[dict[str, object]] = []
    for group in result.plan.placements:
        shares: dict[str, object] = {}
        if instance is not None:
            for name, amount in group.shares.items():
                shares[name] = float(base_units(amount, instance.resources[name].exponent))
        rows += [
            {
                "class": group.workload,
                "member": group.first + offset,
                "mode": group.mode,
                "node": group.node_of(offset),
                "reason": None,
                **shares,
            }
            for offset in range(group.count)
        ]
    for missing in result.plan.unplaced:
        rows += [
            {"class": missing.workload, "member": member, "mode": None, "node": None, "reason": missing.reason}
            for member in range(missing.first, missing.first + missing.count)
        ]
    columns = ["class", "member", "mode", "node", "reason"]
    if instance is not None:
        columns += [
            name for name in instance.resources if any(name in group.shares for group in result.plan.placements)
        ]
    order = {workload.name: workload.index for workload in instance.workloads} if instance is not None else {}
    rows.sort(key=lambda row: (order.get(str(row["class"]), 0), row["class"], row["member"]))
    return pd.DataFrame(rows, columns=columns)


def utilization_frame(result: Result) -> pd.DataFrame:
    """One row per domain and resource with a stated capacity: domain, level, resource, used, capacity, utilization.

    Raises
    ------
    ValueError
        The result has no plan.
    """
    import pandas as pd

    rows = [
        (use.domain, use.level, use.resource, float(use.used), float(use.capacity), _float(use.utilization))
        for use in _evaluation(result).uses
    ]
    return pd.DataFrame(rows, columns=["domain", "level", "resource", "used", "capacity", "utilization"])


def links_frame(result: Result) -> pd.DataFrame:
    """One row per uplink and direction, bit/s: domain, level, direction, offered, granted, capacity, load.

    Raises
    ------
    ValueError
        The result has no plan.
    """
    import pandas as pd

    rows = [
        (
            link.domain,
            link.level,
            link.direction,
            float(link.offered),
            float(link.granted),
            _float(link.capacity),
            _float(link.offered / link.capacity if link.capacity else None),
        )
        for link in _evaluation(result).links
    ]
    return pd.DataFrame(rows, columns=["domain", "level", "direction", "offered", "granted", "capacity", "load"])


def classes_frame(result: Result) -> pd.DataFrame:
    """One row a class: class, count, placed, rate and offered (tasks/s), moved, p99 and target (s).

    Raises
    ------
    ValueError
        The result has no plan.
    """
    import pandas as pd

    rows = [
        (
            item.workload,
            item.count,
            item.placed,
            _float(item.rate),
            _float(item.offered),
            item.moved,
            _float(item.p99),
            _float(item.target),
        )
        for item in _evaluation(result).classes
    ]
    return pd.DataFrame(rows, columns=["class", "count", "placed", "rate", "offered", "moved", "p99", "target"])


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _evaluation(result: Result) -> Evaluation:
    if result.evaluation is None:
        raise ValueError(_no_plan(result))
    return result.evaluation


def _no_plan(result: Result) -> str:
    return f"the result has no plan (status {result.status}): look at result.infeasibility and result.termination"
