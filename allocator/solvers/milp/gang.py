"""Family ``gang`` (equation 9): sum of members in a domain = size * gangs there, at most one of each gang a node."""

from __future__ import annotations

from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["add_gangs"]


def add_gangs(form: Formulation) -> None:
    """Integer r[unit, domain, option] = gangs of the unit in the domain."""
    compiled = form.compiled
    for unit in compiled.gangs:
        total = Terms()
        seated: set[int] = set()
        for domain in compiled.outermost(unit.level):
            nodes = range(domain.first_node, domain.end_node)
            seated.update(nodes)
            for option in compiled.options_of(unit.workload):
                gangs = form.integer("gang", unit.replicas)
                total.add(1, gangs)
                members = Terms([(-unit.size, gangs)])
                for node in nodes:
                    here = Terms(
                        (1, e.variable) for e in form.on_node[node] if e.block in unit.blocks and e.option == option
                    )
                    members.extend(here)
                    if here:
                        form.at_most("gang", here.extend(Terms([(-1, gangs)])), 0)
                form.equal("gang", members, 0)
        if compiled.model.may_leave_out:
            form.at_most("gang", total, unit.replicas)
        else:
            form.equal("gang", total, unit.replicas)
        for block in unit.blocks:
            for entry in form.of_block[block]:
                if entry.node not in seated:
                    form.at_most("gang", Terms([(1, entry.variable)]), 0)
