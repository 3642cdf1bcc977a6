"""Amounts, lists and ordinals in sentences. Owns wording; rounds nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from allocator.instance.entities import Instance
from allocator.plan.numbers import base_units, shown

__all__ = ["amounts_text", "at", "base_text", "listed", "members_text", "ordinal", "quantity", "short_of"]

BYTES = ((2**30, "GiB"), (10**9, "GB"), (2**20, "MiB"), (10**6, "MB"), (2**10, "KiB"), (10**3, "kB"))
DECIMAL = ((10**9, "G"), (10**6, "M"), (10**3, "k"))
MOST_LISTED = 5


def quantity(instance: Instance, resource: str, amount: int) -> str:
    """An exact amount with its unit: ``1,952 cores``, ``3,904 GB``, ``8``."""
    return base_text(instance, resource, base_units(amount, instance.resources[resource].exponent))


def base_text(instance: Instance, resource: str, value: Fraction) -> str:
    """The same of an amount in base units."""
    entity = instance.resources[resource]
    if entity.unit == "core":
        return f"{_number(value)} {'core' if value == 1 else 'cores'}"
    scales = BYTES if entity.unit == "B" else tuple((size, prefix + entity.unit) for size, prefix in DECIMAL)
    if entity.unit:
        for size, name in scales:
            if value and value % size == 0:
                return f"{_number(value / size)} {name}"
    return f"{_number(value)} {entity.unit}".rstrip()


def _number(value: Fraction) -> str:
    return f"{value.numerator:,}" if value.denominator == 1 else shown(value)


def amounts_text(instance: Instance, amounts: Mapping[str, int]) -> str:
    """``1 core of cpu and 2 GB of memory``."""
    return listed(f"{quantity(instance, name, amount)} of {name}" for name, amount in amounts.items())


def short_of(instance: Instance, amounts: Mapping[str, int]) -> str:
    """``1,952 cores of cpu and 3,904 GB of memory short``."""
    return f"{amounts_text(instance, amounts)} short"


def listed(texts: Iterable[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``; the first few of many."""
    entries = list(texts)
    if len(entries) > MOST_LISTED:
        return f"{', '.join(entries[:MOST_LISTED])} {word} {len(entries) - MOST_LISTED} more"
    if len(entries) < 2:
        return "".join(entries)
    return f"{', '.join(entries[:-1])} {word} {entries[-1]}"


def members_text(count: int, name: str) -> str:
    """``the member of x``, ``the 8 members of x``."""
    return f"the member of {name}" if count == 1 else f"the {count:,} members of {name}"


def ordinal(number: int) -> str:
    """``49th``."""
    suffix = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{suffix}"


def at(path: str) -> str:
    """A domain by its path; the implicit root has none."""
    return path or "the whole topology"
