"""``allocator catalog``: what comes with the package, by name."""

from __future__ import annotations

import click

from allocator.cli.options import add_debug

__all__ = ["command"]


@click.command("catalog")
@click.argument("name", required=False)
@add_debug
def command(name: str | None) -> None:
    """List the optimisation models that come with the package, or show the one called NAME."""
    from allocator.cli.output import emit, is_terminal, terminal_width
    from allocator.errors import ArgumentError
    from allocator.model import list_models, load_model
    from allocator.report.models import describe_model, list_text

    names = list_models()
    if name is None:
        emit(list_text([load_model(each) for each in names], width=terminal_width(), color=is_terminal()))
    elif name in names:
        emit(describe_model(load_model(name), width=terminal_width(), color=is_terminal()))
    else:
        raise ArgumentError(f"catalog: there is no entry {name}; there are {', '.join(names)}")
