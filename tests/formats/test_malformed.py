"""A file that is not of the format is refused with file, line, number and what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from allocator.errors import InputError
from allocator.formats.registry import READERS
from tests.formats.references import TINY

CASES = {
    "empty": ("gap", " \n\n", ["is empty"]),
    "word": ("gap", "2 x\n", ["line 1, number 2", "= x", "number of jobs"]),
    "not finite": ("gap", "1 1\n5\nnan\n3", ["line 3, number 1", "= nan", "finite"]),
    "negative cost": ("gap", "1 2\n5 -4\n1 1\n3", ["line 2, number 2", "= -4", "a cost", "at least 0"]),
    "no jobs": ("gap", "3 0\n", ["line 1, number 2", "= 0", "whole number from 1"]),
    "half an agent": ("gap", "1.5 2\n", ["line 1, number 1", "= 1.5", "number of agents"]),
    "cut off": ("gap", "2 2\n1 2 3 4\n1 2 3\n", ["line 3, number 3", "ends after 9 numbers of 12", "capacities"]),
    "only the sizes": ("gap", "2\n", ["number of jobs", "missing"]),
    "too long": ("gap", "1 1\n5\n2\n9\n7 8\n", ["line 5", "= 7", "7 in all"]),
    "absurd size": ("gap", "1000000000000 5\n", ["line 1, number 1", "10000000"]),
    "large but plausible sizes": ("gap", "9999999 9999999\n", ["ends after 2 numbers"]),
    "huge exponent": ("gap", "1 1\n1e999999\n1\n1\n", ["line 2, number 1", "exponent"]),
    "gqap as gap": ("gap", TINY["gqap"].read_text(), ["30 numbers", "47 in all", "agents"]),
    "ctap cut off": ("ctap", "3 2\n1 2 3 4 5 6\n1 1 1\n", ["ends after 11 numbers of 16", "upper triangle"]),
    "gqap negative distance": ("gqap", "1 1 1\n0\n-1\n2\n3\n4\n", ["line 3", "= -1", "a distance"]),
    "gqap too long": ("gqap", "1 1 1\n0\n0\n2\n3\n4\n5\n", ["line 7", "= 5", "distances"]),
    "vbp cut off": ("vbp", "2\n10 10\n2\n1 1 1\n", ["ends after 7 numbers of 10", "number of items"]),
    "vbp half an item": ("vbp", "1\n10\n1\n3 1.5\n", ["line 4, number 2", "= 1.5", "a number of items"]),
    "vbp too many bins": ("vbp", "1\n1\n1\n1 9999999\n", ["bins", "more than"]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_malformed_file_is_refused_where_it_is_wrong(name: str, tmp_path: Path) -> None:
    kind, text, said = CASES[name]
    path = tmp_path / "problem.txt"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        READERS[kind](path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message) < 400
    for part in said:
        assert part in message


@pytest.mark.parametrize("kind", TINY)
def test_every_truncation_is_refused(kind: str, tmp_path: Path) -> None:
    tokens = TINY[kind].read_text().split()
    path = tmp_path / "problem.txt"
    for length in range(len(tokens)):
        path.write_text(" ".join(tokens[:length]))
        with pytest.raises(InputError):
            READERS[kind](path)


@pytest.mark.parametrize("content", [b"\xff\xfe1\x002\x00", b"3 5\n\x00\x01", bytes(range(256)), b"\xc3"])
@pytest.mark.parametrize("kind", TINY)
def test_binary_content_is_refused(kind: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "problem.txt"
    path.write_bytes(content)
    with pytest.raises(InputError):
        READERS[kind](path)


@pytest.mark.parametrize("kind", TINY)
def test_a_missing_file_or_a_folder_is_refused(kind: str, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.txt"):
        with pytest.raises(InputError):
            READERS[kind](path)
