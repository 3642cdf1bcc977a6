"""Nodes in use and their watts (equation 12), shared by the power caps and the goals ``nodes`` and ``power``."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms
from allocator.solvers.milp.usage import transient_use, usage

__all__ = ["add_power_caps", "in_use", "watts"]


def in_use(form: Formulation, node: int) -> Any:
    """Binary: 1 when the node holds a member (may be 1 without, which never helps)."""
    key = "in use", node
    if key not in form.cache:
        used = form.binary("nodes")
        form.cache[key] = used
        for entry in form.on_node[node]:
            count = form.compiled.blocks[entry.block].count
            form.at_most("nodes", Terms([(1, entry.variable), (-count, used)]), 0)
        _tighten(form, node, used)
    return form.cache[key]


def _tighten(form: Formulation, node: int, used: Any) -> None:
    """Capacity rows times the indicator: U_hr <= min(C_hr, most) * used, for a node not in use holds nothing."""
    compiled = form.compiled
    leaf = int(compiled.node_domain[node])
    for r in range(len(compiled.resources)):
        limit = int(compiled.limit[leaf, r])
        terms = usage(form, leaf, r)
        if all(variable.upper is not None for variable in terms.variables):
            most = sum(coef * int(v.upper or 0) for coef, v in zip(terms.coefs, terms.variables, strict=True))
            limit = min(limit, math.ceil(most))
        if limit > 0 and terms and compiled.resources[r] != "power":
            form.at_most("nodes", terms.copy().extend(Terms([(-limit, used)])), 0)


def watts(form: Formulation, node: int) -> Terms:
    """Draw of a node in watts."""
    compiled = form.compiled
    leaf = int(compiled.node_domain[node])
    power = compiled.instance.domains[leaf].power
    terms = Terms()
    if power is None:
        return terms
    if power.idle:
        terms.add(power.idle, in_use(form, node))
    r = int(compiled.compute_resource[node])
    if r >= 0 and power.busy != power.idle:
        terms.extend(usage(form, leaf, r), (power.busy - power.idle) / int(compiled.capacity[leaf, r]))
    return terms


def add_power_caps(form: Formulation) -> None:
    """Draw of the nodes below plus members' power shares, transient ones too, within each capacity of ``power``."""
    compiled = form.compiled
    if "power" not in compiled.resources:
        return
    r = compiled.resources.index("power")
    unit = Fraction(10) ** compiled.instance.resources["power"].exponent
    for domain, limit in enumerate(compiled.power_limit):
        if limit is None:
            continue
        drawn = Terms().extend(usage(form, domain, r), unit).extend(transient_use(form, domain, r), unit)
        for node in range(int(compiled.first_node[domain]), int(compiled.end_node[domain])):
            drawn.extend(watts(form, node))
        if drawn:
            form.at_most("power", drawn.merged(), limit)
