"""``allocator solve``: read an instance, find a plan, say what was found."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from allocator.cli.entry import NO_PLAN, OK
from allocator.cli.options import (
    INSTANCE_SUFFIXES,
    PLAN_SUFFIXES,
    add_debug,
    duration,
    input_file,
    keep_inputs,
    output_file,
    ratio,
    share,
)

__all__ = ["command"]


@click.command("solve")
@click.argument("instance", type=input_file(*INSTANCE_SUFFIXES))
@click.option("--model", metavar="NAME|FILE", help="Optimisation model [default: the one the instance names].")
@click.option("--method", default="auto", show_default=True, metavar="M", help="Solving method.")
@click.option("--time-limit", type=duration, default="60s", show_default=True, metavar="TIME", help="Reading included.")
@click.option("--gap", type=ratio, default="0", show_default=True, metavar="RATIO", help="Stop within it: 0.01, '1 %'.")
@click.option("--tolerance", type=share, metavar="RATIO", help="Of linearisation [default: the model's].")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, metavar="N")
@click.option("--threads", type=click.IntRange(1, 1024), metavar="N", help="[default: what the machine has]")
@click.option("--iterations", type=click.IntRange(0), metavar="N", help="Stop after N iterations of a search.")
@click.option("--warm-start", type=input_file(*PLAN_SUFFIXES), metavar="PLAN", help="Start from this plan.")
@click.option(
    "--checkpoint", type=output_file(".json"), metavar="PLAN", help="Keep the best plan so far in this file: .json."
)
@click.option("-o", "--output", type=output_file(*PLAN_SUFFIXES), metavar="PLAN", help="Write the plan: .json or .csv.")
@click.option("--report", type=output_file(".html"), metavar="FILE", help="Write a page about the plan: .html.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the summary.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@add_debug
@click.pass_obj
def command(
    started: float,
    instance: Path,
    model: str | None,
    method: str,
    time_limit: float,
    gap: float,
    tolerance: float | None,
    seed: int,
    threads: int | None,
    iterations: int | None,
    warm_start: Path | None,
    checkpoint: Path | None,
    output: Path | None,
    report: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Find a plan for INSTANCE (.yaml or .json) and print what was found.

    Ctrl-C ends the search with the best plan so far; a second one stops at once. The exit code is 0 with a feasible
    plan, 1 without.
    """
    from allocator.cli.signals import interruptible
    from allocator.solvers.budget import Limits

    keep_inputs((instance, None if model is None else Path(model)), (checkpoint, output, report))
    budget = Limits(time_limit, iterations).start(spent=time.monotonic() - started)
    with interruptible(budget.interrupt):
        from allocator.cli.models import choose_model
        from allocator.cli.output import emit, emit_json, is_terminal, terminal_width
        from allocator.cli.progress import Progress
        from allocator.instance import load_instance
        from allocator.plan.document import result_document
        from allocator.plan.files import read_plan, write_plan
        from allocator.solve import solve

        loaded = load_instance(instance)
        chosen = choose_model(model, loaded.model)
        start = None if warm_start is None else read_plan(warm_start, loaded)
        live = sys.stderr.isatty()
        progress = None if quiet else Progress(chosen, sys.stderr, live=live, elapsed=budget.elapsed)
        with progress if progress is not None else nullcontext():
            result = solve(
                loaded,
                chosen,
                method=method,
                gap=gap,
                tolerance=tolerance,
                seed=seed,
                threads=threads,
                iterations=iterations,
                warm_start=start,
                listeners=() if progress is None else (progress,),
                budget=budget,
                checkpoint=checkpoint,
            )
        written = output is not None and result.plan is not None
        document = result_document(result, loaded, str(output) if written else None)
        if output is not None and result.plan is not None:
            write_plan(output, replace(result.plan, result=document), loaded)
        if output is not None and not written:
            kept = "; what is there is older" if output.exists() else ""
            sys.stderr.write(f"no plan, so {output} was not written{kept}\n")
        if report is not None:
            from allocator.plan.whole import write_whole
            from allocator.report.html import plan_page

            write_whole(report, plan_page(result, loaded).encode())
    if as_json:
        emit_json(document)
    else:
        from allocator.report.summary import summarize

        emit(summarize(result, loaded, width=terminal_width(), color=is_terminal()))
    return NO_PLAN if result.plan is None else OK
