"""Family ``link_load`` (equation 29): offered loads within a part of every bandwidth, each way."""

from __future__ import annotations

from allocator.solvers.milp.fabric.loads import link_load
from allocator.solvers.milp.formulation import Formulation

__all__ = ["add_link_load"]


def add_link_load(form: Formulation) -> None:
    """A row for each direction of every uplink that states a bandwidth and that flows may cross."""
    compiled = form.compiled
    part = compiled.link_load
    if part is None:
        return
    # what leaves a domain of a team enters it, too
    directions = ("up", "down") if compiled.pairs or compiled.groups else ("up",)
    for domain in compiled.instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        for direction in directions:
            load = link_load(form, domain.index, direction)
            if load or load.constant:
                form.at_most("link_load", load, part * domain.uplink.bandwidth, integral=True)
