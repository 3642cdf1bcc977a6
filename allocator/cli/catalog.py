"""``allocator catalog``: what comes with the package, by name."""

from __future__ import annotations

import click

from allocator.cli.options import add_debug

__all__ = ["command"]


@click.command("catalog")
@click.argument("name", required=False)
@add_debug
def command(name: str | None) -> None:
    """List the hardware and the optimisation models that come with the package, or show the one called NAME."""
    from allocator import catalog
    from allocator.cli.output import emit, is_terminal, terminal_width
    from allocator.errors import ArgumentError
    from allocator.model import list_models, load_model
    from allocator.report.hardware import describe_entry, entries_text
    from allocator.report.models import describe_model, list_text

    models = list_models()
    entries = {entry.name: entry for entry in catalog.list_entries()}
    width, color = terminal_width(), is_terminal()
    if name is None:
        emit(entries_text(tuple(entries.values()), width=width, color=color) + "\n")
        emit(list_text([load_model(each) for each in models], width=width, color=color))
    elif name in models:
        emit(describe_model(load_model(name), width=width, color=color))
    elif name in entries:
        emit(describe_entry(entries[name], width=width, color=color))
    else:
        raise ArgumentError(f"catalog: there is no entry {name}; there are {', '.join((*entries, *models))}")
