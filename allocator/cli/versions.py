"""``allocator versions``: what an answer depends on. Reads installed metadata; imports none of the packages."""

from __future__ import annotations

import platform
from importlib import metadata

import click

from allocator.cli.options import add_debug

__all__ = ["command"]

DEPENDENCIES = (
    "click",
    "highspy",
    "jinja2",
    "numba",
    "numpy",
    "ortools",
    "pandas",
    "pint",
    "pydantic",
    "pyomo",
    "PyYAML",
    "rich",
    "scipy",
)


@click.command("versions")
@add_debug
def command() -> None:
    """Print the versions that an answer depends on."""
    import allocator

    lines = [("allocator", allocator.__version__), ("python", platform.python_version())]
    lines += [(name, _installed(name)) for name in DEPENDENCIES]
    width = max(len(name) for name, _ in lines)
    for name, version in lines:
        click.echo(f"{name:<{width}}  {version}")


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
