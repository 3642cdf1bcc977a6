"""What keeps one member of a class from every node, all nodes empty: rules of the class, or its size.

Owns this check; a class without an obstacle may still not fit beside others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.instance.entities import Domain, Instance, WorkloadClass
from allocator.model.families import Family
from allocator.solvers.bounds.room import room, usable_nodes
from allocator.solvers.explanation.elements import Element
from allocator.solvers.explanation.words import amounts_text, at, listed, short_of

__all__ = ["ENDLESS", "Held", "Obstacle", "admitted", "label_of", "obstacle", "tightest"]


Held = npt.NDArray[np.int64]
"""Amount available by node and resource, ``ENDLESS`` where nothing limits it."""

ENDLESS = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """``text``: a sentence without the class's name. ``short``: amounts missing on the node that comes closest.

    ``elements``: constraints of the class that already exclude every node, for an obstacle of rules alone.
    """

    text: str
    short: Mapping[str, int] = field(default_factory=dict)
    elements: tuple[Element, ...] = ()


def obstacle(compiled: Compiled, workload: int) -> Obstacle | None:
    """Why no node can hold a member of the class; None when one can."""
    if usable_nodes(compiled, workload).any():
        return None
    instance, entity = compiled.instance, compiled.instance.workloads[workload]
    if not instance.nodes:
        return Obstacle("there is no node")
    nodes = instance.nodes if Family.ELIGIBILITY in compiled.model.ignore else admitted(instance, entity)
    if not nodes:
        return _rules(instance, entity)
    return _too_large(compiled, workload, nodes)


def admitted(instance: Instance, workload: WorkloadClass) -> tuple[Domain, ...]:
    """Nodes that satisfy every rule of the class."""
    checks = _checks(workload)
    return tuple(
        node
        for node in instance.nodes
        if all(_passes(instance, node, check) for check in checks) and _tolerated(node, workload)
    )


def label_of(node: Domain, label: str) -> str | None:
    """Value of a label; a stated one wins over the implicit ``kind``, ``name`` and ``path``."""
    implicit = {"kind": node.kind, "name": node.path.rsplit("/", 1)[-1], "path": node.path}
    return node.labels.get(label, implicit.get(label))


def _checks(workload: WorkloadClass) -> list[tuple[str, str | None, Sequence[str]]]:
    rules = workload.placement
    checks: list[tuple[str, str | None, Sequence[str]]] = [
        ("label", label, accepted) for label, accepted in rules.require.items()
    ]
    checks += [("capability", name, ()) for name in sorted(rules.capabilities)]
    if rules.within:
        checks.append(("within", None, rules.within))
    return checks


def _passes(instance: Instance, node: Domain, check: tuple[str, str | None, Sequence[str]]) -> bool:
    what, name, accepted = check
    if what == "label":
        return label_of(node, str(name)) in accepted
    if what == "capability":
        return name in node.capabilities
    return any(domain.path in accepted for domain in instance.ancestors(node))


def _tolerated(node: Domain, workload: WorkloadClass) -> bool:
    return node.taints <= workload.placement.tolerations


def _rules(instance: Instance, workload: WorkloadClass) -> Obstacle:
    """Name one rule that no node satisfies, else all of them together."""
    for check in _checks(workload):
        if not any(_passes(instance, node, check) for node in instance.nodes):
            return _one_rule(instance, workload, check)
    refused = sorted({taint for node in instance.nodes for taint in node.taints - workload.placement.tolerations})
    if all(not _tolerated(node, workload) for node in instance.nodes):
        return Obstacle(f"every node has a taint that it does not tolerate: {listed(refused)}")
    parts = [
        f"label {name}" if what == "label" else what if name is None else f"{what} {name}"
        for what, name, _ in _checks(workload)
    ]
    parts += [f"taint {taint}" for taint in refused]
    return Obstacle(f"no node satisfies all its rules at once: {listed(parts)}")


def _one_rule(instance: Instance, workload: WorkloadClass, check: tuple[str, str | None, Sequence[str]]) -> Obstacle:
    what, name, accepted = check
    element: dict[str, object] = {"family": "eligibility", "class": workload.name}
    if what == "label":
        there = sorted({value for node in instance.nodes if (value := label_of(node, str(name))) is not None})
        known = f"nodes have {listed(there)}" if there else "no node states that label"
        text = f"no node has label {name} = {listed(accepted, 'or')}; {known}"
        return Obstacle(text, elements=({**element, "label": name},))
    if what == "capability":
        offered = sorted({capability for node in instance.nodes for capability in node.capabilities})
        known = f"nodes offer {listed(offered)}" if offered else "no node offers any"
        return Obstacle(f"no node offers capability {name}; {known}", elements=({**element, "capability": name},))
    return Obstacle(
        f"there is no node within {listed(accepted, 'or')}", elements=({**element, "within": list(accepted)},)
    )


def _too_large(compiled: Compiled, workload: int, nodes: Sequence[Domain]) -> Obstacle:
    """Name the node where least is missing, and what."""
    instance = compiled.instance
    best = tightest(compiled, workload, nodes, _held_alone(compiled))
    if best is None:
        return Obstacle("no node can hold one member")
    node, short, asks = best
    holds = {name: asks[name] - amount for name, amount in short.items()}
    text = (
        f"one member asks for {amounts_text(instance, {name: asks[name] for name in short})}; the node that comes "
        f"closest, {at(node.path)}, can give {amounts_text(instance, holds)}: {short_of(instance, short)}"
    )
    return Obstacle(text, short)


def _held_alone(compiled: Compiled) -> Held:
    """Amount that one node can use when all others are empty."""
    held = np.full((compiled.num_nodes, len(compiled.resources)), ENDLESS, dtype=np.int64)
    one: npt.NDArray[np.bool_] = np.zeros(compiled.num_nodes, dtype=np.bool_)
    asked = [r for r in range(len(compiled.resources)) if compiled.floor[:, :, r].any()]
    seen: dict[tuple[int, bytes], int] = {}
    for node in range(compiled.num_nodes):
        domain = int(compiled.node_domain[node])
        # nodes of one parent with equal limits hold the same
        key = int(compiled.parent[domain]), compiled.limit[domain].tobytes() + compiled.capacity[domain].tobytes()
        if key not in seen:
            seen[key] = node
            one[:] = False
            one[node] = True
            for r in asked:
                amount = room(compiled, r, one)
                held[node, r] = ENDLESS if amount is None else amount
        else:
            held[node] = held[seen[key]]
    return held


def tightest(
    compiled: Compiled, workload: int, nodes: Sequence[Domain], held: Held
) -> tuple[Domain, dict[str, int], dict[str, int]] | None:
    """The node and mode in which a member lacks least, relative to what it asks for: node, amounts short, floors.

    ``held``: amounts available, int64[N, R]. Where nothing is short, no amounts come back.
    """
    if not nodes:
        return None
    columns = np.array([node.first_node for node in nodes], dtype=np.int64)
    there = np.maximum(held[columns], 0)
    best: tuple[float, int, int] | None = None
    for option in compiled.options_of(workload):
        floors = compiled.floor[option][compiled.node_kind[columns]]
        lacking = np.maximum(floors - there, 0)
        part = (lacking / np.maximum(floors, 1)).sum(axis=1)  # only orders the nodes: amounts below are exact
        row = int(part.argmin())
        if best is None or part[row] < best[0]:
            best = float(part[row]), option, row
    if best is None:
        return None
    _, option, row = best
    node = nodes[row]
    asks = compiled.floor[option, compiled.node_kind[node.first_node]].tolist()
    short = {
        name: asks[r] - int(there[row, r]) for r, name in enumerate(compiled.resources) if asks[r] > int(there[row, r])
    }
    return node, short, {name: asks[r] for r, name in enumerate(compiled.resources) if asks[r]}
