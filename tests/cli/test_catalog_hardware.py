"""Hardware is listed and shown with the source of every number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from allocator.catalog import list_entries, show

Run = Callable[..., Any]


def test_every_entry_is_listed(run: Run) -> None:
    text = run("catalog").stdout
    for entry in list_entries():
        assert f"\n  {entry.name} " in text


@pytest.mark.parametrize("name", ["mi300x", "cpu-rack-384-mixed", "nvl72"])
def test_an_entry_is_shown_with_its_sources(name: str, run: Run) -> None:
    done = run("catalog", name)
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    for number in show(name).numbers():
        assert number.path in words
        assert number.value in words
        assert number.source.split()[0] in words


def test_what_an_entry_refers_to_is_named(run: Run) -> None:
    text = run("catalog", "cpu-rack-384-mixed").stdout
    assert "ampereone, epyc-9965" in text
