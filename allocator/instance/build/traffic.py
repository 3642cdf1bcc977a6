"""Teams and flows: patterns resolved to member numbers and rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from allocator.documents.problems import Location, Problems, did_you_mean
from allocator.instance.build.workloads import Workloads
from allocator.instance.entities import Flow, Team
from allocator.instance.schema.workloads import FlowDocument, TeamDocument, TrafficDocument
from allocator.quantities import Dimension, QuantityError, parse_quantity, parse_whole

__all__ = ["MAX_PAIRS", "build_flows", "build_teams"]

MAX_PAIRS = 5_000_000
BITS = 8

Pairs = tuple[tuple[int, int, Fraction], ...]
TableRows = Mapping[str, list[list[str]]]


def build_teams(entries: list[TeamDocument], workloads: Workloads, problems: Problems) -> tuple[Team, ...]:
    """Teams with the numbers of their members; more than a class has are noted."""
    taken: dict[str, int] = {}
    seen: dict[str, Location] = {}
    teams = []
    for index, stated in enumerate(entries):
        location: Location = ("teams", index)
        if stated.team in seen:
            problems.add((*location, "team"), f"has the name of {problems.place(seen[stated.team])}", stated.team)
        seen.setdefault(stated.team, location)
        offsets = {}
        for name, each in stated.members.items():
            at: Location = (*location, "members", name)
            workload = workloads.by_name.get(name)
            if workload is None:
                problems.add(at, did_you_mean(name, workloads.by_name, "class"))
                continue
            if workload.placement is not None and workload.placement.gang is not None:
                problems.add(at, "is a class of gangs, whose members cannot join teams")
            offsets[name] = taken.get(name, 0)
            taken[name] = offsets[name] + each * stated.count
            if taken[name] > workload.count:
                message = f"takes {taken[name]} members in all, and the class has {workload.count}"
                problems.add(at, message, each)
        if not stated.members:
            problems.add((*location, "members"), "must name at least one class")
        teams.append(
            Team(
                stated.team,
                stated.count,
                MappingProxyType(dict(stated.members)),
                MappingProxyType(offsets),
                stated.traffic.rate,
                _message(stated.traffic),
            )
        )
    return tuple(teams)


def build_flows(
    entries: list[FlowDocument], workloads: Workloads, tables: TableRows, problems: Problems
) -> tuple[Flow, ...]:
    """Flows with their pattern resolved; those that cannot be are noted and left out."""
    flows = []
    num_pairs = 0
    for index, stated in enumerate(entries):
        location: Location = ("flows", index)
        sizes = []
        for key, name in (("from", stated.from_), ("to", stated.to)):
            workload = workloads.by_name.get(name)
            if workload is None:
                problems.add((*location, key), did_you_mean(name, workloads.by_name, "class"), name)
                continue
            sizes.append(workload.count)
            if (
                stated.pattern not in ("spread", "broadcast")
                and workload.placement is not None
                and workload.placement.gang is not None
            ):
                message = "is a class of gangs, whose members cannot have flows of their own"
                problems.add((*location, key), message, name)
        if len(sizes) < 2:
            continue
        rate = _rate(stated, workloads, location, problems)
        if rate is None or not _keys_fit(stated, location, problems):
            continue
        if stated.pattern in ("spread", "broadcast"):
            pattern: Literal["spread", "broadcast"] = "spread" if stated.pattern == "spread" else "broadcast"
            flows.append(Flow(stated.from_, stated.to, pattern, rate, message=_message(stated)))
            continue
        if not _shape_fits(stated, sizes[0], sizes[1], location, problems):
            continue
        if stated.pattern == "table":
            pairs = _table_pairs(stated, sizes[0], sizes[1], rate, tables=tables, location=location, problems=problems)
        else:
            num_pairs += 2 * max(sizes)
            if num_pairs > MAX_PAIRS:
                problems.add(location, f"makes more than {MAX_PAIRS} pairs of members")
                return tuple(flows)
            pairs = tuple(_pattern_pairs(stated, sizes[0], sizes[1], rate))
        flows.append(Flow(stated.from_, stated.to, "pairs", rate, pairs, _message(stated)))
        if stated.pattern == "star" and stated.from_ != stated.to:
            back = tuple((member, hub, each) for hub, member, each in pairs)
            flows.append(Flow(stated.to, stated.from_, "pairs", rate, back, _message(stated)))
    return tuple(flows)


def _message(stated: FlowDocument | TrafficDocument) -> Fraction:
    """Bits of one message; 0 where none is stated."""
    return (stated.message or Fraction(0)) * BITS


def _rate(stated: FlowDocument, workloads: Workloads, location: Location, problems: Problems) -> Fraction | None:
    """bit/s of the entry; 0 for a table whose rows state their own."""
    if stated.rate is not None and stated.per_task is not None:
        problems.add((*location, "per_task"), "stands beside rate; state one of the two")
        return None
    if stated.per_task is not None:
        source = workloads.by_name[stated.from_]
        if source.work is None or source.work.rate is None:
            message = f"needs the work.rate of class {stated.from_}, which states none"
            problems.add((*location, "per_task"), message)
            return None
        return stated.per_task * BITS * source.work.rate
    if stated.rate is None and stated.pattern != "table":
        problems.add((*location, "rate"), "must be stated (or per_task)")
        return None
    return stated.rate or Fraction(0)


def _keys_fit(stated: FlowDocument, location: Location, problems: Problems) -> bool:
    """Whether the keys that belong to some patterns stand with those."""
    if stated.pattern == "table" and stated.table is None:
        problems.add((*location, "table"), "must be stated for the pattern table")
        return False
    if stated.pattern != "table" and stated.table is not None:
        problems.add((*location, "table"), "belongs to the pattern table")
        return False
    if stated.pattern not in ("ring", "chain") and (stated.length is not None or stated.reverse):
        key = "reverse" if stated.length is None else "length"
        problems.add((*location, key), "belongs to the patterns ring and chain")
        return False
    return True


def _shape_fits(stated: FlowDocument, first: int, second: int, location: Location, problems: Problems) -> bool:
    if stated.pattern in ("ring", "chain") and stated.from_ != stated.to:
        problems.add((*location, "to"), f"must be the class of from: a {stated.pattern} is within one class", stated.to)
        return False
    if stated.pattern == "pair" and stated.from_ == stated.to:
        problems.add((*location, "to"), "must be another class than from: a pair is two members", stated.to)
        return False
    if stated.pattern == "pair" and first != second:
        message = f"has {second} members, and {stated.from_} has {first}: pairs need as many of each"
        problems.add((*location, "to"), message, stated.to)
        return False
    return True


def _pattern_pairs(
    stated: FlowDocument, first: int, second: int, rate: Fraction
) -> Iterator[tuple[int, int, Fraction]]:
    if stated.pattern == "pair":
        yield from ((member, member, rate) for member in range(first))
    elif stated.pattern in ("ring", "chain"):
        yield from _neighbours(stated, first, rate)
    elif stated.pattern == "star" and first:
        # between two classes the way back, from ``to``, is a flow of its own
        same = stated.from_ == stated.to
        for member in range(1 if same else 0, second):
            yield 0, member, rate
            if same:
                yield member, 0, rate


def _neighbours(stated: FlowDocument, count: int, rate: Fraction) -> Iterator[tuple[int, int, Fraction]]:
    """Pairs of rings and chains of ``length`` members each; the last one may be shorter."""
    length = stated.length or count
    for start in range(0, count, length or 1):
        end = min(start + length, count)
        pairs = [(member, member + 1) for member in range(start, end - 1)]
        if stated.pattern == "ring" and end - start > 1:
            pairs.append((end - 1, start))
        yield from ((b, a, rate) if stated.reverse else (a, b, rate) for a, b in pairs)


def _table_pairs(
    stated: FlowDocument,
    first: int,
    second: int,
    rate: Fraction,
    *,
    tables: TableRows,
    location: Location,
    problems: Problems,
) -> Pairs:
    rows = stated.table or []
    names: tuple[str, ...] = ()
    if isinstance(rows, str):
        names = (rows,)
        if rows not in tables:
            problems.add((*location, "table"), did_you_mean(rows, tables, "table"), rows)
            return ()
        rows = tables[rows]
    pairs: list[tuple[int, int, Fraction]] = []
    for number, row in enumerate(rows):
        at: Location = ("tables", *names, number) if names else (*location, "table", number)
        if len(row) not in (2, 3) or (len(row) == 2 and stated.rate is None and stated.per_task is None):
            problems.add(at, "must be [member of from, member of to, rate]")
            continue
        try:
            source, target = parse_whole(row[0]), parse_whole(row[1])
            own = parse_quantity(row[2], Dimension.BITRATE) if len(row) == 3 else rate
        except QuantityError as error:
            problems.add(at, str(error), ", ".join(row))
            continue
        if not (0 <= source < first and 0 <= target < second):
            message = f"members are numbered 0 to {first - 1} in {stated.from_} and 0 to {second - 1} in {stated.to}"
            problems.add(at, message, ", ".join(row))
        elif stated.from_ == stated.to and source == target:
            problems.add(at, "a member cannot send to itself", ", ".join(row))
        elif own < 0:
            problems.add(at, "must be at least 0", row[-1])
        else:
            pairs.append((source, target, own))
    return tuple(pairs)
