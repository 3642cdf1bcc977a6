"""Numbers of a text file, one after the other, with their lines. Knows no format.

The classical formats are streams of numbers in which line breaks mean nothing; a file that is cut off, or read as the
wrong format, shows only in the count. So the count is compared as soon as it is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from allocator.documents.reading import read_text
from allocator.errors import InputError, Problem
from allocator.quantities import QuantityError, parse_decimal
from allocator.quantities.decimals import decimal_text

__all__ = ["Number", "Tokens", "plain", "plain_row"]

Number = int | str
"""A number as it goes into a document: a whole one, or the text of a decimal."""

MAX_SIZE = 10**7
SHOWN_CHARACTERS = 40


class Tokens:
    """Reads the numbers of a file in order.

    Parameters
    ----------
    path : a text file of numbers separated by white space.

    Raises
    ------
    InputError
        The file cannot be read, or holds nothing. Every method raises it with the line of the number it concerns.
    """

    def __init__(self, path: Path) -> None:
        self.source = str(path)
        self._tokens: list[tuple[int, str]] = [
            (number, token)
            for number, line in enumerate(read_text(path).splitlines(), start=1)
            for token in line.split()
        ]
        self._next = 0
        if not self._tokens:
            self.refuse("file", None, "is empty")

    def __len__(self) -> int:
        return len(self._tokens)

    def size(self, what: str) -> int:
        """A whole number of at least 1, such as a number of items."""
        value = self._value(what)
        if value.denominator != 1 or not 1 <= value <= MAX_SIZE:
            self.refuse_last(f"must be {what}: a whole number from 1 to {MAX_SIZE}")
        return int(value)

    def count(self, what: str) -> int:
        """A whole number of at least 0."""
        value = self._value(what)
        if value.denominator != 1 or not 0 <= value <= MAX_SIZE:
            self.refuse_last(f"must be {what}: a whole number from 0 to {MAX_SIZE}")
        return int(value)

    def number(self, what: str) -> Fraction:
        """A decimal number of at least 0."""
        value = self._value(what)
        if value < 0:
            self.refuse_last(f"must be {what}: at least 0")
        return value

    def numbers(self, count: int, what: str) -> list[Fraction]:
        """So many decimal numbers of at least 0."""
        return [self.number(what) for _ in range(count)]

    def table(self, rows: int, columns: int, what: str) -> list[list[Fraction]]:
        """Numbers row by row."""
        return [self.numbers(columns, what) for _ in range(rows)]

    def expect(self, total: int, layout: str) -> None:
        """Compare the count of all numbers in the file with what its first ones ask for."""
        if len(self) < total:
            self.refuse(self._place(len(self) - 1), None, f"ends after {len(self)} numbers of {total}: {layout}")
        if len(self) > total:
            line, token = self._tokens[total]
            message = f"stands after the last of the {total} numbers expected ({len(self)} in all): {layout}"
            self.refuse(f"line {line}", token, message)

    def refuse(self, where: str, value: str | None, message: str) -> NoReturn:
        """Raise with a place of the caller's own."""
        shown = None if value is None else value[:SHOWN_CHARACTERS]
        raise InputError(self.source, [Problem(where, shown, message)])

    def refuse_last(self, message: str) -> NoReturn:
        """Raise at the number read last."""
        self.refuse(self._place(self._next - 1), self._tokens[self._next - 1][1], message)

    def _place(self, position: int) -> str:
        line, _ = self._tokens[position]
        first = position
        while first > 0 and self._tokens[first - 1][0] == line:
            first -= 1
        return f"line {line}, number {position - first + 1}"

    def _value(self, what: str) -> Fraction:
        if self._next >= len(self._tokens):
            self.refuse(self._place(len(self) - 1), None, f"is the end of the file; {what} is missing")
        _, token = self._tokens[self._next]
        self._next += 1
        try:
            return parse_decimal(token)
        except QuantityError as error:
            self.refuse_last(f"must be {what}: {error}")


def plain(value: Fraction) -> Number:
    """A number for a document.

    Raises
    ------
    QuantityError
        For a fraction whose decimals do not end; sums and products of decimals have none.
    """
    return int(value) if value.denominator == 1 else decimal_text(value)


def plain_row(values: list[Fraction]) -> Iterator[Number]:
    """A row of numbers for a document."""
    return (plain(value) for value in values)
