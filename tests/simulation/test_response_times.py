"""The P99 of equation (13) against a simulation of the queue it stands for, for a plan of the quickstart."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import log, sqrt
from pathlib import Path
from statistics import mean, stdev

import pytest
import yaml

from allocator.checker import check
from allocator.checker.link_delay import delay_of
from allocator.instance import instance_from_dict
from allocator.model.entities import Goal, Level, Model
from allocator.model.families import GoalId
from allocator.plan.entities import FlowGrant, PlacedGroup, Plan, UnplacedGroup
from tests.simulation.queue import Service, exponential, fixed, halved, response_times

QUICKSTART = Path(__file__).parents[2] / "instances" / "quickstart" / "quickstart.yaml"
MODEL = Model("m", "", (Level((Goal(GoalId.PLACED),)), Level((Goal(GoalId.P99),))))
CORES = {"intake": "1", "verifier": "2", "judge": "2"}
RUNS, TASKS, WARM_UP = 30, 8_000, 800
T_999 = 3.659
"""Two-sided 99.9 % quantile of Student's t with 29 degrees of freedom."""


@cache
def served() -> dict[str, tuple[float, float, float]]:
    """Of each class of the claim teams: tasks/s that arrive, seconds of one task, P99 by the checker."""
    document = yaml.safe_load(QUICKSTART.read_text())
    for entry in document["workloads"]:
        if entry["class"] in CORES:
            entry["slo"] = {"p99": "20 s", "critical": True}
    judge = next(entry for entry in document["workloads"] if entry["class"] == "judge")
    judge["work"]["parallel"] = 2
    instance = instance_from_dict(document)
    unit = 10 ** -instance.resources["cpu"].exponent
    nodes = [node.path for node in instance.nodes if "cpu" in node.capacity]
    groups = []
    for name, each in (("intake", 6), ("verifier", 4), ("judge", 2)):
        requests = instance.workload_by_name[name].modes[0].default.requests
        shares = {**requests, "cpu": int(CORES[name]) * unit}
        groups += [PlacedGroup(name, each * team, each, "default", (nodes[team],), shares) for team in range(4)]
    left = tuple(UnplacedGroup(w.name, 0, w.count, "test") for w in instance.workloads if w.name not in CORES)
    grants = tuple(FlowGrant(f"claim/{team}", f"claim/{team}", 1) for team in range(4))
    evaluation = check(instance, MODEL, Plan(instance.name, instance.digest, tuple(groups), grants, left))
    assert evaluation.feasible, evaluation.violations
    found = {}
    for outcome in evaluation.classes:
        if outcome.workload in CORES:
            workload = instance.workload_by_name[outcome.workload]
            usable = min(float(CORES[outcome.workload]), float(workload.parallel))
            seconds = float(workload.modes[0].default.work.compute["cpu"]) / usable
            assert outcome.p99 is not None
            found[outcome.workload] = (float(workload.rate), seconds, float(outcome.p99))
    return found


def simulated(name: str, service: Service, tasks: int) -> list[list[float]]:
    """Independent runs of the queue of a class."""
    rate, seconds, _ = served()[name]
    return [
        response_times(rate=rate, seconds=seconds, tasks=tasks, warm_up=WARM_UP, seed=f"{name} {run}", service=service)
        for run in range(RUNS)
    ]


def test_one_message_in_a_hundred_takes_longer_over_a_loaded_link() -> None:
    """M K / (C - L): a link of 10 Mbit/s that messages of 1 kB load to 80 %, each an exponential size."""
    message, bandwidth, load = Fraction(8000), Fraction(10**7), Fraction(8 * 10**6)
    p99 = float(delay_of(message, {0: bandwidth - load}, 0) or 0)
    runs = [
        response_times(
            rate=float(load / message),
            seconds=float(message / bandwidth),
            tasks=TASKS,
            warm_up=WARM_UP,
            seed=f"link {run}",
            service=exponential,
        )
        for run in range(RUNS)
    ]
    slower = [sum(time > p99 for time in run) / len(run) for run in runs]
    half = T_999 * stdev(slower) / sqrt(RUNS)
    assert mean(slower) - half <= 0.01 <= mean(slower) + half
    assert half <= 0.008, "an interval that wide would hold anything"
    assert slowest_percent([response_times_of_fixed_messages(p99)]) <= 0.65 * p99


def response_times_of_fixed_messages(p99: float) -> list[float]:
    """The same link with messages of one size."""
    seconds = p99 * 0.2 / log(100)  # M / C at a load of 0.8
    return response_times(rate=0.8 / seconds, seconds=seconds, tasks=TASKS, warm_up=WARM_UP, seed=1, service=fixed)


def slowest_percent(runs: list[list[float]]) -> float:
    """P99 of all runs together."""
    times = sorted(time for run in runs for time in run)
    return times[int(0.99 * len(times))]


@pytest.mark.parametrize("name", CORES)
def test_one_task_in_a_hundred_is_slower_than_the_p99(name: str) -> None:
    """The share of slower tasks, by run: unbiased however much tasks of a run depend on each other."""
    _, _, p99 = served()[name]
    runs = simulated(name, exponential, TASKS)
    slower = [sum(time > p99 for time in run) / len(run) for run in runs]
    half = T_999 * stdev(slower) / sqrt(RUNS)
    assert mean(slower) - half <= 0.01 <= mean(slower) + half
    assert half <= 0.008, "an interval that wide would hold anything"
    assert abs(slowest_percent(runs) / p99 - 1) <= 0.15


@pytest.mark.parametrize("name", CORES)
@pytest.mark.parametrize(("service", "at_most"), [(fixed, 0.65), (halved, 0.7)])
def test_work_of_less_varied_size_is_faster_than_promised(name: str, service: Service, at_most: float) -> None:
    """The formula is conservative for it: the true P99 is at most this part of the promised one."""
    _, _, p99 = served()[name]
    assert slowest_percent(simulated(name, service, TASKS // 4)) <= at_most * p99
