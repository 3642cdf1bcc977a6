"""A whole document becomes the entities it describes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from allocator.errors import InputError
from allocator.instance import Instance, instance_from_dict, json_schema, load_instance
from allocator.instance.entities import Conflict, Dependency, Gang, Power, Role, Spread
from tests.instance.documents import base, instance, words_of

WHOLE = """
format: allocator/v1
name: claims
model: throughput
resources: {gpu_slots: {role: other, transient: true, overload: 10}}
topology:
  - level: rack
    name: rack1
    uplink: {oversubscription: 3, latency: 5 us, goodput: {curve: knee, p: 4}}
    internal: {bandwidth: 25 Tbit/s}
    capacity: {power: 120 kW}
    labels: {zone: a}
    taints: [batch]
    children:
      - level: sled
        name: sled
        count: 24
        children:
          - {level: node, name: cpu, count: 4, kind: epyc-9965,
             labels: {arch: x86_64}, taints: [old],
             capabilities: [avx], capacity: {cpu: 192, memory: 768 GiB}, safety: {cpu: 180},
             uplink: {bandwidth: 400 Gbit/s}, power: {idle: 120 W, busy: 500 W}, weight: 2}
  - level: supernode
    name: super0
    pool: {hbm: 512 GiB}
    children:
      - {level: node, name: acc, count: 64, kind: accelerator, capacity: {accelerator: 1, hbm: 64 GiB},
         uplink: {bandwidth: 400 GB/s}}
workloads:
  - class: intake
    count: 8001
    value: 2
    weight: 3
    requests: {cpu: 500m, memory: 1Gi}
    limits: {cpu: 2, memory: 2Gi}
    by_kind: {accelerator: {requests: {cpu: 650m}, work: {cpu: 260 ms}}}
    modes: {}
    work: {rate: 0.8/s, cpu: 200 ms, parallel: 1, memory: 10 MiB, residence: 2 s}
    slo: {p99: 1500 ms, critical: true}
    cost: {epyc-9965: 3, super0/acc0: 4, default: 1}
    move_cost: 7
    placement: {require: {arch: [x86_64, arm64], zone: a}, tolerations: [batch, old],
                capabilities: [avx], within: [rack1],
                spread: {level: sled, at_least: 3},
                conflict: [{level: node, at_most: 99}, {level: sled, at_most: 400}],
                depends_on: {group: store, level: rack}}
  - {class: store, group: stores}
  - {class: gang, count: 16, group: store, placement: {gang: {size: 8, level: supernode}}}
  - {class: judge, count: 10}
teams:
  - {team: claim, count: 2667, members: {intake: 3}, traffic: {pattern: all-to-all, rate: 2 Mbit/s}}
flows:
  - {from: intake, to: judge, pattern: spread, rate: 50 kbit/s}
services: []
balance: {resources: [cpu, memory], target: 2, weight: 5, level: sled}
moves: {weights: {process: 1, service: 10, machine: 100}, limit: {members: 5, bytes: 1Gi},
        machine: {super0/acc0: {super0/acc1: 3}}}
reserve: {level: sled, resources: [cpu]}
distances: {weights: {rack: 4}}
current: [{class: intake, first: 5, count: 2, node: rack1/sled0/cpu3}]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    path = tmp_path_factory.mktemp("whole") / "claims.yaml"
    path.write_text(WHOLE)
    return load_instance(path)


def test_topology_is_expanded_in_preorder(whole: Instance) -> None:
    """A count makes copies with numbers; the implicit root comes first; ranges delimit what lies below."""
    assert (len(whole.domains), len(whole.nodes)) == (1 + 1 + 24 * 5 + 1 + 64, 24 * 4 + 64)
    root, rack, sled = whole.domains[:3]
    assert (root.path, root.parent, root.uplink, root.end_node, root.end_domain) == ("", None, None, 160, 187)
    assert (rack.path, rack.first_node, rack.end_node, rack.end_domain) == ("rack1", 0, 96, 122)
    assert (sled.path, sled.first_node, sled.end_node, sled.children) == ("rack1/sled0", 0, 4, (3, 4, 5, 6))
    assert [node.path for node in whole.nodes[3:5]] == ["rack1/sled0/cpu3", "rack1/sled1/cpu0"]
    for index, domain in enumerate(whole.domains):
        assert domain.index == index
        assert all(whole.domains[child].parent == index for child in domain.children)


