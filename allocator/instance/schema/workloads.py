"""Schema of classes, teams and flows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from allocator.instance.schema.fields import (
    Amount,
    AtLeastOne,
    Bandwidth,
    Bytes,
    Cores,
    Flag,
    Name,
    Number,
    OneOrMany,
    Rate,
    Strict,
    Time,
    Whole,
)

__all__ = ["FlowDocument", "TeamDocument", "WorkloadDocument", "list_or_text"]

Amounts = dict[str, Amount]


def list_or_text(value: Any) -> str:
    """Discriminator of fields that hold either rows or the name of a table or file."""
    return "(text)" if isinstance(value, str) else "(list)"


class WorkDocument(Strict):
    """Work a member is offered. Further keys are resources: seconds of compute, or bytes of memory, of one task."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Amount] = Field(init=False)

    rate: Rate | None = Field(None, description="Tasks offered to one member. Default: 0.")
    parallel: Cores | None = Field(None, description="Compute that speeds up one member at most. Default: 1.")
    residence: Time | None = Field(None, description="How long a task stays in memory.")


class DemandDocument(Strict):
    """Demand that differs on one kind of node."""

    requests: Amounts = Field(default_factory=dict)
    limits: Amounts = Field(default_factory=dict)
    work: Amounts = Field(default_factory=dict, description="Work of one task by resource.")


class ModeDocument(Strict):
    """An alternative demand; what it does not state is the class's."""

    requests: Amounts = Field(default_factory=dict)
    limits: Amounts = Field(default_factory=dict)
    work: Amounts = Field(default_factory=dict, description="Work of one task by resource.")
    quality: Number | None = Field(None, description="Quality of the mode. Default: 1.")
    by_kind: dict[str, DemandDocument] = Field(default_factory=dict, description="What differs by kind of node.")


class SloDocument(Strict):
    """Latency target."""

    p99: Time | None = Field(None, description="99th percentile of the response time.")
    critical: Flag = Field(False, description="Whether the class counts in the goal p99.")


class SpreadDocument(Strict):
    """The placed members of a group cover at least so many domains of a level."""

    level: Name
    at_least: Whole
    group: Name | None = Field(None, description="Default: the group of the class.")


class ConflictDocument(Strict):
    """At most so many members of a group in one domain of a level."""

    level: Name
    at_most: Whole
    group: Name | None = Field(None, description="Default: the group of the class.")


class DependencyDocument(Strict):
    """Where the class's group is in a domain of the level, the other group is too."""

    group: Name
    level: Name


class GangDocument(Strict):
    """Consecutive members on distinct nodes of one domain of the level."""

    size: AtLeastOne
    level: Name


def _labels(value: Any) -> str:
    return "(list)" if isinstance(value, list) else "(text)"


LabelValues = Annotated[
    Annotated[Name, Tag("(text)")] | Annotated[list[Name], Tag("(list)")],
    Discriminator(_labels),
]


class PlacementDocument(Strict):
    """Where members may go and how they stand to each other."""

    require: dict[str, LabelValues] = Field(
        default_factory=dict,
        description="Label to accepted value or values; kind, name and path of a node count as labels.",
    )
    tolerations: list[Name] = Field(default_factory=list, description="Taints the members accept.")
    capabilities: list[Name] = Field(default_factory=list, description="Capabilities the node must offer.")
    within: list[Name] = Field(default_factory=list, description="Paths of domains; members stay below one of them.")
    spread: OneOrMany[SpreadDocument] = Field(default_factory=list)
    conflict: OneOrMany[ConflictDocument] = Field(default_factory=list)
    depends_on: OneOrMany[DependencyDocument] = Field(default_factory=list)
    gang: GangDocument | None = None


class WorkloadDocument(Strict):
    """A class of identical members."""

    class_: Name = Field(alias="class", description="Name of the class.")
    count: Whole = Field(1, description="Number of members.")
    group: Name | None = Field(None, description="Group for conflicts, spreads and dependencies. Default: the class.")
    value: Number | None = Field(None, description="Worth of a placed member, goal placed. Default: 1.")
    weight: Number | None = Field(None, description="Weight in the goals throughput and p99. Default: 1.")
    requests: Amounts = Field(
        default_factory=dict, description="Floor of each resource: the share a member is guaranteed."
    )
    limits: Amounts = Field(default_factory=dict, description="Ceiling of each resource. Default: what the node has.")
    by_kind: dict[str, DemandDocument] = Field(default_factory=dict, description="What differs by kind of node.")
    modes: dict[str, ModeDocument] = Field(
        default_factory=dict, description="Alternative demands; a member runs in one."
    )
    work: WorkDocument | None = None
    slo: SloDocument | None = None
    cost: dict[str, Number] = Field(
        default_factory=dict, description="Cost of a member by node path, kind, or default."
    )
    move_cost: Number | None = Field(None, description="Cost of moving a member. Default: 1.")
    placement: PlacementDocument | None = None


MESSAGE = "Bytes of one message: what it takes to cross links that others load. Default: none counts."


class TrafficDocument(Strict):
    """Traffic inside a team."""

    pattern: Literal["all-to-all"] = "all-to-all"
    rate: Bandwidth = Field(description="Per ordered pair of members.")
    message: Bytes | None = Field(None, description=MESSAGE)


class TeamDocument(Strict):
    """Teams that take the next members of each class in order."""

    team: Name = Field(description="Name of the teams.")
    count: Whole = Field(1, description="Number of teams.")
    members: dict[str, AtLeastOne] = Field(description="Members of each class in one team.", examples=[{"intake": 3}])
    traffic: TrafficDocument


PairRows = Annotated[
    Annotated[Name, Tag("(text)")] | Annotated[list[list[Name]], Tag("(list)")],
    Discriminator(list_or_text),
]


class FlowDocument(Strict):
    """Directed traffic between the members of two classes, or of one with itself."""

    from_: Name = Field(alias="from", description="Class that sends.")
    to: Name = Field(description="Class that receives.")
    pattern: Literal["spread", "broadcast", "pair", "ring", "chain", "star", "table"] = Field(
        description="spread: each source's rate split evenly; broadcast: the rate to each target; pair: member i to i; "
        "ring and chain: member i to i + 1; star: both ways between member 0 of from and each of to; table: listed."
    )
    length: AtLeastOne | None = Field(
        None, description="Members of one ring or chain; the class falls into such ones in order. Default: all of it."
    )
    reverse: Flag = Field(False, description="Of a ring or chain: member i + 1 sends to i instead.")
    rate: Bandwidth | None = Field(None, description="Rate of a source (spread) or of a pair.")
    per_task: Bytes | None = Field(None, description="Bytes of one task of the source, instead of a rate.")
    message: Bytes | None = Field(None, description=MESSAGE)
    table: PairRows | None = Field(
        None, description="Rows [i, j, rate], or the name of a table with columns from, to, rate."
    )
