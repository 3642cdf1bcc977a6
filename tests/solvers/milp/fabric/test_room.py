"""Room of domains, and the rows of a capacity times a presence."""

from __future__ import annotations

import random
from itertools import product

from allocator.solvers.milp.fabric.room import LARGEST, domain_room, times_presence
from tests.solvers.milp.fabric.pair_instances import COST_AND_TRAFFIC, compiled


def test_room_of_a_rack_is_the_least_of_its_own_and_its_hosts() -> None:
    for seed in range(20):
        arrays = compiled(seed, COST_AND_TRAFFIC)
        room = domain_room(arrays)
        for domain in arrays.instance.domains:
            if domain.parent != 0:
                continue
            for r in range(len(arrays.resources)):
                hosts = [int(arrays.limit[child, r]) for child in domain.children]
                own = int(arrays.limit[domain.index, r])
                if min(hosts) < 0:
                    continue
                assert room[domain.index, r] == (sum(hosts) if own < 0 else min(own, sum(hosts)))
                for child, host in zip(domain.children, hosts, strict=True):
                    assert room[child, r] == (host if own < 0 else min(own, host))


def _satisfied(row: tuple[dict[int, int], dict[int, int]], chosen: set[int], entry: int | None) -> bool:
    weights, left = row
    load = sum(weight for key, weight in weights.items() if key in chosen)
    return load <= (0 if entry is None else left[entry])


def test_a_row_keeps_every_selection_that_fits() -> None:
    rng = random.Random(3)
    stated = 0
    for _ in range(300):
        scale = rng.choice([1, 6, 10**12 + 39])
        weights = {j: rng.randint(0, 9) * scale for j in range(6)}
        left = {10 + e: rng.randint(0, 25) * scale + rng.randint(0, scale - 1) for e in range(2)}
        row = times_presence(weights, left)
        if row is None:
            assert sum(weights.values()) <= min(left.values()) or not any(weights.values())
            continue
        stated += 1
        for flags in product([0, 1], repeat=6):
            chosen = {j for j, flag in enumerate(flags) if flag}
            load = sum(weights[j] for j in chosen)
            for entry, room in left.items():
                if load <= room:
                    assert _satisfied(row, chosen, entry)
    assert stated > 100


def test_a_row_is_exact_on_integers_and_rounds_to_what_weights_can_reach() -> None:
    assert times_presence({0: 6, 1: 10}, {5: 9}) == ({0: 3, 1: 5}, {5: 3})
    assert times_presence({0: 6, 1: 10}, {5: 16}) is None


def test_coefficients_stay_small() -> None:
    made = times_presence({0: 10**15 + 1, 1: 3 * 10**14 + 7}, {5: 10**15 + 5})
    assert made is not None
    assert max(*made[0].values(), *made[1].values()) <= LARGEST
