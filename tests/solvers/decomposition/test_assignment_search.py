"""The assignment problem against enumeration: bounds never exceed the optimum, choices are choices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from allocator.solvers.budget import Limits
from allocator.solvers.decomposition.assignment.columns import JobSets, generate_sets
from allocator.solvers.decomposition.assignment.descent import descend, insert_by_regret
from allocator.solvers.decomposition.assignment.dive import dive
from allocator.solvers.decomposition.assignment.knapsack import knapsack
from allocator.solvers.decomposition.assignment.pairs import solve_pairs
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Int64
from allocator.solvers.decomposition.assignment.relaxation import FORBIDDEN, relax
from allocator.solvers.decomposition.assignment.repair import unload
from allocator.solvers.decomposition.assignment.search import Found, quick, search


def random_problem(seed: int, *, resources: int | None = None, scale: int = 1) -> AssignmentProblem:
    """Up to four agents and six jobs; some pairs forbidden; about half of them have tight capacities."""
    rng = np.random.default_rng(seed)
    agents, jobs = int(rng.integers(1, 5)), int(rng.integers(1, 7))
    r = int(rng.integers(1, 3)) if resources is None else resources
    cost = rng.integers(0, 30, (agents, jobs))
    use = rng.integers(0, 12, (agents, jobs, r)) * scale
    capacity = rng.integers(8, 30, (agents, r)) * scale
    allowed = (use <= capacity[:, None, :]).all(axis=2) & (rng.random((agents, jobs)) < 0.85)
    for job in np.flatnonzero(~allowed.any(axis=0)):
        use[0, job] = 0
        allowed[0, job] = True
    return AssignmentProblem(cost, use, capacity, allowed)


def all_choices(problem: AssignmentProblem) -> list[Int64]:
    every = itertools.product(range(problem.num_agents), repeat=problem.num_jobs)
    return [choice for choice in map(np.array, every) if problem.is_feasible(choice)]


def optimum(problem: AssignmentProblem) -> int | None:
    return min((problem.value(choice) for choice in all_choices(problem)), default=None)


def neighbours(problem: AssignmentProblem, choice: Int64) -> list[Int64]:
    """All choices a shift or a swap away."""
    found = []
    for job in range(problem.num_jobs):
        for agent in range(problem.num_agents):
            found.append(choice.copy())
            found[-1][job] = agent
        for other in range(job):
            found.append(choice.copy())
            found[-1][[job, other]] = choice[[other, job]]
    return found


@pytest.mark.parametrize("seed", range(80))
def test_relaxation_bounds_every_choice_by_its_reduced_costs(seed: int) -> None:
    problem = random_problem(seed, scale=1 if seed % 2 else 10**7)
    relaxation = relax(problem, Limits().start(), threads=1)
    choices = all_choices(problem)
    if relaxation is None:
        assert not choices
        return
    assert (relaxation.reduced[problem.allowed] >= 0).all()
    assert (relaxation.reduced[~problem.allowed] == FORBIDDEN).all()
    jobs = np.arange(problem.num_jobs)
    for choice in choices:
        known = relaxation.bound_scaled + int(relaxation.reduced[choice, jobs].sum())
        assert known <= problem.value(choice) * relaxation.scale
        assert relaxation.bound <= problem.value(choice)
    first = insert_by_regret(problem, relaxation)
    if first is not None:
        assert problem.is_feasible(first)
        better = descend(problem, first, Limits().start())
        assert problem.is_feasible(better)
        assert problem.value(better) <= problem.value(first)
        near = neighbours(problem, better)
        assert all(problem.value(better) <= problem.value(other) for other in near if problem.is_feasible(other))


@pytest.mark.parametrize("seed", range(80))
def test_pairs_are_solved_to_the_optimum(seed: int) -> None:
    problem = random_problem(seed, scale=1 if seed % 2 else 10**7)
    best = optimum(problem)
    answer = solve_pairs(problem, problem.allowed, None, Limits().start(), threads=1, seed=0)
    assert answer.proven
    if best is None:
        assert answer.choice is None
        return
    assert answer.choice is not None
    assert problem.is_feasible(answer.choice)
    assert problem.value(answer.choice) == answer.bound == best


@pytest.mark.parametrize("seed", range(100))
def test_knapsack_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    profit, weight = rng.integers(-3, 20, 8), rng.integers(0, 10, 8)
    capacity = int(rng.integers(0, 40))
    masks = [np.array(mask) for mask in itertools.product((False, True), repeat=8)]
    best = max(int(profit[mask].sum()) for mask in masks if weight[mask].sum() <= capacity)
    value, chosen = knapsack(profit, weight, capacity)
    assert value == best == int(profit[chosen].sum())
    assert weight[chosen].sum() <= capacity
    assert len(set(chosen.tolist())) == len(chosen)


@pytest.mark.parametrize("seed", range(80))
def test_sets_of_jobs_bound_the_cost_at_any_stop(seed: int) -> None:
    problem = random_problem(seed, resources=1)
    best = optimum(problem)
    relaxation = relax(problem, Limits().start(), threads=1)
    if relaxation is None or best is None:
        return
    ticks = itertools.count()
    stop = float(np.random.default_rng(seed).integers(1, 30))
    for budget in (Limits().start(), Limits(stop).start(clock=lambda: float(next(ticks)))):
        made = generate_sets(problem, JobSets(), relaxation.job_value, relaxation.scale, budget, threads=1)
        assert -(-made.bound_scaled // relaxation.scale) <= best
        for agent, jobs in zip(made.sets.agents, made.sets.jobs, strict=True):
            assert (problem.use[agent, jobs].sum(axis=0) <= problem.capacity[agent]).all()
            assert problem.allowed[agent, jobs].all()


def larger(seed: int, agents: int, jobs: int, tightness: float = 0.85) -> AssignmentProblem:
    """Costs that fall where use rises (class D of Chu and Beasley 1997)."""
    rng = np.random.default_rng(seed)
    use = rng.integers(1, 101, (agents, jobs))
    cost = 111 - use + rng.integers(-10, 11, (agents, jobs))
    capacity = np.maximum((tightness * use.sum(axis=1) / agents).astype(np.int64), use.max(axis=1))
    return AssignmentProblem(cost, use[:, :, None], capacity[:, None], np.ones(cost.shape, dtype=np.bool_))


def test_dives_give_choices() -> None:
    problem = larger(3, 8, 60)
    relaxation = relax(problem, Limits().start(), threads=1)
    assert relaxation is not None
    root = generate_sets(problem, JobSets(), relaxation.job_value, relaxation.scale, Limits(20).start(), threads=1)
    made = [
        dive(problem, root, relaxation.scale, Limits(20).start(), rng=rng, threads=1, seed=0)
        for rng in (None, np.random.default_rng(1), np.random.default_rng(2))
    ]
    feasible = [choice for choice in made if choice is not None]
    assert feasible
    for choice in feasible:
        assert problem.is_feasible(choice)
        assert relaxation.bound <= -(-root.bound_scaled // relaxation.scale) <= problem.value(choice)


@pytest.mark.parametrize("seed", range(60))
def test_search_closes_small_gaps(seed: int) -> None:
    problem = random_problem(seed)
    best = optimum(problem)
    held, relaxation = quick(problem, Limits().start(), threads=1)
    if best is not None:
        assert held.bound is not None
        assert held.bound <= best <= (held.value if held.value is not None else best)
    known = relaxation if seed % 2 else None
    found = search(problem, held, Limits().start(), relaxation=known, threads=1, seed=seed)
    assert found.value == best
    if best is not None:
        assert found.bound == best
        assert found.choice is not None
        assert problem.is_feasible(found.choice)


@pytest.mark.parametrize("shape", [(4, 60), (10, 40)])
def test_search_keeps_to_its_time_and_never_loses_what_is_held(shape: tuple[int, int]) -> None:
    problem = larger(5, *shape)
    held, relaxation = quick(problem, Limits().start(), threads=1)
    assert held.value is not None
    assert held.bound is not None
    budget = Limits(2.0).start()
    found = search(problem, held, budget, relaxation=relaxation, threads=1, seed=0)
    assert budget.elapsed() < 3.0
    assert found.value is not None
    assert found.bound is not None
    assert held.bound <= found.bound <= found.value <= held.value
    stopped = Limits().start()
    stopped.interrupt()
    assert search(problem, found, stopped, threads=1, seed=0).value == found.value


def test_nothing_is_claimed_where_there_is_no_choice() -> None:
    problem = AssignmentProblem(
        np.zeros((1, 2), dtype=np.int64), np.full((1, 2, 1), 3), np.full((1, 1), 5), np.ones((1, 2), dtype=np.bool_)
    )
    assert quick(problem, Limits().start(), threads=1) == (Found(None, None, None), None)
    assert search(problem, Found(None, None, None), Limits().start(), threads=1, seed=0).choice is None


@pytest.mark.parametrize("seed", range(80))
def test_unloading_ends_in_a_choice_or_says_that_it_is_stuck(seed: int) -> None:
    problem = random_problem(seed, scale=1 if seed % 2 else 10**6)
    rng = np.random.default_rng(seed)
    choice = np.array([rng.choice(np.flatnonzero(problem.allowed[:, job])) for job in range(problem.num_jobs)])
    before = choice.copy()
    made = unload(problem, choice, Limits().start())
    assert (choice == before).all()
    if problem.is_feasible(before):
        assert made is not None
        assert (made == before).all()
    if made is not None:
        assert problem.is_feasible(made)


def test_unloading_makes_room_in_tight_problems() -> None:
    """Everybody on the agent of least use or cost overloads it; most such problems are repaired."""
    repaired = 0
    for seed in range(10):
        problem = larger(seed, 5, 60)
        made = unload(problem, problem.cost.argmin(axis=0), Limits(10).start())
        repaired += made is not None
        assert made is None or problem.is_feasible(made)
    assert repaired >= 8
