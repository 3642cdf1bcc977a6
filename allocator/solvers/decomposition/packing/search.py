"""Fewest identical bins: constructive packings, column generation, dives, enumeration. Valid at every interruption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from allocator.solvers.bounds.patterns.generation import Root, generate
from allocator.solvers.bounds.patterns.master import Master
from allocator.solvers.bounds.patterns.problem import BinPacking, Int64
from allocator.solvers.bounds.patterns.simple import clique_bound, volume_bound
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.packing.dive import dive
from allocator.solvers.decomposition.packing.enumeration import cover, sufficient_patterns
from allocator.solvers.decomposition.packing.starts import constructed

__all__ = ["Bins", "pack"]

ROOT_SHARE = 0.6  # of the time, for the first column generation
ENUMERATION_SHARE = 0.4  # of the time left, for finishing the root and for enumerating
DIVES_BEFORE_ENUMERATION = 2
MAX_DIVES = 200  # nothing was ever found later


@dataclass
class Bins:
    """``packing`` int64[bins, I] and a bound of the number of bins; ``solver_proof``: the bound is a solver's."""

    packing: Int64
    lower: int
    solver_proof: bool = False

    @property
    def value(self) -> int:
        """Number of bins."""
        return len(self.packing)

    def is_open(self) -> bool:
        """Whether value and bound differ."""
        return self.lower < self.value


class _Search:
    """One run: best packing and bound so far, and the patterns known."""

    def __init__(
        self,
        problem: BinPacking,
        budget: Budget,
        *,
        threads: int,
        seed: int,
        on_value: Callable[[int], None],
        on_bound: Callable[[int], None],
    ) -> None:
        self.problem, self.budget, self.threads, self.seed = problem, budget, threads, seed
        self.on_value, self.on_bound = on_value, on_bound
        lower = max(volume_bound(problem), clique_bound(problem), 1)
        on_bound(lower)
        self.first = constructed(problem, budget, lower)
        self.bins = Bins(self.first[0], lower)
        on_value(self.bins.value)

    def raise_bound(self, lower: int, *, solver_proof: bool = False) -> None:
        """Take a better bound."""
        if lower > self.bins.lower:
            self.bins.lower = lower
            self.bins.solver_proof = solver_proof
            self.on_bound(lower)

    def offer(self, packing: Int64 | None) -> None:
        """Take a better packing."""
        if packing is not None and len(packing) < self.bins.value:
            self.bins.packing = packing
            self.on_value(len(packing))

    def run(self) -> None:
        """Close the gap as far as the time allows."""
        master = Master(self.problem.demand, self.threads)
        for packing in self.first:
            master.add(packing)
        root = generate(
            self.problem, master, self.budget.portion(ROOT_SHARE), threads=self.threads, known=self.bins.lower
        )
        self.raise_bound(root.lower)
        rng = np.random.default_rng(self.seed)
        enumerated_for = 0
        for attempt in range(MAX_DIVES):
            if not self.bins.is_open() or self.budget.exhausted:
                return
            lower, value = self.bins.lower, self.bins.value
            target = lower if attempt % 2 == 0 else max(lower, value - 1)
            self.offer(
                dive(
                    self.problem,
                    master,
                    root,
                    target,
                    budget=self.budget,
                    rng=rng if attempt else None,
                    threads=self.threads,
                )
            )
            due = attempt + 1 >= DIVES_BEFORE_ENUMERATION and enumerated_for != self.bins.lower
            if due and self.bins.is_open() and not self.budget.exhausted:
                enumerated_for = self.bins.lower
                root = self._enumerate(master, root)

    def _enumerate(self, master: Master, root: Root) -> Root:
        """Decide whether ``lower`` bins suffice by all patterns that such a packing may use."""
        if not root.complete:
            root = generate(
                self.problem, master, self.budget.portion(ENUMERATION_SHARE), threads=self.threads, known=None
            )
            self.raise_bound(root.lower)
        if root.prices is None or not self.bins.is_open():
            return root
        patterns = sufficient_patterns(
            self.problem, root.prices, root.worth, self.bins.lower, self.budget.portion(ENUMERATION_SHARE),
            threads=self.threads,
        )  # fmt: skip
        if patterns is None or self.budget.exhausted:
            return root
        found = cover(self.problem, patterns, self.bins.lower, self.budget, threads=self.threads, seed=self.seed)
        self.offer(found.packing)
        if found.refuted:
            self.raise_bound(self.bins.lower + 1, solver_proof=True)
        return root


def pack(
    problem: BinPacking,
    budget: Budget,
    *,
    threads: int = 1,
    seed: int = 0,
    on_value: Callable[[int], None] = lambda _: None,
    on_bound: Callable[[int], None] = lambda _: None,
) -> Bins:
    """A packing into few bins with a proven bound of their number, as good as the time allows."""
    search = _Search(problem, budget, threads=threads, seed=seed, on_value=on_value, on_bound=on_bound)
    if search.bins.is_open():
        search.run()
    return search.bins
