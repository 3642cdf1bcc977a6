"""The page about one plan: complete, self-contained, escaped, with the numbers of the checker, small enough."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

import pytest

from allocator import instance_from_dict, solve
from allocator.checker import check
from allocator.instance.entities import Instance, Uplink
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import PlacedGroup, Plan
from allocator.plan.result import (
    Bottleneck,
    GoalOutcome,
    LevelOutcome,
    LinearizationCertificate,
    Result,
    Status,
    Termination,
    TerminationReason,
)
from allocator.report.format import amount, percent
from allocator.report.html import plan_page
from tests.builders import build, group, node, workload
from tests.report.html.folders import NASTY, document, solved
from tests.report.html.reading import check_page, rows_of


def pair() -> tuple[Instance, Result]:
    return solved(json.dumps(document()), "place-close", "milp", 0)


def result_of(instance: Instance, plan: Plan, **changes: object) -> Result:
    """A result around a plan, judged by the checker."""
    model = Model("placing", "", (Level((Goal(GoalId.PLACED),)),))
    evaluation = check(instance, model, plan)
    value = evaluation.levels[0]
    base = Result(
        status=Status.FEASIBLE,
        termination=Termination(TerminationReason.TIME_LIMIT),
        levels=(LevelOutcome(model.levels[0], value, None),),
        goals=(GoalOutcome(GoalId.PLACED, "max", value, None),),
        plan=plan,
        evaluation=evaluation,
        method="test",
        model="placing",
        seed=0,
        threads=1,
        seconds={"total": 1.5},
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def test_a_page_is_whole_and_needs_nothing_else() -> None:
    instance, result = pair()
    tree = check_page(plan_page(result, instance))
    assert tree.all("title")[0].text == "pair: plan"
    assert "All 6 members are placed" in tree.all("header")[0].text
    assert len(tree.all("figure")) >= 4  # power, cpu, memory, links, classes


def test_only_its_own_style_and_script_may_run() -> None:
    instance, result = pair()
    page = plan_page(result, instance)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    for tag in ("style", "script"):
        found = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert found is not None
        digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert "unsafe" not in policy[1]


def test_the_table_of_domains_has_the_checkers_numbers() -> None:
    instance, result = pair()
    assert result.evaluation is not None
    rows = {row["domain"]: row for row in rows_of(check_page(plan_page(result, instance)), "plan-domains")}
    assert list(rows) == [domain.path for domain in instance.domains[1:]]
    for use in result.evaluation.uses:
        unit = instance.resources[use.resource].unit
        assert rows[use.domain][use.resource] == f"{amount(use.used, unit)} · {percent(use.utilization)}"
    for link in result.evaluation.links:
        assert link.capacity
        heads = [head for head in rows[link.domain] if head.startswith("uplink")]
        if f"uplink {link.direction}" in heads:
            shown = f"{amount(link.offered, 'bit/s')} · {percent(link.offered / link.capacity)}"
            assert rows[link.domain][f"uplink {link.direction}"] == shown
    assert sum(int(rows[name]["members"]) for name in ("rack0", "rack1")) == 6


def test_every_node_says_its_value_on_the_map() -> None:
    instance, result = pair()
    tree = check_page(plan_page(result, instance))
    said = [title.text for title in tree.all("title")]
    assert result.evaluation is not None
    for use in result.evaluation.uses:
        if use.resource == "cpu":
            fact = f"{use.domain}: {percent(use.utilization)} of cpu ({amount(use.used, 'core')} of 4 cores)"
            assert fact in said


def test_shares_by_class_add_up() -> None:
    instance, result = pair()
    rows = rows_of(check_page(plan_page(result, instance)), "plan-shares")
    cpu = {row["class"]: row for row in rows if row["resource"] == "cpu"}
    assert (cpu["web"]["one asks for"], cpu["web"]["one gets"], cpu["web"]["in all"]) == ("1 core", "1 core", "4 cores")
    assert cpu["store"]["of all there is"] == "25 %"


def test_names_are_text_and_nothing_else() -> None:
    instance, result = solved(json.dumps(document(nasty=True)), "place-close", "milp", 0)
    page = plan_page(result, instance)
    tree = check_page(page)
    assert page.count("<script>") == page.count("</script>") == 1
    assert all(bold.parent is not None and bold.parent.tag == "figcaption" for bold in tree.all("b"))
    classes = {row["class"] for row in rows_of(tree, "plan-shares")}
    assert classes == set(NASTY.values())
    assert tree.all("h1")[0].text == NASTY["script"]
    assert "{{7*7}}" in tree.text
    assert "49" not in {row["class"] for row in rows_of(tree, "plan-shares")}


def test_control_characters_are_shown_as_escapes() -> None:
    instance = build(node("a\u202eb\x07"), workloads=[workload("w\x00w", requests={"memory": 1})])
    plan = Plan("test", "d1", (PlacedGroup("w\x00w", 0, 1, "default", (instance.nodes[0].path,), {"memory": 1}),))
    page = plan_page(result_of(instance, plan), instance)
    check_page(page)
    assert not set(page) & {"\u202e", "\x07", "\x00"}
    assert "a\\u202eb\\x07" in page
    assert "w\\x00w" in page


def test_a_plan_that_breaks_something_is_called_wrong() -> None:
    instance = build(node("a", capacity={"memory": 1}), workloads=[workload("w", 2, {"memory": 1})])
    plan = Plan("test", "d1", (PlacedGroup("w", 0, 2, "default", ("a",), {"memory": 1}),))
    tree = check_page(plan_page(result_of(instance, plan), instance))
    alarms = [element for element in tree.all("div") if element.attributes.get("role") == "alert"]
    assert "Wrong: the checker refutes this plan." in alarms[0].text
    assert "capacity: a: " in alarms[0].text
    over = [path for path in tree.all("path") if path.attributes.get("class") == "h7"]
    assert len(over) == 1
    assert over[0].text == "a: 200 % of memory (2 B of 1 B)"
    assert [row["memory"] for row in rows_of(tree, "plan-domains")] == ["2 B · 200 %"]


def test_prices_and_the_certificate() -> None:
    instance = build(node("a", capacity={"cpu": 4000}), workloads=[workload("w", 1, {"cpu": 4000})])
    plan = Plan("test", "d1", (PlacedGroup("w", 0, 1, "default", ("a",), {"cpu": 4000}),))
    found = result_of(
        instance,
        plan,
        bottlenecks=(Bottleneck("a", "cpu", Fraction(1), 2.5),),
        linearization=LinearizationCertificate(Fraction(4, 1000), Fraction(2, 1000), "loads up to the capacity"),
    )
    tree = check_page(plan_page(found, instance))
    assert rows_of(tree, "plan-bottlenecks") == [
        {"domain": "a", "resource": "cpu", "used": "100 %", "worth of one more": "2.5 per core"}
    ]
    assert "at most 0.40 % (proven over loads up to the capacity), 0.20 % at this plan" in tree.text
    assert "no bound is known" in tree.all("header")[0].text


def test_no_plan_has_its_reason_and_no_map() -> None:
    tree_of = document("tight", members=40)
    instance = instance_from_dict(tree_of)
    result = solve(instance, "traffic", method="milp", threads=1, time_limit=60)
    assert result.status is Status.INFEASIBLE
    tree = check_page(plan_page(result, instance))
    assert "No plan exists." in tree.all("header")[0].text
    assert result.infeasibility is not None
    assert result.infeasibility.reasons[0] in tree.text
    assert not tree.all("figure")


def test_nothing_to_place_on_nothing() -> None:
    instance = build()
    tree = check_page(plan_page(result_of(instance, Plan("test", "d1", ())), instance))
    assert "There is nothing to place" in tree.text


def big(racks: int, sleds: int, nodes: int) -> tuple[Instance, Plan]:
    """A large tree whose every node holds one member."""
    link = Uplink(bandwidth=Fraction(10**9))
    capacity = {"cpu": 64_000, "memory": 2**38, "gpu": 4, "disk": 2**40}
    instance = build(
        *(
            group(
                "rack",
                f"rack{rack}",
                *(
                    group("sled", f"sled{sled}", *(node(f"n{n}", capacity=capacity, uplink=link) for n in range(nodes)))
                    for sled in range(sleds)
                ),
                uplink=link,
                capacity={"power": 10**4},
            )
            for rack in range(racks)
        ),
        workloads=[workload("w", racks * sleds * nodes, {"cpu": 32_000, "memory": 2**37, "gpu": 4, "disk": 5})],
    )
    shares = MappingProxyType({"cpu": 32_000, "memory": 2**37, "gpu": 4, "disk": 5})
    paths = tuple(found.path for found in instance.nodes)
    return instance, Plan("test", "d1", (PlacedGroup("w", 0, len(paths), "default", paths, shares),))


def test_four_hundred_nodes_stay_small() -> None:
    instance, plan = big(10, 8, 5)
    page = plan_page(result_of(instance, plan), instance)
    tree = check_page(page)
    assert len(page.encode()) < 1.0 * 2**20
    assert len(rows_of(tree, "plan-domains")) == 490
    cpu = next(drawing for drawing in tree.all("svg") if drawing.children[0].text == "Utilisation of cpu")
    assert sum(cell.attributes.get("class") == "h3" for cell in cpu.all("path")) == 400
    assert "400 half to full" in cpu.children[1].text


@pytest.mark.parametrize("shape", [(4, 10, 110), (1, 1, 4500)])
def test_thousands_of_nodes_are_cut_down_and_say_so(shape: tuple[int, int, int]) -> None:
    instance, plan = big(*shape)
    tree = check_page(plan_page(result_of(instance, plan), instance))
    assert len(rows_of(tree, "plan-domains")) == 600
    assert "more rows" in tree.text
