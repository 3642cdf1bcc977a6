"""The digest names content, not spelling."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from allocator.instance import load_instance
from tests.instance.documents import base, instance

FIRST = """
format: allocator/v1
name: x
topology: [{level: node, name: n, count: 2, labels: {a: b, c: d}, taints: [t, u], capacity: {cpu: 2, memory: 1Gi}}]
workloads: [{class: w, requests: {cpu: 500m, memory: 1024 MiB}, work: {rate: 60/min, cpu: 200 ms}}]
"""
SECOND = """
# the same, said otherwise
workloads:
- work: {cpu: 0.2, rate: 1}
  requests: {memory: 1073741824, cpu: 0.50}
  class: "w"
  count: 1
name: x
topology:
- {taints: [u, t], name: n, capacity: {memory: 1 GiB, cpu: 2000m}, labels: {c: d, a: b}, count: 2, level: node}
format: allocator/v1
model: throughput
"""


def test_spelling_does_not_matter(tmp_path: Path) -> None:
    """Key order, comments, units, defaults written out and the model to use change nothing."""
    (tmp_path / "a.yaml").write_text(FIRST)
    (tmp_path / "b.yaml").write_text(SECOND)
    first, second = load_instance(tmp_path / "a.yaml"), load_instance(tmp_path / "b.yaml")
    assert first.digest == second.digest
    assert len(first.digest) == 64


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"workloads": [{"class": "a", "count": 3, "requests": {"cpu": 1}}]},
        {"workloads": [{"class": "a", "count": 2, "requests": {"cpu": "1001m"}}]},
        {"workloads": [{"class": "a", "count": 2, "requests": {"cpu": 1}, "cost": {"n0": 1}}]},
        {"topology": [{"level": "node", "name": "n", "count": 3, "capacity": {"cpu": 4, "memory": "8Gi"}}]},
        {"topology": [{"level": "node", "name": "m", "count": 2, "capacity": {"cpu": 4, "memory": "8Gi"}}]},
        {"resources": {"cpu": {"overload": 2}}},
        {"current": []},
        {"flows": [{"from": "a", "to": "a", "pattern": "ring", "rate": 1}]},
    ],
)
def test_content_matters(changes: dict[str, object]) -> None:
    """Whatever can change an answer changes the digest."""
    assert instance(**changes).digest != instance().digest


def test_the_digest_is_the_same_in_every_process() -> None:
    """It does not depend on the hash seed."""
    code = (
        "from allocator.instance import instance_from_dict; import json, sys;"
        "print(instance_from_dict(json.loads(sys.argv[1])).digest)"
    )
    import json

    node = {"level": "node", "name": "n", "taints": list("abcdef"), "labels": {c: c for c in "abcdef"}}
    document = json.dumps(base(topology=[node]))
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, document],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for seed in ("0", "1")
    }
    assert len(digests) == 1
