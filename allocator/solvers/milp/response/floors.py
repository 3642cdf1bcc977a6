"""Family ``slo`` (equation 13): least shares of compute, linear in the members of every path delay.

Shares start at the least for no delay; each further step of the delay adds to them for the members that are late.
"""

from __future__ import annotations

from fractions import Fraction

from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.response.delays import add_delays, seat_at, served_blocks, steps_of
from allocator.solvers.milp.response.service import p99_goal
from allocator.solvers.milp.terms import Terms, Variable

__all__ = ["add_slo", "late_members", "least_share"]

PART = "slo"
NONE = Fraction(0)
COSTLY = 10  # what an entry takes to look at, in items of the clock


def add_slo(form: Formulation) -> None:
    """Entries with too little compute closed, delays, and what late members need beyond. Needs ``add_assignment``."""
    for block in served_blocks(form):
        for entry in form.of_block[block]:
            form.tick(COSTLY)
            seat = seat_at(form, entry)
            least = seat.least(NONE)
            if least is None or least > form.compiled.ceiling_of(entry.option, entry.node, seat.server.resource):
                entry.variable.upper = 0.0
    add_delays(form)
    for block in served_blocks(form):
        _add_late(form, block)


def least_share(form: Formulation, entry: Entry, r: int) -> Terms:
    """Least share of a resource that the members of an entry need together, in amounts: floors, or what (13) asks."""
    floor = int(form.compiled.floor[entry.option, form.compiled.node_kind[entry.node], r])
    if entry.block not in served_blocks(form) or seat_at(form, entry).server.resource != r or not entry.variable.upper:
        return Terms([(floor, entry.variable)])
    seat = seat_at(form, entry)
    known = max(floor, seat.least(NONE) or 0)
    terms = Terms([(known, entry.variable)])
    for step, late in zip(steps_of(form, entry.block), late_members(form, entry), strict=False):
        least = max(floor, seat.least(step.delay) or 0)
        if late is not None:
            terms.add(least - known, late)
        known = max(known, least)
    return terms


def late_members(form: Formulation, entry: Entry) -> list[Variable | None]:
    """Members of an entry that are at least as late as each step; None where that changes nothing.

    Shorter than the steps where members may not be as late.
    """
    found: list[Variable | None] = form.cache.get(("late", entry.block, entry.option, entry.node), [])
    return found


def _add_late(form: Formulation, block: int) -> None:
    """Rows m >= n - count (1 - late) for each entry and step where late members need more."""
    count = form.compiled.blocks[block].count
    everybody = [Terms([(-count, step.late)]) for step in steps_of(form, block)]
    told = [True] * len(everybody)
    goal = p99_goal(form.compiled)
    every = served_blocks(form)[block].critical and goal is not None and goal.worst  # its rows ask for all of them
    for entry in form.of_block[block]:
        if not entry.variable.upper:
            continue
        form.tick(COSTLY)
        seat = seat_at(form, entry)
        floor = int(form.compiled.floor[entry.option, form.compiled.node_kind[entry.node], seat.server.resource])
        ceiling = form.compiled.ceiling_of(entry.option, entry.node, seat.server.resource)
        known = max(floor, seat.least(NONE) or 0)
        found: list[Variable | None] = []
        form.cache["late", entry.block, entry.option, entry.node] = found
        for number, step in enumerate(steps_of(form, block)):
            least = seat.least(step.delay)
            if least is None or least > ceiling:
                form.at_most(PART, Terms([(1, entry.variable), (count, step.late)]), count)
                break
            if max(floor, least) == known and not every:
                found.append(None)
                told[number] = False
                continue
            known = max(floor, least)
            late = form.real(PART, float(count))
            form.at_most(PART, Terms([(1, entry.variable), (count, step.late), (-1, late)]), count)
            everybody[number].add(1, late)
            found.append(late)
    if not form.compiled.model.may_leave_out:
        for terms, complete in zip(everybody, told, strict=True):
            if complete:
                form.at_least(PART, terms, 0)
