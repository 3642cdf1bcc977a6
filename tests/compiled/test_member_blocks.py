"""What keeps members apart: team, current node and mode, pair flows, gangs. The rest is one block a class."""

from __future__ import annotations

from fractions import Fraction

import pytest

from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Block, Compiled
from allocator.instance.entities import CurrentPlacement, Demand, Flow, Gang, Mode
from allocator.model.families import Family
from tests.builders import build, model, node, team, workload

NODES = (node("n"), node("m"), node("o"))


def described(block: Block) -> tuple[int, tuple[tuple[int, int], ...]]:
    return block.count, block.ranges


def partition(compiled: Compiled) -> list[tuple[int, int]]:
    """(workload, member) of all blocks, in order of blocks."""
    return [
        (block.workload, member)
        for block in compiled.blocks
        for first, count in block.ranges
        for member in range(first, first + count)
    ]


def test_members_without_anything_of_their_own_are_one_block() -> None:
    compiled = compile_instance(build(*NODES, workloads=[workload("a", 7), workload("b", 0)]), model("cost"))
    assert [described(block) for block in compiled.blocks] == [(7, ((0, 7),))]


def test_teams_split_by_team_and_the_rest_stays_together() -> None:
    """Two teams of two of ``a`` and one of ``b``; member 4 of ``a`` is in none."""
    instance = build(*NODES, workloads=[workload("a", 5), workload("b", 2)], teams=(team("t", 2, {"a": 2, "b": 1}, 8),))
    compiled = compile_instance(instance, model("traffic"))
    assert [(b.workload, b.team, b.ranges) for b in compiled.blocks] == [
        (0, 0, ((0, 2),)),
        (0, 1, ((2, 2),)),
        (0, -1, ((4, 1),)),
        (1, 0, ((0, 1),)),
        (1, 1, ((1, 1),)),
    ]
    assert [(t.name, t.size, t.rate, t.blocks) for t in compiled.teams] == [
        ("t/0", 3, 8, (0, 3)),
        ("t/1", 3, 8, (1, 4)),
    ]


def test_a_second_team_entry_takes_the_members_after_the_first() -> None:
    teams = (team("t", 1, {"a": 2}, 1), team("u", 1, {"a": 1}, 2, offsets={"a": 2}))
    compiled = compile_instance(build(*NODES, workloads=[workload("a", 4)], teams=teams), model("traffic"))
    assert [(b.team, b.ranges) for b in compiled.blocks] == [(0, ((0, 2),)), (1, ((2, 1),)), (-1, ((3, 1),))]


def test_members_in_pair_flows_are_blocks_of_one_and_parallel_flows_are_merged() -> None:
    pairs = Flow("a", "b", "pairs", pairs=((1, 0, Fraction(2)), (1, 0, Fraction(3)), (3, 0, Fraction(0))))
    back = Flow("b", "a", "pairs", pairs=((0, 1, Fraction(7)), (0, 0, Fraction(1))))
    itself = Flow("a", "a", "pairs", pairs=((2, 2, Fraction(9)),))
    instance = build(*NODES, workloads=[workload("a", 6), workload("b", 1)], flows=(pairs, back, itself))
    compiled = compile_instance(instance, model("traffic"))
    assert [b.ranges for b in compiled.blocks if b.workload == 0] == [
        ((0, 1),),
        ((1, 1),),
        ((2, 1),),
        ((3, 1),),
        ((4, 2),),
    ]
    rates = {(p.source_name, p.target_name): p.rate for p in compiled.pairs}
    assert rates == {("a/1", "b/0"): 5, ("b/0", "a/1"): 7, ("b/0", "a/0"): 1}, "rate 0 and loops carry nothing"


def test_members_that_run_are_split_by_node_and_mode_and_a_block_may_have_holes() -> None:
    modes = [Mode("x", Demand()), Mode("y", Demand())]
    runs = (
        CurrentPlacement("a", 0, 2, "x", "n"),
        CurrentPlacement("a", 2, 1, "y", "n"),
        CurrentPlacement("a", 4, 2, "x", "n"),
        CurrentPlacement("a", 6, 1, "x", "m"),
    )
    instance = build(*NODES, workloads=[workload("a", 9, modes=modes)], current=runs)
    compiled = compile_instance(instance, model("moves"))
    assert [(b.current_node, b.current_option, b.ranges) for b in compiled.blocks] == [
        (0, 0, ((0, 2), (4, 2))),
        (0, 1, ((2, 1),)),
        (-1, -1, ((3, 1), (7, 2))),
        (1, 0, ((6, 1),)),
    ]


@pytest.mark.parametrize(("pattern", "rate", "same"), [("spread", 2, 3), ("broadcast", 12, 12)])
def test_group_entries_between_two_classes_are_one_flow_with_a_rate_for_each_pair(
    pattern: str, rate: int, same: int
) -> None:
    """``spread`` of 12 over 6 members is 2 each, over the 4 others of the own class 3 each."""
    flows = (
        Flow("a", "b", pattern, Fraction(12)),  # type: ignore[arg-type]
        Flow("a", "b", "broadcast", Fraction(5)),
        Flow("a", "a", pattern, Fraction(12)),  # type: ignore[arg-type]
        Flow("b", "a", "broadcast", Fraction(0)),
        Flow("a", "c", pattern, Fraction(1)),  # type: ignore[arg-type]
        Flow("d", "d", pattern, Fraction(1)),  # type: ignore[arg-type]
    )
    classes = [workload("a", 5), workload("b", 6), workload("c", 0), workload("d", 1)]
    compiled = compile_instance(build(*NODES, workloads=classes, flows=flows), model("traffic"))
    assert [(g.source, g.target, g.rate) for g in compiled.groups] == [(0, 1, rate + 5), (0, 0, same)]
    assert len(compiled.blocks) == 3, "group traffic keeps nobody apart"


def test_interchangeable_gangs_are_one_unit_and_members_beyond_whole_gangs_are_not_seats() -> None:
    instance = build(*NODES, workloads=[workload("a", 7, gang=Gang(3, "host"))])
    compiled = compile_instance(instance, model("placed"))
    assert [(u.size, u.replicas, u.blocks) for u in compiled.gangs] == [(3, 2, (0,))]
    assert compiled.blocks[0].count == 7
    without = compile_instance(instance, model("placed", ignore=[Family.GANG]))
    assert without.gangs == ()


def test_gangs_are_units_of_their_own_when_a_member_runs_already() -> None:
    instance = build(
        *NODES, workloads=[workload("a", 6, gang=Gang(3, "host"))], current={"a": [None, "n", "m", None, None, None]}
    )
    compiled = compile_instance(instance, model("placed"))
    assert [(u.replicas, [compiled.blocks[b].ranges for b in u.blocks]) for u in compiled.gangs] == [
        (1, [((0, 1),), ((1, 1),), ((2, 1),)]),
        (1, [((3, 3),)]),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_blocks_are_a_partition_of_the_members_on_random_instances(seed: int) -> None:
    from tests.solvers.random_assignments import compiled_case

    for number in range(seed, 150, 3):
        compiled, _ = compiled_case(number)
        everybody = [(w.index, member) for w in compiled.instance.workloads for member in range(w.count)]
        assert sorted(partition(compiled)) == everybody
        for block in compiled.blocks:
            assert block.count == sum(count for _, count in block.ranges)
            assert list(block.ranges) == sorted(block.ranges)
        ends = {p.source for p in compiled.pairs} | {p.target for p in compiled.pairs}
        assert all(compiled.blocks[index].count == 1 for index in ends)
