"""What is wrong with a document is said all at once: where, what stands there, what would be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from allocator.errors import InputError
from allocator.instance import load_instance
from tests.instance.documents import base, instance, problems_of, words_of


def a_class(**keys: Any) -> dict[str, Any]:
    return {"class": "a", **keys}


def a_node(**keys: Any) -> dict[str, Any]:
    return {"level": "node", "name": "n", **keys}


def test_the_style_of_a_problem(tmp_path: Path) -> None:
    """A message reads: file, path, value, what would be right, and the item's name."""
    path = tmp_path / "claims.yaml"
    path.write_text(
        "format: allocator/v1\nworkloads:\n- class: a\n- class: b\n- {class: intake, requests: {cpu: -3}}\n"
    )
    with pytest.raises(InputError) as caught:
        load_instance(path)
    assert str(caught.value) == f"{path}: workloads[2].requests.cpu = -3: must be at least 0 (class intake)"


def test_all_problems_at_once() -> None:
    """Unknown keys, bad numbers, bad references and duplicates are found in one go, each with its place."""
    found = [
        str(problem)
        for problem in problems_of(
            base(
                workloads=[a_class(requests={"cpu": -3, "gpu": 1}, surprise=1), a_class(cost={"n9": 1})],
                teams=[{"team": "t", "members": {"b": 1}, "traffic": {"rate": 1}}, {"team": 5}],
                flows=[{"from": "a", "to": "c", "pattern": "spread"}],
                moves={"limit": {"members": 1.5}},
            )
        )
    ]
    expected = [
        "workloads[0].requests.cpu = -3",
        "workloads[0].requests.gpu",
        "workloads[0].surprise",
        "workloads[1].class = a: has the name of workloads[0]",
        "workloads[1].cost.n9",
        "teams[0].members.b",
        "teams[1].members: must be stated",
        "teams[1].traffic: must be stated",
        "flows[0].to = c",
        "moves.limit.members = 1.5: must be a whole number",
    ]
    for start in expected:
        assert any(line.startswith(start) for line in found), (start, found)


def test_five_are_shown_and_all_counted() -> None:
    """The message shows the first five and states the total."""
    with pytest.raises(InputError, match="7 problems in all, the first 5 shown") as caught:
        raise InputError("x", problems_of(base(workloads=[a_class(count=2, requests={f"r{i}": 1 for i in range(7)})])))
    assert str(caught.value).count("\n") == 5


