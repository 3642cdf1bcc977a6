"""Families ``assignment`` and ``eligibility`` (equations 1, 2), the overfull start of (4), whole teams."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["add_assignment", "num_placement_variables"]

PART = "assignment"


def num_placement_variables(compiled: Compiled) -> int:
    """How many placement variables the model would have; cheap."""
    per_option = compiled.eligible.sum(axis=1)
    return int(sum(per_option[list(compiled.options_of(block.workload))].sum() for block in compiled.blocks))


def add_assignment(form: Formulation) -> None:
    """Placement variables n[b, o, h] and the rows that place every member, or leave it out where allowed."""
    compiled = form.compiled
    spots: list[tuple[int, int, int]] = []
    for block in compiled.blocks:
        closed = _closed_nodes(form, block.current_node)
        for option in compiled.options_of(block.workload):
            allowed = compiled.eligible[option] if closed is None else compiled.eligible[option] & ~closed
            spots.extend((block.index, option, int(node)) for node in np.nonzero(allowed)[0])
            form.tick()
    form.budget.check()
    for block_index, option, node in spots:
        variable = form.integer(PART, compiled.blocks[block_index].count)
        entry = Entry(block_index, option, node, variable)
        form.entries.append(entry)
        form.of_block[block_index].append(entry)
        form.on_node[node].append(entry)
    whole = {team.index: form.binary(PART) for team in compiled.teams} if compiled.model.may_leave_out else {}
    form.cache["team placed"] = whole
    for block in compiled.blocks:
        members = Terms((1, entry.variable) for entry in form.of_block[block.index])
        if block.team in whole:
            members.add(-block.count, whole[block.team])
            form.equal(PART, members, 0)
        elif compiled.model.may_leave_out:
            form.at_most(PART, members, block.count)
        else:
            form.equal(PART, members, block.count)


def _closed_nodes(form: Formulation, current_node: int) -> npt.NDArray[np.bool_] | None:
    """Nodes of overfull domains that hold no member of the block now."""
    compiled = form.compiled
    if not compiled.overfull.any():
        return None
    closed = np.zeros(compiled.num_nodes, dtype=np.bool_)
    for domain in np.nonzero(compiled.overfull)[0]:
        low, high = int(compiled.first_node[domain]), int(compiled.end_node[domain])
        if not low <= current_node < high:
            closed[low:high] = True
    return closed
