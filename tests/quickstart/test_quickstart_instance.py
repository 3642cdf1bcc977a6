"""The first instance anybody solves: proven, and with everything in it that it is there to show."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from allocator.instance import Instance, load_instance
from allocator.plan.result import Result, Status
from allocator.report.summary import summarize
from allocator.solve import solve

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "instances" / "quickstart" / "quickstart.yaml"

GBIT = 10**9
# The least traffic times distance, by hand. A CPU (24 cores) holds at most 3 auditors (7 cores each), a sled at most 6.
# Eight auditors in parts a of at most 3 cross uplinks of CPUs sum a (8 - a) times each way, least with 3, 3, 2:
# 15 + 15 + 12 = 42; in parts of at most 6 those of sleds 6 * 2 + 2 * 6 = 24 times. Both ways, at 0.5 Gbit/s a pair:
AUDIT = 2 * (42 + 24) * GBIT // 2
# Eight judges send 5 Gbit/s over five uplinks wherever they are: of CPU, sled, rack, supernode, accelerator.
JUDGES = 8 * 5 * 5 * GBIT
# A claim team (11 cores) stands on one CPU and crosses none; the plan found shows that all of this is possible at once.


@pytest.fixture(scope="module")
def instance() -> Instance:
    return load_instance(FILE)


@pytest.fixture(scope="module")
def result(instance: Instance) -> Result:
    return solve(instance, time_limit=120)


def nodes_of(result: Result) -> dict[str, list[str]]:
    """Node of every member by class, in the order of members."""
    assert result.plan is not None
    found: dict[str, list[str]] = defaultdict(list)
    for workload, _, _, node in sorted(result.plan.members()):
        found[workload].append(node)
    return found


def test_it_is_proven_optimal_with_the_value_found_by_hand(result: Result) -> None:
    assert result.status is Status.OPTIMAL
    assert [(level.value, level.bound) for level in result.levels] == [(60, 60), (AUDIT + JUDGES, AUDIT + JUDGES)]


def test_sixty_agents_in_five_classes(instance: Instance) -> None:
    assert instance.num_members == 60
    assert len(instance.workloads) == 5


def test_the_audit_team_has_to_be_split(instance: Instance, result: Result) -> None:
    """It asks for more cores than a whole sled has."""
    needed = instance.workload_by_name["auditor"].modes[0].default.requests["cpu"] * 8
    for sled in (domain for domain in instance.domains if domain.level == "sled"):
        assert needed > sum(node.capacity["cpu"] for node in instance.nodes[sled.first_node : sled.end_node])
    nodes = nodes_of(result)["auditor"]
    assert len(set(nodes)) == 3
    assert len({node.rsplit("/", 1)[0] for node in nodes}) == 2


def test_every_claim_team_is_together(result: Result) -> None:
    nodes = nodes_of(result)
    for team in range(4):
        stands = {*nodes["intake"][6 * team : 6 * team + 6], *nodes["verifier"][4 * team : 4 * team + 4]}
        assert len({*stands, *nodes["judge"][2 * team : 2 * team + 2]}) == 1


def test_the_supernode_is_in_use_by_a_gang(result: Result) -> None:
    assert set(nodes_of(result)["drafter"]) == {f"super0/acc{number}" for number in range(4)}


def test_the_uplink_of_the_rack_is_oversubscribed_and_loaded(instance: Instance, result: Result) -> None:
    rack = instance.domain_by_path["rack0"]
    assert rack.uplink is not None
    assert rack.uplink.bandwidth == 6 * 25 * GBIT // 3
    assert result.evaluation is not None
    loads = {(use.domain, use.direction): use.offered for use in result.evaluation.links}
    assert loads["rack0", "up"] == 40 * GBIT


def test_the_summary_says_what_happened(instance: Instance, result: Result) -> None:
    text = summarize(result, instance)
    assert text.startswith("quickstart: proven optimal. All 60 members are placed")
    assert "3 nodes, 2 sleds, 1 rack" in text
    # no copy has room on the CPUs either (44 of 100 cores), but of accelerators nothing at all is left
    assert "accelerator runs out first" in text


def test_its_tasks_can_be_served_in_full(instance: Instance) -> None:
    """The same file answers another question: 24 x 2 + 16 x 1 + 8 x 0.5 tasks/s."""
    found = solve(instance, "throughput", time_limit=120)
    assert found.status is Status.OPTIMAL
    assert found.levels[0].value == pytest.approx(68)


def test_the_command_line_proves_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "allocator", "solve", str(FILE), "--time-limit", "120s"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "proven optimal" in done.stdout
