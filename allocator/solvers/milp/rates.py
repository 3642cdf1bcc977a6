"""Family ``rates`` (equation 6): completed tasks per second of the members of an entry."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from allocator.compiled.entities import Compiled
from allocator.model.families import Family, GoalId
from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.terms import Terms
from allocator.solvers.milp.usage import total_share

__all__ = ["add_rates", "counts_rates", "rate_of_block", "rate_of_workload"]

PART = "rates"


def counts_rates(compiled: Compiled) -> bool:
    """Whether a goal counts completed tasks; response times count all that arrive."""
    return bool({GoalId.THROUGHPUT, GoalId.FAIRNESS} & set(compiled.model.goal_ids))


def add_rates(form: Formulation) -> None:
    """Variables q[b, o, h] >= 0, tasks/s, limited by offer, compute and memory. Needs ``add_shares``.

    Where the model ignores the family, the offer alone limits them.
    """
    compiled = form.compiled
    rates: dict[tuple[int, int, int], Any] = {}
    form.cache["rates"] = rates
    if not counts_rates(compiled):
        return
    for entry in form.entries:
        workload = compiled.instance.workloads[int(compiled.option_workload[entry.option])]
        if workload.rate <= 0:
            continue
        rate = form.real(PART)
        rates[entry.block, entry.option, entry.node] = rate
        _limit_rate(form, entry, rate)


def _limit_rate(form: Formulation, entry: Entry, rate: Any) -> None:
    compiled = form.compiled
    workload = compiled.instance.workloads[int(compiled.option_workload[entry.option])]
    mode = workload.modes[int(compiled.option_mode[entry.option])]
    work = mode.demand(compiled.kinds[int(compiled.node_kind[entry.node])]).work
    fastest = workload.rate
    if form.ignores(Family.RATES):
        form.at_most(PART, Terms([(1, rate), (-fastest, entry.variable)]), 0)
        return
    for name, need in work.compute.items():
        if need <= 0:
            continue
        fastest = min(fastest, workload.parallel / need)
        _within_share(form, entry, rate, name, need)
    for name, need in work.memory.items():
        held = need * (workload.residence or 0)
        if held > 0:
            _within_share(form, entry, rate, name, held)
    form.at_most(PART, Terms([(1, rate), (-fastest, entry.variable)]), 0)


def _within_share(form: Formulation, entry: Entry, rate: Any, resource: str, need: Fraction) -> None:
    """Need * q <= share, both in amounts of the resource."""
    compiled = form.compiled
    amount = need / Fraction(10) ** compiled.instance.resources[resource].exponent
    share = total_share(form, entry, compiled.resources.index(resource))
    form.at_most(PART, Terms([(amount, rate)]).extend(share, -1), 0)


def rate_of_block(form: Formulation, block: int) -> Terms:
    """Tasks/s of all members of a block."""
    rates = form.cache["rates"]
    return Terms(
        (1, rates[e.block, e.option, e.node]) for e in form.of_block[block] if (e.block, e.option, e.node) in rates
    )


def rate_of_workload(form: Formulation, workload: int) -> Terms:
    """Tasks/s of all members of a class."""
    terms = Terms()
    for block in form.blocks_of(workload):
        terms.extend(rate_of_block(form, block))
    return terms
