"""Loads counted per domain equal the enumeration of ordered pairs and their paths in the tree; so does traffic."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from allocator.checker import check
from allocator.checker.flows import flows_of, grants_of
from allocator.checker.standing import read_standing
from allocator.checker.traffic import traffic_of
from allocator.checker.usage import chains
from allocator.instance.entities import Flow, Instance, Uplink
from allocator.model.families import GoalId
from allocator.plan.entities import Plan
from tests.builders import Tree, build, group, model, node, plan, team, workload

F = Fraction
Member = tuple[str, int]


def random_tree(rng: random.Random, depth: int, name: str) -> Tree:
    """A tree of uneven depth; some uplinks weigh nothing."""
    link = Uplink(weight=F(rng.randint(0, 5), rng.randint(1, 3)))
    if depth == 0 or rng.random() < 0.2:
        return node(name, uplink=link)
    children = (random_tree(rng, depth - 1, f"{name}{i}") for i in range(rng.randint(1, 3)))
    return group(f"level{depth}", name, *children, uplink=link)


def random_case(seed: int) -> tuple[Instance, Plan, list[tuple[Member, Member, Fraction, tuple[str, str]]]]:
    """Instance, plan, and every ordered pair with traffic as (from, to, bit/s, names of the flow)."""
    rng = random.Random(seed)
    counts = {"a": rng.randint(3, 6), "b": rng.randint(1, 4)}
    team_size = {"a": rng.randint(1, 2), "b": rng.randint(0, 1)}
    num_teams = min(counts[name] // size for name, size in team_size.items() if size)
    rate = F(rng.randint(1, 9), rng.randint(1, 4))
    pairs: list[tuple[Member, Member, Fraction, tuple[str, str]]] = []
    for number in range(num_teams):
        members = [(c, number * size + i) for c, size in team_size.items() for i in range(size)]
        pairs += [(i, j, rate, (f"t/{number}", f"t/{number}")) for i in members for j in members if i != j]
    flows = []
    for source, target, pattern in (
        ("a", "b", "spread"),
        ("a", "a", "spread"),
        ("b", "a", "broadcast"),
        ("b", "b", "broadcast"),
    ):
        if rng.random() < 0.5:
            sent = F(rng.randint(1, 9))
            flows.append(Flow(source, target, pattern, sent))  # type: ignore[arg-type]
            for i in range(counts[source]):
                others = [j for j in range(counts[target]) if (source, i) != (target, j)]
                each = sent / len(others) if pattern == "spread" and others else sent
                pairs += [((source, i), (target, j), each, (source, target)) for j in others]
    single = [(rng.randrange(counts["b"]), rng.randrange(counts["a"]), F(rng.randint(1, 5))) for _ in range(3)]
    flows.append(Flow("b", "a", "pairs", pairs=tuple(single)))
    pairs += [(("b", i), ("a", j), sent, (f"b/{i}", f"a/{j}")) for i, j, sent in single]
    instance = build(
        *(random_tree(rng, 3, name) for name in "pq"),
        workloads=[workload(name, count) for name, count in counts.items()],
        teams=(team("t", num_teams, team_size, rate),),
        flows=tuple(flows),
    )
    paths = [leaf.path for leaf in instance.nodes]
    where = {name: [rng.choice([*paths, None]) for _ in range(count)] for name, count in counts.items()}
    grants: dict[Any, Any] = {names: F(rng.randint(0, 4), 4) for *_, names in pairs}
    return instance, plan(instance, where, grants=grants), pairs


@pytest.mark.parametrize("seed", range(150))
def test_counted_loads_equal_the_enumeration_of_pairs_and_paths(seed: int) -> None:
    instance, found, pairs = random_case(seed)
    at = {(name, member): path for name, member, _, path in found.members()}
    theta = {(grant.source, grant.target): grant.granted for grant in found.flows}
    expected: dict[str, Counter[int]] = {
        name: Counter() for name in ("up", "down", "granted_up", "granted_down", "inside")
    }
    total = F(0)
    for source, target, rate, names in pairs:
        if source not in at or target not in at:
            continue
        above = [set(_above(at[end])) for end in (source, target)]
        for path in above[0] - above[1]:
            domain = instance.domain_by_path[path]
            expected["up"][domain.index] += rate  # type: ignore[assignment]
            expected["granted_up"][domain.index] += rate * theta[names]  # type: ignore[assignment]
        for path in above[1] - above[0]:
            domain = instance.domain_by_path[path]
            expected["down"][domain.index] += rate  # type: ignore[assignment]
            expected["granted_down"][domain.index] += rate * theta[names]  # type: ignore[assignment]
        lowest = max(above[0] & above[1], key=lambda path: (path.count("/"), len(path)))
        expected["inside"][instance.domain_by_path[lowest].index] += rate * theta[names]  # type: ignore[assignment]
        links = [instance.domain_by_path[path].uplink for path in above[0] ^ above[1]]
        total += rate * sum((link.weight for link in links if link is not None), F(0))
    standing, _ = read_standing(instance, found)
    flows = flows_of(instance)
    grants, malformed = grants_of(flows, found)
    assert malformed == []
    traffic = traffic_of(instance, standing, flows, grants, chains(instance))
    counted = {
        "up": traffic.offered_up,
        "down": traffic.offered_down,
        "granted_up": traffic.granted_up,
        "granted_down": traffic.granted_down,
        "inside": traffic.inside,
    }
    for name, loads in counted.items():
        assert {k: v for k, v in loads.items() if v} == {k: v for k, v in expected[name].items() if v}, name
    assert check(instance, model("placed", "traffic"), found).goals[GoalId.TRAFFIC] == total


@pytest.mark.parametrize("seed", range(20))
def test_fractions_without_a_usable_common_denominator_add_up_alike(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    instance, found, _ = random_case(seed)
    standing, _ = read_standing(instance, found)
    flows = flows_of(instance)
    grants, _ = grants_of(flows, found)
    usual = traffic_of(instance, standing, flows, grants, chains(instance))
    monkeypatch.setattr("allocator.checker.traffic.common_denominator", lambda _: None)
    one_by_one = traffic_of(instance, standing, flows, grants, chains(instance))
    for name in ("offered_up", "offered_down", "granted_up", "granted_down", "inside"):
        loads = [{k: v for k, v in getattr(traffic, name).items() if v} for traffic in (usual, one_by_one)]
        assert loads[0] == loads[1], name


def _above(path: str) -> list[str]:
    """Paths of all domains that hold a node, the root included."""
    parts = path.split("/")
    return ["", *("/".join(parts[: i + 1]) for i in range(len(parts)))]
