"""Floors raised to what response times need at least: for placing one by one, without path delays.

Owns the raised arrays. Must not know who places.
"""

from __future__ import annotations

from dataclasses import replace

from allocator.compiled.entities import Compiled
from allocator.solvers.evaluation.response import asks_for_response, least_share, server_of

__all__ = ["with_least_floors"]


def with_least_floors(compiled: Compiled) -> Compiled:
    """The same instance with floors of compute that keep targets and stability (equation 13) where nobody is far.

    Nodes on which a member can never have enough are not eligible. Shares found for it may not suffice for the given
    instance where paths delay; they always suffice for the raised floors.
    """
    asking = [w.index for w in compiled.instance.workloads if asks_for_response(compiled, w.index)]
    if not asking:
        return compiled
    floor, eligible = compiled.floor.copy(), compiled.eligible.copy()
    for workload in asking:
        for option in compiled.options_of(workload):
            known: dict[tuple[int, int], int | None] = {}
            for node in range(compiled.num_nodes):
                kind = int(compiled.node_kind[node])
                server = server_of(compiled, option, kind)
                if server is None or not eligible[option, node]:
                    continue
                key = kind, compiled.ceiling_of(option, node, server.resource)
                if key not in known:
                    known[key] = least_share(compiled, option, node)
                least = known[key]
                if least is None:
                    eligible[option, node] = False
                else:
                    floor[option, kind, server.resource] = max(least, int(floor[option, kind, server.resource]))
    for array in (floor, eligible):
        array.setflags(write=False)
    return replace(compiled, floor=floor, eligible=eligible)
