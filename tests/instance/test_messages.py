"""Messages of teams and flows, and the limit on the load of links: read, refused, and named by the digest."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from allocator.errors import InputError
from allocator.instance import instance_from_dict, load_instance
from allocator.instance.schema.document import json_schema

DOCUMENT: dict[str, Any] = {
    "format": "allocator/v1",
    "name": "x",
    "topology": [
        {
            "level": "node",
            "name": "n",
            "count": 2,
            "capacity": {"cpu": 4},
            "uplink": {"bandwidth": "1 Gbit/s"},
        }
    ],
    "workloads": [{"class": "a", "count": 2, "requests": {"cpu": 1}}],
    "teams": [{"team": "t", "count": 1, "members": {"a": 2}, "traffic": {"rate": "1 Mbit/s"}}],
    "flows": [{"from": "a", "to": "a", "pattern": "ring", "rate": "1 Mbit/s"}],
}
WITHOUT = "0d655479d6c9748680ba30218640f5516ab8fcc9183eff28ce7acaa4459d8120"
"""Digest of the document before there were messages."""


def stated(message: object = None, link_load: object = None) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    if message is not None:
        document["teams"][0]["traffic"]["message"] = message
        document["flows"][0]["message"] = message
    if link_load is not None:
        document["link_load"] = link_load
    return document


@pytest.mark.parametrize(
    ("message", "bits"), [("64 KiB", 2**19), ("1.5 kB", 12_000), (100, 800), ("0", 0), ("0.01 B", Fraction(2, 25))]
)
def test_a_message_is_bytes_in_any_unit(message: object, bits: object) -> None:
    instance = instance_from_dict(stated(message))
    assert instance.teams[0].message == instance.flows[0].message == bits


def test_both_ways_of_a_star_carry_the_message() -> None:
    document = stated("1 kB")
    document["workloads"].append({"class": "b", "count": 3})
    document["flows"] = [{"from": "a", "to": "b", "pattern": "star", "rate": "1 Mbit/s", "message": "2 kB"}]
    assert [flow.message for flow in instance_from_dict(document).flows] == [16_000, 16_000]


@pytest.mark.parametrize("message", ["-1 B", "1 Mbit/s", "fast", "nan"])
def test_what_is_no_size_is_refused_with_its_place(message: str) -> None:
    with pytest.raises(InputError) as caught:
        instance_from_dict(stated(message))
    assert {problem.path for problem in caught.value.problems} == {"teams[0].traffic.message", "flows[0].message"}


@pytest.mark.parametrize(("stated_load", "part"), [("0.8", Fraction(4, 5)), (0.99, Fraction(99, 100)), (None, None)])
def test_the_limit_on_loads_is_a_part_of_the_bandwidth(stated_load: object, part: Fraction | None) -> None:
    assert instance_from_dict(stated(link_load=stated_load)).link_load == part


@pytest.mark.parametrize("stated_load", [0, 1, "0.995", -0.5, "80 %"])
def test_a_limit_at_which_delays_have_no_use_is_refused(stated_load: object) -> None:
    with pytest.raises(InputError, match="link_load"):
        instance_from_dict(stated(link_load=stated_load))


def test_instances_without_messages_keep_their_digest() -> None:
    assert instance_from_dict(stated()).digest == instance_from_dict(stated("0 B")).digest == WITHOUT


def test_the_digest_names_messages_and_the_limit() -> None:
    documents = [
        stated(),
        stated("1 kB"),
        stated("2 kB"),
        stated(link_load=0.5),
        stated("1 kB", 0.5),
        stated("1 kB", 0.8),
    ]
    assert len({instance_from_dict(document).digest for document in documents}) == len(documents)
    assert instance_from_dict(stated("1 kB")).digest == instance_from_dict(stated("1000")).digest


def test_a_file_and_a_table_of_flows_state_them_too(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("from,to,pattern,rate,message\na,a,ring,1 Mbit/s,64 KiB\n")
    (tmp_path / "x.yaml").write_text(
        "format: allocator/v1\nlink_load: 0.8\ntopology: [{level: node, name: n, capacity: {cpu: 4}}]\n"
        "workloads: [{class: a, count: 2}]\ntables: {flows: flows.csv}\n"
    )
    instance = load_instance(tmp_path / "x.yaml")
    assert (instance.flows[0].message, instance.link_load) == (2**19, Fraction(4, 5))


def test_the_json_schema_knows_the_keys() -> None:
    schema = json_schema()
    assert "link_load" in schema["properties"]
    assert all("message" in schema["$defs"][name]["properties"] for name in ("FlowDocument", "TrafficDocument"))
