"""``allocator convert``: foreign problems in; programs for other solvers, and plans as foreign answers, out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from allocator.cli.options import INSTANCE_SUFFIXES, add_debug, input_file, keep_inputs, multiple, output_file
from allocator.errors import ArgumentError
from allocator.formats.registry import MODEL_WRITERS, PLAN_WRITERS, READER_OPTIONS, READERS

if TYPE_CHECKING:
    from allocator.instance.entities import Instance

__all__ = ["command"]

OWN = "allocator"
SOURCES = (OWN, *READERS)
TARGETS = (OWN, *MODEL_WRITERS, *(name for name in PLAN_WRITERS if name not in MODEL_WRITERS))


@click.command("convert")
@click.argument("source", metavar="SRC", type=input_file())
@click.argument("target", metavar="DST", type=output_file())
@click.option("--from", "source_format", required=True, type=click.Choice(SOURCES), help="Format of SRC.")
@click.option("--to", "target_format", required=True, type=click.Choice(TARGETS), help="Format of DST.")
@click.option(
    "--instance",
    type=input_file(*INSTANCE_SUFFIXES),
    metavar="FILE",
    help="SRC is a plan of this instance and goes out as an answer in the foreign format.",
)
@click.option("--assignment", type=input_file(), metavar="FILE", help="Where processes run now (roadef2012).")
@click.option("--requests", type=input_file(), metavar="FILE", help="The list of requests (openb).")
@click.option(
    "--load",
    type=multiple,
    metavar="RATIO",
    help="Repeat the requests until they ask for so many times the GPUs, such as 1.3 or 130 % (openb) [default: once].",
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Shuffle the requests (openb) [default: in the order of the file]."
)
@click.option("--model", metavar="NAME|FILE", help="Model of an mps or lp file [default: the one the instance names].")
@add_debug
def command(
    source: Path,
    target: Path,
    source_format: str,
    target_format: str,
    instance: Path | None,
    model: str | None,
    **options: object,
) -> None:
    """Convert SRC to DST.

    A foreign problem becomes an instance file (--to allocator, DST .yaml or .json). An instance and its model become a
    program for another solver (--to mps or lp). A plan goes out as a foreign answer with its --instance.
    """
    stated = _options(source_format, options)
    named = None if model is None else Path(model)
    keep_inputs((source, instance, named, *(path for path in options.values() if isinstance(path, Path))), (target,))
    if instance is not None:
        _plan_out(source, target, source_format, target_format, instance)
    elif target_format in MODEL_WRITERS:
        from allocator.cli.models import choose_model
        from allocator.cli.output import emit

        loaded = _load(source, source_format, stated)
        chosen = choose_model(model, loaded.model)
        MODEL_WRITERS[target_format](loaded, chosen, target)
        levels = len(chosen.levels)
        first = "" if levels == 1 else f", level 1 of {levels}"
        emit(f"{target}: {loaded.name} with model {chosen.name}{first}\n")
    elif target_format == OWN and source_format != OWN:
        _problem_in(source, target, source_format, stated)
    elif source_format == OWN and target_format in PLAN_WRITERS:
        raise ArgumentError(f"--to {target_format}: a plan goes out; name the instance it is for with --instance FILE")
    else:
        raise ArgumentError(f"--from {source_format} --to {target_format}: there is nothing to convert between these")


def _options(source_format: str, options: Mapping[str, object]) -> dict[str, object]:
    """The options that are stated, all of which the format has to know."""
    stated = {name: value for name, value in options.items() if value is not None}
    for name in stated.keys() - READER_OPTIONS.get(source_format, frozenset()):
        owners = ", ".join(each for each, names in READER_OPTIONS.items() if name in names)
        raise ArgumentError(f"--{name} belongs to --from {owners}")
    return stated


def _load(source: Path, source_format: str, options: Mapping[str, object]) -> Instance:
    from allocator.instance import instance_from_dict, load_instance

    if source_format == OWN:
        return load_instance(source)
    return instance_from_dict(READERS[source_format](source, **options), source=str(source), base_dir=source.parent)


def _problem_in(source: Path, target: Path, source_format: str, options: Mapping[str, object]) -> None:
    from allocator.cli.output import emit
    from allocator.formats.document import write_document
    from allocator.instance import instance_from_dict
    from allocator.report.format import count

    if target.suffix.lower() not in INSTANCE_SUFFIXES:
        raise ArgumentError(f"{target}: an instance file is named {', '.join(INSTANCE_SUFFIXES)}")
    document = READERS[source_format](source, **options)
    made = instance_from_dict(document, source=str(source), base_dir=source.parent)  # what it writes can be read
    write_document(document, target)
    nodes, members = count(len(made.nodes), "node"), count(made.num_members, "member")
    emit(f"{target}: {made.name}, {nodes}, {members}, model {made.model}\n")


def _plan_out(source: Path, target: Path, source_format: str, target_format: str, instance: Path) -> None:
    from allocator.cli.output import emit
    from allocator.instance import load_instance
    from allocator.plan.files import read_plan
    from allocator.report.format import count

    if source_format != OWN or target_format not in PLAN_WRITERS:
        raise ArgumentError(f"--instance goes with --from {OWN} and --to one of: {', '.join(PLAN_WRITERS)}")
    loaded = load_instance(instance)
    plan = read_plan(source, loaded, same_instance=True)
    PLAN_WRITERS[target_format](plan, loaded, target)
    emit(f"{target}: where {count(loaded.num_members, 'member')} of {loaded.name} run\n")
