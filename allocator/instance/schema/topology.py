"""Schema of resources and of the topology tree."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from allocator.instance.schema.fields import (
    Amount,
    Bandwidth,
    Flag,
    Name,
    Number,
    Positive,
    Strict,
    Time,
    Watts,
    Whole,
)

__all__ = ["DomainDocument", "ResourceDocument"]


class ResourceDocument(Strict):
    """A resource beyond the predeclared ones, or further attributes of one of those."""

    role: Literal["compute", "memory", "bandwidth", "power", "other"] | None = Field(
        None, description="What it is for; only compute and memory limit task rates. Default: other."
    )
    unit: Literal["core", "B", "bit/s", "W", ""] | None = Field(
        None, description="Base unit; the default follows from the role, a plain number for other."
    )
    transient: Flag | None = Field(
        None,
        description="Whether a member that leaves a node still holds its floor there during the change.",
    )
    overload: Number | None = Field(None, description="Weight of the resource in the goal overload. Default: 1.")


class GoodputDocument(Strict):
    """What an uplink carries of what is offered to it."""

    curve: Literal["fair", "knee", "table"] = Field(
        "fair", description="fair: min(rho, 1); knee: rho / (1 + rho^p)^(1/p); table: measured points."
    )
    p: Positive | None = Field(None, description="Sharpness of the knee. Default: 4.")
    points: list[list[Number]] | None = Field(
        None,
        description="Points [offered, carried] as fractions of the capacity, starting at [0, 0].",
        examples=[[[0, 0], [0.8, 0.8], [1.2, 0.9]]],
    )


class UplinkDocument(Strict):
    """Full-duplex link to the parent domain; all numbers hold per direction."""

    bandwidth: Bandwidth | None = Field(None, description="Capacity per direction. Default: unlimited.")
    oversubscription: Positive | None = Field(
        None, description="Capacity is the sum of the children's uplinks over this; instead of bandwidth."
    )
    latency: Time | None = Field(None, description="Delay of one crossing. Default: 0.")
    goodput: GoodputDocument | None = Field(None, description="Goodput curve. Default: fair.")
    weight: Number | None = Field(None, description="Distance of one crossing. Default: 1.")


class InternalDocument(Strict):
    """The network inside a domain."""

    bandwidth: Bandwidth = Field(description="Bounds the flows whose lowest common domain is this one.")


class PowerDocument(Strict):
    """Draw of a node in use."""

    idle: Watts = Field(description="Watts of a node in use that computes nothing.")
    busy: Watts = Field(description="Watts at full use of its compute.")


class DomainDocument(Strict):
    """A domain of the topology tree; without children it is a node."""

    level: Name = Field(description="Kind of vertex, a free name: rack, sled, node ...", examples=["rack", "node"])
    name: Name = Field(description="Unique among its siblings; with count the names are name0, name1 ...")
    count: Whole | None = Field(None, description="How many copies of the domain and all below it.")
    profile: Name | None = Field(None, description="Catalog entry the domain starts from.")
    set: dict[str, Name] | None = Field(
        None, description="Overrides of the profile by level and key.", examples=[{"sled.count": 8}]
    )
    kind: Name | None = Field(None, description="Hardware kind of a node. Default: its level.")
    uplink: UplinkDocument | None = None
    internal: InternalDocument | None = None
    capacity: dict[str, Amount] = Field(
        default_factory=dict, description="Capacity by resource; any domain may have one."
    )
    safety: dict[str, Amount] = Field(
        default_factory=dict, description="Safety capacity by resource, for the goal overload."
    )
    pool: dict[str, Amount] = Field(
        default_factory=dict, description="Pool by resource that the nodes below share beyond their own."
    )
    labels: dict[str, Name] = Field(default_factory=dict, description="Labels, inherited downwards.")
    taints: list[Name] = Field(
        default_factory=list, description="Taints, inherited downwards; members need a toleration of each."
    )
    capabilities: list[Name] = Field(
        default_factory=list, description="Capabilities the nodes offer, inherited downwards."
    )
    power: PowerDocument | None = Field(None, description="Draw of a node.")
    weight: Number | None = Field(None, description="Weight of a node in the goal nodes. Default: 1.")
    children: list[DomainDocument] | None = Field(None, description="Domains directly below.")
