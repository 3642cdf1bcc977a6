"""DataFrames give the instance that the same document gives."""

from __future__ import annotations

import pandas as pd
import pytest

from allocator.errors import ArgumentError, InputError
from allocator.instance import instance_from_dict
from allocator.instance.frames import document_from_frames, instance_from_frames

NODES = pd.DataFrame(
    {
        "rack": ["a", "b", "a"],
        "name": ["n1", "n1", "n2"],
        "kind": ["small", "large", "small"],
        "cpu": [4, 8, None],
        "memory": ["8 GiB", "16 GiB", "8 GiB"],
        "uplink.bandwidth": ["1 Gbit/s", None, "1 Gbit/s"],
        "labels.zone": ["x", "y", "x"],
    }
)
WORKLOADS = pd.DataFrame(
    {
        "class": ["web", "store"],
        "count": [3, None],
        "cpu": [0.1, 1],
        "requests.memory": ["1 GiB", "2 GiB"],
        "limits.cpu": [None, 2.0],
        "work.rate": ["5/s", None],
        "work.cpu": ["100 ms", None],
    }
)


def test_frames_equal_the_document() -> None:
    node = {"level": "node", "capacity": {"memory": "8 GiB"}, "kind": "small", "labels": {"zone": "x"}}
    link = {"bandwidth": "1 Gbit/s"}
    document = {
        "format": "allocator/v1",
        "name": "frames",
        "model": "throughput",
        "topology": [
            {
                "level": "rack",
                "name": "a",
                "uplink": {"bandwidth": "10 Gbit/s"},
                "children": [
                    {**node, "name": "n1", "uplink": link, "capacity": {"cpu": 4, "memory": "8 GiB"}},
                    {**node, "name": "n2", "uplink": link},
                ],
            },
            {
                "level": "rack",
                "name": "b",
                "children": [
                    {
                        **node,
                        "name": "n1",
                        "kind": "large",
                        "capacity": {"cpu": 8, "memory": "16 GiB"},
                        "labels": {"zone": "y"},
                    }
                ],
            },
        ],
        "workloads": [
            {
                "class": "web",
                "count": 3,
                "requests": {"cpu": "100m", "memory": "1 GiB"},
                "work": {"rate": "5/s", "cpu": "100 ms"},
            },
            {"class": "store", "requests": {"cpu": 1, "memory": "2 GiB"}, "limits": {"cpu": 2}},
        ],
        "teams": [{"team": "t", "count": 1, "members": {"web": 2, "store": 1}, "traffic": {"rate": "1 Mbit/s"}}],
        "flows": [{"from": "web", "to": "store", "pattern": "broadcast", "rate": "5 Mbit/s"}],
    }
    teams = pd.DataFrame(
        {"team": ["t"], "count": [1], "members.web": [2], "members.store": [1], "traffic.rate": ["1 Mbit/s"]}
    )
    flows = pd.DataFrame({"from": ["web"], "to": ["store"], "pattern": ["broadcast"], "rate": ["5 Mbit/s"]})
    domains = pd.DataFrame({"path": ["a"], "uplink.bandwidth": ["10 Gbit/s"]})
    built = instance_from_frames(NODES, WORKLOADS, teams, flows, "throughput", levels=["rack"], domains=domains)
    assert built == instance_from_dict(document)


def test_a_dot_in_a_resource_name_stays_in_the_name() -> None:
    nodes = pd.DataFrame({"name": ["n"], "capacity.example.com/gpu": [2]})
    workloads = pd.DataFrame({"class": ["a"], "requests.example.com/gpu": [1]})
    document = document_from_frames(nodes, workloads, settings={"resources": {"example.com/gpu": {"role": "other"}}})
    assert document["topology"] == [{"level": "node", "name": "n", "capacity": {"example.com/gpu": 2}}]
    assert document["workloads"] == [{"class": "a", "requests": {"example.com/gpu": 1}}]
    assert instance_from_dict(document).nodes[0].capacity["example.com/gpu"] == 2


def test_names_with_slashes_find_their_domain() -> None:
    nodes = pd.DataFrame({"name": ["n"], "rack": ["a/b"], "cpu": [1]})
    domains = pd.DataFrame({"path": ["a~1b"], "power": ["1 kW"]})
    built = instance_from_frames(nodes, pd.DataFrame({"class": ["w"]}), levels=["rack"], domains=domains)
    assert built.domain_by_path["a~1b"].capacity["power"] > 0


def test_missing_columns_and_domains_are_named() -> None:
    with pytest.raises(ArgumentError, match="nodes: there is no column 'name'"):
        instance_from_frames(NODES.drop(columns="name"), WORKLOADS)
    with pytest.raises(ArgumentError, match="nodes: there is no column 'site'"):
        instance_from_frames(NODES, WORKLOADS, levels=["site"])
    with pytest.raises(ArgumentError, match="workloads: there is no column 'class'"):
        instance_from_frames(NODES, WORKLOADS.drop(columns="class"))
    with pytest.raises(ArgumentError, match="no node is in 'c'"):
        instance_from_frames(NODES, WORKLOADS, levels=["rack"], domains=pd.DataFrame({"path": ["c"]}))
    with pytest.raises(ArgumentError, match="twice"):
        instance_from_frames(pd.concat([NODES, NODES[["cpu"]]], axis=1), WORKLOADS)
    with pytest.raises(ArgumentError, match="stated by the frames"):
        instance_from_frames(NODES, WORKLOADS, levels=["rack"], settings={"name": "x"})


def test_an_empty_level_cell_is_named() -> None:
    nodes = NODES.assign(rack=["a", None, "b"])
    with pytest.raises(InputError, match=r"\[1\]\.rack: is empty"):
        instance_from_frames(nodes, WORKLOADS, levels=["rack"])


def test_a_bad_cell_is_named_by_the_loader() -> None:
    with pytest.raises(InputError, match=r"workloads\[1\]\.requests\.cpu = -1"):
        instance_from_frames(NODES, WORKLOADS.assign(cpu=[1, -1]), levels=["rack"])
