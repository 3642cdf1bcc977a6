"""Everything on one rack: claims teams, a production network, services, state stores, and models on accelerators.

Owns the family ``mixed``; invented numbers. Half of the CPUs are x86-64 and half Arm; sleds and racks have caps of
power and cooling; each rack stands beside a supernode whose accelerators serve the models that agents call.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from allocator.generate.claims import CLUSTER_NET, claims_parts
from allocator.generate.cluster import AGENTS_PER_RACK, Cluster, cluster_of
from allocator.generate.documents import rack_entry
from allocator.generate.drafts import ARM, ARM_KIND, X86, Draft, Parts, entry_of
from allocator.generate.halves import balanced
from allocator.generate.request import Request, apportion, around, between
from allocator.generate.twin import twin_parts

__all__ = ["mixed"]

X86_KIND = "epyc-9965"
SLEDS_OF = {X86_KIND: "x86-sled", ARM_KIND: "arm-sled"}
WATTS = {X86_KIND: (120, 500), ARM_KIND: (90, 350)}  # idle and busy, as in the catalog
CLAIMS, TWIN = 0.55, 0.25  # parts of the agents; the others are services and stores
ACCELERATORS = 64  # a supernode
GANG = 4  # accelerators of one replica of the large model
LARGE = 0.6  # of the accelerators in use
CALLS = (("judge", "large-model", 400), ("drafter", "large-model", 800), ("assessor", "small-model", 200))  # kbit/s
# name: part of the services, cores, GiB, tasks/s, architecture, Arm's CPU over x86-64's
SERVICES = (
    ("gateway", 0.20, 1.0, 2.0, 40.0, "either", 0.95),
    ("search", 0.10, 2.5, 10.0, 10.0, "either", 1.2),
    ("billing", 0.15, 0.8, 3.0, 5.0, X86, 1.0),
    ("mail", 0.15, 0.3, 1.5, 8.0, ARM, 1.0),
    ("documents", 0.20, 1.2, 5.0, 3.0, "either", 1.1),
    ("rules", 0.10, 1.5, 4.0, 20.0, "either", 1.0),
    ("batch", 0.10, 3.0, 8.0, 0.1, "either", 1.25),
)
STORES = (("case-store", 16.0), ("twin-store", 24.0), ("session-store", 8.0))  # GiB
STORE_CORES = 2.0
AGENTS_PER_STORE = 1000
SLED_ROOM = 0.5  # of what the load leaves free: use of a sled's CPUs that its power cap allows
RACK_ROOM = 0.4
COOLING_LOAD = 0.95  # of the load of the CPU


def mixed(request: Request) -> Mapping[str, Any]:
    """Document of the family ``mixed``."""
    cluster = cluster_of(request.agents, even_sleds=True)
    accelerators = _accelerators(request, cluster)
    serving = _serving(request, accelerators * cluster.racks)
    agents = request.agents - sum(serving.counts)
    on_claims, on_lines = int(CLAIMS * agents), int(TWIN * agents)
    claims = claims_parts(request, on_claims, both_architectures=True)
    twin = twin_parts(request, on_lines, both_architectures=True)
    parts = claims + twin + _plain(request, agents - on_claims - on_lines, cluster)
    sizes, heat = balanced(parts.drafts, request.load, cluster, (X86_KIND, ARM_KIND))
    names = {draft.name for draft in parts.drafts}
    calls = [
        {"from": f"{line['team']}-{role}", "to": model, "pattern": "spread", "rate": f"{kilobits} kbit/s"}
        for line in claims.teams
        for role, model, kilobits in CALLS
        if f"{line['team']}-{role}" in names and any(draft.name == model for draft in serving.drafts)
    ]
    entries = [entry_of(draft, sizes, index) for index, draft in enumerate(parts.drafts)]
    entries += [entry_of(draft, sizes, -1) for draft in serving.drafts]
    return {
        "format": "allocator/v1",
        "name": request.name,
        "model": "place-close",
        "topology": [_racks(request, cluster, heat), _supernodes(cluster, accelerators)],
        "workloads": entries,
        "teams": parts.teams,
        "flows": [*parts.flows, *calls],
    }


def _racks(request: Request, cluster: Cluster, heat: Mapping[str, float]) -> dict[str, Any]:
    """Racks with caps: on power somewhat above the draw at the load, on cooling (mW) so that it is not the scarcest."""
    caps: dict[str, Any] = {}
    half = cluster.sleds // 2
    watts = cooling = 0
    for kind, sled in SLEDS_OF.items():
        idle, busy = WATTS[kind]

        def draw(room: float, nodes: int, idle: int = idle, busy: int = busy) -> int:
            use = min(1.0, request.load + room * max(0.0, 1 - request.load))
            return math.ceil(nodes * (idle + (busy - idle) * use))

        watts += draw(RACK_ROOM, cluster.cpus * half)
        each = math.ceil(heat[kind] / (COOLING_LOAD * request.load) / cluster.num_sleds(0.5) / 1000)  # W
        cooling += each * half
        caps[f"{sled}.capacity.power"] = f"{draw(SLED_ROOM, cluster.cpus)} W"
        caps[f"{sled}.capacity.cooling"] = f"{each} W"
    caps["rack.capacity.power"] = f"{watts} W"
    caps["rack.capacity.cooling"] = f"{cooling} W"
    return rack_entry(cluster, "cpu-rack-384-mixed", SLEDS_OF, {**CLUSTER_NET, **caps})


def _supernodes(cluster: Cluster, accelerators: int) -> dict[str, Any]:
    overrides = {"node.count": accelerators, "node.uplink.latency": "1 us", "supernode.uplink.latency": "5 us"}
    return {"profile": "supernode-64", "name": "super", "count": cluster.racks, "set": overrides}


def _accelerators(request: Request, cluster: Cluster) -> int:
    """Accelerators of a supernode: 64 beside a full rack, in proportion beside a slice, whole gangs."""
    part = request.agents / cluster.racks / AGENTS_PER_RACK
    return max(GANG, min(ACCELERATORS, GANG * math.ceil(ACCELERATORS * part / GANG)))


def _serving(request: Request, accelerators: int) -> Parts:
    """Models on accelerators: gangs of the large one, single ones of the small; together the load or just below."""
    used = int(request.load * accelerators)
    large = int(LARGE * used) // GANG * GANG
    calls = {"rate": "40/s", "accelerator": "15 ms"}
    drafts = [
        Draft("large-model", large, fixed={
            "requests": {"accelerator": 1, "hbm": "56 GiB"}, "limits": {"accelerator": 1}, "work": calls,
            "placement": {"gang": {"size": GANG, "level": "supernode"}},
        }),
        Draft("small-model", used - large, fixed={
            "requests": {"accelerator": 1, "hbm": "24 GiB"}, "limits": {"accelerator": 1}, "work": calls,
        }),
    ]  # fmt: skip
    return Parts([draft for draft in drafts if draft.count])


def _plain(request: Request, agents: int, cluster: Cluster) -> Parts:
    """Services without traffic, and replicated stores spread over sleds."""
    random = request.random("services")
    replicas = max(3, min(cluster.num_sleds() // 2, request.agents // AGENTS_PER_STORE))
    spread = min(replicas, max(2, replicas * 3 // 4))
    stores = [
        Draft(
            name,
            replicas,
            cores=around(random, STORE_CORES, 0.2),
            memory=around(random, memory, 0.2),
            rate=50.0,
            target=True,
            value=2,
            arm=1.1,
            placement={
                "spread": {"level": "sled", "at_least": spread},
                "conflict": {"level": "node", "at_most": 1},
            },
        )
        for name, memory in STORES
    ]
    counts = apportion(agents - replicas * len(stores), [part for _, part, *_ in SERVICES])
    services = [
        Draft(
            name,
            count,
            cores=around(random, cores * between(random, 0.8, 1.25), 0.1),
            memory=around(random, memory, 0.25),
            rate=rate,
            busy=around(random, 0.55, 0.2),
            target=name in ("gateway", "rules"),
            critical=name == "gateway",
            arch=arch,
            arm=arm,
        )
        for (name, _, cores, memory, rate, arch, arm), count in zip(SERVICES, counts, strict=True)
    ]
    return Parts([draft for draft in (*services, *stores) if draft.count])
