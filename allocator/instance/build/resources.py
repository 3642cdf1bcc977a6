"""Resources of an instance: which there are, what their numbers measure, and the integer unit of each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

from allocator.documents.problems import Location, Problems, did_you_mean
from allocator.instance.entities import Resource, Role
from allocator.instance.schema.topology import ResourceDocument
from allocator.quantities import (
    Dimension,
    QuantityError,
    ScaleError,
    StatedNumber,
    choose_exponent,
    parse_quantity,
    round_down,
    round_up,
)

__all__ = ["PREDECLARED", "ResourceBook"]

PREDECLARED = {
    "cpu": (Role.COMPUTE, Dimension.CORE),
    "memory": (Role.MEMORY, Dimension.BYTE),
    "accelerator": (Role.COMPUTE, Dimension.PLAIN),
    "hbm": (Role.MEMORY, Dimension.BYTE),
    "bandwidth": (Role.BANDWIDTH, Dimension.BITRATE),
    "storage": (Role.OTHER, Dimension.BYTE),
    "power": (Role.POWER, Dimension.WATT),
    "cooling": (Role.POWER, Dimension.WATT),
}
_UNIT_OF_ROLE = {
    Role.COMPUTE: Dimension.CORE,
    Role.MEMORY: Dimension.BYTE,
    Role.BANDWIDTH: Dimension.BITRATE,
    Role.POWER: Dimension.WATT,
    Role.OTHER: Dimension.PLAIN,
}
SHORT = 18  # digits of a number that needs no closer look
_WORK_KEYS = frozenset({"rate", "parallel", "residence"})


@dataclass(slots=True)
class _Request:
    """A floor that classes state alike: for how many members, and where the first stands."""

    value: Fraction
    times: int
    where: Location


class ResourceBook:
    """Collects the numbers of each resource, then fixes its unit.

    First every number is read (``amount``) and entered (``need``, ``supply``, ``wish``), then ``close`` chooses the
    exponents, then ``floor`` and ``ceiling`` give whole units.
    """

    def __init__(self, declared: dict[str, ResourceDocument], problems: Problems) -> None:
        self._problems = problems
        self._roles: dict[str, tuple[Role, Dimension]] = dict(PREDECLARED)
        self._declared = declared
        self._used: set[str] = set(declared)
        self._needs: dict[str, list[StatedNumber]] = defaultdict(list)
        self._requests: dict[str, dict[str, _Request]] = defaultdict(dict)
        self._supplies: dict[str, list[StatedNumber]] = defaultdict(list)
        self._bare: dict[str, Fraction] = {}
        self._wishes: dict[str, set[Fraction]] = defaultdict(set)
        self._divisible: set[str] = set()
        self._exponents: dict[str, int] = {}
        for name, stated in declared.items():
            self._declare(name, stated)

    def _declare(self, name: str, stated: ResourceDocument) -> None:
        location: Location = ("resources", name)
        if not name:
            self._problems.add(location, "the name of a resource must not be empty")
        if name in _WORK_KEYS:
            self._problems.add(location, "is a key of work and cannot name a resource")
        known = PREDECLARED.get(name)
        role = Role(stated.role) if stated.role else known[0] if known else Role.OTHER
        unit = Dimension(stated.unit) if stated.unit is not None else known[1] if known else _UNIT_OF_ROLE[role]
        if known and role is not known[0]:
            self._problems.add((*location, "role"), f"is predeclared with the role {known[0].value}", stated.role)
        if known and unit is not known[1]:
            message = f"is predeclared in {known[1].value or 'plain numbers'}"
            self._problems.add((*location, "unit"), message, unit.value)
        self._roles[name] = (role, unit)

    def check(self, name: str, location: Location) -> bool:
        """Whether there is such a resource; notes the problem otherwise."""
        if name in self._roles:
            self._used.add(name)
            return True
        message = did_you_mean(name, self._roles, "resource") + "; declare others under resources"
        self._problems.add(location, message, None if location[-1] == name else name)
        return False

    def role(self, name: str) -> Role:
        """Role of a known resource."""
        return self._roles[name][0]

    def amount(self, name: str, text: str, location: Location) -> Fraction | None:
        """Base units in a text; None when it names no resource or has the wrong unit, which is then noted."""
        if name not in self._used and not self.check(name, location):
            return None
        if len(text) <= SHORT and text.isascii() and text.isdigit():
            found = self._bare.get(text)  # a bare number is in base units
            if found is None:
                found = self._bare[text] = Fraction(int(text))
            return found
        return self.read(text, self._roles[name][1], location)

    def request(self, name: str, text: str, times: int, location: Location) -> Fraction | None:
        """Base units in a floor of ``times`` members of the class at a location, entered at once; None as ``amount``.

        Equal texts are read and entered once: with many classes most of them repeat.
        """
        known = self._requests[name].get(text)
        if known is not None:
            known.times += times
            return known.value
        at: Location = (*location, "requests", name)
        value = self.amount(name, text, at)
        if value is not None:
            self._requests[name][text] = _Request(value, times, at)
        return value

    def work(self, name: str, text: str, location: Location) -> Fraction | None:
        """Seconds of compute, or base units of memory, of one task."""
        if not self.check(name, location):
            return None
        role, unit = self._roles[name]
        if role is Role.COMPUTE:
            return self.read(text, Dimension.SECOND, location)
        if role is Role.MEMORY:
            return self.read(text, unit, location)
        self._problems.add(location, f"a task can need compute and memory only, not {role.value}", text)
        return None

    def read(self, text: str, dimension: Dimension, location: Location) -> Fraction | None:
        """Value of a text; None when it has the wrong unit, which is then noted."""
        try:
            return parse_quantity(text, dimension)
        except QuantityError as error:
            self._problems.add(location, str(error), text)
            return None

    def need(self, name: str, value: Fraction, times: int, text: str, location: Location) -> None:
        """Enter a floor or ceiling; ``times``: for how many members it counts in sums."""
        self._needs[name].append(StatedNumber(value, times, text, location))

    def supply(self, name: str, value: Fraction, times: int, text: str, location: Location) -> None:
        """Enter a capacity of ``times`` domains."""
        self._supplies[name].append(StatedNumber(value, times, text, location))

    def wish(self, name: str, value: Fraction) -> None:
        """Enter a share that should be a whole number of units where that fits; the resource is divisible."""
        self._wishes[name].add(value)
        self._divisible.add(name)

    def close(self) -> dict[str, Resource]:
        """Fix the unit of every resource in use; those that do not fit are noted."""
        resources: dict[str, Resource] = {}
        for name, (role, unit) in self._roles.items():
            if name not in self._used:
                continue
            try:
                requests = (StatedNumber(r.value, r.times, text, r.where) for text, r in self._requests[name].items())
                self._exponents[name] = choose_exponent(
                    [*self._needs[name], *requests],
                    self._supplies[name],
                    sorted(self._wishes[name]),
                    divisible=name in self._divisible,
                )
            except ScaleError as error:
                where = error.number.where
                self._problems.add(where if isinstance(where, tuple) else (), str(error), error.number.text)
                self._exponents[name] = 0
            stated = self._declared.get(name)
            resources[name] = Resource(
                name,
                role,
                unit.value,
                self._exponents[name],
                transient=bool(stated and stated.transient),
                overload=Fraction(1) if stated is None or stated.overload is None else stated.overload,
            )
        return resources

    def floor(self, name: str, value: Fraction) -> int:
        """Whole units that cover a value."""
        exponent = self._exponents[name]
        if not exponent and value.denominator == 1:
            return value.numerator
        return round_up(value, exponent)

    def ceiling(self, name: str, value: Fraction) -> int:
        """Whole units within a value."""
        return round_down(value, self._exponents[name])
