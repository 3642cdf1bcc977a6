"""Whole numbers of a text file, one after the other; for files of millions of them. Knows no format.

Like ``tokens``, for layouts whose length is known only once all of it is read: what is missing, too much or no number
is told with its line.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from allocator.documents.reading import read_text
from allocator.errors import InputError, Problem

__all__ = ["Integers"]

SHOWN_CHARACTERS = 40
MAX_DIGITS = 18


class Integers:
    """Reads the whole numbers of a file, all at least 0, in order.

    Parameters
    ----------
    path : a text file of numbers separated by white space.
    layout : what the file should hold, for messages.

    Raises
    ------
    InputError
        The file cannot be read. Every method raises it with the line of the number it concerns.
    """

    def __init__(self, path: Path, layout: str) -> None:
        self.source = str(path)
        self._layout = layout
        self._text = read_text(path)
        self._tokens = self._text.split()
        self._at = 0

    def next(self, what: str) -> int:
        """The next number."""
        return self.row(1, what)[0]

    def row(self, count: int, what: str) -> list[int]:
        """So many numbers."""
        tokens = self._tokens[self._at : self._at + count]
        if len(tokens) < count:
            message = f"ends after {len(self._tokens)} numbers, where {what} is missing: {self._layout}"
            self.refuse("file", None, message)
        for offset, token in enumerate(tokens):
            if not (token.isascii() and token.isdigit() and len(token) <= MAX_DIGITS):
                self._at += offset + 1
                self._refuse_last(f"must be {what}: a whole number of at least 0 and at most {MAX_DIGITS} digits")
        self._at += count
        return list(map(int, tokens))

    def count(self, what: str) -> int:
        """A number of things to follow."""
        value = self.next(what)
        if value > len(self._tokens):
            self._refuse_last(f"is {what}, and the file has {len(self._tokens)} numbers: {self._layout}")
        return value

    def below(self, end: int, what: str) -> int:
        """The number of one of ``end`` things, counted from 0."""
        value = self.next(what)
        if value >= end:
            self._refuse_last(f"must be the number of {what}, less than {end}")
        return value

    def flag(self, what: str) -> bool:
        """0 or 1."""
        value = self.next(what)
        if value > 1:
            self._refuse_last(f"must tell {what}: 0 or 1")
        return value == 1

    def end(self) -> None:
        """Refuse anything that follows."""
        if self._at < len(self._tokens):
            self._at += 1
            self._refuse_last(f"stands after the last number expected: {self._layout}")

    def refuse(self, where: str, value: str | None, message: str) -> NoReturn:
        """Raise with a place of the caller's own."""
        raise InputError(self.source, [Problem(where, value, message)])

    def _refuse_last(self, message: str) -> NoReturn:
        """Raise at the number read last."""
        left = self._at
        number = 1
        for line in self._text.splitlines():
            found = len(line.split())
            if left <= found:
                break
            left -= found
            number += 1
        self.refuse(f"line {number}, number {left}", self._tokens[self._at - 1][:SHOWN_CHARACTERS], message)
