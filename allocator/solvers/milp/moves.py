"""Family ``move_limit`` (equation 10) and the counts of moved members."""

from __future__ import annotations

from allocator.model.families import Family
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["add_move_limit", "moved"]


def moved(form: Formulation, block: int) -> Terms:
    """Members of a block that leave the node they run on now, evicted ones included."""
    if form.compiled.blocks[block].current_node < 0:
        return Terms()
    return Terms(constant=form.compiled.blocks[block].count).extend(form.stays(block), -1)


def add_move_limit(form: Formulation) -> None:
    """At most so many members, or bytes of old memory floors, move."""
    compiled = form.compiled
    moves = compiled.instance.moves
    if moves is None or form.ignores(Family.MOVE_LIMIT) or compiled.instance.current is None:
        return
    if moves.limit_members is not None:
        members = Terms()
        for block in compiled.blocks:
            members.extend(moved(form, block.index))
        form.at_most("move_limit", members, moves.limit_members)
    if moves.limit_bytes is not None and "memory" in compiled.resources:
        r = compiled.resources.index("memory")
        amount = Terms()
        for block in compiled.blocks:
            if block.current_node >= 0:
                old = int(compiled.floor[block.current_option, compiled.node_kind[block.current_node], r])
                amount.extend(moved(form, block.index), old)
        form.at_most("move_limit", amount, moves.limit_bytes, integral=True)
