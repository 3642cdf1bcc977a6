"""Small instances, models and plans built from the entities alone, for tests that must not depend on file reading.

Amounts are in the resource's unit: ``cpu`` in millicores, everything else in base units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from allocator.instance.entities import (
    CurrentPlacement,
    Demand,
    Domain,
    Instance,
    Mode,
    Placement,
    Resource,
    Role,
    Team,
    Uplink,
    Work,
    WorkloadClass,
)
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import Family, GoalId
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup, flow_endpoint

RESOURCES = {
    "cpu": Resource("cpu", Role.COMPUTE, "core", exponent=-3),
    "memory": Resource("memory", Role.MEMORY, "B"),
    "gpu": Resource("gpu", Role.OTHER, ""),
    "disk": Resource("disk", Role.OTHER, "B", transient=True, overload=Fraction(2)),
    "power": Resource("power", Role.POWER, "W"),
}


@dataclass(frozen=True)
class Tree:
    """A domain to be: ``kind`` is None for an inner one."""

    level: str
    name: str
    kind: str | None
    children: tuple[Tree, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


def node(name: str, *, kind: str = "k", level: str = "host", **fields: Any) -> Tree:
    return Tree(level, name, kind, (), fields)


def group(level: str, name: str, *children: Tree, **fields: Any) -> Tree:
    return Tree(level, name, None, children, fields)


def build(*trees: Tree, workloads: Sequence[WorkloadClass] = (), **fields: Any) -> Instance:
    """An instance; ``fields`` as in the entity. ``current`` may be {class: [path or None, ...]}."""
    domains: list[Domain] = []
    nodes = 0

    def add(tree: Tree, parent: int, prefix: str) -> int:
        nonlocal nodes
        index, first = len(domains), nodes
        path = flow_endpoint(tree.name)
        path = f"{prefix}/{path}" if prefix else path
        domains.append(None)  # type: ignore[arg-type]
        if tree.kind is not None:
            nodes += 1
        children = tuple(add(child, index, path) for child in tree.children)
        extra = {"uplink": Uplink(), **tree.fields}
        domains[index] = Domain(
            index, path, tree.level, parent, children, tree.kind, first, nodes, len(domains), **extra
        )
        return index

    domains.append(None)  # type: ignore[arg-type]
    top = tuple(add(tree, 0, "") for tree in trees)
    domains[0] = Domain(0, "", "root", None, top, None, 0, nodes, len(domains), **fields.pop("root", {}))
    current = fields.pop("current", None)
    if isinstance(current, dict):
        by_name = {workload.name: workload for workload in workloads}
        current = tuple(
            CurrentPlacement(name, member, 1, by_name[name].modes[0].name, path)
            for name, paths in current.items()
            for member, path in enumerate(paths)
            if path is not None
        )
    instance = Instance(
        name="test",
        resources=fields.pop("resources", RESOURCES),
        domains=tuple(domains),
        workloads=tuple(replace(workload, index=index) for index, workload in enumerate(workloads)),
        current=current,
        **fields,
    )
    return known_as(instance, "d1")


def known_as(instance: Instance, digest: str) -> Instance:
    """The same instance, with a short digest of its own."""
    named = replace(instance)
    vars(named)["digest"] = digest
    return named


def workload(
    name: str,
    count: int = 1,
    requests: Mapping[str, int] | None = None,
    *,
    limits: Mapping[str, int] | None = None,
    compute: Mapping[str, Any] | None = None,
    memory: Mapping[str, Any] | None = None,
    modes: Sequence[Mode] = (),
    **fields: Any,
) -> WorkloadClass:
    """A class; ``compute`` in core-seconds, ``memory`` in bytes; placement fields may be given directly."""
    work = Work(_fractions(compute or {}), _fractions(memory or {}))
    demand = Demand(requests or {}, limits or {}, work)
    inner = {key: fields.pop(key) for key in list(fields) if key in Placement.__dataclass_fields__}
    for key in ("value", "weight", "rate", "parallel", "residence", "move_cost"):
        if key in fields:
            fields[key] = Fraction(fields[key])
    return WorkloadClass(
        index=0,
        name=name,
        count=count,
        group=fields.pop("group", name),
        modes=tuple(modes) or (Mode("default", demand),),
        placement=Placement(**inner),
        **fields,
    )


def team(
    name: str, count: int, members: Mapping[str, int], rate: Any, offsets: Mapping[str, int] | None = None
) -> Team:
    return Team(name, count, members, offsets or dict.fromkeys(members, 0), Fraction(rate))


def model(*goals: str | Goal, ignore: Sequence[Family] = (), together: bool = False) -> Model:
    """A model with one level a goal, or one weighted level of them all."""
    entities = tuple(goal if isinstance(goal, Goal) else Goal(GoalId(goal)) for goal in goals)
    levels = (Level(entities),) if together else tuple(Level((goal,)) for goal in entities)
    return Model("test", "", levels, frozenset(ignore))


def plan(
    instance: Instance,
    where: Mapping[str, Sequence[str | None]],
    *,
    shares: Mapping[tuple[str, int], Mapping[str, int]] | None = None,
    modes: Mapping[tuple[str, int], str] | None = None,
    grants: Mapping[tuple[str, str] | str, Any] | None = None,
) -> Plan:
    """Member i of a class on ``where[class][i]`` (None: unplaced) with its floors, or more as ``shares`` says."""
    placed, left = [], []
    for name, paths in where.items():
        entity = instance.workload_by_name[name]
        for member, path in enumerate(paths):
            if path is None:
                left.append(UnplacedGroup(name, member, 1, "test"))
                continue
            mode = (modes or {}).get((name, member), entity.modes[0].name)
            demand = next(m for m in entity.modes if m.name == mode).demand(str(instance.domain_by_path[path].kind))
            amounts = {**demand.requests, **(shares or {}).get((name, member), {})}
            placed.append(PlacedGroup(name, member, 1, mode, (path,), amounts))
    flows = tuple(
        FlowGrant(*((ends, ends) if isinstance(ends, str) else ends), Fraction(granted))
        for ends, granted in (grants or {}).items()
    )
    return Plan(instance.name, instance.digest, tuple(placed), flows, tuple(left))


def _fractions(values: Mapping[str, Any]) -> dict[str, Fraction]:
    return {name: Fraction(value) for name, value in values.items()}
