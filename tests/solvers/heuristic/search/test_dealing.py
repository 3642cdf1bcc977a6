"""Placements dealt out by the relaxation: everybody once, near its bound, nodes left out where watts are short."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.generate import generate
from allocator.instance import instance_from_dict
from allocator.model import load_model
from allocator.solvers.bounds.levels import bounds
from allocator.solvers.budget import Limits
from allocator.solvers.evaluation.goals import level_values
from allocator.solvers.heuristic.kernels.items import counts_of, items_of
from allocator.solvers.heuristic.search.dealing import deal_of, positions
from allocator.solvers.shares.optimum import optimal_shares


def compiled_of(family: str, agents: int) -> Compiled:
    return compile_instance(instance_from_dict(generate(family, agents=agents, load=0.85, seed=1)), load_model("p99"))


@pytest.mark.parametrize(("family", "most"), [("claims", Fraction(1, 100)), ("mixed", Fraction(3, 100))])
def test_response_times_of_a_deal_are_near_the_bound(family: str, most: Fraction) -> None:
    compiled = compiled_of(family, 8_000)
    deal = deal_of(compiled, 1, Limits(None).start())
    assert deal is not None
    assert deal.bound is not None
    items = items_of(compiled)
    where, option = positions(compiled, items, deal)
    assert (where >= 0).all()
    assert compiled.eligible[option, where].all()
    plan = optimal_shares(compiled, counts_of(items, where, option, compiled.num_nodes))
    assert plan is not None
    everybody = sum((w.value * w.count for w in compiled.instance.workloads), Fraction(0))
    value = level_values(compiled, plan.assignment)[1]
    assert deal.bound <= value < deal.bound * (1 + most)
    assert bounds(compiled, Limits(60).start(), (everybody,))[1] <= value  # type: ignore[operator]


def test_a_deal_uses_no_more_nodes_than_the_relaxation() -> None:
    compiled = compiled_of("mixed", 8_000)
    deal = deal_of(compiled, 1, Limits(None).start())
    assert deal is not None
    where, _ = positions(compiled, items_of(compiled), deal)
    for group, number in deal.in_use.items():
        used = len(np.unique(where[deal.orbits.group[where] == group]))
        assert used <= number + 1


def test_nodes_left_out_are_spread_over_the_racks() -> None:
    compiled = compiled_of("mixed", 80_000)  # two racks, each with a cap of its own
    deal = deal_of(compiled, 1, Limits(None).start())
    assert deal is not None
    where, _ = positions(compiled, items_of(compiled), deal)
    rack = compiled.parent[compiled.parent[compiled.node_domain]]
    for group, number in deal.in_use.items():
        nodes = np.nonzero(deal.orbits.group == group)[0]
        if number > len(nodes) - 2:
            continue
        unused = np.setdiff1d(nodes, where)
        among = [int((rack[unused] == one).sum()) for one in np.unique(rack[nodes])]
        assert len(among) == 2
        assert max(among) - min(among) <= 1
        break
    else:
        pytest.fail("no group has nodes to leave out")


def test_other_goals_are_not_dealt() -> None:
    compiled = compiled_of("claims", 1_000)
    assert deal_of(compiled, 2, Limits(None).start()) is None
