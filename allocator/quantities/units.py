"""Quantities with units to exact base units. Owns the units there are; knows no instance.

The unit algebra is Pint's, on a small registry of our own with exact fractions. Loading it takes a quarter of a second,
so the symbols that nearly every file keeps to are listed here, and it is loaded when another one is met.
"""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from allocator.quantities.decimals import QuantityError, split_number

if TYPE_CHECKING:
    from pint import UnitRegistry

__all__ = ["Dimension", "parse_quantity"]


class Dimension(StrEnum):
    """What a quantity measures; the value is its base unit."""

    CORE = "core"
    BYTE = "B"
    BITRATE = "bit/s"
    WATT = "W"
    SECOND = "s"
    FREQUENCY = "1/s"
    PLAIN = ""


_EXAMPLES = {
    Dimension.CORE: "500m, 2 or 2 cores",
    Dimension.BYTE: "1Gi, 768 GiB or 64 GB",
    Dimension.BITRATE: "400 Gbit/s or 50 GB/s",
    Dimension.WATT: "500 W or 120 kW",
    Dimension.SECOND: "1.5 s, 200 ms or 5 us",
    Dimension.FREQUENCY: "0.8/s or 48/min",
    Dimension.PLAIN: "3 or 250m",
}

# Kubernetes' suffixes: a bare prefix before the base unit of the resource
_SUFFIXES = {
    **{
        prefix: Fraction(10) ** power
        for prefix, power in zip("numkMGTPE", (-9, -6, -3, 3, 6, 9, 12, 15, 18), strict=True)
    },
    **{f"{prefix}i": Fraction(1024) ** power for power, prefix in enumerate("KMGTPE", start=1)},
}
_OF_BYTES = ("k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi")
_LONG_PREFIXES = frozenset(
    {"kilo", "mega", "giga", "tera", "peta", "exa", "kibi", "mebi", "gibi", "tebi", "pebi", "exbi"}
)
_NO_SUFFIX = frozenset({Dimension.SECOND, Dimension.FREQUENCY})

_DEFINITIONS = (
    *(f"{name}- = {value} = {symbols}" for name, value, symbols in (
        ("nano", "1e-9", "n-"), ("micro", "1e-6", "u- = \N{MICRO SIGN}- = \N{GREEK SMALL LETTER MU}-"),
        ("milli", "1e-3", "m-"), ("kilo", "1e3", "k- = K-"), ("mega", "1e6", "M-"), ("giga", "1e9", "G-"),
        ("tera", "1e12", "T-"), ("peta", "1e15", "P-"), ("exa", "1e18", "E-"),
        ("kibi", 1024, "Ki-"), ("mebi", 1024**2, "Mi-"), ("gibi", 1024**3, "Gi-"), ("tebi", 1024**4, "Ti-"),
        ("pebi", 1024**5, "Pi-"), ("exbi", 1024**6, "Ei-"),
    )),
    "bit = [information] = bit = b",
    "byte = 8 * bit = B",
    "second = [time] = s",
    "minute = 60 * second = min",
    "hour = 3600 * second = h",
    "day = 86400 * second = d",
    "watt = [power] = W",
    "core = [compute] = core",
    "bits_per_second = bit / second = bps",
    "hertz = 1 / second = Hz",
)  # fmt: skip

# Base units in one of each: what Pint says of them, too (tests/test_quantities.py)
_SYMBOLS: dict[Dimension, dict[str, Fraction]] = {
    Dimension.CORE: {"core": Fraction(1), "cores": Fraction(1)},
    Dimension.BYTE: {"B": Fraction(1), **{f"{prefix}B": _SUFFIXES[prefix] for prefix in _OF_BYTES}},
    Dimension.BITRATE: {
        f"{prefix}{unit}/s": bits * (_SUFFIXES[prefix] if prefix else 1)
        for prefix in ("", "k", "M", "G", "T")
        for unit, bits in (("bit", Fraction(1)), ("B", Fraction(8)))
    },
    Dimension.WATT: {"W": Fraction(1), "kW": _SUFFIXES["k"], "MW": _SUFFIXES["M"]},
    Dimension.SECOND: {"s": Fraction(1), "ms": _SUFFIXES["m"], "us": _SUFFIXES["u"], "ns": _SUFFIXES["n"]},
    Dimension.FREQUENCY: {"/s": Fraction(1), "1/s": Fraction(1), "/min": Fraction(1, 60)},
    Dimension.PLAIN: {},
}

