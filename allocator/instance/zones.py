"""Zones: the sets of nodes over which ``conflict``, ``spread`` and ``dependency`` count the members of a group.

A level of such a rule is a level of the topology, or ``label:NAME``: then a zone is all nodes that have one value of
the label, wherever they stand in the tree. So nodes can be divided in more ways than one tree can nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from allocator.instance.entities import Domain, Instance

__all__ = ["IMPLICIT_LABELS", "LABEL_PREFIX", "Zone", "label_of", "zones_in"]

LABEL_PREFIX = "label:"
IMPLICIT_LABELS = ("kind", "name", "path")


@dataclass(frozen=True, slots=True)
class Zone:
    """``name``: path of the domain, or ``label:NAME=VALUE``. ``nodes``: ascending indices into ``Instance.nodes``."""

    name: str
    nodes: Sequence[int]


def label_of(node: Domain, name: str) -> str | None:
    """Value of a label of a node: stated or inherited, else one of the implicit ones; None without any."""
    stated = node.labels.get(name)
    if stated is not None or name not in IMPLICIT_LABELS:
        return stated
    if name == "kind":
        return node.kind
    last = node.path.rsplit("/", 1)[-1]
    return node.path if name == "path" else last.replace("~1", "/").replace("~0", "~")


def zones_in(instance: Instance, level: str) -> tuple[Zone, ...]:
    """Zones of a level, domains in preorder, values of a label in order of their first node.

    Domains of one level may lie in one another; the values of a label never overlap. Nodes without the label are in no
    zone, and domains without nodes are none. A level of the topology that is called like a label goes before it.
    """
    domains = instance.domains_of(level)
    if domains or not level.startswith(LABEL_PREFIX):
        return tuple(
            Zone(domain.path, range(domain.first_node, domain.end_node))
            for domain in domains
            if domain.first_node < domain.end_node
        )
    nodes: dict[str, list[int]] = {}
    name = level.removeprefix(LABEL_PREFIX)
    for index, node in enumerate(instance.nodes):
        value = label_of(node, name)
        if value is not None:
            nodes.setdefault(value, []).append(index)
    return tuple(Zone(f"{level}={value}", tuple(found)) for value, found in nodes.items())
