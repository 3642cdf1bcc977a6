"""Teams of agents that settle insurance claims: 15 agents in 5 roles, all-to-all, by line of business.

Owns the family ``claims``; invented numbers. Cases arrive at each team at a rate; every case gives each role so many
tasks, which its members share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allocator.generate.cluster import cluster_of
from allocator.generate.documents import rack_entry, rounded
from allocator.generate.drafts import ARM, EITHER, X86, Draft, Parts, Sizes, entry_of
from allocator.generate.request import Request, apportion, around, between
from allocator.generate.sizing import scaled

__all__ = ["CLUSTER_NET", "claims", "claims_parts"]

TEAM = 15
LINES = ("motor", "home", "health", "liability", "travel", "life", "cyber", "freight")
# role: members of a team, cores, GiB, tasks a case, target, critical
ROLES = (
    ("intake", 5, 0.7, 3.0, 4, True, True),
    ("verifier", 4, 1.1, 5.0, 6, False, False),
    ("assessor", 3, 1.8, 8.0, 3, True, False),
    ("judge", 1, 3.0, 12.0, 1, True, True),
    ("drafter", 2, 1.5, 6.0, 2, False, False),
)
# class without a team: part of those agents, cores, GiB, tasks/s
ALONE = (("mailroom", 0.6, 0.4, 2.0, 5.0), ("archive", 0.3, 0.6, 10.0, 2.0), ("analyst", 0.1, 2.0, 8.0, 0.1))
IN_TEAMS = 0.96  # of the agents; the others fill what teams leave free
ARCHITECTURES = {"health": X86, "freight": X86, "cyber": ARM}  # where a family has both
MEMORY_LOAD = 0.9  # of the load of the CPU

CLUSTER_NET = {
    "node.uplink.bandwidth": "200 Gbit/s",
    "node.uplink.latency": "1 us",
    "sled.uplink.oversubscription": 6,
    "sled.uplink.latency": "2 us",
    "rack.uplink.oversubscription": 4,
    "rack.uplink.latency": "5 us",
}


def claims(request: Request) -> Mapping[str, Any]:
    """Document of the family ``claims``."""
    cluster = cluster_of(request.agents)
    parts = claims_parts(request, request.agents)
    num_nodes = cluster.num_sleds() * cluster.cpus
    cpu, memory = cluster.node("epyc-9965")
    sizes = Sizes(
        scaled([draft.cores for draft in parts.drafts], parts.counts, request.load * cpu * num_nodes),
        scaled([draft.memory for draft in parts.drafts], parts.counts, MEMORY_LOAD * request.load * memory * num_nodes),
        [0] * len(parts.drafts),
    )
    return {
        "format": "allocator/v1",
        "name": request.name,
        "model": "place-close",
        "topology": [rack_entry(cluster, "cpu-rack-384", {"epyc-9965": ""}, CLUSTER_NET)],
        "workloads": [entry_of(draft, sizes, index) for index, draft in enumerate(parts.drafts)],
        "teams": parts.teams,
    }


def claims_parts(request: Request, agents: int, *, both_architectures: bool = False) -> Parts:
    """Return classes and teams of so many agents. ``both_architectures``: some lines run on one of them only."""
    random = request.random("claims")
    num_teams = int(IN_TEAMS * agents) // TEAM
    lines = LINES[: max(1, min(len(LINES), num_teams // 2))]
    counts = apportion(num_teams, [between(random, 0.5, 2.0) for _ in lines])
    drafts: list[Draft] = []
    teams: list[dict[str, Any]] = []
    for line, count in zip(lines, counts, strict=True):
        size, cases = between(random, 0.6, 1.6), between(random, 0.2, 1.5)
        arch = ARCHITECTURES.get(line, EITHER) if both_architectures else EITHER
        arm = rounded(between(random, 0.9, 1.3), 2) if both_architectures and arch == EITHER else 1.0
        value = 2 if line in ("health", "life") else 1
        traffic = round(between(random, 20, 100))
        for role, members, cores, memory, tasks, target, critical in ROLES:
            drafts.append(
                Draft(
                    name=f"{line}-{role}",
                    count=count * members,
                    cores=around(random, cores * size, 0.15),
                    memory=around(random, memory * size, 0.25),
                    rate=rounded(cases * tasks / members, 2),
                    busy=around(random, 0.58, 0.2),
                    target=target,
                    critical=critical,
                    value=value,
                    arch=arch,
                    arm=arm,
                    heat=rounded(around(random, 2.0, 0.2), 1),
                )
            )
        if count:
            members_of = {f"{line}-{role}": members for role, members, *_ in ROLES}
            teams.append(
                {"team": line, "count": count, "members": members_of, "traffic": {"rate": f"{traffic} Mbit/s"}}
            )
    alone = apportion(agents - TEAM * num_teams, [part for _, part, *_ in ALONE])
    for (name, _, cores, memory, rate), count in zip(ALONE, alone, strict=True):
        drafts.append(Draft(name, count, around(random, cores, 0.15), around(random, memory, 0.25), rate=rate))
    return Parts([draft for draft in drafts if draft.count], teams)
