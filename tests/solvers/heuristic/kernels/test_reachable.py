"""Nodes that a member is never tried on, since what runs there now stays held, are those where it can never stand."""

from __future__ import annotations

import numpy as np

from allocator.compiled.compile import compile_instance
from allocator.errors import MethodRefused
from allocator.instance import instance_from_dict
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.kernels.fits import fits, reachable
from allocator.solvers.heuristic.kernels.jit import kernel
from allocator.solvers.heuristic.kernels.tables import Table
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from tests.oracle.random_instances import random_case


@kernel
def ever(problem: Table, item: int, node: int, option: int) -> bool:
    """What moves ask before they try a node."""
    return reachable(problem, item, node, option)


@kernel
def fits_now(problem: Table, state: Table, item: int, node: int, option: int) -> bool:
    """Whether an item may come to a node as things stand."""
    return fits(problem, state, item, node, option)


def test_a_node_passed_over_takes_the_member_from_nobody() -> None:
    passed_over = reached = 0
    for seed in range(150):
        case = random_case(seed, bent=False)
        compiled = compile_instance(instance_from_dict(case.document), case.model)
        budget = Limits(None, 1000).start()
        try:
            search = Search(compiled, budget, Recorder(budget.elapsed), seed, 1)
        except MethodRefused:
            continue
        problem = search.problem
        if not len(problem.lasting) or (np.diff(problem.first_option) > 1).any():
            continue
        empty = Walker(problem, search.table, search.items, 1)
        for item in range(len(search.items.block)):
            option = int(problem.first_option[problem.workload[item]])
            for node in range(compiled.num_nodes):
                alone = fits_now(search.table, empty.table, item, node, option)
                if ever(search.table, item, node, option):
                    reached += 1
                else:
                    assert not alone, (seed, item, node)  # not even where nobody else stands
                    passed_over += 1
    assert reached > 100
    assert passed_over >= 3
