"""Numbers by two nodes, stored densely: what a dictionary of pairs would hold where most pairs have one.

Owns the storage alone. An entry of 0 is the same as none.
"""

from __future__ import annotations

import hashlib
import math
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TypeVar, overload

__all__ = ["NodeMatrix", "node_matrix"]

LEAST_NODES = 64
LEAST_SHARE = 4
"""Stored densely from so many nodes on, and where at least one pair in so many has a number."""
LARGEST = 2**63 - 1

Pair = tuple[str, str]
Default = TypeVar("Default")


class NodeMatrix(Mapping[Pair, Fraction]):
    """Mapping of (path, path) to a positive number.

    Parameters
    ----------
    paths : of the nodes, in order of rows and columns.
    numbers : int64, row by row, in units of 1 / ``denominator``.
    denominator : at least 1.
    """

    def __init__(self, paths: Sequence[str], numbers: array[int], denominator: int = 1) -> None:
        self.paths = tuple(paths)
        self.numbers = numbers
        self.denominator = denominator
        self._place = {path: index for index, path in enumerate(self.paths)}
        self._values: dict[int, Fraction] = {}

    def __getitem__(self, pair: Pair) -> Fraction:
        source, target = pair
        number = self.numbers[self._place[source] * len(self.paths) + self._place[target]]
        if not number:
            raise KeyError(pair)
        value = self._values.get(number)
        if value is None:
            value = self._values[number] = Fraction(number, self.denominator)
        return value

    @overload
    def get(self, key: Pair, /) -> Fraction | None: ...
    @overload
    def get(self, key: Pair, default: Fraction | Default, /) -> Fraction | Default: ...
    def get(self, key: Pair, default: Fraction | Default | None = None, /) -> Fraction | Default | None:
        """Number of a pair, or the default; without the cost of an exception."""
        row, column = self._place.get(key[0]), self._place.get(key[1])
        if row is None or column is None or not self.numbers[row * len(self.paths) + column]:
            return default
        return self[key]

    def __iter__(self) -> Iterator[Pair]:
        size = len(self.paths)
        for index, number in enumerate(self.numbers):
            if number:
                yield self.paths[index // size], self.paths[index % size]

    def __len__(self) -> int:
        return len(self.numbers) - self.numbers.count(0)

    def __reduce__(self) -> tuple[type[NodeMatrix], tuple[tuple[str, ...], array[int], int]]:
        return NodeMatrix, (self.paths, self.numbers, self.denominator)

    def digest(self) -> str:
        """Text that names the content: the same for equal numbers over equal paths."""
        common = math.gcd(self.denominator, *set(self.numbers))
        hasher = hashlib.sha256("\n".join(self.paths).encode())
        reduced = array("q", self.numbers) if common == 1 else array("q", [number // common for number in self.numbers])
        if sys.byteorder == "big":
            reduced.byteswap()
        hasher.update(reduced.tobytes())
        return f"NodeMatrix({self.denominator // common},{hasher.hexdigest()})"


def node_matrix(paths: Sequence[str], rows: Sequence[Sequence[Fraction]]) -> Mapping[Pair, Fraction]:
    """Numbers of at least 0 by two nodes, as a dictionary without its zeros, or densely where that is shorter.

    Parameters
    ----------
    paths : of all nodes.
    rows : one row a node, numbers in the order of ``paths``; equal numbers are best the same object.
    """
    known: dict[int, Fraction] = {}
    for row in {id(row): row for row in rows}.values():
        known.update(zip(map(id, row), row, strict=True))
    if len(paths) >= LEAST_NODES:
        denominator = math.lcm(*{value.denominator for value in known.values()})
        units = {key: int(value * denominator) for key, value in known.items()}
        if max(units.values()) <= LARGEST:
            numbers = array("q")
            done: dict[int, array[int]] = {}
            for row in rows:
                if id(row) not in done:
                    done[id(row)] = array("q", map(units.__getitem__, map(id, row)))
                numbers.extend(done[id(row)])
            if (len(numbers) - numbers.count(0)) * LEAST_SHARE >= len(numbers):
                return NodeMatrix(paths, numbers, denominator)
    return MappingProxyType(
        {
            (source, target): value
            for source, row in zip(paths, rows, strict=True)
            for target, value in zip(paths, row, strict=True)
            if value
        }
    )
