"""Schema of the whole instance document, and its JSON schema for editors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from allocator.instance.schema.fields import Amount, Name, Number, NumberRow, OneOrMany, Strict, Whole
from allocator.instance.schema.topology import DomainDocument, ResourceDocument
from allocator.instance.schema.workloads import FlowDocument, TeamDocument, WorkloadDocument, list_or_text

__all__ = ["FORMAT", "InstanceDocument", "json_schema"]

FORMAT = "allocator/v1"

NumberByPair = Annotated[
    Annotated[Name, Tag("(text)")] | Annotated[dict[str, dict[str, Number]], Tag("(list)")],
    Discriminator(list_or_text),
]


def _by_pair(value: Any) -> str:
    """Discriminator of numbers by pair: a table's name, rows of numbers, or a map of maps."""
    if isinstance(value, dict) and isinstance(value.get("rows"), list):
        return "(rows)"
    return list_or_text(value)


class RowsDocument(Strict):
    """Numbers by old and new node: a row for each node, in the order of the instance."""

    rows: list[NumberRow] = Field(description="A row is a list of numbers, or one text of numbers and spaces.")


CostByPair = Annotated[
    Annotated[Name, Tag("(text)")]
    | Annotated[RowsDocument, Tag("(rows)")]
    | Annotated[dict[str, dict[str, Number]], Tag("(list)")],
    Discriminator(_by_pair),
]


class BalanceDocument(Strict):
    """Free capacity of the second resource should be at least target times that of the first."""

    resources: list[Name] = Field(min_length=2, max_length=2, description="First and second resource.")
    target: Number
    weight: Number | None = Field(None, description="Weight of the triple. Default: 1.")
    level: Name = Field("node", description="Level whose domains are balanced.")


class MoveWeightsDocument(Strict):
    """Weights of the three parts of the goal moves."""

    process: Number | None = Field(None, description="Sum of move_cost over moved members. Default: 1.")
    service: Number | None = Field(None, description="Largest number of moved members of a group. Default: 0.")
    machine: Number | None = Field(None, description="Sum of machine costs from old to new node. Default: 0.")


class MoveLimitDocument(Strict):
    """How much may leave the node it runs on now."""

    members: Whole | None = Field(None, description="At most so many members.")
    bytes: Amount | None = Field(None, description="At most so much memory, by the floors left behind.")


class MovesDocument(Strict):
    """What moves cost and how many are allowed."""

    weights: MoveWeightsDocument | None = None
    limit: MoveLimitDocument | None = None
    machine: CostByPair | None = Field(
        None,
        description="Cost by old and new node path, the name of a table with columns from, to, cost, or rows: one text "
        "of numbers for each old node, a number for each new one, both in the order of the nodes.",
        examples=[{"rows": ["0 2 2", "2 0 1", "2 1 0"]}],
    )


class ReserveDocument(Strict):
    """Every domain of the level must be replaceable by what is free outside it."""

    level: Name
    resources: list[Name] = Field(
        default_factory=list, description="Default: every resource that nodes have a capacity of."
    )


class DistancesDocument(Strict):
    """Distance of two nodes, for the goal traffic."""

    weights: dict[str, Number] = Field(default_factory=dict, description="Weight of crossing an uplink, by level.")
    matrix: NumberByPair | None = Field(
        None, description="Distance by node path and node path, or the name of a table: from, to, distance."
    )


class CurrentDocument(Strict):
    """Members that run somewhere now."""

    class_: Name = Field(alias="class")
    first: Whole = Field(0, description="Number of the first of them.")
    count: Whole = Field(1, description="How many.")
    mode: Name | None = Field(None, description="Default: the first mode of the class.")
    node: Name = Field(description="Path of the node.")


Current = Annotated[
    Annotated[Name, Tag("(text)")] | Annotated[list[CurrentDocument], Tag("(list)")],
    Discriminator(list_or_text),
]


class InstanceDocument(Strict):
    """An allocation problem: a topology of resources, and the workloads to place on it."""

    format: Literal["allocator/v1"] = Field(description="Version of this format.")
    name: Name | None = Field(None, description="Name of the instance. Default: the file's.")
    model: Name | None = Field(None, description="Optimisation model used when none is named.")
    resources: dict[str, ResourceDocument] = Field(default_factory=dict)
    topology: list[DomainDocument] = Field(default_factory=list)
    workloads: list[WorkloadDocument] = Field(default_factory=list)
    teams: list[TeamDocument] = Field(default_factory=list)
    flows: list[FlowDocument] = Field(default_factory=list)
    services: list[dict[str, Any]] = Field(default_factory=list, description="Kept for later: must be empty.")
    balance: OneOrMany[BalanceDocument] = Field(default_factory=list)
    moves: MovesDocument | None = None
    reserve: OneOrMany[ReserveDocument] = Field(default_factory=list)
    link_load: Number | None = Field(
        None,
        description="Most of its bandwidth that an uplink may be offered in one direction; with it messages count in "
        "path delays. More than 0, at most 0.99. Default: no limit.",
        examples=[0.8],
    )
    distances: DistancesDocument | None = None
    current: Current | None = Field(None, description="A plan file, or a list: where members run now.")
    tables: dict[str, Name] = Field(
        default_factory=dict,
        description="CSV files beside this file. workloads and flows: one row an entry, a column a key (requests.cpu); "
        "costs: class, node, cost; distances: from, to, distance; other names are referred to.",
        examples=[{"workloads": "items.csv"}],
    )


def json_schema() -> dict[str, Any]:
    """JSON schema of the instance document, for editors and other tools."""
    schema = _without_null(InstanceDocument.model_json_schema(by_alias=True))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "allocator instance"}


def _without_null(node: Any) -> Any:
    """The schema without null, which stands in it for keys that are left out but may not be written."""
    if isinstance(node, list):
        return [_without_null(item) for item in node]
    if not isinstance(node, dict):
        return node
    clean = {
        key: _without_null(item) for key, item in node.items() if not (key == "default" and item in (None, [], {}))
    }
    choices = clean.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        rest = [choice for choice in choices if choice != {"type": "null"}]
        del clean["anyOf"]
        clean = {**rest[0], **clean} if len(rest) == 1 else {**clean, "anyOf": rest}
    return clean
