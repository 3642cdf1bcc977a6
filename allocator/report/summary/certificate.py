"""What stands behind the numbers: the checker, linearisation errors, warnings, and how the run went."""

from __future__ import annotations

from allocator.instance.entities import Instance
from allocator.plan.result import Result
from allocator.report.format import count, percent, seconds
from allocator.report.loads import overload_warning
from allocator.report.summary.section import Section, cut

__all__ = ["section", "warnings"]


def warnings(result: Result, _instance: Instance) -> Section | None:
    """Warnings, and families that the model left out."""
    texts = list(dict.fromkeys([*result.warnings, *(result.evaluation.warnings if result.evaluation else ())]))
    overload = None if result.evaluation is None else overload_warning(result.evaluation)
    if overload is not None:
        texts.append(overload)
    shown, more = cut(texts)
    sentences = [f"- {text}" for text in shown]
    if more:
        sentences.append(f"... and {more:,} more")
    if result.ignored:
        sentences.append(f"- stated by the instance and ignored by the model: {', '.join(result.ignored)}")
    return Section("Warnings", tuple(sentences)) if sentences else None


def section(result: Result, instance: Instance) -> Section:
    """The certificate and the facts of the run."""
    sentences = []
    if result.plan is not None:
        sentences.append("Every value was recomputed from the plan alone, exactly, by an independent checker.")
    if result.linearization is not None:
        proof = result.linearization
        if proof.max_relative_error == 0 and proof.measured == 0:
            sentences.append("Nothing was linearised: no approximation error.")
        else:
            sentences.append(
                f"Linearisation error: at most {percent(proof.max_relative_error, 2)} (proven over "
                f"{proof.proven_over}), {percent(proof.measured, 2)} at this plan."
            )
    facts = [
        f"method {result.method}",
        f"model {result.model}",
        f"seed {result.seed}",
        count(result.threads, "thread"),
        f"{count(instance.num_members, 'member')} on {count(len(instance.nodes), 'node')}",
    ]
    facts += [
        f"{size:,} {name}" for name in ("variables", "constraints") if (size := result.size.get(name)) is not None
    ]
    if result.peak_memory_mib is not None:
        facts.append(f"{result.peak_memory_mib:,.0f} MiB")
    sentences.append(", ".join(facts) + ".")
    if "total" in result.seconds:
        parts = ", ".join(
            f"{name} {seconds(_rounded(value))}" for name, value in result.seconds.items() if name != "total"
        )
        sentences.append(f"{seconds(_rounded(result.seconds['total']))} in all" + (f" ({parts})." if parts else "."))
    return Section("Certificate", tuple(sentences))


def _rounded(value: float) -> float:
    return round(value, 3)
