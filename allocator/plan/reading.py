"""A plan from the bytes of a file. Owns the shape of ``allocator/plan/v1``; any bytes give a plan or an ``InputError``.

Unknown keys are left alone, so that newer files can be read. Whether names exist is for the checker to judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, NoReturn

from allocator.errors import InputError, Problem
from allocator.instance.entities import Instance
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup

__all__ = ["FORMAT", "plan_from_tree", "tree_from_bytes"]

FORMAT = "allocator/plan/v1"

MAX_MAGNITUDE = 100
"""Numbers beyond 10 to this power, either way, are refused before they are expanded."""

MAX_MEMBERS = 10**9

MAX_SHOWN = 60


class _Refused(Exception):
    """A fault of the JSON text itself."""


def tree_from_bytes(data: bytes, source: str) -> Any:
    """JSON value of a file, decimal numbers as ``Decimal``.

    Raises
    ------
    InputError
        Not UTF-8, not JSON, a duplicate key, NaN or infinity.
    """
    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        message = f"is not a plan file: byte {error.start} is not UTF-8"
    except RecursionError:
        message = "is not a plan file: nested too deeply"
    except (_Refused, ValueError, ArithmeticError) as error:
        message = f"is not a plan file: {error}"
    raise InputError(source, [Problem("file", None, message)])


def plan_from_tree(tree: Any, source: str, instance: Instance | None) -> Plan:
    """Plan from the JSON value of a file.

    Raises
    ------
    InputError
        The value has not the shape of a plan; every problem with its path.
    """
    reader = _Reader(instance)
    plan = reader.plan(tree)
    if reader.problems:
        raise InputError(source, reader.problems)
    return plan


def _refuse_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not a number that a plan can hold")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Refused(f"the key {twice!r} stands twice in one object")
    return found


class _Reader:
    """Walks the tree and collects problems; what is wrong is replaced by something harmless."""

    def __init__(self, instance: Instance | None) -> None:
        self.problems: list[Problem] = []
        self._exponents: dict[str, int] = {}
        self._known = instance is not None
        if instance is not None:
            self._exponents = {name: resource.exponent for name, resource in instance.resources.items()}

    def plan(self, tree: Any) -> Plan:
        """The whole plan."""
        top = self._mapping(tree, "plan")
        if top.get("format") != FORMAT:
            self._add("format", top.get("format"), f"must be {FORMAT!r}")
        if not self._known:
            stated = self._mapping(top.get("exponents", {}), "exponents")
            self._exponents = {
                name: self._integer(value, f"exponents.{name}", -MAX_MAGNITUDE, MAX_MAGNITUDE)
                for name, value in stated.items()
            }
        about = self._mapping(top.get("instance", {}), "instance")
        result = top.get("result")
        model = top.get("model")
        return Plan(
            instance_name=self._text(about.get("name", ""), "instance.name"),
            instance_digest=self._text(about.get("digest", ""), "instance.digest"),
            placements=tuple(self._placed(entry, path) for entry, path in self._entries(top, "placements")),
            flows=tuple(self._grant(entry, path) for entry, path in self._entries(top, "flows", optional=True)),
            unplaced=tuple(self._left(entry, path) for entry, path in self._entries(top, "unplaced", optional=True)),
            model=None if model is None else self._text(model, "model"),
            result=None if result is None else self._plain(self._mapping(result, "result"), "result"),
        )

    def _placed(self, entry: Mapping[str, Any], path: str) -> PlacedGroup:
        count = self._count(entry, path)
        nodes = entry.get("nodes")
        if not isinstance(nodes, list) or not all(isinstance(node, str) for node in nodes):
            self._add(f"{path}.nodes", nodes, "must be a list of node paths")
            nodes = []
        elif len(nodes) not in (1, count):
            self._add(f"{path}.nodes", f"{len(nodes)} paths", f"must be 1 path or one for each of {count} members")
        return PlacedGroup(
            workload=self._text(entry.get("class"), f"{path}.class"),
            first=self._integer(entry.get("first"), f"{path}.first", 0, MAX_MEMBERS),
            count=count,
            mode=self._text(entry.get("mode", "default"), f"{path}.mode"),
            nodes=tuple(nodes),
            shares=self._amounts(entry.get("shares", {}), f"{path}.shares"),
        )

    def _left(self, entry: Mapping[str, Any], path: str) -> UnplacedGroup:
        return UnplacedGroup(
            workload=self._text(entry.get("class"), f"{path}.class"),
            first=self._integer(entry.get("first"), f"{path}.first", 0, MAX_MEMBERS),
            count=self._count(entry, path),
            reason=self._text(entry.get("reason", ""), f"{path}.reason"),
            short=self._amounts(entry.get("short", {}), f"{path}.short"),
        )

    def _grant(self, entry: Mapping[str, Any], path: str) -> FlowGrant:
        return FlowGrant(
            source=self._text(entry.get("from"), f"{path}.from"),
            target=self._text(entry.get("to"), f"{path}.to"),
            granted=self._fraction(entry.get("granted"), f"{path}.granted"),
        )

    def _amounts(self, value: Any, path: str) -> dict[str, int]:
        """Integer amounts from numbers in base units."""
        amounts = {}
        for name, number in self._mapping(value, path).items():
            place = f"{path}.{name}"
            if name not in self._exponents:
                message = "no such resource in the instance" if self._known else "its unit is not stated in exponents"
                self._add(place, number, message)
                continue
            exponent = self._exponents[name]
            amount = self._fraction(number, place) / Fraction(10) ** exponent
            if amount.denominator != 1:
                self._add(place, number, f"must be a multiple of 1e{exponent}, the unit of this resource")
            amounts[name] = int(amount)
        return amounts

    def _entries(
        self, top: Mapping[str, Any], key: str, *, optional: bool = False
    ) -> list[tuple[Mapping[str, Any], str]]:
        value = top.get(key, [] if optional else None)
        if not isinstance(value, list):
            self._add(key, value, "must be a list")
            return []
        found: list[tuple[Mapping[str, Any], str]] = []
        for index, entry in enumerate(value):
            path = f"{key}[{index}]"
            if isinstance(entry, dict):
                found.append((entry, path))
            else:
                self._add(path, entry, "must be an object")
        return found

    def _mapping(self, value: Any, path: str) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        self._add(path, value, "must be an object")
        return {}

    def _text(self, value: Any, path: str) -> str:
        if isinstance(value, str):
            return value
        self._add(path, value, "must be a text")
        return ""

    def _count(self, entry: Mapping[str, Any], path: str) -> int:
        return self._integer(entry.get("count"), f"{path}.count", 1, MAX_MEMBERS)

    def _integer(self, value: Any, path: str, low: int, high: int) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        self._add(path, value, f"must be a whole number from {low} to {high}")
        return max(low, 0)

    def _fraction(self, value: Any, path: str) -> Fraction:
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 10**MAX_MAGNITUDE:
            return Fraction(value)
        if isinstance(value, Decimal) and (not value or self._moderate(value)):
            return Fraction(value)
        self._add(path, value, "must be a number of moderate size")
        return Fraction(0)

    @staticmethod
    def _moderate(value: Decimal) -> bool:
        lowest = value.as_tuple().exponent
        return isinstance(lowest, int) and lowest >= -MAX_MAGNITUDE and value.adjusted() <= MAX_MAGNITUDE

    def _plain(self, value: Any, path: str) -> Any:
        """The embedded result with decimals as floats, as a JSON document usually reads."""
        if isinstance(value, dict):
            return {key: self._plain(item, f"{path}.{key}") for key, item in value.items()}
        if isinstance(value, list):
            return [self._plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
        if isinstance(value, Decimal):
            number = float(value)
            if not isfinite(number):
                self._add(path, value, "must be a number of moderate size")
                return None
            return number
        return value

    def _add(self, path: str, value: Any, message: str) -> None:
        text = None if value is None else str(value)
        if text is not None and len(text) > MAX_SHOWN:
            text = text[:MAX_SHOWN] + "…"
        self.problems.append(Problem(path, text, message))
