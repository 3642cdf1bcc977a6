"""Goals ``peak``, ``overload``, ``balance`` and ``power`` (equations 21, 22, 23, 26): functions of the use."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from allocator.model.entities import Goal
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.goals.base import GoalTerms, greatest_common_divisor
from allocator.solvers.milp.power import watts
from allocator.solvers.milp.terms import Terms
from allocator.solvers.milp.usage import share_unit, usage

__all__ = ["balance", "overload", "peak", "power"]


def peak(form: Formulation, goal: Goal) -> GoalTerms:
    """Highest utilisation over the named resources and level."""
    compiled = form.compiled
    resources = compiled.instance.resources
    names = goal.resources or tuple(name for name in resources if name != "power")
    domains = compiled.instance.domains if goal.at_level is None else compiled.instance.domains_of(goal.at_level)
    highest = form.real("peak")
    for domain in domains:
        for name in names:
            capacity = domain.capacity.get(name, 0)
            if capacity > 0:
                used = usage(form, domain.index, compiled.resources.index(name))
                if used:
                    form.at_most("peak", used.copy().extend(Terms([(-capacity, highest)])), 0)
    return GoalTerms(Terms([(1, highest)]), None)


def overload(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Weighted use above the safety amounts, base units."""
    compiled = form.compiled
    terms = Terms()
    steps: list[Fraction] = []
    span = Fraction(0)
    for domain, r in zip(*np.nonzero(compiled.safety >= 0), strict=True):
        resource = compiled.instance.resources[compiled.resources[r]]
        used = usage(form, int(domain), int(r))
        if not used or not resource.overload:
            continue
        above = form.real("overload")
        unit = share_unit(form, int(r))
        form.at_most("overload", used.copy().extend(Terms([(-unit, above)])), int(compiled.safety[domain, r]))
        weight = resource.overload * Fraction(10) ** resource.exponent
        terms.add(weight * unit, above)
        safety = int(compiled.safety[domain, r])
        steps.append(weight * greatest_common_divisor([*set(used.coefs), safety]))
        span = max(span, weight * max(int(compiled.capacity[domain, r]), safety))
    return GoalTerms(terms, None if form.cache["extra"] else greatest_common_divisor(steps), span)


def balance(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Weighted shortage of the second resource against the target times the first, free amounts, base units."""
    compiled = form.compiled
    terms = Terms()
    steps: list[Fraction] = []
    span = Fraction(0)
    for triple in compiled.instance.balance:
        units = [Fraction(10) ** compiled.instance.resources[name].exponent for name in (triple.first, triple.second)]
        for domain in compiled.instance.domains_of(triple.level):
            gap = Terms()
            for name, factor in ((triple.first, triple.target * units[0]), (triple.second, -units[1])):
                gap.constant += factor * domain.capacity.get(name, 0)
                gap.extend(usage(form, domain.index, compiled.resources.index(name)), -factor)
            if not gap and gap.constant <= 0:
                continue
            row = gap.copy()
            short = form.real("balance")
            size = abs(Fraction(gap.constant)) + max((abs(Fraction(coef)) for coef in gap.coefs), default=Fraction(0))
            span = max(span, triple.weight * size)
            unit = _power_of_ten(size)
            form.at_most("balance", gap.extend(Terms([(-unit, short)])), 0)
            terms.add(triple.weight * unit, short)
            steps.append(triple.weight * greatest_common_divisor([*set(row.coefs), row.constant]))
    return GoalTerms(terms, None if form.cache["extra"] else greatest_common_divisor(steps), span)


def power(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """Watts of all nodes."""
    terms = Terms()
    for node in range(form.compiled.num_nodes):
        terms.extend(watts(form, node))
    return GoalTerms(terms, None)


def _power_of_ten(size: Fraction) -> Fraction:
    """The power of ten at or below a size: a unit that keeps coefficients near 1."""
    return Fraction(10) ** math.floor(math.log10(size)) if size else Fraction(1)
