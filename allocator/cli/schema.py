"""``allocator schema``: the JSON Schema of instance files."""

from __future__ import annotations

import json

import click

from allocator.cli.options import add_debug

__all__ = ["command"]


@click.command("schema")
@add_debug
def command() -> None:
    """Print the JSON Schema of instance files (for editors and other validators)."""
    from allocator.instance import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
