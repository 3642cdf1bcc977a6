"""What changes against the current placement."""

from __future__ import annotations

from collections import Counter

from allocator.instance.entities import Instance
from allocator.plan.numbers import base_units
from allocator.plan.result import Result
from allocator.report.format import amount, count
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]


def section(result: Result, instance: Instance) -> Section | None:
    """Members that stay, move, are evicted or start, per class with changes; None without a current placement."""
    if result.plan is None or instance.current is None:
        return None
    new = {(workload, member): node for workload, member, _, node in result.plan.members()}
    running: set[tuple[str, int]] = set()
    stay: Counter[str] = Counter()
    move: Counter[str] = Counter()
    evict: Counter[str] = Counter()
    left = 0
    for group in instance.current:
        workload = instance.workload_by_name[group.workload]
        mode = next(mode for mode in workload.modes if mode.name == group.mode)
        kind = instance.domain_by_path[group.node].kind
        floor = mode.demand(kind or "").requests.get("memory", 0)
        for member in range(group.first, group.first + group.count):
            running.add((group.workload, member))
            node = new.get((group.workload, member))
            if node == group.node:
                stay[group.workload] += 1
                continue
            (evict if node is None else move)[group.workload] += 1
            left += floor
    start = Counter(workload for workload, member in new if (workload, member) not in running)
    rows = [
        (name, *(f"{counter[name]:,}" for counter in (stay, move, evict, start)))
        for name in instance.workload_by_name
        if move[name] or evict[name] or start[name]
    ]
    shown, more = cut(rows)
    sentence = f"{count(move.total(), 'member')} of {len(running):,} running move"
    if evict:
        sentence += f", {evict.total():,} are evicted"
    if left and "memory" in instance.resources:
        memory = instance.resources["memory"]
        sentence += f"; they leave {amount(base_units(left, memory.exponent), memory.unit)} of memory behind"
    titles = ("stay", "move", "evicted", "start")
    columns = (Column("class"), *(Column(title, right=True) for title in titles))
    sheet = Sheet(columns, shown, more) if shown else None
    return Section("Changes against the current placement", (f"{sentence}.",), sheet)
