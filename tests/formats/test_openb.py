"""GPU clusters: what is read is the cluster and the requests in the files."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pytest

from allocator.errors import ArgumentError, InputError
from allocator.formats.registry import READERS
from allocator.instance import Instance, instance_from_dict
from allocator.solve import solve

TINY = Path(__file__).resolve().parents[2] / "instances" / "openb_tiny"
NODES, REQUESTS = TINY / "nodes.csv", TINY / "requests.csv"
OPTIMUM = 2500  # thousandths of a GPU


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def document(**options: Any) -> dict[str, Any]:
    return READERS["openb"](NODES, **{"requests": REQUESTS, **options})


def read(**options: Any) -> Instance:
    return instance_from_dict(document(**options))


def most_gpu(hosts: list[dict[str, str]], requests: list[dict[str, str]]) -> int:
    """GPU that can be allocated, in thousandths, by trying every host and GPU for every request."""
    choices: list[list[tuple[int, tuple[int, ...]] | None]] = []
    for request in requests:
        mine: list[tuple[int, tuple[int, ...]] | None] = [None]
        for number, host in enumerate(hosts):
            wanted, spec = int(request["num_gpu"]), request["gpu_spec"]
            if wanted and spec and host["model"] not in spec.split("|"):
                continue
            mine += [(number, gpus) for gpus in combinations(range(int(host["gpu"])), wanted)]
        choices.append(mine)
    best = 0
    for chosen in product(*choices):
        cpu, memory, gpu = Counter[int](), Counter[int](), Counter[tuple[int, int]]()
        total = 0
        for request, place in zip(requests, chosen, strict=True):
            if place is not None:
                cpu[place[0]] += int(request["cpu_milli"])
                memory[place[0]] += int(request["memory_mib"])
                gpu.update({(place[0], each): int(request["gpu_milli"]) for each in place[1]})
                total += int(request["num_gpu"]) * int(request["gpu_milli"])
        fits = all(cpu[n] <= int(h["cpu_milli"]) and memory[n] <= int(h["memory_mib"]) for n, h in enumerate(hosts))
        if fits and max(gpu.values(), default=0) <= 1000:
            best = max(best, total)
    return best


def test_the_optimum_of_the_example_is_found_and_is_that_of_enumeration() -> None:
    assert most_gpu(rows(NODES), rows(REQUESTS)) == OPTIMUM
    result = solve(read(), time_limit=120, threads=1)
    assert result.status == "optimal"
    assert result.levels[0].value == Fraction(OPTIMUM, 1000)


def test_hosts_hold_cpu_and_memory_and_gpus_are_nodes_below_them() -> None:
    instance = read()
    assert [node.path for node in instance.nodes] == [
        "host0/cpu", "host0/gpu0", "host0/gpu1", "host1/cpu", "host1/gpu0", "host2/cpu"
    ]  # fmt: skip
    host = instance.domain_by_path["host0"]
    unit = {name: Fraction(10) ** instance.resources[name].exponent for name in ("cpu", "memory")}
    assert {name: host.capacity[name] * unit[name] for name in unit} == {"cpu": 8, "memory": 16 * 2**30}
    assert instance.domain_by_path["host1/gpu0"].kind == "P100"
    pair = instance.workload_by_name["gpu2x1000m-cpu6000m-memory4096Mi"]
    assert (pair.count, pair.value) == (2, 1)
    assert pair.placement.gang is not None
    assert (pair.placement.gang.size, pair.placement.gang.level) == (2, "host")
    assert pair.modes[0].default.requests["cpu"] * unit["cpu"] == 3


def test_equal_requests_are_one_class_and_a_load_is_reached_by_repetition() -> None:
    listed = [int(row["num_gpu"]) * int(row["gpu_milli"]) for row in rows(REQUESTS)]
    instance = read(load=4, seed=3)
    asked = sum(w.count * w.value for w in instance.workloads)
    assert 12 <= asked < 12 + Fraction(max(listed), 1000)
    per_request = [w.count // (w.placement.gang.size if w.placement.gang else 1) for w in instance.workloads]
    assert len(per_request) == len(listed)
    assert max(per_request) - min(per_request) <= 1


def test_the_order_is_that_of_the_seed() -> None:
    assert document(load=2, seed=1) == document(load=2, seed=1)
    assert len({str(document(load=2, seed=seed)["workloads"]) for seed in range(8)}) > 4
    names = [workload["class"] for workload in document()["workloads"]]
    assert names[0] == "gpu600m-cpu4000m-memory4096Mi"
    assert names[-1] == "cpu4000m-memory2048Mi"


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="--requests"):
        READERS["openb"](NODES)
    idle = tmp_path / "idle.csv"
    idle.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,0,0\n")
    with pytest.raises(ArgumentError, match="load"):
        document(requests=idle, load=1)


WRONG = {
    "no header": ("host0,8000,16384,2,T4\n", ["line 1", "lacks the columns sn"]),
    "no rows": ("sn,cpu_milli,memory_mib,gpu,model\n", ["no rows"]),
    "a word": ("sn,cpu_milli,memory_mib,gpu,model\nh,many,1,1,T4\n", ["line 2, cpu_milli", "= many", "whole number"]),
    "negative": ("sn,cpu_milli,memory_mib,gpu,model\nh,1,-1,1,T4\n", ["line 2, memory_mib", "= -1"]),
    "no model": ("sn,cpu_milli,memory_mib,gpu,model\nh,1,1,1,\n", ["line 2, model", "must not be empty"]),
    "short row": ("sn,cpu_milli,memory_mib,gpu,model\nh,1,1\n", ["line 2", "3 cells"]),
    "quotes": ('sn,cpu_milli,memory_mib,gpu,model\n"h"x,1,1,1,T4\n', ["is not CSV"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_malformed_node_list_is_refused_where_it_is_wrong(name: str, tmp_path: Path) -> None:
    text, said = WRONG[name]
    path = tmp_path / "nodes.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        READERS["openb"](path, requests=REQUESTS)
    assert str(caught.value).startswith(f"{path}: ")
    for part in said:
        assert part in str(caught.value)


@pytest.mark.parametrize(("cells", "said"), [("1,1500", "1500"), ("1,0", "= 0"), ("x,5", "num_gpu = x")])
def test_a_malformed_request_is_refused_where_it_is_wrong(cells: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "requests.csv"
    path.write_text(f"name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,1,5\nb,1,1,{cells}\n")
    with pytest.raises(InputError, match="line 3") as caught:
        document(requests=path)
    assert said in str(caught.value)


def test_a_load_of_no_gpus_is_refused_instead_of_dropping_every_request(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\nhost,4000,1024,0,\n")
    with pytest.raises(ArgumentError, match="has none"):
        READERS["openb"](nodes, requests=REQUESTS, load=1.3)
    assert READERS["openb"](nodes, requests=REQUESTS)["workloads"]
