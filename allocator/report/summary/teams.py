"""How teams stand together: on one node, or over how many domains of each level."""

from __future__ import annotations

from collections import Counter

from allocator.instance.entities import Instance, Team
from allocator.plan.result import Result
from allocator.report.format import count
from allocator.report.summary.section import Column, Section, Sheet, cut

__all__ = ["section"]


def section(result: Result, instance: Instance) -> Section | None:
    """A row an entry of teams: how many are placed, on one node, and where the widest one reaches; None without any."""
    if result.plan is None or not instance.teams:
        return None
    paths = {node.path: number for number, node in enumerate(instance.nodes)}
    node_of = {(workload, member): paths[node] for workload, member, _, node in result.plan.members()}
    levels = list(dict.fromkeys(domain.level for domain in instance.domains[1:]))
    shown, more = cut(instance.teams)
    rows = []
    for team in shown:
        stands = [nodes for nodes in (_nodes(team, j, node_of) for j in range(team.count)) if nodes]
        together = sum(1 for nodes in stands if len(nodes) == 1)
        widest = max(stands, key=len, default=frozenset())
        rows.append(
            (team.name, f"{len(stands):,}", f"{team.count:,}", f"{together:,}", _reach(instance, widest, levels))
        )
    columns = (
        Column("team"),
        Column("placed", right=True),
        Column("of", right=True),
        Column("on one node", right=True),
        Column("the widest covers"),
    )
    return Section("Teams", sheet=Sheet(columns, tuple(rows), more))


def _nodes(team: Team, number: int, node_of: dict[tuple[str, int], int]) -> frozenset[int]:
    """Nodes that hold members of one team; a team is placed whole or not at all."""
    return frozenset(
        node_of[name, member]
        for name, size in team.members.items()
        for member in range(team.offsets[name] + number * size, team.offsets[name] + (number + 1) * size)
        if (name, member) in node_of
    )


def _reach(instance: Instance, nodes: frozenset[int], levels: list[str]) -> str:
    """Domains of each level that hold one of the nodes, smallest first."""
    covered: Counter[str] = Counter(
        domain.level
        for domain in instance.domains[1:]
        if any(domain.first_node <= node < domain.end_node for node in nodes)
    )
    parts = [count(covered[level], level) for level in reversed(levels) if covered[level]]
    return ", ".join(parts) or "-"
