"""Options (workload, mode), their floors and ceilings by node kind, and where each option may stand (2, 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from allocator.instance.entities import Domain, Instance, Placement
from allocator.model.entities import Model
from allocator.model.families import Family

__all__ = ["OptionArrays", "eligible_options", "option_arrays"]

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OptionArrays:
    """See ``Compiled`` for shapes and meaning."""

    first_option: Int64
    option_workload: Int64
    option_mode: Int64
    floor: Int64
    ceiling: Int64


def option_arrays(instance: Instance, kinds: Sequence[str], column: Mapping[str, int]) -> OptionArrays:
    """Build the option arrays. ``column``: resource name to column."""
    counts = [len(workload.modes) for workload in instance.workloads]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    num_options = int(first[-1])
    shape = (num_options, len(kinds), len(column))
    floor = np.zeros(shape, dtype=np.int64)
    ceiling = np.full(shape, -1, dtype=np.int64)
    option = 0
    for workload in instance.workloads:
        for mode in workload.modes:
            # the default serves every kind; only kinds stated apart are overwritten
            for name, amount in mode.default.requests.items():
                floor[option, :, column[name]] = amount
            for name, amount in mode.default.limits.items():
                ceiling[option, :, column[name]] = amount
            for k, kind in enumerate(kinds):
                demand = mode.by_kind.get(kind)
                if demand is None:
                    continue
                floor[option, k] = 0
                ceiling[option, k] = -1
                for name, amount in demand.requests.items():
                    floor[option, k, column[name]] = amount
                for name, amount in demand.limits.items():
                    ceiling[option, k, column[name]] = amount
            option += 1
    return OptionArrays(
        first_option=first,
        option_workload=np.repeat(np.arange(len(counts), dtype=np.int64), counts),
        option_mode=np.concatenate([np.arange(n, dtype=np.int64) for n in counts] or [np.zeros(0, np.int64)]),
        floor=floor,
        ceiling=ceiling,
    )


def eligible_options(
    instance: Instance, model: Model, options: OptionArrays, node_kind: Int64, path_limit: Int64
) -> npt.NDArray[np.bool_]:
    """bool[O, N]: the node satisfies the class's placement rules and can hold one member's floors."""
    num_options = len(options.option_workload)
    num_nodes, num_resources = path_limit.shape
    # alike nodes (one kind, equal limits) are judged once
    alike, group = np.unique(np.column_stack([node_kind, path_limit]), axis=0, return_inverse=True)
    fits = np.ones((num_options, len(alike)), dtype=np.bool_)
    for kind in range(options.floor.shape[1]):
        of_kind = np.nonzero(alike[:, 0] == kind)[0]
        for r in range(num_resources if len(of_kind) else 0):
            floors, limits = options.floor[:, kind, r], alike[of_kind, 1 + r]
            large = np.nonzero(floors > limits.min())[0]  # all others fit everywhere
            if len(large):
                fits[np.ix_(large, of_kind)] &= floors[large, None] <= limits
    eligible: npt.NDArray[np.bool_] = np.take(fits, group.reshape(num_nodes), axis=1)
    if Family.ELIGIBILITY in model.ignore:
        return eligible
    masks: dict[tuple[object, ...], npt.NDArray[np.bool_]] = {}
    of_placement: dict[int, npt.NDArray[np.bool_]] = {}
    for w, workload in enumerate(instance.workloads):
        placement = workload.placement
        mask = of_placement.get(id(placement))  # classes without rules share theirs
        if mask is None:
            key = _rules(placement)
            if key not in masks:
                masks[key] = _mask(instance, placement)
            mask = of_placement[id(placement)] = masks[key]
        if not mask.all():
            eligible[options.first_option[w] : options.first_option[w + 1]] &= mask
    return eligible


def _rules(placement: Placement) -> tuple[object, ...]:
    require = tuple(sorted((label, tuple(values)) for label, values in placement.require.items()))
    return (require, placement.tolerations, placement.capabilities, placement.within)


def _mask(instance: Instance, placement: Placement) -> npt.NDArray[np.bool_]:
    mask = np.array([_accepts(node, placement) for node in instance.nodes], dtype=np.bool_)
    if placement.within:
        inside = np.zeros(len(mask), dtype=np.bool_)
        for path in placement.within:
            domain = instance.domain_by_path[path]
            inside[domain.first_node : domain.end_node] = True
        mask &= inside
    return mask


def _accepts(node: Domain, placement: Placement) -> bool:
    implicit = {"kind": node.kind, "name": _unescaped(node.path.rsplit("/", 1)[-1]), "path": node.path}
    for label, values in placement.require.items():
        if node.labels.get(label, implicit.get(label)) not in values:
            return False
    return node.taints <= placement.tolerations and placement.capabilities <= node.capabilities


def _unescaped(name: str) -> str:
    """Undo JSON Pointer's escapes of one name."""
    return name.replace("~1", "/").replace("~0", "~")
