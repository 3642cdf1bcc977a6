"""Which function checks which family. A test proves that no family is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from allocator.checker.assignment import assignment
from allocator.checker.capacity import capacity
from allocator.checker.eligibility import eligibility
from allocator.checker.fabric import fabric
from allocator.checker.gang import gang
from allocator.checker.groups import conflict, dependency, spread
from allocator.checker.link_load import link_load
from allocator.checker.moves import move_limit
from allocator.checker.pool import pool
from allocator.checker.reserve import reserve
from allocator.checker.shares import shares
from allocator.checker.situation import Situation
from allocator.checker.slo import slo
from allocator.model.families import Family
from allocator.plan.evaluation import Violation

__all__ = ["DERIVED", "RULES"]

RULES: Mapping[Family, Callable[[Situation], Iterable[Violation]]] = MappingProxyType(
    {
        Family.ASSIGNMENT: assignment,
        Family.ELIGIBILITY: eligibility,
        Family.SHARES: shares,
        Family.CAPACITY: capacity,
        Family.POOL: pool,
        Family.FABRIC: fabric,
        Family.CONFLICT: conflict,
        Family.SPREAD: spread,
        Family.DEPENDENCY: dependency,
        Family.GANG: gang,
        Family.MOVE_LIMIT: move_limit,
        Family.RESERVE: reserve,
        Family.SLO: slo,
        Family.LINK_LOAD: link_load,
    }
)

DERIVED: frozenset[Family] = frozenset({Family.RATES, Family.TRANSIENT})
"""Families without a rule of their own: ``rates`` defines values, ``transient`` adds to the use in ``capacity``."""