BAD_NUMBERS = [
    "nan",
    ".nan",
    "inf",
    "-.inf",
    float("nan"),
    float("inf"),
    "",
    None,
    -1,
    "-5",
    "abc",
    "1e999999",
    [],
    {},
    True,
]


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
def test_numbers_that_are_none(bad: Any) -> None:
    """NaN, infinity, nothing, negatives and text are refused in every number, naming item and field."""
    places = {
        "workloads[0].requests.cpu": {"workloads": [a_class(requests={"cpu": bad})]},
        "workloads[0].limits.memory": {"workloads": [a_class(limits={"memory": bad})]},
        "workloads[0].cost.n0": {"workloads": [a_class(cost={"n0": bad})]},
        "workloads[0].count": {"workloads": [a_class(count=bad)]},
        "workloads[0].value": {"workloads": [a_class(value=bad)]},
        "workloads[0].work.rate": {"workloads": [a_class(work={"rate": bad})]},
        "workloads[0].work.cpu": {"workloads": [a_class(work={"cpu": bad})]},
        "workloads[0].slo.p99": {"workloads": [a_class(slo={"p99": bad})]},
        "topology[0].capacity.cpu": {"topology": [a_node(capacity={"cpu": bad})]},
        "topology[0].uplink.bandwidth": {"topology": [a_node(uplink={"bandwidth": bad})]},
        "topology[0].count": {"topology": [a_node(count=bad)]},
        "flows[0].rate": {"flows": [{"from": "a", "to": "a", "pattern": "spread", "rate": bad}]},
        "teams[0].traffic.rate": {"teams": [{"team": "t", "members": {"a": 1}, "traffic": {"rate": bad}}]},
        "distances.matrix.n0.n1": {"distances": {"matrix": {"n0": {"n1": bad}}}},
        "moves.machine.n0.n1": {"moves": {"machine": {"n0": {"n1": bad}}}},
    }
    for place, changes in places.items():
        found = problems_of(base(**changes))
        assert place in [problem.path for problem in found], (place, found)
        item = {"workloads": "class a", "topology": "domain n", "flows": "flow from a", "teams": "team t"}
        name = item.get(place.split("[", maxsplit=1)[0])
        assert name is None or all(name in problem.message for problem in found if problem.path == place)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"workloads": [a_class(cuont=3)]}, "did you mean count?"),
        ({"workload": []}, "did you mean workloads?"),
        ({"format": "allocator/v2"}, "format = allocator/v2: must be allocator/v1"),
        ({"workloads": {"a": 1}}, "workloads: must be a list"),
        ({"workloads": ["a"]}, "workloads[0] = a: must be a map"),
        ({"workloads": [{"count": 1}]}, "workloads[0].class: must be stated"),
        ({"workloads": [{"class": ""}]}, "workloads[0].class"),
        ({"services": [{"service": "x"}]}, "services are not supported yet"),
        ({"resources": {"rate": {}}}, "cannot name a resource"),
        ({"resources": {"cpu": {"role": "memory"}}}, "predeclared with the role compute"),
        ({"workloads": [a_class(requests={"gpus": 1})]}, "declare others under resources"),
        ({"workloads": [a_class(requests={"cpu": "2 GiB"})]}, "needs a unit of core"),
        (
            {"workloads": [a_class(requests={"cpu": 2}, limits={"cpu": "1"})]},
            "limits.cpu = 1: must be at least the request",
        ),
        ({"workloads": [a_class(work={"power": 1})]}, "compute and memory only"),
        ({"workloads": [a_class(requests={"cpu": "1e30"})]}, "workloads[0].requests.cpu = 1e30: has too many digits"),
        ({"workloads": [a_class(by_kind={"arm": {}})]}, "workloads[0].by_kind.arm: there is no such kind of node"),
        ({"workloads": [a_class(placement={"within": ["r"]})]}, "within[0] = r: there is no such domain"),
        (
            {"workloads": [a_class(placement={"spread": {"level": "rack", "at_least": 1}})]},
            "spread.level = rack: there is no",
        ),
        (
            {"workloads": [a_class(placement={"conflict": [{"level": "node", "at_most": 1, "group": "b"}]})]},
            "such group",
        ),
        ({"workloads": [a_class(placement={"depends_on": {"group": "b", "level": "node"}})]}, "such group"),
        ({"workloads": [a_class(count=9, placement={"gang": {"size": 2, "level": "node"}})]}, "must divide the count"),
        ({"topology": [a_node(children=[a_node()])]}, "is the level of the leaves"),
        ({"topology": [a_node(level="root")]}, "implicit domain"),
        ({"topology": [a_node(level="r", kind="k", children=[a_node()])]}, "kind = k: belongs to a node"),
        ({"topology": [a_node(count=10**9)]}, "more than 1000000"),
        ({"topology": [a_node(set={"a": 1})]}, "overrides a profile"),
        ({"topology": [a_node(uplink={"bandwidth": 1, "oversubscription": 2})]}, "state one of the two"),
        ({"topology": [a_node(uplink={"oversubscription": 2})]}, "needs domains below"),
        (
            {"topology": [a_node(level="r", uplink={"oversubscription": 2}, children=[a_node()])]},
            "needs the bandwidth of every uplink below; topology[0].children[0] (domain n) has none",
        ),
        ({"topology": [a_node(level="r", pool={"hbm": 1}, children=[a_node(pool={"hbm": 1})])]}, "pools do not nest"),
        ({"topology": [a_node(power={"idle": 2, "busy": 1})]}, "busy: must be at least idle"),
        (
            {"topology": [a_node(uplink={"goodput": {"curve": "knee", "points": [[0, 0]]}})]},
            "belong to the curve table",
        ),
        ({"topology": [a_node(uplink={"goodput": {"p": 2}})]}, "belongs to the curve knee"),
        ({"topology": [a_node(uplink={"goodput": {"curve": "knee", "p": 0}})]}, "p = 0: must be more than 0"),
        ({"topology": [a_node(uplink={"goodput": {"curve": "table"}})]}, "must be stated for the curve table"),
        ({"balance": [{"resources": ["cpu"], "target": 1}]}, "balance[0].resources: must have at least 2 items"),
        ({"balance": {"resources": ["cpu", "x"], "target": 1}}, "balance.resources[1] = x"),
        ({"reserve": {"level": "rack"}}, "reserve.level = rack"),
        ({"distances": {"weights": {"rack": 1}}}, "distances.weights.rack"),
        ({"distances": {"matrix": "far"}}, "distances.matrix = far: there is no such table"),
        ({"moves": {"machine": {"n0": {"n7": 1}}}}, "moves.machine.n0.n7: there is no such node"),
        ({"moves": {"limit": {"bytes": "3 W"}}}, "needs a unit of B"),
        ({"model": ""}, "model"),
    ],
)
def test_each_mistake_is_named(changes: dict[str, Any], expected: str) -> None:
    """A mistake is named by its place and what would be right."""
    assert expected in words_of(**changes)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[0, 0.1]], "points[0]: must be [0, 0]"),
        ([[0, 0], [0.5, 0.6]], "points[1]: carries more than is offered"),
        ([[0, 0], [2, 1.5]], "points[1]: carries more than is offered, or more than 1"),
        ([[0, 0], [0.5, 0.5], [0.5, 0.4]], "points[2]: must offer more"),
        ([[0, 0], [0.5, 0.2], [1, 0.9]], "points[2]: carries a larger fraction"),
        ([[0, 0], [1]], "points[1]: must be a pair"),
    ],
)
def test_measured_goodput_has_rules(points: list[list[float]], expected: str) -> None:
    """A measured curve starts at 0, never carries more than is offered, and never gets more efficient."""
    assert expected in words_of(topology=[a_node(uplink={"goodput": {"curve": "table", "points": points}})])


