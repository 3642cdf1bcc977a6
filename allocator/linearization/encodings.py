"""Piecewise linear functions of any shape in a mixed-integer program: columns, binaries and rows as plain data.

Owns two exact formulations of y = f(x), y <= f(x) or y >= f(x): incremental and logarithmic. Knows no solver; any layer
that can add named columns and linear rows can use them. Numbers are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise

from allocator.linearization.polyline import Polyline

__all__ = ["Column", "Encoding", "Relation", "Row", "incremental", "logarithmic"]

ZERO, ONE = Fraction(0), Fraction(1)


class Relation(StrEnum):
    """How y stands to f(x): on the graph, below it (a goodput that may be used) or above it (a cost to pay)."""

    EQUAL = "=="
    AT_MOST = "<="
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Column:
    """A variable to be added, in [0, 1]; binary where ``binary``."""

    name: str
    binary: bool


@dataclass(frozen=True, slots=True)
class Row:
    """lower <= sum of coefficient * column <= upper; None: unlimited on that side."""

    coefficients: Mapping[str, Fraction]
    lower: Fraction | None
    upper: Fraction | None


@dataclass(frozen=True, slots=True)
class Encoding:
    """Columns and rows that tie y to f(x) for x from the first to the last point, and let x be nothing else."""

    x: str
    y: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    @property
    def num_binaries(self) -> int:
        """How many of the columns are binary."""
        return sum(column.binary for column in self.columns)


def incremental(line: Polyline, x: str, y: str, prefix: str, relation: Relation = Relation.EQUAL) -> Encoding:
    """The sum of filled segments is x, each begun only when the one before is full (Markowitz and Manne 1957).

    For one-sided relations segments are grouped into the longest runs that are concave (``AT_MOST``) or convex
    (``AT_LEAST``), and only the runs are ordered by binaries: inside a run another order of filling gives a worse y.
    A function that bends the right way throughout needs no binary.
    """
    line = line.simplified()
    first_x, first_y = line.points[0]
    widths = [b[0] - a[0] for a, b in pairwise(line.points)]
    fills = [f"{prefix}fill{i}" for i in range(len(widths))]
    runs = _runs(line.slopes, relation)
    steps = [f"{prefix}step{i}" for i in range(len(runs) - 1)]
    rises = {name: slope * width for name, slope, width in zip(fills, line.slopes, widths, strict=True)}
    rows = [_tie(x, dict(zip(fills, widths, strict=True)), first_x), _tie(y, rises, first_y, relation)]
    for step, before, after in zip(steps, runs, runs[1:], strict=False):
        rows += [Row({fills[i]: ONE, step: -ONE}, ZERO, None) for i in before]
        rows += [Row({fills[i]: ONE, step: -ONE}, None, ZERO) for i in after]
    columns = (*(Column(name, binary=False) for name in fills), *(Column(name, binary=True) for name in steps))
    return Encoding(x, y, columns, tuple(rows))


def logarithmic(line: Polyline, x: str, y: str, prefix: str, relation: Relation = Relation.EQUAL) -> Encoding:
    """A mean of two neighbouring points is x, the pair chosen by ceil(log2 segments) binaries.

    Segment i has the i-th Gray code: neighbours differ in one bit. A point may have weight where bit b is 1 only if one
    of its segments has that bit, and likewise for 0; with all bits set what is left are the ends of one segment
    (Vielma and Nemhauser 2011).
    """
    line = line.simplified()
    weights = [f"{prefix}weight{i}" for i in range(len(line.points))]
    num_segments = len(weights) - 1
    codes = [i ^ (i >> 1) for i in range(num_segments)]
    bits = [f"{prefix}bit{b}" for b in range((num_segments - 1).bit_length())]
    rows = [
        Row(dict.fromkeys(weights, ONE), ONE, ONE),
        _tie(x, dict(zip(weights, (point[0] for point in line.points), strict=True)), ZERO),
        _tie(y, dict(zip(weights, (point[1] for point in line.points), strict=True)), ZERO, relation),
    ]
    for b, bit in enumerate(bits):
        touching = [{codes[s] >> b & 1 for s in (i - 1, i) if 0 <= s < num_segments} for i in range(len(weights))]
        ones = [name for name, values in zip(weights, touching, strict=True) if values == {1}]
        zeros = [name for name, values in zip(weights, touching, strict=True) if values == {0}]
        rows.append(Row({**dict.fromkeys(ones, ONE), bit: -ONE}, None, ZERO))
        rows.append(Row({**dict.fromkeys(zeros, ONE), bit: ONE}, None, ONE))
    columns = (*(Column(name, binary=False) for name in weights), *(Column(name, binary=True) for name in bits))
    return Encoding(x, y, columns, tuple(rows))


def _tie(name: str, terms: Mapping[str, Fraction], constant: Fraction, relation: Relation = Relation.EQUAL) -> Row:
    """Name - sum of terms = (or <=, >=) constant."""
    coefficients = {name: ONE, **{column: -value for column, value in terms.items() if value}}
    lower = None if relation is Relation.AT_MOST else constant
    upper = None if relation is Relation.AT_LEAST else constant
    return Row(coefficients, lower, upper)


def _runs(slopes: tuple[Fraction, ...], relation: Relation) -> list[list[int]]:
    """Consecutive segments that need no order among themselves."""
    runs = [[0]]
    for i, (before, after) in enumerate(pairwise(slopes), start=1):
        unordered = (relation is Relation.AT_MOST and after < before) or (
            relation is Relation.AT_LEAST and after > before
        )
        if unordered:
            runs[-1].append(i)
        else:
            runs.append([i])
    return runs
