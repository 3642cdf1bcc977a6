"""From pandas DataFrames to a plan and back: tables of nodes and workloads in, placements and utilisation out."""

from __future__ import annotations

import pandas as pd

from allocator import classes_frame, instance_from_frames, placements_frame, solve, utilization_frame

NODES = pd.DataFrame(
    {
        "rack": ["a", "a", "b", "b"],
        "name": ["a1", "a2", "b1", "b2"],
        "kind": ["small", "small", "large", "large"],
        "cpu": [8, 8, 16, 16],  # cores
        "memory": ["32 GiB", "32 GiB", "64 GiB", "64 GiB"],
    }
)

WORKLOADS = pd.DataFrame(
    {
        "class": ["api", "worker", "cache"],
        "count": [6, 10, 2],
        "cpu": [1, 0.5, 1],  # requests
        "memory": ["2 GiB", "1 GiB", "16 GiB"],
        "limits.cpu": [4, 2, None],  # empty cells are left out
        "work.rate": ["5/s", "2/s", None],  # tasks offered to one member
        "work.cpu": ["400 ms", "600 ms", None],  # compute of one task, in core-seconds
        "work.parallel": [4, 2, None],  # cores that one task can use at once
        "weight": [2, 1, None],
    }
)


def main() -> None:
    """Solve for the most weighted tasks per second."""
    instance = instance_from_frames(NODES, WORKLOADS, levels=["rack"], name="from-dataframes")
    result = solve(instance, "throughput", time_limit=30)

    placements = placements_frame(result, instance)
    print(placements.groupby(["node", "class"]).agg(members=("member", "count"), cores=("cpu", "sum")))
    print(utilization_frame(result).query("level == 'node'"))
    print(classes_frame(result))


if __name__ == "__main__":
    main()