def test_what_is_no_map() -> None:
    """An empty document, a list and a single value are told what they should be."""
    for document, word in ((None, "empty"), ([], "list"), ("x", "single value")):
        (problem,) = problems_of(document)
        assert word in problem.message
        assert "format: allocator/v1" in problem.message


def test_dropped_items_keep_their_numbers() -> None:
    """A bad flow does not shift the numbers of the flows after it."""
    words = words_of(
        flows=[
            {"from": "a", "to": "a", "pattern": "sideways", "rate": 1},
            {"from": "a", "to": "zz", "pattern": "spread", "rate": 1},
        ]
    )
    assert "flows[0].pattern = sideways" in words
    assert "flows[1].to = zz" in words


def test_long_and_odd_values_are_shown_safely() -> None:
    """A value is cut and quoted where it would tear the message."""
    (problem,) = problems_of(base(workloads=[a_class(requests={"cpu": "x\n" * 1000})]))
    assert problem.value is not None
    assert "\n" not in problem.value
    assert len(problem.value) < 200


def test_many_mistakes_among_many_names_do_not_take_long() -> None:
    """Thousands of dangling references beside thousands of names are all found; nearest names are left out then."""
    classes = [{"class": f"c{i}"} for i in range(3000)]
    flows = [{"from": f"x{i}", "to": "c0", "pattern": "spread", "rate": 1} for i in range(3000)]
    found = problems_of(base(workloads=classes, flows=flows))
    assert len(found) == 3000


@pytest.mark.parametrize("slo", [{"p99": "1 s"}, {"critical": True}])
def test_response_times_need_exactly_one_compute_resource(slo: dict[str, Any]) -> None:
    """Of the work of one task: named, with the mode and kind where it is not so; not asked of classes without slo."""
    both = {"cpu": "1 s", "accelerator": "1 s"}
    changes = {
        "several compute resources (cpu, accelerator)": {"work": both},
        "no compute resource": {"work": {"rate": "1/s"}},
        "they use no compute resource in mode m": {"modes": {"l": {"work": {"cpu": "1 s"}}, "m": {}}},
        "they use several compute resources (cpu, accelerator) on nodes of kind": {
            "work": {"cpu": "1 s"},
            "by_kind": {"k": {"work": {"accelerator": "1 s"}}},
        },
    }
    for words, change in changes.items():
        topology = [a_node(kind="k", capacity={"cpu": 1})]
        found = words_of(topology=topology, workloads=[a_class(slo=slo, **change)])
        assert found.startswith("workloads[0].slo: needs tasks that work on exactly one compute resource")
        assert words in found
        instance(topology=topology, workloads=[a_class(**change)])
    instance(workloads=[a_class(slo=slo, work={"cpu": "1 s", "memory": 1, "residence": "1 s"})])