def test_nodes_carry_what_is_stated_and_inherited(whole: Instance) -> None:
    """Labels, taints and capabilities come down the tree; amounts are whole units."""
    node = whole.domain_by_path["rack1/sled23/cpu3"]
    cpu = whole.resources["cpu"]
    assert (node.kind, node.level, node.weight, node.power) == (
        "epyc-9965",
        "node",
        2,
        Power(Fraction(120), Fraction(500)),
    )
    assert dict(node.labels) == {"zone": "a", "arch": "x86_64"}
    assert (node.taints, node.capabilities) == ({"batch", "old"}, {"avx"})
    assert node.capacity["cpu"] * Fraction(10) ** cpu.exponent == 192
    assert node.safety["cpu"] * Fraction(10) ** cpu.exponent == 180
    assert node.capacity["memory"] * Fraction(10) ** whole.resources["memory"].exponent == 768 * 2**30
    assert whole.domain_by_path["super0"].pool["hbm"] == 512 * 2**30


def test_uplinks_are_resolved(whole: Instance) -> None:
    """Oversubscription divides what the nodes below can send, also through domains that state no uplink."""
    uplink = whole.domain_by_path["rack1"].uplink
    assert uplink is not None
    assert (uplink.bandwidth, uplink.oversubscription) == (Fraction(96 * 400 * 10**9, 3), 3)
    assert (uplink.latency, uplink.goodput.curve, uplink.goodput.p, uplink.weight) == (Fraction(5, 10**6), "knee", 4, 4)
    assert whole.domain_by_path["rack1"].internal == 25 * 10**12
    accelerator = whole.domain_by_path["super0/acc0"].uplink
    assert accelerator is not None
    assert (accelerator.bandwidth, accelerator.weight) == (8 * 400 * 10**9, 1)
    plain = whole.domain_by_path["rack1/sled0"].uplink
    assert plain is not None
    assert plain.bandwidth is None


def test_resources_are_those_in_use(whole: Instance) -> None:
    """Declared resources and those that numbers stand for, in a fixed order."""
    assert list(whole.resources) == ["cpu", "memory", "accelerator", "hbm", "power", "gpu_slots"]
    slots = whole.resources["gpu_slots"]
    assert (slots.role, slots.unit, slots.transient, slots.overload) == (Role.OTHER, "", True, 10)


def test_a_divisible_resource_has_a_fine_unit(whole: Instance) -> None:
    """A resource with work: its unit is at most 1e-9 of the largest node, and 0.16 cores are whole units."""
    unit = Fraction(10) ** whole.resources["cpu"].exponent
    assert unit <= Fraction(192, 10**9)
    assert (Fraction(4, 25) / unit).denominator == 1
    assert whole.resources["hbm"].exponent == 0


def test_classes(whole: Instance) -> None:
    """Everything a class states stands in its entity, demand merged by kind."""
    intake = whole.workload_by_name["intake"]
    unit = Fraction(10) ** whole.resources["cpu"].exponent
    (mode,) = intake.modes
    assert (mode.name, mode.quality) == ("default", 1)
    plain, special = mode.demand("epyc-9965"), mode.demand("accelerator")
    assert plain.requests["cpu"] * unit == Fraction(1, 2)
    assert special.requests["cpu"] * unit == Fraction(13, 20)
    assert special.requests["memory"] == plain.requests["memory"]
    assert plain.requests["memory"] * Fraction(10) ** whole.resources["memory"].exponent == 2**30
    assert special.limits["cpu"] * unit == 2
    assert (plain.work.compute["cpu"], special.work.compute["cpu"]) == (Fraction(1, 5), Fraction(13, 50))
    assert special.work.memory["memory"] == 10 * 2**20
    assert (intake.count, intake.value, intake.weight, intake.move_cost) == (8001, 2, 3, 7)
    assert (intake.rate, intake.parallel, intake.residence) == (Fraction(4, 5), 1, 2)
    assert (intake.slo.p99, intake.slo.critical) == (Fraction(3, 2), True)
    assert dict(intake.cost) == {"epyc-9965": 3, "super0/acc0": 4, "default": 1}
    assert dict(intake.placement.require) == {"arch": ("x86_64", "arm64"), "zone": ("a",)}
    assert intake.placement.within == ("rack1",)
    assert whole.workload_by_name["gang"].placement.gang == Gang(8, "supernode")


def test_groups_default_to_the_class(whole: Instance) -> None:
    """Conflicts, spreads and dependencies concern the class's own group unless they name another."""
    assert whole.spreads == (Spread("intake", "sled", 3),)
    assert whole.conflicts == (Conflict("intake", "node", 99), Conflict("intake", "sled", 400))
    assert whole.dependencies == (Dependency("intake", "store", "rack"),)
    assert whole.workload_by_name["store"].group == "stores"


