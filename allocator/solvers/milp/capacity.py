"""Families ``capacity`` and ``pool`` with ``transient`` use (equations 4, 5, 8)."""

from __future__ import annotations

import numpy as np

from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms
from allocator.solvers.milp.usage import share_unit, transient_use, usage

__all__ = ["add_capacity"]


def add_capacity(form: Formulation) -> None:
    """U_dr plus transient use within every stated limit; above the nodes' own amounts within the pools."""
    compiled = form.compiled
    power = compiled.resources.index("power") if "power" in compiled.resources else -1
    for domain, r in zip(*np.nonzero(compiled.limit >= 0), strict=True):
        if r == power:
            continue  # family (12) adds the nodes' own draw
        used = usage(form, int(domain), int(r)).copy().extend(transient_use(form, int(domain), int(r)))
        if used:
            integral = not form.cache["extra"]
            form.at_most("capacity", used, int(compiled.limit[domain, r]), integral=integral)
    for domain, r in zip(*np.nonzero(compiled.pool_limit >= 0), strict=True):
        _add_pool(form, int(domain), int(r))


def _add_pool(form: Formulation, domain: int, r: int) -> None:
    compiled = form.compiled
    unit = share_unit(form, r)
    drawn = Terms()
    for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
        leaf = int(compiled.node_domain[node])
        own = max(0, int(compiled.capacity[leaf, r]))
        used = usage(form, leaf, r).copy().extend(transient_use(form, leaf, r))
        if not used and used.constant <= own:
            continue
        above = form.real("pool")  # in share units
        drawn.add(unit, above)
        form.at_most("pool", used.extend(Terms([(-unit, above)])), own)
    form.at_most("pool", drawn, int(compiled.pool_limit[domain, r]))
