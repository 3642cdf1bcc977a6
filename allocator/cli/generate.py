"""``allocator generate``: seeded instances of a size and a load."""

from __future__ import annotations

from pathlib import Path

import click

from allocator.cli.options import INSTANCE_SUFFIXES, add_debug, multiple, output_file
from allocator.cli.output import emit

__all__ = ["command"]

NAMES = ("claims", "twin", "mixed")


@click.command("generate")
@click.argument("family", metavar="FAMILY", type=click.Choice(NAMES))
@click.option("--agents", type=int, default=40_000, show_default=True, help="Members of all classes, 100 to 1000000.")
@click.option(
    "--load",
    type=multiple,
    metavar="RATIO",
    default="0.85",
    show_default=True,
    help="Sum of floors over capacity of the scarcest resource; above 1 not all can be placed.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of everything drawn.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=output_file(*INSTANCE_SUFFIXES),
    metavar="FILE",
    help="Instance file to write, .yaml or .json.",
)
@add_debug
def command(family: str, agents: int, load: float, seed: int, output: Path) -> None:
    """Write an instance of FAMILY.

    claims: teams of 15 agents in 5 roles that settle insurance claims. twin: a production network, one agent a station.
    mixed: both, with services, stores and models, on x86-64, Arm and accelerators under caps of power and cooling.
    """
    from allocator.formats.document import write_document
    from allocator.generate import generate

    document = generate(family, agents=agents, load=load, seed=seed)
    write_document(document, output)
    emit(f"{output}: {document['name']}, {agents} agents in {len(document['workloads'])} classes\n")
