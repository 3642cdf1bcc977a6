"""The stage ``packing``: fewest interchangeable nodes. Turns a packing into an assignment and a bound of the level."""

from __future__ import annotations

from allocator.compiled.entities import Compiled
from allocator.solvers.base import Assignment
from allocator.solvers.budget import Budget
from allocator.solvers.decomposition.packing.extract import is_packing_instance, node_groups, node_packing
from allocator.solvers.decomposition.packing.extract_groups import grouped_nodes
from allocator.solvers.decomposition.packing.grouped import pack_groups
from allocator.solvers.decomposition.packing.search import pack
from allocator.solvers.decomposition.stage import StageAnswer
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.recorder import Recorder

__all__ = ["Packing"]


class Packing:
    """Bin packing by patterns, for a model whose first level is the number of nodes (equation 25)."""

    name = "packing"

    def applies(self, compiled: Compiled) -> bool:
        """Whether nothing but the capacities of nodes limits who stands together."""
        return is_packing_instance(compiled)

    def run(
        self,
        compiled: Compiled,
        *,
        budget: Budget,
        recorder: Recorder,
        start: Assignment | None,
        seed: int,
        threads: int,
    ) -> StageAnswer:
        """Pack. A start that is better than the packing found is handed on in its place."""
        groups = node_groups(compiled)
        if len(groups) > 1:
            return _run_groups(compiled, groups, budget, recorder, start=start, seed=seed, threads=threads)
        packed = node_packing(compiled)
        recorder.phase("packing by patterns", level=0)
        if packed.problem is None:
            alone = packed.value(1)
            recorder.incumbent(0, float(alone))
            recorder.bound(0, float(alone))
            return StageAnswer(packed.together(compiled), alone, optimal=True)

        def on_value(bins: int) -> None:
            if bins <= packed.num_nodes:
                recorder.incumbent(0, float(packed.value(bins)))

        bins = pack(
            packed.problem,
            budget,
            threads=threads,
            seed=seed,
            on_value=on_value,
            on_bound=lambda bound: recorder.bound(0, float(packed.value(bound))),
        )
        bound = packed.value(bins.lower)
        assignment = packed.assignment(compiled, bins.packing)
        value = packed.value(bins.value) if assignment is not None else None
        if start is not None:
            held = level_values(compiled, start)[0]
            if value is None or held < value:
                assignment, value = start, held
        return StageAnswer(assignment, bound, optimal=value == bound, solver_proof=bins.solver_proof)


def _run_groups(
    compiled: Compiled,
    groups: tuple[tuple[int, ...], ...],
    budget: Budget,
    recorder: Recorder,
    *,
    start: Assignment | None,
    seed: int,
    threads: int,
) -> StageAnswer:
    """Several groups of alike nodes."""
    grouped = grouped_nodes(compiled, groups)
    if grouped is None:
        return StageAnswer(start, None, optimal=False)
    recorder.phase("packing groups of nodes by patterns", level=0)
    bins = None if start is None else grouped.bins(start)
    found = pack_groups(grouped.packing, bins, budget, threads=threads, seed=seed)
    bound = grouped.unit * found.lower
    recorder.bound(0, float(bound))
    if found.bins is None:
        return StageAnswer(None, bound, optimal=False)
    assignment = start if start is not None and found.bins is bins else grouped.assignment(compiled, found.bins)
    value = level_values(compiled, assignment)[0]
    recorder.incumbent(0, float(value))
    return StageAnswer(assignment, bound, optimal=value == bound)
