"""Vector bin packing as an instance. Owns the layout; knows no method.

Layout: number of dimensions; capacity of a bin in each; number of lines of items; on each line the size of an item in
each dimension and how many such items there are. All items go into the fewest bins.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator.formats.tokens import Tokens, plain_row

__all__ = ["bins_that_suffice", "read_vbp"]

LAYOUT = "dimensions d, capacities (d), lines n, then n lines of d sizes and a number of items"
MAX_BINS = 100_000

Sizes = Sequence[Fraction]


def read_vbp(path: Path) -> dict[str, Any]:
    """Instance document: as many identical nodes as first fit needs, which an optimal packing never exceeds.

    Raises
    ------
    InputError
        The file is not of this layout.
    """
    tokens = Tokens(path)
    num_dimensions = tokens.size("the number of dimensions")
    capacities = tokens.numbers(num_dimensions, "a capacity")
    num_lines = tokens.size("the number of lines of items")
    tokens.expect(2 + num_dimensions + num_lines * (num_dimensions + 1), LAYOUT)
    items: list[tuple[Sizes, int]] = []
    for _ in range(num_lines):
        sizes = tokens.numbers(num_dimensions, "a size")
        items.append((sizes, tokens.count("a number of items")))
    num_bins = bins_that_suffice(capacities, items)
    if num_bins > MAX_BINS:
        tokens.refuse("file", None, f"needs {num_bins} bins by first fit, more than {MAX_BINS}; split the items")
    dimensions = [f"dim{index}" for index in range(num_dimensions)]
    return {
        "format": "allocator/v1",
        "name": path.stem,
        "model": "consolidate",
        "resources": {name: {"role": "other"} for name in dimensions},
        "topology": [
            {
                "level": "node",
                "name": "bin",
                "count": num_bins,
                "kind": "bin",
                "capacity": dict(zip(dimensions, plain_row(capacities), strict=True)),
            }
        ],
        "workloads": [
            {
                "class": f"item{index}",
                "count": count,
                "requests": dict(zip(dimensions, plain_row(list(sizes)), strict=True)),
            }
            for index, (sizes, count) in enumerate(items)
        ],
    }


def bins_that_suffice(capacities: Sizes, items: Sequence[tuple[Sizes, int]]) -> int:
    """Bins that first fit uses, the best of three orders: as listed, by largest relative size, by their sum.

    An item larger than a bin counts as one bin, so that the instance is stated, and found infeasible, all the same.
    """

    def relative(entry: tuple[Sizes, int]) -> list[Fraction]:
        return [size / room for size, room in zip(entry[0], capacities, strict=True) if room]

    orders = (
        list(items),
        sorted(items, key=lambda entry: max(relative(entry), default=Fraction(0)), reverse=True),
        sorted(items, key=lambda entry: sum(relative(entry)), reverse=True),
    )
    numbers = itertools.chain(capacities, *(sizes for sizes, _ in items))
    unit = math.lcm(*(number.denominator for number in numbers))
    room = [int(capacity * unit) for capacity in capacities]
    scaled = [[([int(size * unit) for size in sizes], count) for sizes, count in order] for order in orders]
    return max(1, min(_first_fit(room, order) for order in scaled))


def _first_fit(capacities: list[int], items: Sequence[tuple[list[int], int]]) -> int:
    rooms: list[list[int]] = []
    oversized = 0
    for sizes, count in items:
        left = count
        for room in rooms:
            if not left:
                break
            left -= _fill(room, sizes, left)
        while left:
            room = list(capacities)
            taken = _fill(room, sizes, left)
            if not taken or len(rooms) > MAX_BINS:
                oversized += left
                break
            rooms.append(room)
            left -= taken
    return len(rooms) + oversized


def _fill(room: list[int], sizes: list[int], most: int) -> int:
    """Put as many of the items into a bin as fit, at most ``most``; how many that are."""
    taken = most
    for free, size in zip(room, sizes, strict=True):
        if size * taken > free:
            taken = free // size
            if not taken:
                return 0
    for dimension, size in enumerate(sizes):
        room[dimension] -= taken * size
    return taken
