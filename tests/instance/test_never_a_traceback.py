"""Whatever stands in a document or a file, the answer is an instance or a list of problems."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allocator.errors import InputError
from allocator.instance import instance_from_dict, load_instance
from tests.instance.test_load_document import WHOLE

ODD: list[Any] = [
    None, "", "x", "nan", "-1", "0", "1e400", "1e30", "3 GiB", "5 s", True, -1, 0, 10**30, 0.5, float("inf"),
    [], {}, [[]], [None], {"a": None}, {"": ""}, "node", "rack1", "intake", "root", "a/b", "\n", "🤖", ["intake"],
    {"cpu": 1},
]  # fmt: skip


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a tree."""
    found: list[tuple[Any, Any]] = []
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        found.append((node, key))
        if isinstance(inner, (dict, list)):
            found += places(inner)
    return found


def mutate(document: Any, rng: random.Random) -> None:
    """Change one place: another value, another key, one less, one twice."""
    container, key = rng.choice(places(document))
    action = rng.choice(["value", "value", "key", "remove", "twice"])
    if action == "value":
        container[key] = copy.deepcopy(rng.choice(ODD))
    elif action == "remove":
        del container[key]
    elif isinstance(container, list):
        container.append(copy.deepcopy(container[key]))
    else:
        container[rng.choice(["x", "", "count", "cpu", str(key) + "s"])] = container[key]


def instance_or_problems(document: Any) -> None:
    try:
        found = instance_from_dict(document)
    except InputError as error:
        told = str(error)
    else:
        told = found.digest
    assert told


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_mutated_documents(seed: int, number: int) -> None:
    """A document with a few random mutations is read or refused."""
    rng = random.Random(seed)
    document = yaml.safe_load(WHOLE)
    for _ in range(number):
        if document:
            mutate(document, rng)
    instance_or_problems(document)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["topology", "workloads", "teams", "flows", "moves", "tables", "current", "resources", "balance"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["class", "level", "name", "count", "children", "requests"]), inner, max_size=4
                )
            ),
            max_leaves=12,
        ),
    )
)
def test_random_documents(document: dict[str, Any]) -> None:
    """Any tree of values is read or refused."""
    instance_or_problems({"format": "allocator/v1", **document})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.integers(0, len(WHOLE)), st.sampled_from([".yaml", ".json", ""]))
def test_random_bytes(tmp_path: Path, noise: bytes, cut: int, suffix: str) -> None:
    """Random bytes, alone or in the middle of a good file, are read or refused."""
    text = json.dumps(yaml.safe_load(WHOLE)) if suffix == ".json" else WHOLE
    for content in (noise, text[:cut].encode() + noise + text[cut:].encode(), text[:cut].encode()):
        path = tmp_path / f"noise{suffix}"
        path.write_bytes(content)
        told = str(path)
        try:
            load_instance(path)
        except InputError as error:
            told = str(error)
        assert told.startswith(str(path))


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_large_files_are_read(tmp_path: Path, suffix: str) -> None:
    """2,000 nodes and 5,000 classes, each stated on its own, are read in both syntaxes alike."""
    nodes = [
        {"level": "node", "name": f"n{i}", "capacity": {"cpu": 1 + i % 64, "memory": f"{1 + i % 512}Gi"}}
        for i in range(2000)
    ]
    classes = [
        {"class": f"c{i}", "requests": {"cpu": f"{1 + i % 4000}m", "memory": f"{1 + i % 999}Mi"}} for i in range(5000)
    ]
    document = {"format": "allocator/v1", "name": "large", "topology": nodes, "workloads": classes}
    path = tmp_path / f"large.{suffix}"
    path.write_text(json.dumps(document))
    found = load_instance(path)
    assert (len(found.nodes), found.num_members) == (2000, 5000)
    assert found == instance_from_dict(document)
