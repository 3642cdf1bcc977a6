"""Every placement of a tiny instance, and which of them are feasible: integers only, one mask per family.

A placement is a row of option numbers, one column a member, 0 for unplaced. Shares stand at their least here: floors,
or what a response time needs beyond them. What is infeasible at the least shares is infeasible at any, and the least
shares with nothing granted are feasible.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from allocator.model.families import Family
from tests.oracle.response import least_shares, single_compute
from tests.oracle.tiny import UNPLACED, Member, Tiny, scaled

__all__ = [
    "TooMany",
    "Usage",
    "current_row",
    "draw",
    "drawn",
    "enumerate_placements",
    "feasibility",
    "loads",
    "power_driver",
]

LIMIT = 400_000
SAFE = 2**60


class TooMany(Exception):
    """More placements than the oracle is meant for, or more levels than its floats tell apart."""


class Usage:
    """What placements use. ``rows``: int64[P, members]; ``use``: int64[P, domain, resource], without transients.

    ``served``: count what response times need beyond the floors; ``least`` and ``met`` say what and whether that is
    possible. ``node_floors`` are the floors alone.
    """

    def __init__(self, tiny: Tiny, rows: np.ndarray, *, served: bool = False) -> None:
        self.tiny = tiny
        self.rows = rows
        num_nodes, num_resources = len(tiny.nodes), len(tiny.resources)
        table = np.zeros((len(tiny.options), num_nodes, num_resources), dtype=np.int64)
        for number, option in enumerate(tiny.options):
            if option.node >= 0:
                table[number, option.node] = option.floor
        assert int(table.max(initial=0)) * (rows.shape[1] + 1) < SAFE
        self.node_use = np.zeros((len(rows), num_nodes, num_resources), dtype=np.int64)
        for column in range(rows.shape[1]):
            self.node_use += table[rows[:, column]]
        self.node = np.array([option.node for option in tiny.options])[rows]  # int[P, members], -1 unplaced
        self.node_floors = self.node_use.copy()
        self.least, self.met = np.zeros(rows.shape, dtype=np.int64), np.ones(rows.shape, dtype=bool)
        if served:
            self.least, self.met = least_shares(tiny, rows, self.node)
            self._add_least()
        self.use = self.up(self.node_use)
        self.placed = rows != UNPLACED
        inside = np.vstack([tiny.inside.T, np.zeros(len(tiny.inside), dtype=bool)])  # the last row is node -1
        self.member_in = inside[self.node].transpose(0, 2, 1)  # bool[P, domain, member]
        self.node_members = np.stack([(self.node == n).sum(axis=1) for n in range(num_nodes)], axis=1)

    def in_zones(self, level: str, columns: list[int]) -> np.ndarray:
        """bool[P, zone, column]: whether the member stands in the zone of the level."""
        zones = self.tiny.zones(level)
        inside = np.vstack([zones.T, np.zeros(len(zones), dtype=bool)])  # the last row is node -1
        return inside[self.node[:, columns]].transpose(0, 2, 1)

    def _add_least(self) -> None:
        """Add what members need beyond their floors."""
        for column in np.flatnonzero(self.least.any(axis=0)):
            for number in np.unique(self.rows[:, column]):
                option = self.tiny.options[number]
                if option.node < 0:
                    continue
                r, _ = single_compute(self.tiny, option)
                mine = self.rows[:, column] == number
                self.node_use[mine, option.node, r] += np.maximum(0, self.least[mine, column] - option.floor[r])

    def up(self, by_node: np.ndarray) -> np.ndarray:
        """Sums over the nodes of every domain, from [P, node, resource] to [P, domain, resource]."""
        return np.einsum("dn,pnr->pdr", self.tiny.inside.astype(np.int64), by_node)

    def left(self) -> np.ndarray:
        """bool[P, members]: the member ran somewhere and no longer runs on that node."""
        old = np.array([-2 if member.old is None else member.old[1] for member in self.tiny.members])
        return (old != -2) & (self.node != old)

    def counted(self) -> np.ndarray:
        """Use that counts against capacities: with what leaving members still hold of transient resources (8)."""
        tiny = self.tiny
        extra = np.zeros_like(self.node_use)
        transient = [tiny.instance.resources[name].transient for name in tiny.resources]
        if tiny.holds(Family.TRANSIENT) and any(transient):
            left = self.left()
            for column, member in enumerate(tiny.members):
                if member.old is not None:
                    held = np.where(transient, old_floor(tiny, member), 0)
                    extra[:, member.old[1]] += left[:, column, None] * held
        return self.use + self.up(extra)


def old_floor(tiny: Tiny, member: Member) -> tuple[int, ...]:
    """Floors of a member where it runs now."""
    assert member.old is not None
    mode, node = member.old
    return tiny.floor_of(member.workload.modes[mode].demand(str(tiny.nodes[node].kind)))


def enumerate_placements(tiny: Tiny, *, prune: bool = True, limit: int = LIMIT) -> np.ndarray:
    """All placements, one for each set that differs by swapping exchangeable members alone.

    ``prune``: leave out early what already exceeds a capacity at its floors, splits a team or gang, or leaves out a
    member that must be placed.
    """
    rows = np.zeros((1, 0), dtype=np.int64)
    may_leave_out = tiny.model.may_leave_out or not tiny.holds(Family.ASSIGNMENT)
    for column, member in enumerate(tiny.members):
        mine = tiny.options_of[member.workload.index]
        choices = np.array([UNPLACED, *mine] if may_leave_out or not prune else mine, dtype=np.int64)
        if len(rows) * len(choices) > 20 * limit:
            raise TooMany(f"{len(rows) * len(choices)} partial placements")
        rows = np.hstack([np.repeat(rows, len(choices), axis=0), np.tile(choices, len(rows))[:, None]])
        before = column - 1
        if before >= 0 and member.exchangeable:
            twin = tiny.members[before]
            if twin.exchangeable and twin.workload is member.workload:
                rows = rows[rows[:, before] <= rows[:, column]]
        if prune and len(rows):
            rows = rows[_fits(tiny, rows) & _whole(tiny, rows)]
    if len(rows) > limit:
        raise TooMany(f"{len(rows)} placements")
    return rows


def _fits(tiny: Tiny, rows: np.ndarray) -> np.ndarray:
    """Capacities at the floors of a partial placement, overfull starts forgiven: necessary, cheap, monotone."""
    keep = np.ones(len(rows), dtype=bool)
    if not tiny.holds(Family.CAPACITY):
        return keep
    use, now = Usage(tiny, rows).use, Usage(tiny, current_row(tiny)).use[0]
    for domain in tiny.instance.domains:
        for r, name in enumerate(tiny.resources):
            if name in domain.capacity and name != "power" and not (domain.is_node and tiny.pool_above(domain, name)):
                limit = max(domain.capacity[name], int(now[domain.index, r]))
                keep &= use[:, domain.index, r] <= limit
    return keep


def _whole(tiny: Tiny, rows: np.ndarray) -> np.ndarray:
    """Teams and gangs are placed whole or not at all, in the columns that exist so far."""
    keep = np.ones(len(rows), dtype=bool)
    members = tiny.members[: rows.shape[1]]
    for bundle in ("team", "gang"):
        for number in {getattr(member, bundle) for member in members} - {None}:
            columns = [c for c, member in enumerate(members) if getattr(member, bundle) == number]
            count = (rows[:, columns] != UNPLACED).sum(axis=1)
            keep &= (count == 0) | (count == len(columns))
    return keep


def feasibility(usage: Usage) -> dict[Family, np.ndarray]:
    """One mask of placements by family: bool[P], True where the family holds."""
    tiny, instance = usage.tiny, usage.tiny.instance
    everything = np.ones(len(usage.rows), dtype=bool)
    masks = {}
    if tiny.holds(Family.ASSIGNMENT):
        masks[Family.ASSIGNMENT] = _whole(tiny, usage.rows)
        if not tiny.model.may_leave_out:
            masks[Family.ASSIGNMENT] &= usage.placed.all(axis=1)
    if tiny.holds(Family.CAPACITY):
        masks[Family.CAPACITY] = _capacity(usage)
    if tiny.holds(Family.POOL) and any(domain.pool for domain in instance.domains):
        masks[Family.POOL] = _pools(usage)
    if tiny.holds(Family.CONFLICT) and instance.conflicts:
        mask = everything.copy()
        for rule in instance.conflicts:
            inside = usage.in_zones(rule.level, tiny.group(rule.group)).sum(axis=2)
            mask &= (inside <= rule.at_most).all(axis=1)
        masks[Family.CONFLICT] = mask
    if tiny.holds(Family.SPREAD) and instance.spreads:
        mask = everything.copy()
        for rule in instance.spreads:
            inside = usage.in_zones(rule.level, tiny.group(rule.group))  # whoever is outside does not count
            mask &= inside.any(axis=2).sum(axis=1) >= np.minimum(rule.at_least, inside.any(axis=1).sum(axis=1))
        masks[Family.SPREAD] = mask
    if tiny.holds(Family.DEPENDENCY) and instance.dependencies:
        mask = everything.copy()
        for rule in instance.dependencies:
            here = usage.in_zones(rule.level, tiny.group(rule.group)).any(axis=2)
            there = usage.in_zones(rule.level, tiny.group(rule.on)).any(axis=2)
            mask &= (~here | there).all(axis=1)
        masks[Family.DEPENDENCY] = mask
    if tiny.holds(Family.GANG) and any(member.gang is not None for member in tiny.members):
        masks[Family.GANG] = _gangs(usage)
    if tiny.holds(Family.MOVE_LIMIT) and instance.moves is not None:
        masks[Family.MOVE_LIMIT] = _move_limit(usage)
    if tiny.holds(Family.RESERVE) and instance.reserves:
        masks[Family.RESERVE] = _reserve(usage)
    if tiny.holds(Family.LINK_LOAD) and instance.link_load is not None:
        masks[Family.LINK_LOAD] = _link_load(usage, instance.link_load)
    if not usage.met.all():
        masks[Family.SLO] = usage.met.all(axis=1)
    return masks


def loads(usage: Usage) -> tuple[np.ndarray, np.ndarray, int]:
    """Offered load up and down every domain's uplink: two int64[P, domain] over one denominator."""
    tiny = usage.tiny
    pairs = tiny.pair_rates()
    numbers, denominator = scaled(pairs.values())
    up = np.zeros(usage.member_in.shape[:2], dtype=np.int64)
    down = np.zeros_like(up)
    assert sum(numbers) < 2**60
    for (i, j), rate in zip(pairs, numbers, strict=True):
        source, target = usage.member_in[:, :, i], usage.member_in[:, :, j]
        up += rate * (source & ~target & usage.placed[:, None, j])
        down += rate * (target & ~source & usage.placed[:, None, i])
    return up, down, denominator


