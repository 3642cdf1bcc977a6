"""What changes during a search: where every item stands and every sum that follows from it.

Owns the layout and the empty state. ``change`` keeps it up to date.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels import indices as at
from allocator.solvers.heuristic.kernels.problem import Problem

__all__ = ["LARGEST_MOVE", "State", "copy_of", "empty_state"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

LARGEST_MOVE = 4096  # items that one move may take along
TOUCHED = 32  # domains that a priced move may touch


class State(NamedTuple):
    """Arrays of a state.

    Attributes
    ----------
    where, option : int64[M], node (-1: unplaced) and option of every item.
    use : int64[D, Q], sum over the items in a domain; held : int64[D, Q], old floors of members that left.
    members : int64[N]. first_on : int64[N], next_on, last_on : int64[M], list of the items of a node.
    counts : members of a group by tally and domain; covered, standing : int64[T], domains with one, members with one.
    moved : int64[G] members of a group that left their node; moved_by : int64[.], groups by that number.
    totals : int64[8], see ``UNSPREAD`` to ``LEFT``. values : float64[L + 1], the internal levels.
    root : float64[N], sum of ``root_need``. drawn : int64[D, R], taken from pools. watts : float64[D].
    load : float64[D, 2], bit/s upwards and downwards; met : float64[D], of flows that meet in a domain.
    placed : int64[U], items of a unit that stand. left, left_at : int64[M], list of the unplaced.
    inside : int64[E, 2, D], sources and targets of an entry in a domain; ends : int64[E, 2], in all;
    reach : float64[E, 2], their summed distance from the root.
    random : uint64[1]. steps : int64[LARGEST_MOVE, 4], the elementary changes of a move. saved : float64[L + 1].
    touched, net, root_net : domains that a priced move touches, what it adds to their columns, to ``root``; before
    that ``partner`` writes there the columns in which room is short, how much is short, and what room there is.
    """

    where: Int
    option: Int
    use: Int
    held: Int
    members: Int
    first_on: Int
    next_on: Int
    last_on: Int
    counts: Int
    covered: Int
    standing: Int
    moved: Int
    moved_by: Int
    totals: Int
    values: Float
    root: Float
    drawn: Int
    watts: Float
    load: Float
    met: Float
    placed: Int
    left: Int
    left_at: Int
    inside: Int
    ends: Int
    reach: Float
    random: npt.NDArray[np.uint64]
    steps: Int
    saved: Float
    touched: Int
    net: Int
    root_net: Float


def empty_state(problem: Problem, seed: int) -> State:
    """Nobody placed."""
    num_nodes, num_domains = int(problem.sizes[at.NODES]), int(problem.sizes[at.DOMAINS])
    num_items = len(problem.workload)
    num_groups = int(max(problem.mover.max(initial=-1), problem.group.max(initial=-1))) + 1
    runs = problem.current >= 0
    moved = np.bincount(problem.mover[runs & (problem.mover >= 0)], minlength=num_groups).astype(np.int64)
    moved_by = np.bincount(moved, minlength=int(moved.max(initial=0)) + 2).astype(np.int64)
    totals = np.zeros(at.NUM_TOTALS, dtype=np.int64)
    totals[at.MOVED] = int(runs.sum())
    totals[at.BYTES] = int(problem.move_bytes[runs].sum())
    totals[at.MOST_MOVED] = int(moved.max(initial=0))
    totals[at.LEFT] = num_items
    values = np.zeros(int(problem.sizes[at.LEVELS]))
    values[0] = float(problem.size[problem.workload].sum())
    level = int(problem.level_of[at.GOAL_MOVES])
    if level >= 0:
        values[level] += float(problem.move_cost[problem.workload[runs]].sum()) + problem.service * float(
            moved.max(initial=0)
        )
    level = int(problem.level_of[at.GOAL_BALANCE])
    if level >= 0:  # what is out of balance with nobody there
        values[level] += float((problem.triple_weight * np.maximum(0.0, problem.triple_have)).sum())
    held = np.zeros((num_domains, int(problem.sizes[at.COLUMNS])), dtype=np.int64)
    columns = np.nonzero(problem.holds)[0]
    if len(columns):
        for item in np.nonzero(runs)[0]:
            node = int(problem.current[item])
            row = problem.current_option[item] * problem.sizes[at.KINDS] + problem.kind[node]
            domains = problem.area[problem.area_start[node] : problem.area_start[node + 1]]
            held[np.ix_(domains, columns)] += problem.need[row, columns]
    drawn = np.zeros((num_domains, int(problem.sizes[at.RESOURCES])), dtype=np.int64)
    for node in range(num_nodes):
        for r in np.nonzero(problem.pool_of[node] >= 0)[0]:
            drawn[problem.pool_of[node, r], r] += max(0, held[problem.leaf[node], r] - problem.own[node, r])
    watts = np.zeros(num_domains)
    num_entries = len(problem.entry_rate)
    return State(
        where=np.full(num_items, -1, dtype=np.int64),
        option=problem.first_option[problem.workload].astype(np.int64),
        use=np.zeros((num_domains, int(problem.sizes[at.COLUMNS])), dtype=np.int64),
        held=held,
        members=np.zeros(num_nodes, dtype=np.int64),
        first_on=np.full(num_nodes, -1, dtype=np.int64),
        next_on=np.full(num_items, -1, dtype=np.int64),
        last_on=np.full(num_items, -1, dtype=np.int64),
        counts=np.zeros(int(problem.tally_offset[-1]), dtype=np.int64),
        covered=np.zeros(len(problem.at_most), dtype=np.int64),
        standing=np.zeros(len(problem.at_most), dtype=np.int64),
        moved=moved,
        moved_by=moved_by,
        totals=totals,
        values=values,
        root=np.zeros(num_nodes),
        drawn=drawn,
        watts=watts,
        load=np.zeros((num_domains, 2)),
        met=np.zeros(num_domains),
        placed=np.zeros(len(problem.unit_gang), dtype=np.int64),
        left=np.arange(num_items, dtype=np.int64),
        left_at=np.arange(num_items, dtype=np.int64),
        inside=np.zeros((num_entries, 2, num_domains if num_entries else 1), dtype=np.int64),
        ends=np.zeros((num_entries, 2), dtype=np.int64),
        reach=np.zeros((num_entries, 2)),
        random=np.array([seed * 2654435761 + 88172645463325252], dtype=np.uint64),
        steps=np.zeros((LARGEST_MOVE, 4), dtype=np.int64),
        saved=np.zeros(len(values)),
        touched=np.zeros(max(TOUCHED, int(problem.sizes[at.COLUMNS])), dtype=np.int64),
        net=np.zeros((TOUCHED, int(problem.sizes[at.COLUMNS])), dtype=np.int64),
        root_net=np.zeros(TOUCHED),
    )


def copy_of(state: State) -> State:
    """A state of its own."""
    return State._make(array.copy() for array in state)
