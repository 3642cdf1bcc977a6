"""The benchmark of GPU clusters adds up what a plan allocates, and finds what does not fit."""

from __future__ import annotations

import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.bench.openb import NODES, Run, allocation, demands, published, run
from tests.bench.runs import ROOT, Budget

TINY = ROOT / "instances" / "openb_tiny"
PAIR = "gpu2x1000m-cpu6000m-memory4096Mi"


def group(name: str, *nodes: str, first: int = 0) -> dict[str, Any]:
    return {"class": name, "first": first, "count": len(nodes), "nodes": list(nodes)}


def judged(*groups: dict[str, Any]) -> tuple[int, int, str]:
    return allocation(groups, TINY / "nodes.csv")


def test_what_is_allocated_is_summed_up() -> None:
    whole = (group(PAIR, "host0/gpu0", "host0/gpu1"), group("cpu4000m-memory2048Mi", "host2/cpu"))
    assert judged(*whole, group("gpu500m-cpu1000m-memory2048Mi-P100-T4", "host1/gpu0")) == (2500, 1, "")


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([group("gpu600m-cpu1000m-memory1Mi", "host1/gpu0", "host1/gpu0")], "host1/gpu0"),
        ([group("gpu1m-cpu4000m-memory1Mi", "host1/gpu0")], "more than fits on host1"),
        ([group("gpu1m-cpu1m-memory8193Mi", "host1/gpu0")], "more than fits on host1"),
        ([group("gpu1m-cpu1m-memory1Mi-T4", "host1/gpu0")], "host1/gpu0"),
        ([group("gpu1m-cpu1m-memory1Mi", "host1/cpu")], "host1/cpu"),
        ([group(PAIR, "host0/gpu0", "host1/gpu0")], "several hosts"),
        ([group(PAIR, "host0/gpu0", "host0/gpu0")], "beside others"),
        ([group("job", "host0/cpu")], "no request"),
    ],
)
def test_what_does_not_fit_is_found(groups: list[dict[str, Any]], said: str) -> None:
    assert said in judged(*groups)[2]


def test_too_little_is_missed() -> None:
    good = Run(0, 1300, 970, 1000, None, "", Fraction(97, 100), Fraction(1), 60.0)
    assert all(demand.met for demand in demands([good], 60))
    for worse in (
        replace(good, allocated=969, value=Fraction(969, 1000)),
        replace(good, value=Fraction(1)),
        replace(good, wrong="more than fits"),
        replace(good, seconds=70.0),
        replace(good, failure="exit code 3"),
    ):
        assert not all(demand.met for demand in demands([worse], 60))


def test_a_run_is_converted_solved_and_judged(tmp_path: Path) -> None:
    shutil.copy(TINY / "nodes.csv", tmp_path / NODES)
    shutil.copy(TINY / "requests.csv", tmp_path / "openb_pod_list_tiny.csv")
    done = run(tmp_path, "tiny", 1.3, Budget(30, 1, 0, "auto"))
    assert (done.failure, done.wrong, done.there) == ("", "", 3000)
    assert done.asked >= 3900
    assert done.value == Fraction(done.allocated or 0, 1000)


def test_published_values_are_those_of_the_list_and_load(tmp_path: Path) -> None:
    head = "workload,policy,gpu_alloc_pct_mean_at_100,gpu_alloc_pct_mean_at_130\n"
    (tmp_path / "fgd_alloc_summary.csv").write_text(f"{head}openb_pod_list_a,x,1,2\nopenb_pod_list_b,y,3,4\n")
    assert published(tmp_path, "b", 1.3)[2:] == ["| y | 4 |"]
    assert published(tmp_path, "c", 1.3) == []
