"""Goal ``overload`` (equation 22)."""

from __future__ import annotations

import numpy as np

from allocator.model.entities import Goal
from allocator.solvers.cpsat.derived import positive_part
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["expression"]


def expression(symbols: Symbols, _goal: Goal) -> Linear:
    """Sum of overload_r * max(0, U_dr - S_dr), base units."""
    compiled = symbols.compiled
    value = Linear()
    for domain, resource in zip(*np.nonzero(compiled.safety >= 0), strict=True):
        symbols.budget.check()
        over = symbols.use(int(domain), int(resource)).plus(-int(compiled.safety[domain, resource]))
        weight = compiled.instance.resources[compiled.resources[resource]].overload
        part = positive_part(symbols.builder, over, "the goal overload")
        value.add_scaled(part, weight * symbols.base(int(resource)))
    return value
