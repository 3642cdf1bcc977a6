"""The greedy rule of shares for response times is exactly optimal, its prices are what one more unit is worth."""

from __future__ import annotations

import itertools
import random
from math import log, sqrt

import numpy as np
import pytest

from allocator.solvers.shares.square_root import NotNested, Queues, Row, best_shares, multipliers


def queues(rows: list[tuple[int, int, int, int, float, float, float]]) -> Queues:
    """From (node, members, least, most, full, cost, busy)."""
    columns = list(zip(*rows, strict=True))
    whole = [np.array(column, dtype=np.int64) for column in columns[:4]]
    return Queues(*whole, *(np.array(column, dtype=np.float64) for column in columns[4:]))


def random_queues(rng: random.Random, number: int, size: int = 6) -> Queues:
    rows = []
    for _ in range(number):
        busy = rng.choice([0.0, 0.4, 1.7])
        least = int(busy) + 1
        most = least + rng.randint(0, size)
        full = most - rng.choice([0.0, 0.0, 0.25])
        cost = rng.choice([0.0, 1.0, 2.5, 7.0])
        rows.append((rng.randrange(3), rng.randint(1, 3), least, most, max(full, busy + 0.01), cost, busy))
    return queues(rows)


def wait(one: Queues, index: int, total: int) -> float:
    """Sum of the waits of a cohort whose total is split evenly, the remainder one unit each."""
    each, more = divmod(total, int(one.members[index]))
    found = 0.0
    for units, members in ((each, int(one.members[index]) - more), (each + 1, more)):
        found += members * float(one.cost[index]) / (min(units, float(one.full[index])) - float(one.busy[index]))
    return found


def value(one: Queues, totals: list[int]) -> float:
    return sum(wait(one, index, total) for index, total in enumerate(totals))


def exhaustive(one: Queues, rows: list[Row]) -> float:
    """Best value over all totals that the rows hold."""
    least = (one.least * one.members).tolist()
    ranges = [range(low, int(high) + 1) for low, high in zip(least, one.most * one.members, strict=True)]
    best = float("inf")
    for totals in itertools.product(*ranges):
        extra = np.array(totals) - np.array(least)
        if all((extra[row.members] * (1 if row.weight is None else row.weight)).sum() <= row.left for row in rows):
            best = min(best, value(one, list(totals)))
    return best


def nested(rng: random.Random, one: Queues) -> list[Row]:
    """A capacity of each node, and one of all nodes; some missing."""
    rows = [Row(np.flatnonzero(one.node == node), None, rng.randint(0, 8)) for node in range(3) if rng.random() < 0.8]
    if rng.random() < 0.7:
        rows.append(Row(np.arange(len(one.node)), None, rng.randint(0, 14)))
    return [row for row in rows if len(row.members)]


def test_shares_under_nested_capacities_are_those_of_exhaustive_search() -> None:
    tight = 0
    for seed in range(150):
        rng = random.Random(seed)
        one = random_queues(rng, rng.randint(1, 4), size=4)
        rows = nested(rng, one)
        totals = best_shares(one, rows)
        extra = totals - one.least * one.members
        assert all(int(extra[row.members].sum()) <= row.left for row in rows), seed
        assert (totals <= one.most * one.members).all()
        best = exhaustive(one, rows)
        assert value(one, totals.tolist()) == pytest.approx(best, rel=1e-12), seed
        tight += any(int(extra[row.members].sum()) == row.left > 0 for row in rows)
    assert tight > 60


def test_a_cap_of_power_costs_no_more_than_its_last_unit() -> None:
    """Watts that differ by node: the rule may leave less than the watts of one unit, and gains all but that."""
    for seed in range(80):
        rng = random.Random(seed)
        one = random_queues(rng, 3)
        weights = np.array([(2, 3, 5)[node] for node in one.node.tolist()], dtype=object)
        rows = [Row(np.flatnonzero(one.node == node), None, 7) for node in range(3) if (one.node == node).any()]
        rows.append(Row(np.arange(3), weights, rng.randint(0, 30), 0.1))
        totals = best_shares(one, rows)
        extra = (totals - one.least * one.members).tolist()
        used = sum(weight * amount for weight, amount in zip(weights, extra, strict=True))
        assert used <= rows[-1].left
        looser = [*rows[:-1], Row(np.arange(3), weights, rows[-1].left - 5, 0.1)]
        if looser[-1].left >= 0:
            assert value(one, totals.tolist()) <= exhaustive(one, looser) + 1e-12, seed


