"""A first plan for throughput over links: restarts of a shift and swap descent, many candidates at once.

For instances whose only rules are eligibility and capacity. A candidate is worth what simple sharing completes: every
link grants all its flows one fraction, each node its compute by worth a unit. Works in float64: what it returns is a
proposal whose feasibility and value others judge exactly. Knows no solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.compiled.entities import Compiled
from allocator.instance.entities import Goodput, WorkloadClass
from allocator.model.families import Family, GoalId
from allocator.solvers.budget import Budget
from allocator.solvers.support import used_families

__all__ = ["propose_rates"]

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Counts = dict[tuple[int, int, int], int]

FAMILIES = {
    Family.ASSIGNMENT,
    Family.ELIGIBILITY,
    Family.SHARES,
    Family.CAPACITY,
    Family.FABRIC,
    Family.RATES,
    Family.SLO,
}
MAX_CELLS = 5_000_000  # of one round: candidates times links times members
SHARE_OF_TIME = 0.2
MOST_SECONDS = 12.0
IDLE_DESCENTS = 30
MOST_DESCENTS = 150
BATCH = 150
LARGEST_SET = 8  # of members that are moved at once
CLOSE = 0.5  # share of constructions that keep talkers close
SAME = 1e-9
LN_100 = math.log(100)


def propose_rates(compiled: Compiled, budget: Budget, seed: int) -> Counts | None:
    """Counts of a plan of high throughput, or None where the instance has other rules or none was found."""
    if not _within_reach(compiled):
        return None
    problem = _problem(compiled)
    if not problem.eligible.any(axis=1).all():
        return None
    members = len(problem.block)
    if members * (compiled.num_nodes + members // 2) * max(1, len(problem.inside)) * members > MAX_CELLS:
        return None
    share = budget.portion(SHARE_OF_TIME)
    if share.remaining() < float("inf"):  # else only counted work ends the search, so that it repeats itself
        share = share.at_most(MOST_SECONDS)
    placed = _search(problem, share, np.random.default_rng(seed))
    if placed is None:
        return None
    counts: Counts = {}
    for block, node in zip(problem.block, placed, strict=True):
        key = int(block), compiled.options_of(compiled.blocks[block].workload)[0], int(node)
        counts[key] = counts.get(key, 0) + 1
    return counts


def _within_reach(compiled: Compiled) -> bool:
    levels = compiled.model.levels
    return (
        bool(levels and compiled.num_nodes and (compiled.pairs or compiled.teams))
        and not compiled.groups
        and not compiled.model.may_leave_out
        and {goal.id for goal in levels[0].goals} == {GoalId.THROUGHPUT}
        and used_families(compiled.instance, compiled.model) <= FAMILIES
        and not compiled.overfull.any()
        and all(limit is None for limit in compiled.power_limit)
        and all(len(compiled.options_of(b.workload)) == 1 for b in compiled.blocks)
    )


@dataclass(frozen=True)
class _Problem:
    """n members, m nodes, E links, R resources, F flows between two members, T teams.

    ``floor[n, m, R]``, ``room[m, R]`` (inf: no limit); ``speed[n, m]`` most tasks/s, ``need[n, m]`` of resource
    ``compute`` a task/s; ``inside[E, m]`` and ``of_team[n, T]`` 0 or 1, ``capacity[E]``; ``order``: best use first.
    ``talking[n]``: number of the set of members tied by flows; ``areas[A, m]``: the domains above the nodes.
    """

    block: Int
    eligible: npt.NDArray[np.bool_]
    floor: Float
    room: Float
    upper: tuple[tuple[Float, int, float], ...]  # (nodes inside, resource, limit) of the domains above the nodes
    compute: int
    need: Float
    speed: Float
    offered: Float
    worth: Float
    inside: Float
    capacity: Float
    curves: tuple[Goodput, ...]
    source: Int
    target: Int
    rate: Float
    of_team: Float
    team_rate: Float
    order: tuple[int, ...]
    talking: Int
    areas: npt.NDArray[np.bool_]

    def loads(self, placed: Int) -> _Loads:
        """What every candidate offers: per link and direction, and which flows cross it."""
        here = self.inside[:, placed].transpose(1, 0, 2)  # K, E, n
        leaving = here[:, :, self.source] * (1 - here[:, :, self.target])
        entering = here[:, :, self.target] * (1 - here[:, :, self.source])
        count = here @ self.of_team  # K, E, T
        teams = count * (self.of_team.sum(axis=0) - count) * self.team_rate
        up = leaving @ self.rate + teams.sum(axis=2)
        down = entering @ self.rate + teams.sum(axis=2)
        return _Loads(leaving, entering, teams, self._carried(up), self._carried(down))

    def _carried(self, load: Float) -> Float:
        carried = np.empty_like(load)
        for link, curve in enumerate(self.curves):
            carried[:, link] = self.capacity[link] * _phi(curve, load[:, link] / self.capacity[link])
        return carried

    def granted(self, loads: _Loads, useful: Float) -> Float:
        """float64[K, n]: fraction granted to the flows of each member, who can use ``useful``; one share a link."""
        theta = np.ones_like(useful)
        of_flow = np.maximum(useful[:, self.source], useful[:, self.target])
        in_team = np.where(self.of_team > 0, useful[:, :, None], 0.0).max(axis=1)
        shares = []
        for crossing, carried in ((loads.leaving, loads.up), (loads.entering, loads.down)):
            asked = (crossing * (of_flow * self.rate)[:, None, :]).sum(axis=2)
            asked += (loads.teams * in_team[:, None, :]).sum(axis=2)
            shares.append(np.minimum(1.0, np.where(asked > 0, carried / np.maximum(asked, 1e-30), 1.0)))
        if len(self.source):
            up = np.where(loads.leaving > 0, shares[0][:, :, None], 1.0).min(axis=1, initial=1.0)
            down = np.where(loads.entering > 0, shares[1][:, :, None], 1.0).min(axis=1, initial=1.0)
            worst = np.minimum(up, down) * of_flow
            for flow in range(len(self.source)):
                for end in (self.source[flow], self.target[flow]):
                    theta[:, end] = np.minimum(theta[:, end], worst[:, flow])
        both = np.minimum(*shares)
        least = np.where(loads.teams > 0, both[:, :, None], 1.0).min(axis=1, initial=1.0) * in_team
        for team in range(len(self.team_rate)):
            members = self.of_team[:, team] > 0
            theta[:, members] = np.minimum(theta[:, members], least[:, team, None])
        return theta

    def values(self, placed: Int) -> Float:
        """float64[K]: worth completed a second by simple sharing; placements that do not fit count below zero."""
        num = len(placed)
        everyone = np.arange(placed.shape[1])
        rows = np.arange(num)[:, None]
        use = np.zeros((num, *self.room.shape))
        np.add.at(use, (rows, placed), self.floor[everyone, placed])
        over = np.maximum(0.0, use - self.room).sum(axis=(1, 2))
        for nodes, resource, limit in self.upper:
            over += np.maximum(0.0, use[:, :, resource] @ nodes - limit)
        fits = self.eligible[everyone, placed].all(axis=1)
        value: Float = np.where(fits & (over <= SAME), 0.0, -1.0 - over - 1e6 * ~fits)
        (good,) = np.nonzero(value == 0.0)
        if len(good):
            value[good] = self._completed(placed[good], use[good])
        return value

    def _completed(self, placed: Int, use: Float) -> Float:
        everyone = np.arange(placed.shape[1])
        need, speed = self.need[everyone, placed], self.speed[everyone, placed]
        floors = self.floor[everyone, placed, self.compute]
        room = np.maximum(0.0, self.room[:, self.compute] - use[:, :, self.compute])
        loads = self.loads(placed)
        at = np.arange(len(placed))
        useful = np.minimum(1.0, speed / np.maximum(self.offered, 1e-30))
        best = np.zeros(len(placed))
        for _ in range(2):  # what compute keeps from being used is granted to others
            wanted = need * np.minimum(speed, self.offered * self.granted(loads, useful))
            left = room.copy()
            total = np.zeros(len(placed))
            for i in self.order:
                more = np.minimum(np.maximum(0.0, wanted[:, i] - floors[:, i]), left[at, placed[:, i]])
                left[at, placed[:, i]] -= more
                got = np.minimum(wanted[:, i], floors[:, i]) + more
                rate = np.where(need[:, i] > 0, got / np.maximum(need[:, i], 1e-30), speed[:, i])
                total += self.worth[i] * rate
                short = got < wanted[:, i] * (1 - SAME)
                useful[short, i] = (rate / max(self.offered[i], 1e-30))[short]
            best = np.maximum(best, total)
        return best


@dataclass(frozen=True)
class _Loads:
    """``leaving``, ``entering`` [K, E, F] 0 or 1; ``teams[K, E, T]`` offered each way; carried ``up`` and ``down``."""

    leaving: Float
    entering: Float
    teams: Float
    up: Float
    down: Float


def _phi(curve: Goodput, ratio: Float) -> Float:
    if curve.curve == "table":
        points = np.array([(0.0, 0.0), *((float(x), float(y)) for x, y in curve.points)])
        return np.asarray(np.interp(ratio, points[:, 0], points[:, 1]))
    if curve.curve == "knee":
        power = float(curve.p)
        low, above = np.minimum(ratio, 1.0), np.maximum(ratio, 1.0)
        rising = low / (1 + low**power) ** (1 / power)
        return np.asarray(np.where(ratio <= 1, rising, 1 / (1 + above**-power) ** (1 / power)))
    return np.minimum(ratio, 1.0)


def _problem(compiled: Compiled) -> _Problem:
    instance = compiled.instance
    block = np.array([b.index for b in compiled.blocks for _ in range(b.count)], dtype=np.int64)
    workload = np.array([compiled.blocks[b].workload for b in block], dtype=np.int64)
    options = np.array([compiled.options_of(int(w))[0] for w in workload], dtype=np.int64)
    floor = compiled.floor[options][:, compiled.node_kind].astype(np.float64)
    slowest = _slowest_path(compiled)
    limits = compiled.limit[compiled.node_domain].astype(np.float64)
    room = np.where(limits < 0, np.inf, limits)
    upper = []
    for domain in instance.domains:
        if domain.children:
            limits_here = compiled.limit[domain.index].tolist()
            inside = _nodes(compiled, domain.index)
            upper += [(inside, r, float(limit)) for r, limit in enumerate(limits_here) if limit >= 0]
    exponents = {name: instance.resources[name].exponent for name in compiled.resources}
    needs = np.zeros((len(compiled.resources), len(block), compiled.num_nodes))
    speed = np.zeros((len(block), compiled.num_nodes))
    for i, w in enumerate(workload.tolist()):
        stated = instance.workloads[w]
        for node in range(compiled.num_nodes):
            kind = compiled.kinds[int(compiled.node_kind[node])]
            fastest = Fraction(stated.rate)
            for name, each in stated.modes[0].demand(kind).work.compute.items():
                r = compiled.resources.index(name)
                floor[i, node, r] = max(floor[i, node, r], _least(stated, each, slowest) / 10.0 ** exponents[name])
                needs[r, i, node] = float(each / Fraction(10) ** instance.resources[name].exponent)
                if each > 0:
                    ceiling = compiled.ceiling_of(int(options[i]), node, r)
                    usable = min(Fraction(stated.parallel), ceiling * Fraction(10) ** instance.resources[name].exponent)
                    fastest = min(fastest, usable / each)
            speed[i, node] = float(fastest)
    compute = int(needs.sum(axis=(1, 2)).argmax())
    talking = _talking(compiled, block)
    worth = np.array([float(instance.workloads[int(w)].weight) for w in workload])
    links = [d for d in instance.domains[1:] if d.uplink is not None and d.uplink.bandwidth]
    return _Problem(
        block=block,
        eligible=compiled.eligible[options],
        floor=floor,
        room=room,
        upper=tuple(upper),
        compute=compute,
        need=needs[compute],
        speed=speed,
        offered=np.array([float(instance.workloads[int(w)].rate) for w in workload]),
        worth=worth,
        inside=np.array([_nodes(compiled, d.index) for d in links]).reshape(len(links), compiled.num_nodes),
        capacity=np.array([float(d.uplink.bandwidth or 1) for d in links if d.uplink is not None]),
        curves=tuple(d.uplink.goodput for d in links if d.uplink is not None),
        source=np.searchsorted(block, np.array([pair.source for pair in compiled.pairs], dtype=np.int64)),
        target=np.searchsorted(block, np.array([pair.target for pair in compiled.pairs], dtype=np.int64)),
        rate=np.array([float(pair.rate) for pair in compiled.pairs]),
        of_team=np.array([np.isin(block, team.blocks) for team in compiled.teams], dtype=np.float64)
        .reshape(len(compiled.teams), len(block))
        .T,
        team_rate=np.array([float(team.rate) for team in compiled.teams]),
        talking=talking,
        areas=np.array([_nodes(compiled, d.index) > 0 for d in instance.domains if d.children]),
        order=tuple(np.argsort(-worth / np.maximum(needs[compute].min(axis=1), 1e-30), kind="stable").tolist()),
    )


def _talking(compiled: Compiled, block: Int) -> Int:
    """Number of the set of each member: teams, and single members tied by pairs."""
    label = {int(each): int(each) for each in block}
    for team in compiled.teams:
        label.update(dict.fromkeys(team.blocks, team.blocks[0]))
    for pair in compiled.pairs:
        old, new = label[pair.source], label[pair.target]
        label = {key: new if value == old else value for key, value in label.items()}
    numbers = {value: at for at, value in enumerate(dict.fromkeys(label.values()))}
    return np.array([numbers[label[int(each)]] for each in block], dtype=np.int64)


def _slowest_path(compiled: Compiled) -> float:
    """Longest way between two nodes, s, one way."""
    depth = [Fraction(0)] * compiled.num_domains
    for domain in compiled.instance.domains[1:]:
        latency = Fraction(0) if domain.uplink is None else domain.uplink.latency
        depth[domain.index] = depth[domain.parent or 0] + latency
    return float(sum(sorted(depth[int(domain)] for domain in compiled.node_domain)[-2:]))


def _least(workload: WorkloadClass, work: Fraction, delay: float) -> float:
    """Compute that a target asks for over the slowest path, base units; 0 without a target."""
    target = None if workload.slo.p99 is None else float(workload.slo.p99)
    if target is None:
        return 0.0
    rate, each = float(workload.rate), float(work)
    room = target - delay if target > delay else target
    return each * max(1.01 * rate, rate + LN_100 / room) * (1 + SAME)


def _nodes(compiled: Compiled, domain: int) -> Float:
    inside = np.zeros(compiled.num_nodes)
    inside[int(compiled.first_node[domain]) : int(compiled.end_node[domain])] = 1.0
    return inside


def _search(problem: _Problem, budget: Budget, rng: np.random.Generator) -> Int | None:
    best: Int | None = None
    best_value, idle, number = 0.0, 0, 0
    while idle < IDLE_DESCENTS and number < MOST_DESCENTS and not (number and budget.exhausted):
        placed = _construct(problem, rng) if best is None or number % 5 == 0 else _shake(problem, best, rng)
        value = _descend(problem, placed, budget, rng)
        number, idle = number + 1, idle + 1
        if value > best_value * (1 + SAME):
            idle = 0
        if value >= best_value > 0 or value > best_value:  # equally good ones lead elsewhere
            best, best_value = placed.copy(), value
    return best


def _construct(problem: _Problem, rng: np.random.Generator) -> Int:
    """Everyone anywhere, or those who talk with each other in a domain of their own; then improved."""
    placed = np.zeros(len(problem.block), dtype=np.int64)
    close = rng.random() < CLOSE
    chosen = rng.integers(0, len(problem.areas), problem.talking.max(initial=0) + 1)
    for i, eligible in enumerate(problem.eligible):
        inside = eligible & problem.areas[chosen[problem.talking[i]]] if close else eligible
        placed[i] = rng.choice(np.nonzero(inside if inside.any() else eligible)[0])
    return placed


def _shake(problem: _Problem, best: Int, rng: np.random.Generator) -> Int:
    placed = best.copy()
    for i in rng.permutation(len(best))[: int(rng.integers(2, max(3, len(best) // 4) + 1))]:
        placed[i] = int(rng.choice(np.nonzero(problem.eligible[i])[0]))
    return placed


def _descend(problem: _Problem, placed: Int, budget: Budget, rng: np.random.Generator) -> float:
    """The best shift or swap of some, in place, until none of all improves; the value reached."""
    value = float(problem.values(placed[None])[0])
    while not budget.exhausted:
        candidates = _neighbours(problem, placed)
        candidates = candidates[rng.permutation(len(candidates))]
        for part in np.array_split(candidates, -(-len(candidates) // BATCH)):
            values = problem.values(part)
            found = int(values.argmax())
            if values[found] > value + SAME * abs(value):
                value = float(values[found])
                placed[:] = part[found]
                break
        else:
            return value
    return value


def _neighbours(problem: _Problem, placed: Int) -> Int:
    """int64[K, n]: one member elsewhere, two exchanged, or all that talk with each other on one node."""
    num_members, num_nodes = problem.eligible.shape
    shifts = np.repeat(placed[None], num_members * num_nodes, axis=0)
    who, where = np.divmod(np.arange(num_members * num_nodes), num_nodes)
    shifts[np.arange(len(shifts)), who] = where
    shifts = shifts[(where != placed[who]) & problem.eligible[who, where]]
    pairs = np.array(np.triu_indices(num_members, 1)).T
    apart = pairs[placed[pairs[:, 0]] != placed[pairs[:, 1]]]
    swaps = np.repeat(placed[None], len(apart), axis=0)
    rows = np.arange(len(apart))
    swaps[rows, apart[:, 0]], swaps[rows, apart[:, 1]] = placed[apart[:, 1]], placed[apart[:, 0]]
    sizes = np.bincount(problem.talking)
    sets = np.nonzero((sizes > 1) & (sizes <= LARGEST_SET))[0]
    together = np.repeat(placed[None], len(sets) * num_nodes, axis=0)
    for row, (number, node) in enumerate((number, node) for number in sets for node in range(num_nodes)):
        together[row, problem.talking == number] = node
    return np.vstack([shifts, swaps, together])
