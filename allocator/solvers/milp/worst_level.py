"""A level ``{p99: worst}``: a bound on the worst P99 is lowered by bisection until no plan keeps a lower one.

Every step is a question of feasibility with linear floors, exact in whole units of shares. Owns the order of the
bounds. Knows neither HiGHS nor the floors.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from allocator.plan.result import gap_between
from allocator.solvers.milp.highs import Stop
from allocator.solvers.milp.response.worst import least_worst, within
from allocator.solvers.milp.rows import Rows

if TYPE_CHECKING:
    from allocator.solvers.milp.levels import LevelRun

__all__ = ["lower_worst"]

NEAR = Fraction(1, 1000)  # relative: from here on the question is for anything better at all
FINEST = Fraction(1, 10**7)  # relative: the least improvement to ask for where floats tell no unit of a share apart
COARSER = 3  # times as much is asked for where they do not tell that apart either
WIDE = 4  # bounds apart by more are halved by their ratio


def lower_worst(run: LevelRun, index: int) -> Stop:
    """Optimise and keep the level. Stops within the linearisation tolerance, or the gap asked for."""
    bounds = run.progress.bounds
    bounds[index:] = [max(Fraction(0), least_worst(run.form))]
    value = run.held(index)
    if value is None:
        outcome = run.attempt(Rows(), index)
        if outcome.solution is None:
            return Stop.NUMERICAL if outcome.stop is Stop.INFEASIBLE and index else outcome.stop
        value = run.take(outcome, index)
    tolerance = max(Fraction(run.gap), run.form.compiled.model.linearization.tolerance)
    stop, margin = Stop.OPTIMAL, Fraction(0)
    while stop is Stop.OPTIMAL:
        low = bounds[index] or Fraction(0)
        run.recorder.bound(index, float(low))
        gap = gap_between(value, low)
        if gap is None or gap <= max(tolerance, margin):
            break
        near = gap <= NEAR
        below = near and not margin
        wanted = value * (1 - margin) if near else _between(low, value)
        outcome = run.attempt(_stated(run, wanted, below=below), index)
        if outcome.stop is Stop.INFEASIBLE:
            bounds[index] = max(low, wanted)
        elif outcome.solution is None:
            stop = outcome.stop
        else:
            found = run.take(outcome, index)
            if found >= value:  # floats cannot tell so little of a share: ask for more
                margin = max(FINEST, margin * COARSER)
                if not near or margin > NEAR:
                    stop = Stop.NUMERICAL
            value = found
    if stop is Stop.OPTIMAL:
        allowed = run.form.compiled.model.levels[index].slack.allowance(value)
        _stated(run, value + allowed).add_to(run.solver)
    return stop


def _stated(run: LevelRun, seconds: Fraction, *, below: bool = False) -> Rows:
    """The rows of a bound, the largest coefficient of each 1."""
    stated = Rows()
    for terms, upper in within(run.form, seconds, below=below):
        if not terms:
            continue  # the share is as it must be
        size = max(abs(float(coef)) for coef in terms.coefs)
        pairs = zip(terms.coefs, terms.variables, strict=True)
        stated.add([(variable.column, float(coef) / size) for coef, variable in pairs], upper / size)
    return stated


def _between(low: Fraction, high: Fraction) -> Fraction:
    """A bound to ask for: the middle, of the ratio where they are far apart."""
    if low > 0 and high > WIDE * low:
        return low * Fraction(float(high / low) ** 0.5)
    return Fraction(float((low + high) / 2))
