"""Plan files: JSON out and in, CSV out. Owns the format ``allocator/plan/v1``; judges nothing.

Shares stand in base units (cores, bytes, bit/s) as exact decimal numbers, and come back as the same integers. Granted
fractions that are no short decimals are rounded down, so that a plan that fits still fits. ``exponents`` gives each
share's unit, for reading a plan without its instance.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from allocator.errors import InputError, InternalError, Problem
from allocator.instance.entities import Instance
from allocator.plan.encoding import Encoded, encode, text_of
from allocator.plan.entities import Plan, flow_endpoint
from allocator.plan.numbers import base_units, decimal_text, floor_decimal
from allocator.plan.reading import FORMAT, plan_from_tree, tree_from_bytes
from allocator.plan.whole import write_whole

__all__ = ["read_plan", "write_plan"]

GRANT_PLACES = 18
"""Decimal places of a granted fraction that is not a short decimal; it is rounded down."""


def write_plan(path: str | os.PathLike[str], plan: Plan, instance: Instance) -> None:
    """Write a plan, whole or not at all. A name that ends in ``.csv`` gives one row a member instead.

    Raises
    ------
    InputError
        The file cannot be written there.
    """
    as_rows = Path(path).suffix.lower() == ".csv"
    text = _csv_text(plan, instance) if as_rows else encode(_tree(plan, instance))
    write_whole(path, text.encode())


def read_plan(path: str | os.PathLike[str], instance: Instance | None = None, *, same_instance: bool = False) -> Plan:
    """Read a plan file.

    Parameters
    ----------
    instance : gives the unit of each share; without it the file's own ``exponents`` do.
    same_instance : refuse a plan that was made for another version of the instance. Otherwise the plan keeps the
        digest it names, for the caller to compare (a warm start may come from another version).

    Raises
    ------
    InputError
        The file cannot be read or is no plan; all problems at once.
    """
    source = os.fspath(path)
    if Path(path).suffix.lower() == ".csv":
        message = "a .csv plan is for other programs and leaves out what a plan needs; read the .json plan instead"
        raise InputError(source, [Problem("file", None, message)])
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(source, [Problem("file", None, _unreadable(error))]) from error
    tree = tree_from_bytes(data, source)
    try:
        plan = plan_from_tree(tree, source, instance)
    except InputError as error:
        raise _of_another(tree, source, instance, error) from error
    if same_instance and instance is not None and plan.instance_digest not in ("", instance.digest):
        message = f"the plan was made for another instance or version of it; this one is {instance.digest}"
        raise InputError(source, [Problem("instance.digest", plan.instance_digest, message)])
    return plan


def _of_another(tree: Any, source: str, instance: Instance | None, error: InputError) -> InputError:
    """The error with its likeliest cause first: the plan was made for another instance than the one it is read with."""
    made_for = tree.get("instance") if isinstance(tree, dict) else None
    if instance is None or not isinstance(made_for, dict) or made_for.get("digest") in (None, "", instance.digest):
        return error
    message = f"the plan was made for another instance or version of it, and does not fit this one ({instance.name})"
    return InputError(source, [Problem("instance.name", made_for.get("name"), message), *error.problems])


def _unreadable(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder; name a plan file"
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"cannot be read: {reason or error}"


def _tree(plan: Plan, instance: Instance) -> dict[str, Any]:
    """The plan as a tree of JSON values, numbers exact."""
    used = {name for group in plan.placements for name in group.shares}
    used.update(name for group in plan.unplaced for name in group.short)
    return {
        "format": FORMAT,
        "instance": {"name": plan.instance_name, "digest": plan.instance_digest},
        "model": plan.model,
        "exponents": {name: resource.exponent for name, resource in instance.resources.items() if name in used},
        "result": None if plan.result is None else dict(plan.result),
        "placements": _placements(plan, instance),
        "flows": _flows(plan, instance),
        "unplaced": [
            {
                "class": group.workload,
                "first": group.first,
                "count": group.count,
                "reason": group.reason,
                "short": _amounts(group.short, instance),
            }
            for group in plan.unplaced
        ],
    }


def _placements(plan: Plan, instance: Instance) -> list[Encoded]:
    """Entries of ``placements``. A large plan has one for each member: what repeats in them is encoded once."""
    paths = {node.path: text_of(node.path) for node in instance.nodes}
    names: dict[tuple[str, str], tuple[str, str]] = {}
    shares = _ShareTexts(instance)
    entries = []
    for group in plan.placements:
        key = (group.workload, group.mode)
        if key not in names:
            names[key] = text_of(group.workload), text_of(group.mode)
        name, mode = names[key]
        nodes = ", ".join([paths.get(node) or text_of(node) for node in group.nodes])
        entries.append(
            Encoded(
                f'{{"class": {name}, "first": {group.first}, "count": {group.count}, "mode": {mode}, '
                f'"nodes": [{nodes}], "shares": {shares.of(group.shares)}}}'
            )
        )
    return entries


class _ShareTexts:
    """Texts of shares in base units, those of parts of a base unit kept: they repeat and take longest."""

    def __init__(self, instance: Instance) -> None:
        self._exponents = {name: resource.exponent for name, resource in instance.resources.items()}
        self._names = {name: text_of(name) for name in instance.resources}
        self._known: dict[tuple[str, int], str] = {}

    def of(self, shares: Mapping[str, int]) -> str:
        """JSON text of the shares of one member."""
        return "{" + ", ".join([f"{self._names[name]}: {self._text(name, shares[name])}" for name in shares]) + "}"

    def _text(self, name: str, amount: int) -> str:
        exponent = self._exponents[name]
        if exponent >= 0:
            return str(amount * 10**exponent)
        found = self._known.get((name, amount))
        if found is None:
            found = self._known[name, amount] = text_of(base_units(amount, exponent))
        return found


def _flows(plan: Plan, instance: Instance) -> list[Encoded]:
    """Entries of ``flows``; most are granted the same fraction of the same rate."""
    rate_of = _rates(instance) if plan.flows else None
    known: dict[tuple[Any, Any], str] = {}
    entries = []
    for grant in plan.flows:
        assert rate_of is not None
        key = (grant.granted, rate_of(grant.source, grant.target))
        if key not in known:
            known[key] = text_of(_grant(*key)).lstrip("{")
        source = text_of(grant.source)
        target = source if grant.target == grant.source else text_of(grant.target)
        entries.append(Encoded(f'{{"from": {source}, "to": {target}, {known[key]}'))
    return entries


def _amounts(amounts: Mapping[str, int], instance: Instance) -> dict[str, Any]:
    """Amounts in base units."""
    return {name: base_units(amount, instance.resources[name].exponent) for name, amount in amounts.items()}


def _grant(granted: Any, rate: Any) -> dict[str, Any]:
    """A granted fraction, rounded down to a decimal, and the rate that it lets through for each ordered pair."""
    theta = granted if decimal_text(granted) is not None else floor_decimal(granted, GRANT_PLACES)
    return {"granted": theta} if rate is None else {"granted": theta, "rate": floor_decimal(rate * theta, 3)}


def _rates(instance: Instance) -> Callable[[str, str], Any]:
    """Function that gives the offered bit/s of an ordered pair of a flow's ends; None when there is no such flow."""
    rates: dict[tuple[str, str], Any] = {}
    for team in instance.teams:
        for number in range(team.count):
            name = flow_endpoint(team.name, number)
            rates[name, name] = team.rate
    for flow in instance.flows:
        for i, j, rate in flow.pairs:
            key = flow_endpoint(flow.source, i), flow_endpoint(flow.target, j)
            rates[key] = rates.get(key, 0) + rate
        if flow.pattern != "pairs":
            others = instance.workload_by_name[flow.target].count - (flow.source == flow.target)
            key = flow_endpoint(flow.source), flow_endpoint(flow.target)
            each = flow.rate / max(1, others) if flow.pattern == "spread" else flow.rate
            rates[key] = rates.get(key, 0) + each
    return lambda source, target: rates.get((source, target))


def _csv_text(plan: Plan, instance: Instance) -> str:
    """One row a member: class, number, mode, node, shares in base units; unplaced members have no node."""
    used = {name for group in plan.placements for name in group.shares}
    names = [name for name in instance.resources if name in used]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["class", "member", "mode", "node", "reason", *(f"share:{name}" for name in names)])
    writer.writerows(_csv_rows(plan, instance, names))
    return buffer.getvalue()


def _csv_rows(plan: Plan, instance: Instance, names: list[str]) -> Iterator[list[Any]]:
    for group in plan.placements:
        shares = []
        for name in names:
            text = decimal_text(base_units(group.shares.get(name, 0), instance.resources[name].exponent))
            if text is None:
                raise InternalError(f"share of {name} is no decimal number")
            shares.append(text)
        for offset in range(group.count):
            yield [group.workload, group.first + offset, group.mode, group.node_of(offset), "", *shares]
    for left in plan.unplaced:
        for member in range(left.first, left.first + left.count):
            yield [left.workload, member, "", "", left.reason, *("" for _ in names)]
