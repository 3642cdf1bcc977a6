"""Good choices within a given time: a quick one from the relaxation, and a long search by restricted programs.

Owns the order of steps and their shares of the time. Every bound it reports is valid; those of integer programs rest on
the solver's tolerances, all others are exact integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.columns import JobSets, generate_sets
from allocator.solvers.decomposition.assignment.descent import descend, insert_by_regret
from allocator.solvers.decomposition.assignment.dive import dive
from allocator.solvers.decomposition.assignment.neighbourhood import deal_again
from allocator.solvers.decomposition.assignment.pairs import solve_pairs
from allocator.solvers.decomposition.assignment.problem import AssignmentProblem, Bool, Int64
from allocator.solvers.decomposition.assignment.relaxation import Relaxation, relax
from allocator.solvers.decomposition.assignment.repair import unload

__all__ = ["FEW_JOBS", "Found", "quick", "search"]

FEW_JOBS = 12  # an agent: up to here sets of jobs make a much better bound than the relaxation
MAX_KNAPSACK_CELLS = 50_000_000  # jobs times capacity of an agent
ROOT_SHARE = 0.4  # of the time, for the first generation of sets
DIVE_SHARE = 0.7  # of the time left after it
NARROW = (3, 5)  # cheapest agents a job
NARROW_SHARE = 0.15
NEIGHBOURHOOD_SHARE = 0.3
LAST_PAIRS_SHARE = 0.5  # of all pairs: when more are left, a last program over them gains nothing
NEARLY_PROVEN = 0.005  # gap below which the program over near pairs comes before anything else
PROOF_SHARE = 0.75

OnValue = Callable[[int, Int64], None]
"""Takes the value of a better choice, and the choice, which nobody changes afterwards."""


@dataclass
class Found:
    """Best choice int64[J] (or None) with its value, and a bound of every choice. ``solver_proof``: of the bound."""

    choice: Int64 | None
    value: int | None
    bound: int | None
    solver_proof: bool = False

    def is_open(self) -> bool:
        """Whether value and bound differ or one is missing."""
        return self.value is None or self.bound is None or self.bound < self.value


class _Search:
    def __init__(
        self,
        problem: AssignmentProblem,
        found: Found,
        budget: Budget,
        *,
        threads: int,
        seed: int,
        on_value: OnValue,
        on_bound: Callable[[int], None],
    ) -> None:
        self.problem, self.found, self.budget, self.threads, self.seed = problem, found, budget, threads, seed
        self.on_value, self.on_bound = on_value, on_bound

    def offer(self, choice: Int64 | None) -> None:
        """Take a better choice."""
        if choice is not None and (self.found.value is None or self.problem.value(choice) < self.found.value):
            self.found.choice, self.found.value = choice, self.problem.value(choice)
            self.on_value(self.found.value, choice)

    def raise_bound(self, bound: int | None, *, solver_proof: bool = False) -> None:
        """Take a better bound; none can exceed a value reached."""
        if bound is None:
            return
        if self.found.value is not None:
            bound = min(bound, self.found.value)
        if self.found.bound is None or bound > self.found.bound:
            self.found.bound = bound
            self.found.solver_proof = solver_proof
            self.on_bound(bound)

    def going(self) -> bool:
        """Whether there is both something to gain and time."""
        return self.found.is_open() and not self.budget.exhausted

    def relaxed(self) -> Relaxation | None:
        """The relaxation, its bound, and first choices from it."""
        relaxation = relax(self.problem, self.budget, threads=self.threads)
        if relaxation is not None:
            self.raise_bound(relaxation.bound)
            firsts = [
                insert_by_regret(self.problem, relaxation),
                unload(self.problem, relaxation.share.argmax(axis=0), self.budget),  # hardly anybody is split
            ]
            if all(first is None for first in firsts):
                firsts.append(unload(self.problem, relaxation.reduced.argmin(axis=0), self.budget))
            for first in firsts:
                if first is not None:
                    self.offer(descend(self.problem, first, self.budget))
        return relaxation

    def by_sets(self, relaxation: Relaxation) -> None:
        """Sets of jobs, then dives from them."""
        assert self.found.choice is not None
        start = JobSets.of(self.found.choice, self.problem.num_agents)
        root = generate_sets(
            self.problem, start, relaxation.job_value, relaxation.scale, self.budget.portion(ROOT_SHARE),
            threads=self.threads,
        )  # fmt: skip
        self.raise_bound(-(-root.bound_scaled // relaxation.scale))
        diving = self.budget.portion(DIVE_SHARE)
        rng = np.random.default_rng([self.seed, 0])
        attempt = 0
        while self.found.is_open() and not diving.exhausted:
            made = dive(
                self.problem, root, relaxation.scale, diving, rng=rng if attempt else None, threads=self.threads,
                seed=self.seed,
            )  # fmt: skip
            attempt += 1
            if made is not None:
                self.offer(descend(self.problem, made, diving))

    def by_rank(self, relaxation: Relaxation) -> None:
        """Programs over the cheapest agents of every job, by reduced cost."""
        order = np.argsort(relaxation.reduced, axis=0, kind="stable")
        rank = np.argsort(order, axis=0, kind="stable")
        for width in NARROW:
            if self.going():
                self._over(rank < width, self.budget.portion(NARROW_SHARE))

    def by_neighbourhoods(self, relaxation: Relaxation, budget: Budget) -> None:
        """Deal the jobs of a few agents out again, over and over."""
        if self.found.choice is not None and self.found.bound is not None:
            rng = np.random.default_rng([self.seed, 1])
            self.offer(
                deal_again(
                    self.problem,
                    relaxation,
                    self.found.choice,
                    self.found.bound,
                    budget,
                    rng=rng,
                    threads=self.threads,
                )
            )

    def over_near_pairs(self, relaxation: Relaxation, budget: Budget) -> None:
        """The program without the pairs that no better choice can hold: it proves, where the time suffices."""
        value = self.found.value
        if value is None:
            everything = solve_pairs(
                self.problem, self.problem.allowed, None, budget, threads=self.threads, seed=self.seed
            )
            self.offer(everything.choice)
            self.raise_bound(everything.bound, solver_proof=True)
            return
        near = self._near(relaxation)
        bound = self._over(near, budget)
        if bound is not None:
            self.raise_bound(min(bound, value), solver_proof=True)

    def is_nearly_proven(self) -> bool:
        """Whether the gap is open but tiny."""
        value, bound = self.found.value, self.found.bound
        return value is not None and bound is not None and 0 < value - bound <= NEARLY_PROVEN * value

    def has_few_near_pairs(self, relaxation: Relaxation) -> bool:
        """Whether most pairs are too dear for any better choice."""
        return int(self._near(relaxation).sum()) <= LAST_PAIRS_SHARE * int(self.problem.allowed.sum())

    def _near(self, relaxation: Relaxation) -> Bool:
        """bool[A, J]: a choice with the pair may cost less than the value reached."""
        assert self.found.value is not None
        near: Bool = relaxation.reduced <= (self.found.value - 1) * relaxation.scale - relaxation.bound_scaled
        return near

    def _over(self, pairs: Bool, budget: Budget) -> int | None:
        """Offer the best choice over the pairs and those held; the bound is of these pairs alone."""
        pairs = pairs.copy()
        held = self.found.choice
        if held is not None:
            pairs[held, np.arange(self.problem.num_jobs)] = True
        answer = solve_pairs(self.problem, pairs, held, budget, threads=self.threads, seed=self.seed)
        self.offer(answer.choice)
        return answer.bound


def quick(
    problem: AssignmentProblem,
    budget: Budget,
    *,
    threads: int,
    on_value: OnValue = lambda _, __: None,
    on_bound: Callable[[int], None] = lambda _: None,
) -> tuple[Found, Relaxation | None]:
    """Relaxation, insertion, descent: well below a second for thousands of pairs. The relaxation serves ``search``."""
    state = _Search(
        problem, Found(None, None, None), budget, threads=threads, seed=0, on_value=on_value, on_bound=on_bound
    )
    relaxation = state.relaxed()
    return state.found, relaxation


def search(
    problem: AssignmentProblem,
    held: Found,
    budget: Budget,
    *,
    relaxation: Relaxation | None = None,
    threads: int,
    seed: int,
    on_value: OnValue = lambda _, __: None,
    on_bound: Callable[[int], None] = lambda _: None,
) -> Found:
    """Use all of the time to improve on what is held, unless the gap closes before. ``relaxation``: if known."""
    state = _Search(
        problem, Found(held.choice, held.value, held.bound, held.solver_proof), budget, threads=threads, seed=seed,
        on_value=on_value, on_bound=on_bound,
    )  # fmt: skip
    if relaxation is None or state.found.choice is None:
        relaxation = state.relaxed()
    if relaxation is None:
        return state.found
    if state.is_nearly_proven() and state.has_few_near_pairs(relaxation):
        state.over_near_pairs(relaxation, budget.portion(PROOF_SHARE))
    if state.going() and state.found.choice is not None:
        cells = problem.num_jobs * (int(problem.capacity.max(initial=0)) + 1)
        few = problem.num_jobs <= FEW_JOBS * problem.num_agents
        if few and problem.capacity.shape[1] == 1 and cells <= MAX_KNAPSACK_CELLS:
            state.by_sets(relaxation)
        else:
            state.by_rank(relaxation)
        if state.going():
            share = NEIGHBOURHOOD_SHARE if state.has_few_near_pairs(relaxation) else 1.0
            state.by_neighbourhoods(relaxation, budget.portion(share))
    if state.going():
        state.over_near_pairs(relaxation, budget)
    return state.found
