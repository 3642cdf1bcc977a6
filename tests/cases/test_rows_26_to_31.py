"""Rows 26 to 31 of the table of cases: accelerators, rings, gangs, and much too much."""

from __future__ import annotations

import random

import pytest

from allocator import Status
from tests.cases.documents import EXACT, document, node, placed, run, where, workload

COST = {"goals": ["cost"]}
PLACE = {"goals": ["placed"]}


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("classes", [1, 8])
def test_row_26_halves_spread_out(method: str, classes: int) -> None:
    """8 items of half an accelerator on 8, goal peak: 1 on each."""
    items = [workload(f"i{i}", 8 // classes, accelerator="0.5") for i in range(classes)]
    result = run(document([node("acc", count=8, accelerator=1)], items), {"goals": ["peak"]}, method)
    assert (result.status, result.levels[0].value) == (Status.OPTIMAL, 0.5)
    totals: dict[str, int] = {}
    for nodes in where(result).values():
        for path, count in nodes.items():
            totals[path] = totals.get(path, 0) + count
    assert totals == {f"acc{j}": 1 for j in range(8)}


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("model", [PLACE, COST])
def test_row_27_small_ones_leave_the_large_node_alone(method: str, model: dict[str, list[str]]) -> None:
    """Nodes with 2, 1, 1 accelerators; A = 2 items of 1, B = 1 item of 2: both fit."""
    machines = [node("n0", accelerator=2), node("n1", accelerator=1), node("n2", accelerator=1)]
    result = run(document(machines, [workload("A", 2, accelerator=1), workload("B", accelerator=2)]), model, method)
    assert (result.status, placed(result)) == (Status.OPTIMAL, 3)
    assert where(result) == {"A": {"n1": 1, "n2": 1}, "B": {"n0": 1}}


@pytest.mark.parametrize("method", EXACT)
def test_row_28_a_ring_over_two_switches(method: str) -> None:
    """A 5-item ring over two switches with room for 3 and 2: exactly 2 crossings."""
    switches = [
        {"level": "switch", "name": f"s{j}", "children": [{**node("h", cpu=1), "count": room}]}
        for j, room in enumerate((3, 2))
    ]
    ring = {"from": "i", "to": "i", "pattern": "ring", "rate": "1 bit/s"}
    weights = {"weights": {"switch": 1, "node": 0}}
    result = run(
        document(switches, [workload("i", 5, cpu=1)], flows=[ring], distances=weights), {"goals": ["traffic"]}, method
    )
    assert result.status is Status.OPTIMAL
    assert result.levels[0].value == 4, "each crossing uses the uplinks of both switches"
    assert result.plan is not None
    at = {member: path.split("/")[0] for _, member, _, path in result.plan.members()}
    assert sorted(at) == [0, 1, 2, 3, 4]
    assert sum(at[i] != at[(i + 1) % 5] for i in range(5)) == 2


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("model", [PLACE, COST])
def test_row_29_a_gang_of_eight(method: str, model: dict[str, list[str]]) -> None:
    """64 machines in 15 leaf groups of 1 to 11; a gang of 8 in one group: in one of the two that can hold it."""
    sizes = [11, 9, 7, 7, 6, 5, 4, 3, 3, 2, 2, 2, 1, 1, 1]
    assert (len(sizes), sum(sizes), sum(size >= 8 for size in sizes)) == (15, 64, 2)
    random.Random(29).shuffle(sizes)
    groups = [
        {"level": "group", "name": f"g{j}", "children": [{**node("m", accelerator=1), "count": size}]}
        for j, size in enumerate(sizes)
    ]
    gang = workload("gang", 8, accelerator=1, placement={"gang": {"size": 8, "level": "group"}})
    result = run(document(groups, [gang]), model, method)
    assert (result.status, placed(result)) == (Status.OPTIMAL, 8)
    nodes = where(result)["gang"]
    assert set(nodes.values()) == {1}
    (group,) = {path.split("/")[0] for path in nodes}
    assert sizes[int(group[1:])] >= 8
    three = document(groups, [{**gang, "count": 24}])
    assert placed(run(three, PLACE, method)) == 16
    assert run(three, COST, method).status is Status.INFEASIBLE


@pytest.mark.parametrize("method", EXACT)
def test_row_30_the_budget_holds_and_what_is_left_is_said(method: str) -> None:
    """32 accelerators (4 x 8); services that want 50: never exceeded; what is not served is said."""
    services = [("a", 4, 8), ("b", 5, 2), ("c", 2, 4)]
    assert sum(count * size for _, count, size in services) == 50
    classes = [workload(name, count, accelerator=size) for name, count, size in services]
    result = run(document([node("host", count=4, accelerator=8)], classes), PLACE, method)
    assert (result.status, placed(result)) == (Status.OPTIMAL, 8)
    assert result.plan is not None
    sizes = {name: size for name, _, size in services}
    use: dict[str, int] = {}
    for name, nodes in where(result).items():
        for path, count in nodes.items():
            use[path] = use.get(path, 0) + count * sizes[name]
    assert all(total <= 8 for total in use.values())
    assert sum(group.count for group in result.plan.unplaced) == 3
    assert all("accelerator" in group.reason for group in result.plan.unplaced)


@pytest.mark.parametrize("method", EXACT)
def test_row_31_two_thousand_agents_on_one_machine(method: str) -> None:
    """2,000 agents of 1 core, 2 GB on 48 cores, 96 GB: infeasible, 1,952 cores, 3,904 GB short, from the 49th on."""
    whole = document([node("m", cpu=48, memory="96 GB")], [workload("agent", 2000, cpu=1, memory="2 GB")])
    result = run(whole, COST, method)
    assert (result.status, result.plan) == (Status.INFEASIBLE, None)
    assert result.infeasibility is not None
    text = " ".join(result.infeasibility.reasons)
    assert "1,952 cores" in text
    assert "3,904 GB" in text
    assert "from the 49th" in text
    assert {(entry["resource"], entry["add"]) for entry in result.infeasibility.relaxation} == {
        ("cpu", 1952),
        ("memory", 3904 * 10**9),
    }
    partial = run(whole, PLACE, method)
    assert (partial.status, placed(partial)) == (Status.OPTIMAL, 48)