def intake_memory(found: Instance) -> int:
    """Floor of memory of an intake, which is 1 GiB."""
    return found.workload_by_name["intake"].modes[0].default.requests["memory"]


def test_instance_wide_families(whole: Instance) -> None:
    """Balance, moves, reserve and current placement are read as stated."""
    (triple,) = whole.balance
    assert (triple.first, triple.second, triple.target, triple.weight, triple.level) == ("cpu", "memory", 2, 5, "sled")
    moves = whole.moves
    assert moves is not None
    assert (moves.process, moves.service, moves.machine) == (1, 10, 100)
    assert moves.limit_members == 5
    assert moves.limit_bytes == intake_memory(whole)
    assert dict(moves.machine_cost) == {("super0/acc0", "super0/acc1"): 3}
    (reserve,) = whole.reserves
    assert (reserve.level, reserve.resources) == ("sled", ("cpu",))
    assert whole.current is not None
    (placed,) = whole.current
    assert (placed.workload, placed.first, placed.count, placed.mode) == ("intake", 5, 2, "default")


def test_modes_override_the_class_and_are_overridden_by_kind() -> None:
    """Demand by kind stands over the mode, the mode over the class, and a mode's own kinds over all."""
    found = instance(
        workloads=[
            {
                "class": "a",
                "requests": {"cpu": 1, "memory": "1Gi"},
                "by_kind": {"node": {"requests": {"cpu": 3}}},
                "modes": {
                    "slow": {"requests": {"cpu": 2}, "quality": 0.5},
                    "fast": {"by_kind": {"node": {"requests": {"cpu": 4}}}},
                },
            }
        ]
    )
    slow, fast = found.workloads[0].modes
    assert (slow.name, slow.quality, slow.default.requests["cpu"]) == ("slow", Fraction(1, 2), 2)
    assert slow.demand("node").requests == {"cpu": 3, "memory": 2**30}
    assert fast.default.requests["cpu"] == 1
    assert fast.demand("node").requests["cpu"] == 4


def test_numbers_of_any_type_are_the_same_instance() -> None:
    """A library caller may give numbers as int, float, Decimal or text."""
    texts = instance(workloads=[{"class": "a", "count": "2", "requests": {"cpu": "0.1"}}])
    numbers = instance(workloads=[{"class": "a", "count": 2, "requests": {"cpu": 0.1}}])
    assert texts == numbers


def test_tenths_fit_exactly() -> None:
    """0.1 ten times fills 1.0, and 0.1 + 0.2 fills 0.3, in whole units."""
    found = instance(
        topology=[{"level": "node", "name": "n", "capacity": {"cpu": 1.0, "memory": 0.3e9}}],
        workloads=[{"class": "a", "count": 10, "requests": {"cpu": 0.1, "memory": "0.1G"}}],
    )
    floors = found.workloads[0].modes[0].default.requests
    assert 10 * floors["cpu"] == found.nodes[0].capacity["cpu"]
    assert 3 * floors["memory"] == found.nodes[0].capacity["memory"]


def test_bytes_and_huge_capacities_stand_beside_each_other() -> None:
    """1.6e12 bytes a machine, millicores and bit/s in one instance keep every unit."""
    found = instance(
        topology=[
            {"level": "node", "name": "m", "count": 20, "capacity": {"cpu": 64, "memory": 1.6e12, "bandwidth": "1e11"}}
        ],
        workloads=[{"class": "a", "count": 20, "requests": {"cpu": 0.05, "memory": 1600000000001, "bandwidth": 3}}],
    )
    floors = found.workloads[0].modes[0].default.requests
    assert floors["memory"] == found.nodes[0].capacity["memory"] + 1
    assert (found.resources["memory"].exponent, found.resources["cpu"].exponent) == (0, -2)


def test_mebibytes_are_their_bytes() -> None:
    """3000 items of 1 MiB are the same instance whether stated in bytes or in MiB."""
    in_bytes = instance(workloads=[{"class": "a", "count": 3000, "requests": {"memory": 1048576}}])
    in_mebibytes = instance(workloads=[{"class": "a", "count": 3000, "requests": {"memory": "1 MiB"}}])
    assert in_bytes == in_mebibytes


