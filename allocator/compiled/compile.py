"""Instance and model to ``Compiled``. The only constructor of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.blocks import reduce_members
from allocator.compiled.demands import eligible_options, option_arrays
from allocator.compiled.entities import Block, Compiled
from allocator.compiled.topology import limits_of, topology_arrays
from allocator.documents.collector import collector_paused
from allocator.instance.entities import Instance
from allocator.model.entities import Model

__all__ = ["compile_instance"]


def compile_instance(instance: Instance, model: Model) -> Compiled:
    """Build the arrays of an instance under a model; see ``Compiled``."""
    with collector_paused():
        return _compile(instance, model)


def _compile(instance: Instance, model: Model) -> Compiled:
    resources = tuple(instance.resources)
    column = {name: index for index, name in enumerate(resources)}
    kinds = tuple(dict.fromkeys(node.kind or "" for node in instance.nodes))
    topology = topology_arrays(instance, kinds, column)
    options = option_arrays(instance, kinds, column)
    reduction = reduce_members(instance, model, options.first_option)
    current_use = _current_use(reduction.blocks, options.floor, topology.node_kind, len(resources))
    limits = limits_of(instance, model, topology, resources, current_use)
    eligible = eligible_options(instance, model, options, topology.node_kind, limits.path_limit)
    compiled = Compiled(
        instance=instance,
        model=model,
        resources=resources,
        kinds=kinds,
        parent=topology.parent,
        first_node=topology.first_node,
        end_node=topology.end_node,
        end_domain=topology.end_domain,
        node_domain=topology.node_domain,
        node_kind=topology.node_kind,
        capacity=topology.capacity,
        safety=topology.safety,
        pool=topology.pool,
        limit=limits.limit,
        pool_limit=limits.pool_limit,
        overfull=limits.overfull,
        first_option=options.first_option,
        option_workload=options.option_workload,
        option_mode=options.option_mode,
        floor=options.floor,
        ceiling=options.ceiling,
        eligible=eligible,
        cost=_costs(instance),
        compute_resource=topology.compute_resource,
        power_limit=limits.power_limit,
        blocks=reduction.blocks,
        teams=reduction.teams,
        pairs=reduction.pairs,
        groups=reduction.groups,
        gangs=reduction.gangs,
    )
    for value in vars(compiled).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return compiled


def _current_use(
    blocks: tuple[Block, ...], floor: npt.NDArray[np.int64], node_kind: npt.NDArray[np.int64], num_resources: int
) -> npt.NDArray[np.int64]:
    use = np.zeros((len(node_kind), num_resources), dtype=np.int64)
    running = [(block.current_node, block.current_option, block.count) for block in blocks if block.current_node >= 0]
    if running:
        nodes, options, counts = np.array(running, dtype=np.int64).T
        np.add.at(use, nodes, counts[:, None] * floor[options, node_kind[nodes]])
    return use


def _costs(instance: Instance) -> npt.NDArray[np.object_] | None:
    if not any(workload.cost for workload in instance.workloads):
        return None
    costs = np.full((len(instance.workloads), len(instance.nodes)), Fraction(0), dtype=object)
    for w, workload in enumerate(instance.workloads):
        if not workload.cost:
            continue
        other = workload.cost.get("default", Fraction(0))
        for n, node in enumerate(instance.nodes):
            costs[w, n] = workload.cost.get(node.path, workload.cost.get(node.kind or "", other))
    return costs
