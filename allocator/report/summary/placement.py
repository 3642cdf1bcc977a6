"""Which class stands where: members by class and top-level domain."""

from __future__ import annotations

from collections import Counter

from allocator.instance.entities import Domain, Instance
from allocator.plan.result import Result
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]

MAX_COLUMNS = 6
HEADER_WIDTH = 56
"""Domains get a column of their own up to this number and sum of name lengths; the others share one."""


def section(result: Result, instance: Instance) -> Section | None:
    """A row a class, a column a domain of the topmost level that has several; None without a plan."""
    if result.plan is None or not result.plan.placements:
        return None
    domains = _top(instance)
    if not domains:
        return None
    owner = {
        node.path: domain.path for domain in domains for node in instance.nodes[domain.first_node : domain.end_node]
    }
    counts: Counter[tuple[str, str]] = Counter()
    for workload, _, _, node in result.plan.members():
        if node in owner:
            counts[workload, owner[node]] += 1
    totals: Counter[str] = Counter()
    for (_, path), members in counts.items():
        totals[path] += members
    own = [domain.path for domain in domains]
    rest: list[str] = []
    room = _columns(own)
    if len(own) > room:
        busiest = set(sorted(own, key=lambda path: -totals[path])[:room])
        rest = [path for path in own if path not in busiest]
        own = [path for path in own if path in busiest]
    columns = [Column("class"), *(Column(_short(path), right=True) for path in own)]
    if rest:
        columns.append(Column(f"{len(rest):,} others", right=True))
    standing = {name for name, _ in counts}
    names = [workload.name for workload in instance.workloads if workload.name in standing]
    shown, more = cut(names)
    rows = []
    for name in shown:
        cells = [name, *(_members(counts[name, path]) for path in own)]
        if rest:
            cells.append(_members(sum(counts[name, path] for path in rest)))
        rows.append(tuple(cells))
    levels = {domain.level for domain in domains}
    title = f"Members by class and {levels.pop() if len(levels) == 1 else 'top-level domain'}"
    return Section(title, sheet=Sheet(tuple(columns), tuple(rows), more))


def _top(instance: Instance) -> list[Domain]:
    """Children of the first domain, from the root down, that has several; the only node of a trivial topology."""
    domain = instance.domains[0]
    while len(domain.children) == 1:
        domain = instance.domains[domain.children[0]]
    if not domain.children:
        return [domain] if domain.is_node else []
    return [instance.domains[child] for child in domain.children]


def _columns(paths: list[str]) -> int:
    """How many domains can have a column; all, or at least one."""
    widest = max(len(_short(path)) for path in paths) + 2
    room = max(1, HEADER_WIDTH // widest)
    return len(paths) if len(paths) <= min(room, MAX_COLUMNS + 1) else min(room, MAX_COLUMNS)


def _short(path: str) -> str:
    return path.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")


def _members(members: int) -> str:
    return f"{members:,}" if members else "."
