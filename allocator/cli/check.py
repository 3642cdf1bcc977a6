"""``allocator check``: validate an instance, or judge a plan for it."""

from __future__ import annotations

from pathlib import Path

import click

from allocator.cli.entry import NO_PLAN, OK
from allocator.cli.options import INSTANCE_SUFFIXES, PLAN_SUFFIXES, add_debug, input_file

__all__ = ["command"]


@click.command("check")
@click.argument("instance", type=input_file(*INSTANCE_SUFFIXES))
@click.argument("plan", type=input_file(*PLAN_SUFFIXES), required=False)
@click.option("--model", metavar="NAME|FILE", help="Model to judge by [default: the plan's, else the instance's].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the summary.")
@add_debug
def command(instance: Path, plan: Path | None, model: str | None, as_json: bool) -> int:
    """Check INSTANCE, or PLAN for it.

    Without PLAN: is the file valid, and what is in it. With PLAN: exit code 0 only when the plan keeps every constraint
    and its goal values are the ones it claims, 1 otherwise.
    """
    from allocator.cli.models import choose_model
    from allocator.cli.output import emit, emit_json, is_terminal, terminal_width
    from allocator.instance import load_instance

    loaded = load_instance(instance)
    if plan is None:
        from allocator.report.inventory import describe, inventory_document

        if model is not None or loaded.model is not None:
            choose_model(model, loaded.model)
        if as_json:
            emit_json(inventory_document(loaded))
        else:
            emit(describe(loaded, width=terminal_width(), color=is_terminal()))
        return OK

    from allocator.checker import check, check_claims
    from allocator.plan.files import read_plan
    from allocator.report.findings import findings_document, render_findings

    judged = read_plan(plan, loaded)
    chosen = choose_model(model, judged.model, loaded.model)
    evaluation = check(loaded, chosen, judged)
    differences: list[str] = []
    if judged.instance_digest and judged.instance_digest != loaded.digest:
        differences.append(
            f"instance: the plan was made for another version of it (digest {judged.instance_digest[:12]})"
        )
    if judged.result is not None and (model is None or chosen.name == judged.model):
        differences += check_claims(evaluation, judged.result)
    if as_json:
        emit_json(findings_document(chosen, evaluation, differences))
    else:
        name = plan.name
        emit(render_findings(name, evaluation, differences, width=terminal_width(), color=is_terminal()))
    return OK if evaluation.feasible and not differences else NO_PLAN
