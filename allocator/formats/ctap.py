"""Task assignment with communication as an instance. Owns the layout; knows no method.

Layout: number of tasks N, number of processors M; execution cost of each task by processor (M rows of N); cost of
communication of each pair of tasks on different processors (upper triangle: rows of N - 1, N - 2 ... 1); memory of
each task; capacity of each processor. Every task goes to one processor, at least total cost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from allocator.formats.tokens import Tokens, plain

__all__ = ["read_ctap"]

LAYOUT = (
    "tasks N, processors M, execution costs (M x N), communication costs (upper triangle, N (N - 1) / 2), "
    "memory of tasks (N), capacities (M)"
)
CROSSING = "0.5"
"""Weight of a processor's uplink: a flow between two processors crosses two, which makes a distance of 1."""


def read_ctap(path: Path) -> dict[str, Any]:
    """Instance document: a pair that communicates is a flow of that rate, and different processors are 1 apart.

    Raises
    ------
    InputError
        The file is not of this layout.
    """
    tokens = Tokens(path)
    num_tasks, num_processors = tokens.size("the number of tasks"), tokens.size("the number of processors")
    num_pairs = num_tasks * (num_tasks - 1) // 2
    tokens.expect(2 + num_processors * num_tasks + num_pairs + num_tasks + num_processors, LAYOUT)
    costs = tokens.table(num_processors, num_tasks, "an execution cost")
    traffic = [tokens.numbers(num_tasks - 1 - task, "a communication cost") for task in range(num_tasks - 1)]
    memory = tokens.numbers(num_tasks, "the memory of a task")
    capacities = tokens.numbers(num_processors, "the capacity of a processor")
    processors = [f"processor{index}" for index in range(num_processors)]
    return {
        "format": "allocator/v1",
        "name": path.stem,
        "model": "task-assignment",
        "topology": [
            {
                "level": "node",
                "name": processor,
                "kind": "processor",
                "capacity": {"memory": plain(capacity)},
                "uplink": {"weight": CROSSING},
            }
            for processor, capacity in zip(processors, capacities, strict=True)
        ],
        "workloads": [
            {
                "class": f"task{task}",
                "requests": {"memory": plain(memory[task])},
                "cost": {processor: plain(row[task]) for processor, row in zip(processors, costs, strict=True)},
            }
            for task in range(num_tasks)
        ],
        "flows": [
            {"from": f"task{first}", "to": f"task{first + 1 + offset}", "pattern": "pair", "rate": plain(rate)}
            for first, row in enumerate(traffic)
            for offset, rate in enumerate(row)
            if rate
        ],
    }