def test_nothing_asked_and_nothing_offered() -> None:
    """A member that asks for nothing, a node that has nothing or 0 of something, and no node at all are fine."""
    found = instance(
        topology=[{"level": "node", "name": "n"}, {"level": "node", "name": "z", "capacity": {"cpu": 0}}],
        workloads=[{"class": "a"}, {"class": "b", "count": 0}],
    )
    assert (len(found.nodes), found.num_members) == (2, 1)
    for changes in ({"topology": []}, {"workloads": []}, {"topology": [], "workloads": []}):
        found = instance(**changes)
        assert (not found.nodes) == ("topology" in changes)


def test_leaves_without_kind_are_of_their_level() -> None:
    """A node without a kind has its level as kind, so that costs by kind can name it."""
    assert instance().nodes[0].kind == "node"


def test_an_empty_domain_is_no_node() -> None:
    """A domain with an empty list of children holds no node and is none."""
    found = instance(topology=[{"level": "rack", "name": "r", "children": []}], workloads=[])
    assert found.nodes == ()
    assert (found.domains[1].first_node, found.domains[1].end_node) == (0, 0)


def test_measured_goodput() -> None:
    """A table of points is kept as exact pairs, also where it falls."""
    curve = {"curve": "table", "points": [[0, 0], [0.8, 0.8], [1.2, 0.5]]}
    found = instance(topology=[{"level": "node", "name": "n", "uplink": {"bandwidth": 1, "goodput": curve}}])
    uplink = found.nodes[0].uplink
    assert uplink is not None
    assert uplink.goodput.points == ((0, 0), (Fraction(4, 5), Fraction(4, 5)), (Fraction(6, 5), Fraction(1, 2)))


def test_an_uplink_may_state_its_own_weight() -> None:
    """The weight of an uplink stands over the weight of its level."""
    found = instance(
        topology=[
            {"level": "rack", "name": name, "uplink": uplink, "children": [{"level": "node", "name": "n"}]}
            for name, uplink in (("r", {}), ("s", {"weight": 9}))
        ],
        distances={"weights": {"rack": 4, "node": 2}},
    )
    weights = {domain.path: domain.uplink.weight for domain in found.domains if domain.uplink is not None}
    assert weights == {"r": 4, "r/n": 2, "s": 9, "s/n": 2}


def test_a_distance_matrix_is_complete_or_refused() -> None:
    """Every ordered pair of nodes needs a distance; the diagonal is 0 unless stated."""
    found = instance(distances={"matrix": {"n0": {"n1": 1.5, "n0": 0.5}, "n1": {"n0": 2}}})
    assert dict(found.distances.matrix or {}) == {
        ("n0", "n1"): Fraction(3, 2),
        ("n0", "n0"): Fraction(1, 2),
        ("n1", "n0"): 2,
    }
    assert "lacks 1 distances, the first from n1 to n0" in words_of(distances={"matrix": {"n0": {"n1": 1}}})


def test_the_name_defaults_to_the_file(tmp_path: Path) -> None:
    """A document without a name is called after its file."""
    document = base()
    del document["name"]
    path = tmp_path / "fleet.json"
    path.write_text(json.dumps(document))
    assert load_instance(path).name == "fleet"


def test_progress_is_told() -> None:
    """The caller hears of each phase; nothing is printed."""
    heard: list[str] = []
    with pytest.raises(Exception, match="nowhere"):
        load_instance("nowhere.yaml", progress=heard.append)
    assert heard == ["reading nowhere.yaml"]


def test_the_schema_for_editors_accepts_what_is_read() -> None:
    """The JSON schema is valid, knows the whole document, and refuses what the loader refuses."""
    import yaml

    jsonschema = pytest.importorskip("jsonschema")
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    document = yaml.safe_load(WHOLE)
    validator.validate(document)
    instance_from_dict(document)
    for wrong in ({"cuont": 3}, {"count": -3}, {"requests": {"cpu": None}}, {"requests": {"cpu": ""}}):
        assert not validator.is_valid(base(workloads=[{"class": "a", **wrong}]))
    described = schema["$defs"]["WorkloadDocument"]["properties"]
    assert all("description" in described[key] for key in ("class", "count", "requests", "limits", "modes", "cost"))


def test_a_plan_in_the_place_of_an_instance_is_called_by_its_name(tmp_path: Path) -> None:
    """One problem and not one for each key: the nulls of a plan's result are no news."""
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"format": "allocator/plan/v1", "result": {"p99": None}, "placements": []}))
    with pytest.raises(InputError) as caught:
        load_instance(path)
    assert len(caught.value.problems) == 1
    assert "format = allocator/plan/v1: this is a plan; name the instance that it was made for" in str(caught.value)
