"""Build an instance without any file, solve it, and read the plan.

Two racks with different machines run a small service: web servers that talk to a store. The model `traffic` asks for
the placement with the least traffic between nodes.
"""

from __future__ import annotations

from allocator import instance_from_dict, solve, summarize

DOCUMENT = {
    "format": "allocator/v1",
    "name": "two-racks",
    "topology": [
        {
            "level": "rack",
            "name": "rack",
            "count": 2,  # rack0 and rack1
            "uplink": {"bandwidth": "10 Gbit/s"},
            "children": [
                {
                    "level": "node",
                    "name": "node",
                    "count": 3,  # rack0/node0 ... rack1/node2
                    "capacity": {"cpu": 4, "memory": "16 GiB"},
                    "uplink": {"bandwidth": "1 Gbit/s"},
                }
            ],
        }
    ],
    "workloads": [
        {"class": "web", "count": 6, "requests": {"cpu": "500m", "memory": "1 GiB"}},
        {
            "class": "store",
            "count": 2,
            "requests": {"cpu": 2, "memory": "6 GiB"},
            "placement": {"conflict": {"level": "node", "at_most": 1}},
        },
    ],
    "flows": [{"from": "web", "to": "store", "pattern": "spread", "rate": "20 Mbit/s"}],
}


def main() -> None:
    """Solve and show where everything runs."""
    instance = instance_from_dict(DOCUMENT)
    result = solve(instance, "traffic", time_limit=30)

    print(summarize(result, instance))
    if result.plan is not None:
        for workload, member, _, node in sorted(result.plan.members()):
            print(f"{workload}/{member} runs on {node}")


if __name__ == "__main__":
    main()
