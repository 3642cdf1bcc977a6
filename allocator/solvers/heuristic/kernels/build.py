"""From the compiled instance to the arrays of the kernels.

Owns what of an instance the kernels see, and the surrogates: rates, response times and the peak depend on shares, which
are decided after the placement; the kernels steer by amounts in excess of what there is. Must not know the search.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.errors import MethodRefused
from allocator.model.families import Family, GoalId
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.build_columns import Columns, columns_of
from allocator.solvers.heuristic.kernels.build_costs import cost_fields
from allocator.solvers.heuristic.kernels.build_rules import partitions, rule_fields, unit_fields
from allocator.solvers.heuristic.kernels.build_traffic import traffic_fields
from allocator.solvers.heuristic.kernels.items import Items
from allocator.solvers.heuristic.kernels.problem import Problem

__all__ = ["build_problem"]

Int = npt.NDArray[np.int64]

LEVEL_GOALS = {
    GoalId.PLACED: at.GOAL_PLACED,
    GoalId.TRAFFIC: at.GOAL_TRAFFIC,
    GoalId.COST: at.GOAL_COST,
    GoalId.CONGESTION: at.GOAL_CONGESTION,
    GoalId.BALANCE: at.GOAL_BALANCE,
    GoalId.MOVES: at.GOAL_MOVES,
    GoalId.NODES: at.GOAL_NODES,
    GoalId.POWER: at.GOAL_POWER,
    GoalId.P99: at.GOAL_P99,
    GoalId.THROUGHPUT: at.GOAL_RATES,
    GoalId.FAIRNESS: at.GOAL_RATES,
}


def build_problem(compiled: Compiled, items: Items) -> Problem:
    """Arrays of an instance under its model.

    Raises
    ------
    MethodRefused
        For rules that the kernels cannot keep.
    """
    level_of = np.full(at.NUM_GOALS, -1, dtype=np.int64)
    for index, level in enumerate(compiled.model.levels):
        for goal in level.goals:
            if goal.id in LEVEL_GOALS and level_of[LEVEL_GOALS[goal.id]] < 0:
                level_of[LEVEL_GOALS[goal.id]] = index + 1
    columns = columns_of(compiled)
    topology = _topology(compiled, columns)
    rules = rule_fields(compiled, items)
    units = unit_fields(compiled, items)
    traffic = traffic_fields(compiled, items)
    costs = cost_fields(compiled, items, columns)
    flags = columns.flags | rules.flags | units.flags | traffic.flags | costs.flags
    sizes = np.array(
        [
            compiled.num_nodes,
            len(columns.limit),
            columns.need.shape[1],
            len(compiled.resources),
            len(compiled.kinds),
            len(items.block),
            len(compiled.model.levels) + 1,
            flags,
        ],
        dtype=np.int64,
    )
    fields = {
        "sizes": sizes,
        "level_of": level_of,
        **topology,
        **columns.fields,
        **rules.fields,
        **units.fields,
        **traffic.fields,
        **costs.fields,
    }
    fields |= _spare(fields)
    return Problem(**fields)  # type: ignore[arg-type]


def _spare(fields: Mapping[str, Any]) -> dict[str, object]:
    """Transient columns, and what newcomers may need of them: who leaves a node holds there what it held."""
    lasting = np.nonzero(fields["holds"])[0].astype(np.int64)
    current, leaf = fields["current"], fields["leaf"]
    kinds = int(fields["sizes"][at.KINDS])
    runs = np.nonzero(current >= 0)[0] if len(lasting) else np.zeros(0, dtype=np.int64)
    rows = fields["current_option"][runs] * kinds + fields["kind"][current[runs]]
    spare = fields["limit"][leaf][:, lasting]
    np.subtract.at(spare, current[runs], fields["need"][rows][:, lasting])
    return {"lasting": lasting, "spare": np.ascontiguousarray(spare)}


def _topology(compiled: Compiled, columns: Columns) -> dict[str, object]:
    """Domains above each node: those with a limit or a cost (areas), and all of them (paths)."""
    num_domains = len(columns.limit)
    first, end = np.zeros(num_domains, dtype=np.int64), np.zeros(num_domains, dtype=np.int64)
    first[: compiled.num_domains], end[: compiled.num_domains] = compiled.first_node, compiled.end_node
    areas: list[int] = []
    paths: list[int] = []
    area_start, path_start = [0], [0]
    for node in range(compiled.num_nodes):
        domain = int(compiled.node_domain[node])
        areas.append(domain)
        paths.append(domain)
        domain = int(compiled.parent[domain])
        while domain >= 0:
            if columns.matters[domain]:
                areas.append(domain)
            paths.append(domain)
            domain = int(compiled.parent[domain])
        areas.extend(columns.extra_areas.get(node, ()))
        area_start.append(len(areas))
        path_start.append(len(paths))
    return {
        "kind": np.ascontiguousarray(compiled.node_kind, dtype=np.int64),
        "first": first,
        "end": end,
        "leaf": np.ascontiguousarray(compiled.node_domain, dtype=np.int64),
        "area_start": np.array(area_start, dtype=np.int64),
        "area": np.array(areas, dtype=np.int64),
        "path_start": np.array(path_start, dtype=np.int64),
        "path": np.array(paths, dtype=np.int64),
    }


def refuse_rules(compiled: Compiled) -> None:
    """Raise ``MethodRefused`` for what the kernels cannot keep."""
    model, instance = compiled.model, compiled.instance
    if Family.RESERVE not in model.ignore:
        for rule in instance.reserves:
            for name in rule.resources or compiled.resources:
                stated = {
                    kind: {name in n.capacity for n in instance.nodes if n.kind == kind} for kind in compiled.kinds
                }
                for kind, found in stated.items():
                    if len(found) > 1:
                        raise MethodRefused(
                            f"local search: `reserve` of {name} where some nodes of kind {kind} state no capacity of it"
                        )
    teams = {block for team in compiled.teams for block in team.blocks}
    if any(block in teams for unit in compiled.gangs for block in unit.blocks):
        raise MethodRefused("local search: members that belong to a team and to a gang")
    if Family.SPREAD not in model.ignore:
        for level in dict.fromkeys(spread.level for spread in instance.spreads):
            if len(partitions(compiled, level)) > 1:
                raise MethodRefused(f"local search: `spread` over zones of level {level} that lie in each other")