def _link_load(usage: Usage, part: Fraction) -> np.ndarray:
    """Equation (29)."""
    mask = np.ones(len(usage.rows), dtype=bool)
    up, down, denominator = loads(usage)
    for domain in usage.tiny.instance.domains:
        if domain.uplink is not None and domain.uplink.bandwidth is not None:
            most = math.floor(part * domain.uplink.bandwidth * denominator)
            mask &= (up[:, domain.index] <= most) & (down[:, domain.index] <= most)
    return mask


def _capacity(usage: Usage) -> np.ndarray:
    """Equations (4) and (12) with overfull starts; a node under a pool has no limit of its own (5)."""
    tiny = usage.tiny
    mask = np.ones(len(usage.rows), dtype=bool)
    counted = usage.counted()
    watts, denominator = draw(usage)
    before = Usage(tiny, current_row(tiny))
    watts_now = draw(before)[0][0]
    for domain in tiny.instance.domains:
        overfull = False
        below = tiny.inside[domain.index]
        for r, name in enumerate(tiny.resources):
            if name not in domain.capacity or (domain.is_node and tiny.pool_above(domain, name) is not None):
                continue
            limit, now = domain.capacity[name], int(before.use[0, domain.index, r])
            used = counted[:, domain.index, r]
            if name == "power":  # all in watts over the denominators of draw and unit
                (unit,), common = scaled([tiny.unit[r]])
                limit, now = limit * unit * denominator, now * unit * denominator
                now += int(watts_now[below].sum()) * common
                used = used * unit * denominator + watts[:, below].sum(axis=1) * common
            mask &= used <= max(limit, now)
            overfull |= now > limit
        if overfull:
            mask &= ~enters(usage, domain.index)
    return mask


