"""Everything that a random document may have, by name, and what a goal needs of it."""

from __future__ import annotations

from collections.abc import Callable

from allocator.model.families import GoalId
from tests.oracle import change_features as changes
from tests.oracle import domain_features as domains
from tests.oracle import member_features as members
from tests.oracle.draft import Draft

__all__ = ["FEATURES", "NEEDED"]

FEATURES: dict[str, tuple[float, Callable[[Draft], bool | None]]] = {
    # name: (chance when no goal asks for it, what it adds); later ones may build on earlier ones
    "kinds": (0.3, domains.kinds),
    "modes": (0.25, members.modes),
    "host_capacity": (0.25, domains.host_capacity),
    "missing_capacity": (0.1, domains.missing_capacity),
    "slots": (0.15, domains.slots),
    "pool": (0.15, domains.pool),
    "labels": (0.1, members.labels),
    "taints": (0.1, members.taints),
    "within": (0.08, members.within),
    "capabilities": (0.08, members.capabilities),
    "work": (0.1, members.work),
    "team": (0.15, members.team),
    "pair": (0.1, members.flow("pair")),
    "spread_flow": (0.08, members.flow("spread")),
    "broadcast": (0.08, members.flow("broadcast")),
    "ring": (0.05, members.flow("ring")),
    "chain": (0.05, members.flow("chain")),
    "star": (0.05, members.flow("star")),
    "bandwidth": (0.3, domains.bandwidth),
    "oversubscription": (0.1, domains.oversubscription),
    "internal": (0.12, domains.internal),
    "uplink_weight": (0.1, domains.uplink_weight),
    "matrix": (0.1, domains.matrix),
    "current": (0.15, changes.current),
    "overfull": (0.06, changes.overfull),
    "transient": (0.1, changes.transient),
    "conflict": (0.12, members.conflict),
    "spread": (0.1, members.spread),
    "dependency": (0.1, members.dependency),
    "gang": (0.1, members.gang),
    "moves": (0.05, changes.moves),
    "move_limit": (0.08, changes.move_limit),
    "reserve": (0.08, domains.reserve),
    "power": (0.05, domains.power),
    "power_cap": (0.08, domains.power_cap),
    "safety": (0.1, domains.safety),
    "balance": (0.05, domains.balance),
    "cost": (0.1, members.cost),
    "node_weight": (0.1, domains.node_weight),
}

NEEDED: dict[GoalId, list[str]] = {
    GoalId.THROUGHPUT: ["work"],
    GoalId.FAIRNESS: ["work"],
    GoalId.TRAFFIC: ["team", "pair", "spread_flow", "broadcast", "ring"],
    GoalId.CONGESTION: ["team", "pair", "spread_flow", "broadcast", "star"],
    GoalId.OVERLOAD: ["safety"],
    GoalId.BALANCE: ["balance"],
    GoalId.MOVES: ["current"],
    GoalId.COST: ["cost"],
    GoalId.POWER: ["power"],
    GoalId.NODES: ["node_weight", "kinds"],
}