# A "b" for a "B" is a slip that is wrong by a factor of 8, so bytes are stated in bytes
_BYTES = re.compile(r"[A-Za-z\u00b5\u03bc]*(?:B|bytes?)")
_BITS = re.compile(r"(?P<prefix>[A-Za-z\u00b5\u03bc]*?)(?:b|bits?)")

# What may reach Pint's expression parser: one or two unit names, nothing that could be an arithmetic bomb
_UNIT_TEXT = re.compile(r"(?:1?\s*/\s*)?[A-Za-z\u00b5\u03bc]{1,24}(?:\s*/\s*[A-Za-z\u00b5\u03bc]{1,24})?")


@cache
def _registry() -> UnitRegistry[Fraction]:
    from pint import UnitRegistry

    registry: UnitRegistry[Fraction] = UnitRegistry(None, non_int_type=Fraction)
    for definition in _DEFINITIONS:
        registry.define(definition)
    return registry


@lru_cache(maxsize=1024)
def _factor(unit: str, dimension: Dimension) -> Fraction:
    """Base units of the dimension in one ``unit``."""
    from pint.errors import PintError

    wanted = f"a unit of {dimension.value}" if dimension.value else "a plain number"
    if not _UNIT_TEXT.fullmatch(unit):
        raise QuantityError(f"has the unknown unit {unit[:40]!r}; write for example {_EXAMPLES[dimension]}")
    registry = _registry()
    try:
        stated = registry.Quantity(Fraction(1), registry.parse_units(f"1{unit}" if unit.startswith("/") else unit))
        base = registry.Quantity(Fraction(1), registry.parse_units(dimension.value))
    except (PintError, ValueError, TypeError, ArithmeticError, AttributeError, SyntaxError):
        raise QuantityError(f"has the unknown unit {unit!r}; write for example {_EXAMPLES[dimension]}") from None
    if stated.dimensionality != base.dimensionality:
        raise QuantityError(f"has the unit {unit!r}, but needs {wanted}; write for example {_EXAMPLES[dimension]}")
    if dimension is Dimension.BYTE and not _BYTES.fullmatch(unit):
        raise QuantityError(_in_bytes(unit))
    return Fraction(stated.to_base_units().magnitude) / Fraction(base.to_base_units().magnitude)


def _in_bytes(unit: str) -> str:
    """Why a unit of bits is refused where bytes count, and what to write instead."""
    match = _BITS.fullmatch(unit)
    if match is None:
        return f"has the unit {unit!r}, but needs bytes; write for example {_EXAMPLES[Dimension.BYTE]}"
    prefix = match["prefix"]
    wanted = prefix + ("byte" if prefix.lower() in _LONG_PREFIXES else "B")
    return f"has the unit {unit!r}, which is bits, but needs bytes: write {wanted}, an eighth of it if bits are meant"


@lru_cache(maxsize=65536)
def parse_quantity(text: str, dimension: Dimension | str) -> Fraction:
    """Exact value of a quantity in base units of its dimension.

    A bare number is in base units. A bare prefix (``500m``, ``1Gi``, ``2k``) stands before the base unit, except for
    times and rates, where ``m`` would be ambiguous.

    Parameters
    ----------
    text : for example "500m", "768 GiB", "400 GB/s", "5 us", "0.8/s".
    dimension : what it has to measure.

    Raises
    ------
    QuantityError
        When the text is no finite decimal number with a unit of that dimension.
    """
    dimension = Dimension(dimension)
    value, unit = split_number(text)
    if not unit:
        return value
    if unit in _SUFFIXES and dimension not in _NO_SUFFIX:
        return value * _SUFFIXES[unit]
    known = _SYMBOLS[dimension].get(unit)
    return value * (_factor(unit, dimension) if known is None else known)