def current_row(tiny: Tiny) -> np.ndarray:
    """The current placement as a row of its own, where its options exist at all."""
    return np.array([[tiny.option_now(member) for member in tiny.members]], dtype=np.int64)


def draw(usage: Usage) -> tuple[np.ndarray, int]:
    """Watts of every node at the least shares: (int64[P, node], denominator). Equation (12)."""
    tiny = usage.tiny
    exact = [Fraction(0)] * (2 * len(tiny.nodes))
    drivers = []
    for n, node in enumerate(tiny.nodes):
        driver = power_driver(tiny, n)
        drivers.append(driver)
        if node.power is not None:
            exact[2 * n] = node.power.idle
            if driver is not None:
                exact[2 * n + 1] = (node.power.busy - node.power.idle) / node.capacity[tiny.resources[driver]]
    numbers, denominator = scaled(exact)
    watts = np.zeros((len(usage.rows), len(tiny.nodes)), dtype=np.int64)
    for n, driver in enumerate(drivers):
        watts[:, n] = numbers[2 * n] * (usage.node_members[:, n] > 0)
        if driver is not None:
            watts[:, n] += numbers[2 * n + 1] * usage.node_use[:, n, driver]
    assert int(np.abs(watts).max(initial=0)) < SAFE
    return watts, denominator