def test_limits_that_bind_together_in_different_proportions_are_not_decided_here() -> None:
    """Two nodes under one capacity and one cap of power, 1 and 9 watts a unit: both limits bind."""
    one = queues([(0, 1, 1, 100, 100.0, 5.0, 0.0), (1, 1, 1, 100, 100.0, 5.0, 0.0)])
    both = np.arange(2)
    rows = [Row(both, None, 20), Row(both, np.array([1, 9], dtype=object), 60)]
    with pytest.raises(NotNested):
        best_shares(one, rows)
    rows = [Row(both, None, 20), Row(both, np.array([1, 1], dtype=object), 10)]
    assert best_shares(one, rows).tolist() == [6, 6]


def test_slack_is_in_proportion_to_the_square_root_of_the_cost() -> None:
    """Ten and two members, costs 4 and 1, on 10^9 units: slack of a member 2 to 1, value A^2 / S."""
    capacity = 10**9
    one = queues([(0, 10, 1, capacity, capacity, 4e6, 0.0), (0, 2, 10**8 + 1, capacity, capacity, 1e6, 1e8)])
    rows = [Row(np.arange(2), None, capacity - int((one.least * one.members).sum()))]
    totals = best_shares(one, rows).tolist()
    assert sum(totals) == capacity
    slack = capacity - 2 * 10**8
    weighted = 10 * sqrt(4e6) + 2 * sqrt(1e6)
    assert totals[0] == pytest.approx(10 * sqrt(4e6) / weighted * slack, abs=10)
    assert value(one, totals) == pytest.approx(weighted**2 / slack, rel=1e-12)
    assert multipliers(one, rows)[0] == pytest.approx((weighted / slack) ** 2, rel=1e-9)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_prices_of_nested_limits_are_what_one_more_unit_of_each_is_worth(number: int) -> None:
    """Two nodes of 40 and 60, both under 80, in units of a millionth: node 0 and the whole bind, node 1 does not."""
    fine = 10**6
    rows_of = [
        (0, 4, fine // 10, 90 * fine, 90.0 * fine, 8.0 * fine, 0.0),
        (1, 5, fine // 10, 90 * fine, 90.0 * fine, 1.5 * fine, 0.0),
    ]
    one = queues(rows_of)
    limits = [20 * fine, 60 * fine, 50 * fine]

    def optimum(left: list[int]) -> float:
        rows = [Row(np.array([0]), None, left[0]), Row(np.array([1]), None, left[1]), Row(np.arange(2), None, left[2])]
        return value(one, best_shares(one, rows).tolist())

    rows = [
        Row(np.array([0]), None, limits[0]),
        Row(np.array([1]), None, limits[1]),
        Row(np.arange(2), None, limits[2]),
    ]
    price = multipliers(one, rows)[number]
    step = fine // 100
    more = [left + step * (index == number) for index, left in enumerate(limits)]
    gained = (optimum(limits) - optimum(more)) / step
    assert gained == pytest.approx(price, rel=2e-3, abs=1e-15)
    assert (price > 0) == (number != 1)


def test_costs_and_capacities_of_any_size_are_divided_to_the_last_unit() -> None:
    """Units of 1e-12 core on 192 cores: nothing is left over, and members of a class differ by one unit at most."""
    unit = 1e-12
    capacity = 192 * 10**12
    rows_of = []
    for members, seconds, rate in ((7, 0.2, 0.8), (31, 0.15, 1.0), (3, 0.4, 0.4), (11, 1e-3, 5.0)):
        busy = rate * seconds / unit
        rows_of.append((0, members, int(busy * 1.01) + 1, capacity, 1.0 / unit, log(100) * seconds / unit, busy))
    one = queues(rows_of)
    least = int((one.least * one.members).sum())
    rows = [Row(np.arange(4), None, 20 * 10**12 - least)]
    totals = best_shares(one, rows)
    assert int(totals.sum()) == 20 * 10**12
    slack = totals / one.members - one.busy
    ratio = slack / np.sqrt(one.cost)
    assert np.ptp(ratio) <= 1e-9 * ratio.max()
