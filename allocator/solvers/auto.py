"""The method ``auto``: a first plan, stages for special structure, the exact model where it is small; always a bound.

Owns the order of the stages. Must not know any family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.errors import InternalError, MethodRefused, ModelTooLarge
from allocator.model.families import Family, GoalId
from allocator.plan.result import Status, Termination, TerminationReason
from allocator.solvers.base import Answer, Assignment, Method, Support
from allocator.solvers.bounds.levels import bounds as level_bounds
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.assignment.stage import AssignmentSearch
from allocator.solvers.decomposition.packing.stage import Packing
from allocator.solvers.decomposition.stage import StageAnswer
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.current import as_it_runs
from allocator.solvers.heuristic.loosened import attempt
from allocator.solvers.heuristic.outcome import checked
from allocator.solvers.milp.assignment import num_placement_variables
from allocator.solvers.recorder import Recorder
from allocator.solvers.registry import method_named
from allocator.solvers.support import require_support

__all__ = ["AutoMethod", "choose"]

FIRST_SHARE = 0.5  # of the time, for a first plan
ALONE_SHARE = 0.9  # the same where the exact model is too large to follow
FIRST_SECONDS = 0.25  # that a first plan gets at least, within the margin of a limit: a late plan is better than none
STAGE_SHARE = 0.6  # of the time, for a stage before the exact model
SEARCH_FROM = 2_000  # placement variables from which a search gives the first plan
SEARCH_ALONE_FROM = 40_000  # and from which the exact model would not come to an end
COLD_SECONDS = 150.0  # a search that is not compiled yet has to be needed, or takes too much of less time than this
SEARCH_SHARE = 0.25  # of the time, for a search before the exact model
SEARCH_SECONDS = 4.0  # that such a search gets, if that is no more than MOST_SEARCH_SHARE of the time
MOST_SEARCH_SHARE = 0.6
BOUND_SHARE = 0.15  # of the time, kept for bounds after a search alone
MOST_BOUND_SECONDS = 12.0


def choose(name: str) -> Method:
    """The named method, or the one that chooses for itself."""
    return AutoMethod() if name == "auto" else method_named(name)


class AutoMethod:
    """Greedy start, then stages that know the structure, then the exact model unless it is too large."""

    name = "auto"
    support = Support(
        frozenset(Family),
        frozenset(GoalId) - {GoalId.QUALITY},
        frozenset({"fair", "knee", "table"}),
    )

    def refuse(self, compiled: Compiled) -> None:
        """Any size is welcome."""

    def solve(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,
        gap: float,
    ) -> Answer:
        """See the class. The bound of each level is the best of what the stages and the totals prove."""
        run = _Run(compiled, budget, recorder, seed, threads, gap)
        stage = next((stage for stage in (Packing(), AssignmentSearch()) if stage.applies(compiled)), None)
        size = num_placement_variables(compiled)
        if stage is None and size >= SEARCH_ALONE_FROM:
            answer = run.search(start, budget.keeping(min(MOST_BOUND_SECONDS, BOUND_SHARE * budget.remaining())))
            if answer is not None:
                return _with_totals(compiled, answer, budget)
        first = start
        large = size >= SEARCH_FROM
        talkative = size + len(compiled.pairs) * compiled.num_domains >= SEARCH_FROM  # a cut or not, pair by domain
        if stage is None and (large or talkative) and (_compiled() or budget.remaining() > COLD_SECONDS):
            least = min(MOST_SEARCH_SHARE, SEARCH_SECONDS / max(SEARCH_SECONDS, budget.remaining()))
            answer = run.search(start, budget.portion(max(SEARCH_SHARE, least) if large else least))
            first = answer.assignment if answer is not None else start
        first = first or first_plan(compiled, budget, recorder, seed) or as_it_runs(compiled)
        known = StageAnswer(first, None, optimal=False)
        if stage is not None:
            share = budget.portion(STAGE_SHARE)
            known = stage.run(
                compiled, budget=share, recorder=recorder, start=known.assignment, seed=seed, threads=threads
            )
            staged = known.assignment
            recorder.offer(lambda: staged)
            if known.optimal and len(compiled.model.levels) == 1:
                return _proven(compiled, known, stage.name)
        searching = stage if isinstance(stage, AssignmentSearch) and len(compiled.model.levels) == 1 else None
        share = budget if searching is None else budget.portion(searching.exact_share(compiled))
        answer = _with_bound(run.exact(known.assignment, share), known)
        near_enough = bool(gap) and answer.termination.reason is TerminationReason.GAP
        unproven = answer.status is Status.FEASIBLE and not near_enough
        if searching is not None and unproven and not budget.exhausted:
            known = searching.run_after(
                compiled,
                budget=budget,
                recorder=recorder,
                incumbent=answer.assignment,
                bound=answer.bounds[0],
                seed=seed,
                threads=threads,
            )
            answer = _after(compiled, answer, known, searching.name, budget)
        if answer.termination.reason is TerminationReason.GAP and not gap:
            answer = run.settle(answer)
        return _with_totals(compiled, answer, budget)


@dataclass(frozen=True)
class _Run:
    """Arguments of one solve, and the steps that hand them on."""

    compiled: Compiled
    budget: Budget
    recorder: Recorder
    seed: int
    threads: int
    gap: float

    def exact(self, start: Assignment | None, budget: Budget) -> Answer:
        """The exact model, in integers where floats refuse it, or the start as it is where it is too large for both."""
        milp, cpsat = method_named("milp"), method_named("cpsat")
        try:
            milp.refuse(self.compiled)
            return self._by(milp, start, budget)
        except ModelTooLarge as refusal:
            return _kept(self.compiled, start, self.budget, str(refusal))
        except MethodRefused as refusal:
            why = str(refusal)
        try:
            require_support(cpsat, self.compiled.instance, self.compiled.model)
            cpsat.refuse(self.compiled)
            return self._by(cpsat, start, budget)
        except MethodRefused:
            return _kept(self.compiled, start or self._found(), self.budget, why)

    def _found(self) -> Assignment | None:
        """A plan by search in place of a start, where no exact model takes the numbers."""
        if not _compiled() and self.budget.remaining() < COLD_SECONDS:
            return None
        answer = self.search(None, self.budget.at_most(SEARCH_SECONDS))
        return None if answer is None else answer.assignment

    def search(self, start: Assignment | None, budget: Budget) -> Answer | None:
        """What a local search finds, from where things run now; None where it refuses a rule or finds no plan."""
        if not _compiled():
            self.recorder.phase("compiling the search, once on this machine")
        answer = attempt(
            method_named("local-search"),
            self.compiled,
            budget=budget,
            recorder=self.recorder,
            start=start,
            seed=self.seed,
            threads=self.threads,
            gap=self.gap,
        )
        return None if answer is None or answer.assignment is None else answer

    def _by(self, method: Method, start: Assignment | None, budget: Budget) -> Answer:
        return method.solve(
            self.compiled,
            budget=budget,
            recorder=self.recorder,
            start=start,
            seed=self.seed,
            threads=self.threads,
            gap=self.gap,
        )

    def settle(self, answer: Answer) -> Answer:
        """Where floating point cannot tell whether the plan is optimal, integers may: ask ``cpsat``."""
        method = method_named("cpsat")
        try:
            require_support(method, self.compiled.instance, self.compiled.model)
            method.refuse(self.compiled)
            found = self._by(method, answer.assignment, self.budget)
        except MethodRefused:
            return answer
        return found if found.status is Status.OPTIMAL else answer


def _compiled() -> bool:
    """Whether the search was compiled on this machine before. Loads the compiler, so ask only who wants to search."""
    from allocator.solvers.heuristic.kernels.jit import is_compiled

    return is_compiled()


def _proven(compiled: Compiled, known: StageAnswer, name: str) -> Answer:
    """The answer of a stage whose plan meets its bound, for a model of one level."""
    if known.assignment is None:
        raise InternalError(f"stage {name} proves an optimum without a plan")
    return Answer(
        Status.OPTIMAL,
        Termination(TerminationReason.OPTIMAL, f"proven by the stage {name}"),
        known.assignment,
        level_values(compiled, known.assignment),
        (known.bound,),
    )


def _with_bound(answer: Answer, known: StageAnswer) -> Answer:
    """The better of two bounds of the first level; the rest as it is."""
    if known.bound is None or answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return answer
    first = answer.bounds[0]
    # stages bound minimised levels only
    return replace(answer, bounds=(known.bound if first is None else max(first, known.bound), *answer.bounds[1:]))


def _after(compiled: Compiled, answer: Answer, known: StageAnswer, name: str, budget: Budget) -> Answer:
    """What a search after the exact model adds to its answer."""
    if known.optimal:
        return _proven(compiled, known, name)
    assignment = known.assignment or answer.assignment
    reason = TerminationReason.INTERRUPTED if budget.interrupted else TerminationReason.TIME_LIMIT
    if not budget.exhausted:
        reason = TerminationReason.CONVERGED
    claims = answer.claims if assignment is None else level_values(compiled, assignment)
    improved = replace(
        answer, assignment=assignment, claims=claims, termination=Termination(reason, f"stopped in the stage {name}")
    )
    return _with_bound(improved, known)


def first_plan(compiled: Compiled, budget: Budget, recorder: Recorder, seed: int) -> Assignment | None:
    """A quick plan by ``greedy`` where it supports what is in use and the checker agrees; None otherwise."""
    share = budget.portion(FIRST_SHARE)
    try:
        method_named("milp").refuse(compiled)
    except ModelTooLarge:
        share = budget.portion(ALONE_SHARE)
    except MethodRefused:  # for its numbers: integers may still take it
        pass
    answer = attempt(
        method_named("greedy"),
        compiled,
        budget=share.at_least(FIRST_SECONDS),
        recorder=recorder,
        start=None,
        seed=seed,
        threads=1,
    )
    found = None if answer is None else answer.assignment
    return found if found is not None and checked(compiled, found) else None


def _kept(compiled: Compiled, start: Assignment | None, budget: Budget, why: str) -> Answer:
    """The first plan as the answer, when the exact model is out of reach."""
    none: tuple[Fraction | None, ...] = (None,) * len(compiled.model.levels)
    status = Status.UNKNOWN if start is None else Status.FEASIBLE
    reason = TerminationReason.TIME_LIMIT if budget.exhausted else TerminationReason.CONVERGED
    claims: Sequence[Fraction | None] = none if start is None else level_values(compiled, start)
    return Answer(status, Termination(reason, why), start, tuple(claims), none)


def _with_totals(compiled: Compiled, answer: Answer, budget: Budget) -> Answer:
    """Fill in, level by level, what totals and relaxations prove; equal values make levels, maybe the plan, optimal."""
    if answer.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return answer
    bounds = list(answer.bounds)
    found = level_bounds(compiled, budget, answer.claims)
    for index, level in enumerate(compiled.model.levels):
        known, proven_here = bounds[index], found[index]
        if known is None or proven_here is None:
            bounds[index] = proven_here if known is None else known
        else:
            bounds[index] = max(known, proven_here) if level.sense == "min" else min(known, proven_here)
    proven = answer.assignment is not None and all(
        value == bound for value, bound in zip(answer.claims, bounds, strict=True)
    )
    if proven:
        return replace(
            answer,
            status=Status.OPTIMAL,
            termination=Termination(TerminationReason.OPTIMAL, "the totals prove it"),
            bounds=tuple(bounds),
        )
    return replace(answer, bounds=tuple(bounds))