def power_driver(tiny: Tiny, node: int) -> int | None:
    """The first compute resource with a positive capacity at the node."""
    return next(
        (
            r
            for r, name in enumerate(tiny.resources)
            if tiny.instance.resources[name].role == "compute" and tiny.nodes[node].capacity.get(name, 0) > 0
        ),
        None,
    )


def _pools(usage: Usage) -> np.ndarray:
    """Equation (5), on the use that counts, with overfull starts."""
    tiny = usage.tiny
    mask = np.ones(len(usage.rows), dtype=bool)
    counted, before = usage.counted(), Usage(tiny, current_row(tiny)).use
    for domain in tiny.instance.domains:
        for name, pool in domain.pool.items():
            r = tiny.resources.index(name)
            now = int(drawn(tiny, before, domain.index, r)[0])
            mask &= drawn(tiny, counted, domain.index, r) <= max(pool, now)
            if now > pool:
                mask &= ~enters(usage, domain.index)
    return mask


def drawn(tiny: Tiny, use: np.ndarray, pool: int, r: int) -> np.ndarray:
    """What the nodes under a pool use beyond their own, from int64[P, domain, resource]."""
    total = np.zeros(len(use), dtype=np.int64)
    for n, node in enumerate(tiny.nodes):
        if tiny.inside[pool, n]:
            total += np.maximum(0, use[:, node.index, r] - node.capacity.get(tiny.resources[r], 0))
    return total


def enters(usage: Usage, domain: int) -> np.ndarray:
    """bool[P]: some member stands below the domain and did not before."""
    below = usage.tiny.inside[domain]
    stranger = np.array([m.old is None or not below[m.old[1]] for m in usage.tiny.members])
    entered: np.ndarray = (usage.member_in[:, domain] & stranger).any(axis=1)
    return entered


def _gangs(usage: Usage) -> np.ndarray:
    """Distinct nodes of one domain of the level, one mode."""
    tiny = usage.tiny
    mask = np.ones(len(usage.rows), dtype=bool)
    modes = np.array([option.mode for option in tiny.options])[usage.rows]
    for number in {member.gang for member in tiny.members} - {None}:
        columns = [c for c, member in enumerate(tiny.members) if member.gang == number]
        rule = tiny.members[columns[0]].workload.placement.gang
        assert rule is not None
        nodes = np.sort(usage.node[:, columns], axis=1)
        distinct = (np.diff(nodes, axis=1) > 0).all(axis=1)
        together = usage.member_in[:, :, columns].all(axis=2)[:, tiny.level(rule.level)].any(axis=1)
        one_mode = (modes[:, columns] == modes[:, columns[:1]]).all(axis=1)
        mask &= (distinct & together & one_mode) | ~usage.placed[:, columns].any(axis=1)
    return mask


def _move_limit(usage: Usage) -> np.ndarray:
    tiny = usage.tiny
    moves = tiny.instance.moves
    assert moves is not None
    left = usage.left()
    mask = np.ones(len(usage.rows), dtype=bool)
    if moves.limit_members is not None:
        mask &= left.sum(axis=1) <= moves.limit_members
    if moves.limit_bytes is not None:
        r = tiny.resources.index("memory")
        size = np.array([0 if member.old is None else old_floor(tiny, member)[r] for member in tiny.members])
        mask &= (left * size).sum(axis=1) <= moves.limit_bytes
    return mask


def _reserve(usage: Usage) -> np.ndarray:
    """Equation (11)."""
    tiny = usage.tiny
    mask = np.ones(len(usage.rows), dtype=bool)
    kinds = {node.kind for node in tiny.nodes}
    for rule in tiny.instance.reserves:
        stated = [name for name in tiny.resources if any(name in node.capacity for node in tiny.nodes)]
        for d in tiny.level(rule.level):
            for name in rule.resources or stated:
                r = tiny.resources.index(name)
                for kind in kinds:
                    mine = [n for n, node in enumerate(tiny.nodes) if node.kind == kind]
                    within = [n for n in mine if tiny.inside[d, n]]
                    without = [n for n in mine if not tiny.inside[d, n] and name in tiny.nodes[n].capacity]
                    free = sum(tiny.nodes[n].capacity[name] for n in without)
                    free = free - usage.node_floors[:, without, r].sum(axis=1)
                    mask &= free >= usage.node_floors[:, within, r].sum(axis=1)
    return mask
