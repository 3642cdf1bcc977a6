"""Pieces of documents that the families share: rack entries and rounded numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allocator.generate.cluster import Cluster

__all__ = ["rack_entry", "rounded"]


def rounded(value: float, digits: int) -> float:
    """Round to so many digits after the point, at least one unit of the last."""
    return max(round(value, digits), 10.0**-digits)


def rack_entry(
    cluster: Cluster, profile: str, cpus: Mapping[str, str], network: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """Topology entry of the cluster's racks.

    Parameters
    ----------
    profile : of the catalog's rack.
    cpus : profile of a CPU to the name of the sleds it stands in ("" for all).
    network : overrides that hold whatever the size.
    more : further overrides, with ``__`` for the dots.
    """
    overrides: dict[str, Any] = {}
    for sled in cpus.values():
        overrides[f"{sled or 'sled'}.count"] = cluster.sleds // len(cpus)
    overrides["node.count"] = cluster.cpus
    if cluster.part < 1:
        for cpu in cpus:
            millicores, mib = cluster.node(cpu)
            overrides[f"{cpu}.capacity.cpu"] = millicores // 1000
            overrides[f"{cpu}.capacity.memory"] = f"{mib} MiB"
    overrides.update(network)
    overrides.update({key.replace("__", "."): value for key, value in more.items()})
    return {"profile": profile, "name": "rack", "count": cluster.racks, "set": overrides}
