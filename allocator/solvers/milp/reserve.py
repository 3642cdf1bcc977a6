"""Family ``reserve`` (equation 11): any domain of a level could be replaced by free capacity of the same kind."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.instance.entities import Domain
from allocator.model.families import Family
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["add_reserve"]


def add_reserve(form: Formulation) -> None:
    """Floors of a kind, inside the domain and on stating nodes outside it, within the capacity outside."""
    if form.ignores(Family.RESERVE):
        return
    compiled = form.compiled
    own = compiled.capacity[compiled.node_domain]  # int64[N, R]
    for rule in compiled.instance.reserves:
        names = rule.resources or compiled.resources
        for name in names:
            r = compiled.resources.index(name)
            if not rule.resources and not (own[:, r] >= 0).any():
                continue
            for domain in compiled.instance.domains_of(rule.level):
                for kind in range(len(compiled.kinds)):
                    _add_row(form, r, kind, domain, own[:, r])


def _add_row(form: Formulation, r: int, kind: int, domain: Domain, own: npt.NDArray[np.int64]) -> None:
    compiled = form.compiled
    floors = Terms()
    outside = 0
    for node in np.nonzero(compiled.node_kind == kind)[0]:
        inside = domain.first_node <= node < domain.end_node
        if not inside and own[node] >= 0:
            outside += int(own[node])
        if inside or own[node] >= 0:
            for entry in form.on_node[node]:
                floors.add(int(compiled.floor[entry.option, kind, r]), entry.variable)
    if floors:
        form.at_most("reserve", floors, outside, integral=True)
