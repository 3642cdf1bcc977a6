"""Every row of the table of cases that can be tested so far has at least one test, which names it."""

from __future__ import annotations

import re
from pathlib import Path

LATER: set[int] = set()
"""Rows that wait for something to be built."""


def test_every_row_has_a_test() -> None:
    found = set()
    for path in Path(__file__).parent.glob("test_rows_*.py"):
        found |= {int(number) for number in re.findall(r"^def test_row_(\d+)_", path.read_text(), re.MULTILINE)}
    assert found == set(range(1, 32)) - LATER
