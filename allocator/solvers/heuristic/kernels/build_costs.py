"""Goals that are linear in who stands where: placed, cost, moves, nodes, power; and the caps on watts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.instance.entities import MoveCosts
from allocator.instance.node_matrix import NodeMatrix
from allocator.model.families import Family, GoalId
from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.build_columns import Columns
from allocator.solvers.heuristic.kernels.fields import Part
from allocator.solvers.heuristic.kernels.items import Items
from allocator.solvers.heuristic.kernels.problem import ENDLESS

__all__ = ["cost_fields"]

Float = npt.NDArray[np.float64]

CAUTION = 1 - 1e-12  # of a cap on watts, against rounding in sums


def cost_fields(compiled: Compiled, items: Items, columns: Columns) -> Part:
    """The fields of ``Problem`` about them."""
    weights = {goal.id: float(goal.weight) for level in compiled.model.levels for goal in level.goals}
    workloads = compiled.instance.workloads
    flags = 0
    blocks = compiled.blocks
    current = np.array([b.current_node for b in blocks], dtype=np.int64)[items.block]
    current_option = np.array([b.current_option for b in blocks], dtype=np.int64)[items.block]
    workload = np.array([b.workload for b in blocks], dtype=np.int64)[items.block]
    if (current >= 0).any():
        flags |= at.MOVING
    cost = np.zeros((1, 1))
    if GoalId.COST in weights and compiled.cost is not None:
        flags |= at.COSTS
        cost = compiled.cost.astype(np.float64) * weights[GoalId.COST]
    fields: dict[str, object] = {
        "workload": workload,
        "current": current,
        "current_option": current_option,
        "eligible": np.ascontiguousarray(columns.eligible, dtype=np.uint8),
        "first_option": np.ascontiguousarray(compiled.first_option, dtype=np.int64),
        "size": _sizes(compiled),
        "value": np.array([float(w.value) for w in workloads]) * weights.get(GoalId.PLACED, 0.0),
        "cost": cost,
        **_moves(compiled, items, weights.get(GoalId.MOVES)),
        **_power(compiled, weights),
    }
    if isinstance(fields["machine"], np.ndarray) and len(fields["machine"]) > 1:
        flags |= at.MACHINES
    if GoalId.NODES in weights:
        flags |= at.OPENING
    if GoalId.POWER in weights:
        flags |= at.WATTS
    if isinstance(fields["cap"], np.ndarray) and (fields["cap"] < np.inf).any():
        flags |= at.CAPS
    return Part(fields, flags)


def _sizes(compiled: Compiled) -> Float:
    """Weight of a member that must be placed and is not."""
    number = len(compiled.instance.workloads)
    return np.zeros(number) if compiled.model.may_leave_out else np.ones(number)


def _moves(compiled: Compiled, items: Items, weight: float | None) -> dict[str, object]:
    stated = compiled.instance.moves or MoveCosts()
    memory = compiled.resources.index("memory") if "memory" in compiled.resources else -1
    bytes_of = np.zeros(len(compiled.blocks), dtype=np.int64)
    limited = Family.MOVE_LIMIT not in compiled.model.ignore
    if memory >= 0 and limited and stated.limit_bytes is not None:
        for block in compiled.blocks:
            if block.current_node >= 0:
                kind = compiled.node_kind[block.current_node]
                bytes_of[block.index] = compiled.floor[block.current_option, kind, memory]
    scale = 0.0 if weight is None else weight
    machine = np.zeros((1, 1))
    if weight and stated.machine and stated.machine_cost:
        machine = _matrix(compiled, stated.machine_cost) * float(stated.machine) * scale
    most = [ENDLESS if not limited or limit is None else limit for limit in (stated.limit_members, stated.limit_bytes)]
    return {
        "move_cost": np.array([float(w.move_cost) for w in compiled.instance.workloads])
        * float(stated.process)
        * scale,
        "move_bytes": bytes_of[items.block],
        "machine": machine,
        "service": float(stated.service) * scale,
        "most_moves": np.array(most, dtype=np.int64),
    }


def _matrix(compiled: Compiled, costs: Mapping[tuple[str, str], object]) -> Float:
    index = compiled.instance.node_index
    if isinstance(costs, NodeMatrix):
        places = np.array([index[path] for path in costs.paths])
        square = np.asarray(costs.numbers, dtype=np.float64).reshape(len(places), len(places)) / costs.denominator
        found = np.zeros((compiled.num_nodes, compiled.num_nodes))
        found[np.ix_(places, places)] = square
        return found
    made = np.zeros((compiled.num_nodes, compiled.num_nodes))
    for (a, b), value in costs.items():
        made[index[a], index[b]] = float(value)  # type: ignore[arg-type]
    return made


def _power(compiled: Compiled, weights: Mapping[GoalId, float]) -> dict[str, object]:
    nodes = compiled.instance.nodes
    idle, slope = np.zeros(len(nodes)), np.zeros(len(nodes))
    driver = np.ascontiguousarray(compiled.compute_resource, dtype=np.int64)
    for index, node in enumerate(nodes):
        if node.power is None:
            continue
        idle[index] = float(node.power.idle)
        r = int(driver[index])
        if r >= 0:
            capacity = int(compiled.capacity[compiled.node_domain[index], r])
            slope[index] = float((node.power.busy - node.power.idle) / capacity)
    column = compiled.resources.index("power") if "power" in compiled.resources else -1
    unit = 10.0 ** compiled.instance.resources["power"].exponent if column >= 0 else 0.0
    cap = [np.inf if limit is None else float(limit) * CAUTION for limit in compiled.power_limit]
    return {
        "node_weight": np.array([float(node.weight) for node in nodes]) * weights.get(GoalId.NODES, 0.0),
        "idle": idle * weights.get(GoalId.POWER, 0.0),
        "slope": slope * weights.get(GoalId.POWER, 0.0),
        "driver": driver,
        "cap": np.array(cap),
        "draw_idle": idle,
        "draw_slope": slope,
        "watt": unit,
        "watt_column": column,
    }
