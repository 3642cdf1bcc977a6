"""Exact decimals, units and integer scales of resources. Owns how numbers are read; knows no instance and no file.

>>> parse_quantity("500m", Dimension.CORE)
Fraction(1, 2)
"""

from __future__ import annotations

from allocator.quantities.decimals import QuantityError, decimal_exponent, decimal_text, parse_decimal, parse_whole
from allocator.quantities.scales import INT64_MARGIN, ScaleError, StatedNumber, choose_exponent, round_down, round_up
from allocator.quantities.units import Dimension, parse_quantity

__all__ = [
    "INT64_MARGIN",
    "Dimension",
    "QuantityError",
    "ScaleError",
    "StatedNumber",
    "choose_exponent",
    "decimal_exponent",
    "decimal_text",
    "parse_decimal",
    "parse_quantity",
    "parse_whole",
    "round_down",
    "round_up",
]
