"""The families by name, and what may be asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allocator.errors import ArgumentError
from allocator.generate.claims import claims
from allocator.generate.mixed import mixed
from allocator.generate.request import Request
from allocator.generate.twin import twin

__all__ = ["FAMILIES", "LARGEST", "SMALLEST", "generate"]

FAMILIES = {"claims": claims, "twin": twin, "mixed": mixed}
SMALLEST = 100
LARGEST = 1_000_000
HIGHEST_LOAD = 4


def generate(family: str, *, agents: int = 40_000, load: float = 0.85, seed: int = 0) -> Mapping[str, Any]:
    """Instance document of a family; the same arguments give the same document.

    Parameters
    ----------
    family : one of ``FAMILIES``.
    agents : members of all classes together.
    load : sum of floors over capacity, of the scarcest resource; above 1 not everybody finds a place.
    seed : of everything drawn.

    Raises
    ------
    ArgumentError
        An unknown family, or a number out of range.
    """
    if family not in FAMILIES:
        raise ArgumentError(f"there is no family {family}; there are {', '.join(FAMILIES)}")
    if not SMALLEST <= agents <= LARGEST:
        raise ArgumentError(f"agents = {agents}: must be {SMALLEST} to {LARGEST}")
    if not 0.01 <= load <= HIGHEST_LOAD:
        raise ArgumentError(f"load = {load}: must be 0.01 to {HIGHEST_LOAD}")
    return FAMILIES[family](Request(family, agents, load, seed))
