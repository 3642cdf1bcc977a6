"""Goal ``{p99: worst}`` (equation 27): plans with every weighted P99 within a bound, as linear floors of shares.

The largest of functions n / s is not jointly convex in members and shares; for a fixed bound the floors are linear and
exact in whole units. Owns those rows. Knows no order of bounds and no solver.
"""

from __future__ import annotations

from fractions import Fraction

from allocator.errors import MethodRefused
from allocator.model.entities import Goal, Level
from allocator.model.families import GoalId
from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.goals.base import GoalTerms
from allocator.solvers.milp.response.delays import seat_at, served_blocks, steps_of
from allocator.solvers.milp.response.floors import late_members
from allocator.solvers.milp.terms import Terms
from allocator.solvers.milp.usage import total_share

__all__ = ["is_worst", "least_worst", "nothing", "refuse_mixed", "within"]

Row = tuple[Terms, int]


def is_worst(level: Level) -> bool:
    """Whether the level is the largest weighted P99."""
    return any(goal.worst for goal in level.goals)


def refuse_mixed(level: Level) -> None:
    """Raise ``MethodRefused`` where the largest P99 is weighed against other goals: it is met by bisection, alone."""
    if is_worst(level) and len(level.goals) > 1:
        others = ", ".join(goal.id for goal in level.goals if goal.id is not GoalId.P99)
        raise MethodRefused(
            f"method milp does not support {{p99: worst}} weighed against {others} in one level: "
            "put it in a level of its own, with slack for those that follow"
        )


def nothing(form: Formulation, goal: Goal) -> GoalTerms:  # noqa: ARG001 - all goals share one signature
    """No objective: the level is met by rows, see ``within``."""
    return GoalTerms(Terms(), None)


def least_worst(form: Formulation) -> Fraction:
    """A bound from below: the fastest that each class that must be placed can be, alone on its best node."""
    if form.compiled.model.may_leave_out:
        return Fraction(0)
    found = Fraction(0)
    for block, service in served_blocks(form).items():
        if not service.critical:
            continue
        times = []
        for entry in form.of_block[block]:
            if entry.variable.upper:
                seat = seat_at(form, entry)
                ceiling = form.compiled.ceiling_of(entry.option, entry.node, seat.server.resource)
                times.append(seat.seconds(min(ceiling * seat.server.unit, seat.server.parallel)))
        found = max(found, service.weight * min(times, default=Fraction(0)))
    return found


def within(form: Formulation, seconds: Fraction, *, below: bool = False) -> list[Row]:
    """Rows terms <= number of plans in which every weighted P99 is at most ``seconds`` (``below``: less)."""
    rows: list[Row] = []
    for block, service in served_blocks(form).items():
        if not service.critical or not service.weight:
            continue
        for entry in form.of_block[block]:
            if entry.variable.upper:
                rows.extend(_rows(form, entry, seconds / service.weight, below=below))
    return rows


def _rows(form: Formulation, entry: Entry, bound: Fraction, *, below: bool) -> list[Row]:
    seat = seat_at(form, entry)
    count = form.compiled.blocks[entry.block].count
    ceiling = form.compiled.ceiling_of(entry.option, entry.node, seat.server.resource)
    known = seat.least(Fraction(0), bound, below=below)
    if known is None or known > ceiling:
        return [(Terms([(1, entry.variable)]), 0)]
    rows: list[Row] = []
    needed = Terms([(known, entry.variable)])
    lates = late_members(form, entry)
    for number, step in enumerate(steps_of(form, entry.block)):
        least = seat.least(step.delay, bound, below=below)
        if least is None or least > ceiling:
            rows.append((Terms([(1, entry.variable), (count, step.late)]), count))
            break
        late = lates[number] if number < len(lates) else None
        if late is None:
            break  # nobody is as late here
        needed.add(least - known, late)
        known = least
    return [*rows, (needed.extend(total_share(form, entry, seat.server.resource), -1).merged(), 0)]
