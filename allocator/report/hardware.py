"""Catalog entries as text: the list, and one entry with the source of each number. Reads the catalog alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from allocator.catalog import Entry
from allocator.catalog.profiles import expand
from allocator.report.summary.section import Column, Section, Sheet, render

__all__ = ["describe_entry", "entries_text"]

TITLES = {"cpu": "Node kinds: CPU sockets", "accelerator": "Node kinds: accelerators"}
TITLES |= {"rack": "Racks", "supernode": "Supernodes"}


def entries_text(entries: Sequence[Entry], *, width: int = 80, color: bool = False) -> str:
    """Names by group, each with what it is."""
    sections = []
    for group, found in groupby(entries, key=lambda entry: entry.group):
        rows = tuple((entry.name, entry.about) for entry in found)
        sections.append(Section(TITLES[group], sheet=Sheet((Column("name"), Column("what it is")), rows)))
    return render(sections, width=width, color=color)


def describe_entry(entry: Entry, *, width: int = 80, color: bool = False) -> str:
    """One entry: how to use it, what it stands for, and every number with its source."""
    numbers = tuple((number.path, number.value, number.source) for number in entry.numbers())
    columns = (Column("number"), Column("value", right=True), Column("source"))
    domain = expand(entry.name, {})
    example = f"{domain['level']}.uplink.bandwidth: 1 Tbit/s"
    others = sorted(_references(entry.domain))
    notes = (f"The numbers of {', '.join(others)} are shown under that name.",) if others else ()
    sections = [
        Section("", (f"{entry.name}: {entry.about}.",)),
        Section(
            "In an instance file",
            (
                f"topology: [{{profile: {entry.name}, name: {domain['name']}0}}]",
                f"To change a number, add for example  set: {{{example}}}",
            ),
        ),
        Section("Numbers", sheet=Sheet(columns, numbers), notes=notes),
    ]
    return render(sections, width=width, color=color)


def _references(domain: Mapping[str, Any]) -> set[str]:
    """Names of the other entries that domains below start from."""
    found: set[str] = set()
    for child in domain.get("children", ()):
        found |= {child["profile"]} if "profile" in child else _references(child)
    return found
