"""After any walk the kernels' sums equal a recomputation, exact goals their definition, and plans are feasible."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from allocator.checker import check
from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.compiled.restore import plan_of
from allocator.errors import MethodRefused
from allocator.instance import instance_from_dict
from allocator.model.families import GoalId
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.goals import goal_value
from allocator.solvers.heuristic.kernels.construct import try_steps, undo_steps
from allocator.solvers.heuristic.kernels.items import counts_of
from allocator.solvers.heuristic.kernels.jit import kernel
from allocator.solvers.heuristic.kernels.layout import S_VALUES
from allocator.solvers.heuristic.kernels.moves import NUM_MOVES, SHIFT, propose, propose_shift
from allocator.solvers.heuristic.kernels.price import UNKNOWN, price, price_shift
from allocator.solvers.heuristic.kernels.tables import Table, floats
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from allocator.solvers.shares.optimum import optimal_shares
from tests.oracle.random_instances import random_case

Float = npt.NDArray[np.float64]

EXACT = {
    GoalId.PLACED,
    GoalId.TRAFFIC,
    GoalId.COST,
    GoalId.CONGESTION,
    GoalId.OVERLOAD,
    GoalId.BALANCE,
    GoalId.MOVES,
    GoalId.NODES,
    GoalId.POWER,
}
BY_SHARES = {GoalId.POWER, GoalId.OVERLOAD, GoalId.BALANCE}  # with targets of response time, of raised floors
HOT = 1e18  # takes every move
MIX = np.append(np.cumsum(np.ones(8) / 9), 2.0)


def searched(seed: int, *, bent: bool) -> tuple[Compiled, Search] | None:
    """A search over a random instance; None where the kernels refuse its rules."""
    case = random_case(seed, bent=bent)
    compiled = compile_instance(instance_from_dict(case.document), case.model)
    budget = Limits(None, 1000).start()
    try:
        return compiled, Search(compiled, budget, Recorder(budget.elapsed), seed, 1)
    except MethodRefused:
        return None


def assert_consistent(compiled: Compiled, search: Search, walker: Walker) -> None:
    """Compare every sum of the state with that of a fresh one, and every exact level with its goals' definition."""
    state = walker.state
    fresh = Walker(search.problem, search.table, search.items, 1)
    fresh.put(state.where, state.option, forced=True)
    for name in ("use", "held", "members", "counts", "covered", "standing", "moved", "totals", "drawn", "placed"):
        assert (getattr(state, name) == getattr(fresh.state, name)).all(), name
    for name in ("values", "root", "watts", "load", "met", "reach"):
        scale = max(1.0, float(np.abs(getattr(fresh.state, name)).max(initial=0.0)))
        assert np.allclose(getattr(state, name), getattr(fresh.state, name), rtol=1e-9, atol=1e-9 * scale), name
    assignment = Assignment(counts_of(search.items, state.where, state.option, compiled.num_nodes))
    targets = any(w.slo.p99 is not None or w.slo.critical for w in compiled.instance.workloads)
    exact = EXACT - BY_SHARES if targets else EXACT
    for number, level in enumerate(compiled.model.levels):
        if {goal.id for goal in level.goals} <= exact:
            value = float(level.combine({goal.id: goal_value(compiled, assignment, goal) for goal in level.goals}))
            expected = -value if level.sense == "max" else value
            assert state.values[number + 1] == pytest.approx(expected, rel=1e-9, abs=1e-9), level


@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("block", range(5))
def test_sums_goals_and_rules_after_walks(block: int, bent: bool) -> None:
    placed = 0
    for seed in range(block * 20, block * 20 + 20):
        found = searched(seed, bent=bent)
        if found is None:
            continue
        compiled, search = found
        walker = search.walkers[0]
        search.construct(walker)
        caps = np.full(len(walker.values), np.inf)
        for rounds in (1, 10, 300):
            walker.walk(len(walker.values) - 1, caps, HOT, rounds, MIX)
            assert_consistent(compiled, search, walker)
        if walker.value(0) > 0 or not len(search.items.block):
            continue
        counts = counts_of(search.items, walker.state.where, walker.state.option, compiled.num_nodes)
        shares = optimal_shares(compiled, counts)
        if shares is None:  # the fabric or caps on watts leave too little for the floors
            continue
        plan = plan_of(compiled, counts, shares.assignment.shares, shares.assignment.theta)
        outcome = check(compiled.instance, compiled.model, plan)
        assert outcome.feasible, (seed, outcome.violations)
        placed += 1
    assert placed >= 5


@kernel
def trial_of_price(  # noqa: PLR0917 - compiled code takes no keywords
    problem: Table, state: Table, level: int, move: int, told: Float, met: Float
) -> bool:
    """Price a random move, carry it out, take it back: whether it was priced and fitted."""
    number = propose_shift(problem, state) if move == SHIFT else propose(problem, state, move)
    if number == 0:
        return False
    told[0] = price_shift(problem, state, level) if move == SHIFT else price(problem, state, number, level)
    before = floats(state, S_VALUES)[level]
    if not try_steps(problem, state, number):
        return False
    met[0] = floats(state, S_VALUES)[level] - before
    undo_steps(problem, state, number)
    return told[0] > UNKNOWN


@pytest.mark.parametrize("bent", [False, True])
def test_the_price_of_a_move_is_what_it_changes(bent: bool) -> None:
    priced = 0
    for seed in range(60):
        found = searched(seed, bent=bent)
        if found is None or not len(found[1].items.block):
            continue
        _, search = found
        walker = search.walkers[0]
        search.construct(walker)
        if search.problem.service:  # the largest number of moved members is priced for one member alone
            continue
        for level in range(1, len(walker.values)):
            for trial in range(60):
                told, met = np.zeros(1), np.zeros(1)
                if trial_of_price(search.table, walker.table, level, trial % NUM_MOVES, told, met):
                    scale = max(1.0, abs(float(walker.values[level])))
                    assert told[0] == pytest.approx(met[0], rel=1e-9, abs=1e-9 * scale), (seed, level, trial)
                    priced += 1
    assert priced > 250
