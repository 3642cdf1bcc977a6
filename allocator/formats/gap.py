"""The generalised assignment problem as an instance. Owns the layout; knows no method.

Layout: number of agents, number of jobs; cost of each job by agent (agents x jobs); resource each job takes of each
agent (agents x jobs); capacity of each agent. Every job goes to one agent, at least total cost. Source: the format of
the public collections of Chu and Beasley (1997) and of Yagiura, Ibaraki and Glover (2004). Files in which profit is
to be maximised look the same: what is read here is minimised.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from allocator.formats.tokens import Tokens, plain

__all__ = ["read_gap"]

LAYOUT = "agents, jobs, costs (agents x jobs), resources (agents x jobs), capacities (agents)"
RESOURCE = "load"


def read_gap(path: Path) -> dict[str, Any]:
    """Instance document: an agent is a node of a kind of its own, a job a class whose demand and cost depend on it.

    Raises
    ------
    InputError
        The file is not of this layout.
    """
    tokens = Tokens(path)
    num_agents, num_jobs = tokens.size("the number of agents"), tokens.size("the number of jobs")
    tokens.expect(2 + 2 * num_agents * num_jobs + num_agents, LAYOUT)
    costs = tokens.table(num_agents, num_jobs, "a cost")
    loads = tokens.table(num_agents, num_jobs, "a resource of a job")
    capacities = tokens.numbers(num_agents, "the capacity of an agent")
    agents = [f"agent{index}" for index in range(num_agents)]
    return {
        "format": "allocator/v1",
        "name": path.stem,
        "model": "cost",
        "resources": {RESOURCE: {"role": "other"}},
        "topology": [
            {"level": "node", "name": agent, "kind": agent, "capacity": {RESOURCE: plain(capacity)}}
            for agent, capacity in zip(agents, capacities, strict=True)
        ],
        "workloads": [
            {
                "class": f"job{job}",
                "by_kind": {
                    agent: {"requests": {RESOURCE: plain(row[job])}} for agent, row in zip(agents, loads, strict=True)
                },
                "cost": {agent: plain(row[job]) for agent, row in zip(agents, costs, strict=True)},
            }
            for job in range(num_jobs)
        ],
    }
