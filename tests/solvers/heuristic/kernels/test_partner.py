"""Whoever could take another one's place is found, and where nobody is found nobody could."""

from __future__ import annotations

import numpy as np

from allocator.compiled.compile import compile_instance
from allocator.errors import MethodRefused
from allocator.instance import instance_from_dict
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.kernels.fits import partner
from allocator.solvers.heuristic.kernels.jit import kernel
from allocator.solvers.heuristic.kernels.layout import S_FIRST_ON
from allocator.solvers.heuristic.kernels.tables import Table, ints
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from tests.oracle.random_instances import random_case

MANY = 1000


@kernel
def found(problem: Table, state: Table, item: int, there: int, back: bool) -> int:
    """The partner that a move would take, from the first item of the node on."""
    return partner(problem, state, item, there, ints(state, S_FIRST_ON)[there], MANY, back)


def works(search: Search, walker: Walker, item: int, other: int, back: bool) -> bool:
    """Whether the two fit, both out first: the item in the other's place, and with ``back`` the other in its."""
    where, option = walker.state.where, walker.state.option
    fresh = Walker(search.problem, search.table, search.items, 1)
    rest = where.copy()
    rest[[item, other]] = -1
    fresh.put(rest, option, forced=True)
    for one, node in ((item, where[other]), (other, where[item])):
        target = np.full_like(where, -1)
        target[one] = node
        if (one == item or back) and not fresh.put(target, option):
            return False
    return True


def test_a_partner_is_found_wherever_one_exists() -> None:
    taken = refused = 0
    for seed in range(60):
        case = random_case(seed, bent=False)
        compiled = compile_instance(instance_from_dict(case.document), case.model)
        budget = Limits(None, 1000).start()
        try:
            search = Search(compiled, budget, Recorder(budget.elapsed), seed, 1)
        except MethodRefused:
            continue
        walker = search.walkers[0]
        search.construct(walker)
        where = walker.state.where
        for item in np.nonzero(where >= 0)[0]:
            for there in range(compiled.num_nodes):
                others = np.nonzero(where == there)[0]
                if there == where[item]:
                    continue
                for back in (False, True):
                    answer = found(search.table, walker.table, item, there, back)
                    assert answer in {-1, *others.tolist()}
                    possible = [other for other in others if works(search, walker, int(item), int(other), back)]
                    if possible:
                        assert answer >= 0, (seed, item, there, back)
                        taken += 1
                    elif answer < 0 and len(others):
                        refused += 1
    assert taken > 100
    assert refused > 40
