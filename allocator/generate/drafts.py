"""Classes before their sizes are known, and how they become entries of an instance document.

Owns work, limits and targets in terms of the floor: tasks at the offered rate need less than the floor gives, and a
member that gets no more than its floor meets its target.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ARM", "ARM_KIND", "EITHER", "X86", "Draft", "Parts", "Sizes", "arm_millicores", "entry_of"]

X86 = "x86_64"
ARM = "arm64"
EITHER = "either"
ARM_KIND = "ampereone"
LN_100 = 4.605171
PATH_DELAY = 1e-3  # s, more than any path of these topologies takes
TARGET_ROOM = 1.15  # P99 allowed over P99 at the floor
MAIN = "cpu"


@dataclass(frozen=True, slots=True)
class Draft:
    """A class: nominal floors, and the rest as it will stand in the document.

    ``cores``, ``memory`` and ``storage`` (GiB) are nominal and scaled later. ``rate``: tasks/s of one member; ``busy``:
    the part of its floor they need. ``target``: whether it has one on the P99, or seconds of it, to which the work is
    then cut. ``arm``: CPU on Arm over CPU on x86-64. ``heat``: W of cooling a core.
    """

    name: str
    count: int
    cores: float = 0.0
    memory: float = 0.0
    storage: float = 0.0
    rate: float = 0.0
    busy: float = 0.5
    target: bool | float = False
    critical: bool = False
    value: int = 1
    arch: str = EITHER
    arm: float = 1.0
    heat: float = 2.0
    placement: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)  # of classes that do not scale, whole keys of the entry


@dataclass(frozen=True, slots=True)
class Parts:
    """Classes with the teams and flows between them."""

    drafts: list[Draft]
    teams: list[dict[str, Any]] = field(default_factory=list)
    flows: list[dict[str, Any]] = field(default_factory=list)

    def __add__(self, other: Parts) -> Parts:
        """Both, one after the other."""
        return Parts([*self.drafts, *other.drafts], [*self.teams, *other.teams], [*self.flows, *other.flows])

    @property
    def counts(self) -> list[int]:
        """Members by class."""
        return [draft.count for draft in self.drafts]


@dataclass(frozen=True, slots=True)
class Sizes:
    """Floors by class, in order: millicores, MiB of memory and of storage; whether floors of ``cooling`` are stated."""

    cpu: Sequence[int]
    memory: Sequence[int]
    storage: Sequence[int]
    cooling: bool = False


def arm_millicores(draft: Draft, millicores: int) -> int:
    """Floor on Arm of a class with that floor on x86-64."""
    return math.ceil(millicores * draft.arm)


def cooling_watts(draft: Draft, millicores: int) -> int:
    """Cooling that a member with that floor needs, in mW."""
    return math.ceil(draft.heat * millicores)


def entry_of(draft: Draft, sizes: Sizes, index: int) -> dict[str, Any]:
    """Entry under ``workloads``; class ``index`` of the sizes."""
    entry: dict[str, Any] = {"class": draft.name, "count": draft.count}
    if draft.value != 1:
        entry["value"] = draft.value
    if draft.fixed:
        return {**entry, **draft.fixed}
    cpu = sizes.cpu[index]
    requests = {MAIN: f"{cpu}m", "memory": f"{sizes.memory[index]} MiB"}
    if sizes.storage[index]:
        requests["storage"] = f"{sizes.storage[index]} MiB"
    if sizes.cooling:
        requests["cooling"] = f"{cooling_watts(draft, cpu)} mW"
    entry["requests"] = requests
    if draft.rate:
        entry.update(_offer(draft, cpu))
    placement = dict(draft.placement)
    if draft.arch != EITHER:
        placement["require"] = {"arch": draft.arch}
    elif draft.arm != 1.0:
        entry["by_kind"] = {ARM_KIND: _on_arm(draft, cpu, entry, cooling=sizes.cooling)}
    if placement:
        entry["placement"] = placement
    return entry


def _offer(draft: Draft, cpu: int) -> dict[str, Any]:
    """Limits, work and target of a class with a floor of ``cpu`` millicores."""
    parallel = max(1, math.ceil(2 * cpu / 1000))  # cores: twice the floor, so that more than the floor helps
    micros = draft.busy * cpu * 1000 / draft.rate
    stated = draft.target if isinstance(draft.target, float) else None
    if stated is not None:  # K / (s / c - rate) <= T / room at the floor s
        micros = cpu * 1000 / (draft.rate + LN_100 * TARGET_ROOM / (stated - PATH_DELAY))
    task = max(1, int(micros))
    offer: dict[str, Any] = {
        "limits": {MAIN: parallel},
        "work": {"rate": f"{draft.rate:g}/s", MAIN: f"{task} us", "parallel": parallel},
    }
    slo: dict[str, Any] = {}
    if stated is not None:
        slo["p99"] = f"{stated * 1000:g} ms"
    elif draft.target:
        p99 = LN_100 / (cpu * 1000 / task - draft.rate) * TARGET_ROOM + PATH_DELAY
        slo["p99"] = f"{_rounded_up(p99 * 1000)} ms"
    if draft.critical:
        slo["critical"] = True
    if slo:
        offer["slo"] = slo
    return offer


def _on_arm(draft: Draft, cpu: int, entry: Mapping[str, Any], *, cooling: bool) -> dict[str, Any]:
    """Demand on Arm: floor and work by the same factor, so that response times at the floor are no longer."""
    floor = arm_millicores(draft, cpu)
    changed: dict[str, Any] = {"requests": {MAIN: f"{floor}m"}}
    if cooling:
        changed["requests"]["cooling"] = f"{cooling_watts(draft, floor)} mW"
    if "work" in entry:
        micros = int(entry["work"][MAIN].removesuffix(" us"))
        changed["work"] = {MAIN: f"{max(1, int(micros * draft.arm))} us"}
    return changed


def _rounded_up(value: float) -> int:
    """Two significant digits, rounded up; at least 1."""
    if value <= 10:
        return max(1, math.ceil(value))
    unit: int = 10 ** (int(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit
