"""Rows for rates: what the members in a domain complete, below the concave envelope of what its patterns allow.

R_d - sum_s mu_s S_d,s <= gamma, R_d the objective's part in domain d and S_d,s the clusters in state s there: valid
when gamma >= v_p - sum_s mu_s p_s for every pattern p (``contents``). mu is the dual of the envelope at the mean
point of the relaxation over alike domains; one row for each of them. Owns the rounds; docs: linearization.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import highspy
import numpy as np
import numpy.typing as npt

from allocator.instance.entities import Domain
from allocator.model.families import Family, GoalId
from allocator.solvers.budget import Budget
from allocator.solvers.milp.build import LevelObjective
from allocator.solvers.milp.fabric.contents import MARGIN, Link, Member, Patterns, State, enumerate_patterns
from allocator.solvers.milp.fabric.node_sets import prices_of_members, values_by_size
from allocator.solvers.milp.fabric.room import domain_room
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.rows import Rows
from allocator.solvers.milp.terms import Terms

__all__ = ["add_envelopes"]

MOST_PATTERNS = 20_000
MOST_STATES = 40
MOST_NUMBERS = 250_000  # patterns times states
MOST_MEMBERS = 100
MOST_CELLS = 20_000_000  # domains times states times columns
ROOT_MARGIN = 1e-6  # relative: what the tolerances of a continuous program may take from its value

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Cluster:
    """``states``: its members by state; ``terms(domain)``: which of them it is in, or None where that is not stated."""

    key: Any
    states: tuple[State, ...]
    blocks: tuple[int, ...]
    team: int = -1


@dataclass(frozen=True)
class _Alike:
    """Domains that can hold the same patterns: for each the columns of its rates and of every state."""

    patterns: Patterns
    rates: Float  # [domains, columns]
    states: Float  # [domains, states, columns]

    @property
    def scale(self) -> float:
        """The most that any pattern completes."""
        return float(self.patterns.most.max(initial=0.0)) or 1.0


def add_envelopes(
    form: Formulation, matrix: Matrix, run: HighsRun, objective: LevelObjective, index: int, *, budget: Budget
) -> float | None:
    """Add the rows that tighten the relaxation of a level of throughput, where everyone must be placed.

    Returns the scaled objective of a relaxation that they hold in, a bound, where one was solved. Raises
    ``BudgetExhausted``.
    """
    if {goal.id for goal in objective.level.goals} != {GoalId.THROUGHPUT} or form.compiled.model.may_leave_out:
        return None
    if form.ignores(Family.RATES) or not form.cache.get("rates"):
        return None
    added = _add_node_sets(form, run, budget)
    groups = list(_alike(form, matrix))
    if not added and not groups:
        return None
    relaxed = run.relaxation()
    firsts = [_extend(relaxed, group) for group in groups]
    budget.check()
    solved = _solve(relaxed, matrix.objectives[index], budget)
    if solved is None:
        return None
    duals, value = solved
    found = Rows()
    for group, first in zip(groups, firsts, strict=True):
        _cut(group, duals[first : first + group.states.shape[1] + 2], found)
    found.add_to(run)
    return value + ROOT_MARGIN * (1.0 + abs(value))


def _add_node_sets(form: Formulation, run: HighsRun, budget: Budget) -> bool:
    """Rows by sets of members on nodes, where these are few enough; whether there are any."""
    compiled = form.compiled
    block_of = np.array([block.index for block in compiled.blocks for _ in range(block.count)], dtype=np.int64)
    if len(block_of) > MOST_MEMBERS:
        return False
    rates = np.zeros((len(block_of), len(block_of)))
    for pair in compiled.pairs:
        rates[block_of == pair.source, block_of == pair.target] += float(pair.rate)
    for team in compiled.teams:
        inside = np.isin(block_of, team.blocks)
        rates += float(team.rate) * np.outer(inside, inside)
    np.fill_diagonal(rates, 0.0)
    whole = not any(group.rate for group in compiled.groups)
    groups, nodes = [], []
    for (limits, kinds, link), domains in _sets_of_domains(form).items():
        if not domains[0].is_node:
            continue
        members = [_member(form, int(block), kinds) for block in block_of]
        pipe = None if link is None or form.ignores(Family.FABRIC) else Link(float(link[0]), link[1], whole)
        made = values_by_size(members, rates, limits, pipe, len(domains))
        if made is None:
            return False
        budget.check()
        groups.append(made)
        nodes.append(domains)
    if sum(len(each) for each in nodes) != compiled.num_nodes:
        return False
    prices = prices_of_members(len(block_of), groups, budget)
    if prices is None:
        return False
    of_block = np.bincount(block_of, weights=prices) / np.bincount(block_of)  # members of a block share a variable
    found = Rows()
    for group, domains in zip(groups, nodes, strict=True):
        scale = max(float(values.max(initial=0.0)) for values in group.values) if group.values else 0.0
        each = np.round(of_block / (scale or 1.0), 6) * (scale or 1.0)
        price = each[block_of]
        sizes = zip(group.members, group.values, strict=True)
        bound = max([0.0, *(float((values - price[sets].sum(axis=1)).max()) for sets, values in sizes)])
        bound += MARGIN * (scale + float(np.abs(price).max(initial=0.0)) * len(group.values))
        for domain in domains:
            row: dict[int, float] = {}
            for entry in form.on_node[domain.first_node]:
                row[entry.variable.column] = -float(each[entry.block])
                rate = form.cache["rates"].get((entry.block, entry.option, entry.node))
                if rate is not None:
                    workload = compiled.instance.workloads[compiled.blocks[entry.block].workload]
                    row[rate.column] = float(workload.weight)
            found.add([(column, coef) for column, coef in row.items() if coef], bound)
    found.add_to(run)
    return len(found) > 0


def _extend(relaxed: HighsRun, group: _Alike) -> int:
    """Add a weight for each pattern, and the rows that make a mixture of them of what the domains hold in sum."""
    counts, most = group.patterns.counts, group.patterns.most
    num_patterns, num_states = counts.shape
    start = relaxed.solver.getNumCol()
    first: int = relaxed.solver.getNumRow()
    starts, empty = np.zeros(num_patterns, dtype=np.int32), np.zeros(0, dtype=np.int32)
    ones = np.full(num_patterns, float(len(group.rates)))
    relaxed.solver.addCols(num_patterns, np.zeros(num_patterns), 0 * ones, ones, 0, starts, empty, np.zeros(0))
    rows = Rows()
    for state in range(num_states):
        total = group.states[:, state].sum(axis=0)
        (here,) = np.nonzero(total)
        (among,) = np.nonzero(counts[:, state])
        terms = [(int(column), float(total[column])) for column in here]
        rows.add([*terms, *((start + int(p), -float(counts[p, state])) for p in among)], 0.0, 0.0)
    rows.add([(start + p, 1.0) for p in range(num_patterns)], float(len(group.rates)), float(len(group.rates)))
    total = group.rates.sum(axis=0)
    (here,) = np.nonzero(total)
    scale = group.scale
    terms = [(int(column), float(total[column]) / scale) for column in here]
    rows.add([*terms, *((start + int(p), -float(most[p]) / scale) for p in np.nonzero(most)[0])], 0.0)
    rows.add_to(relaxed)
    return first


def _solve(relaxed: HighsRun, cost: Float, budget: Budget) -> tuple[Float, float] | None:
    """Duals and value of the largest objective, or None."""
    solver = relaxed.solver
    if budget.remaining() < float("inf"):
        solver.setOptionValue("time_limit", solver.getRunTime() + budget.remaining())
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    solver.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return np.array(solver.getSolution().row_dual), float(solver.getInfo().objective_function_value)


def _cut(group: _Alike, duals: Float, rows: Rows) -> None:
    """The row of these duals for each of the domains, from a bound over all patterns: valid whatever the duals are."""
    counts, most = group.patterns.counts, group.patterns.most
    price, share = duals[:-2], max(0.0, float(duals[-1])) / group.scale
    largest = max(float(np.abs(price).max(initial=0.0)), share)
    if largest <= 0:
        return
    price, share = np.round(price / largest, 9), round(share / largest, 9)
    value = share * most + counts @ price
    bound = float(value.max())
    bound += MARGIN * float((share * most + counts @ np.abs(price)).max())
    for rates, states in zip(group.rates, group.states, strict=True):
        row = share * rates + price @ states
        (used,) = np.nonzero(row)
        rows.add([(int(column), float(row[column])) for column in used], bound)


def _alike(form: Formulation, matrix: Matrix) -> Iterator[_Alike]:
    """Domains in sets that can hold the same."""
    compiled = form.compiled
    weights = [float(compiled.instance.workloads[block.workload].weight) for block in compiled.blocks]
    for (limits, kinds, link), domains in _sets_of_domains(form).items():
        made = _clusters(form, domains, kinds, limited=link is not None)
        if made is None:
            continue
        clusters, whole = made
        states, places = _states(clusters)
        if len(states) > MOST_STATES:
            continue
        pipe = None if link is None else Link(float(link[0]), link[1], whole)
        patterns = enumerate_patterns(states, limits, pipe, limit=MOST_PATTERNS)
        if patterns is None or patterns.counts.size > MOST_NUMBERS:
            continue
        num = len(matrix.column_lower)
        if len(domains) * len(states) * num > MOST_CELLS:
            continue
        rates = np.zeros((len(domains), num))
        held = np.zeros((len(domains), len(states), num))
        for at, domain in enumerate(domains):
            low, high = int(compiled.first_node[domain.index]), int(compiled.end_node[domain.index])
            for (block, _, node), variable in form.cache["rates"].items():
                if low <= node < high:
                    rates[at, variable.column] = weights[block]
            for cluster, columns in zip(clusters, places, strict=True):
                for column, terms in zip(columns, _terms(form, cluster, domain.index), strict=True):
                    for coef, variable in zip(terms.coefs, terms.variables, strict=True):
                        held[at, column, variable.column] += float(coef)
        yield _Alike(patterns, rates, held)


def _sets_of_domains(form: Formulation) -> dict[Any, list[Domain]]:
    """Domains by room, kinds of nodes and (bandwidth, curve) of the uplink; without those that nobody may enter."""
    compiled = form.compiled
    room = domain_room(compiled)
    sets: dict[Any, list[Domain]] = {}
    for domain in compiled.instance.domains[1:]:
        low, high = domain.first_node, int(compiled.end_node[domain.index])
        kinds = tuple(sorted(set(compiled.node_kind[low:high].tolist())))
        if kinds and not compiled.overfull[domain.index]:
            uplink = domain.uplink
            link = None if uplink is None or not uplink.bandwidth else (uplink.bandwidth, uplink.goodput)
            sets.setdefault((tuple(room[domain.index].tolist()), kinds, link), []).append(domain)
    return sets


def _states(clusters: list[_Cluster]) -> tuple[list[State], list[list[int]]]:
    """States of all kinds in order, and which of them each cluster's are."""
    kinds: dict[Any, list[int]] = {}
    members: dict[Any, int] = {}
    for cluster in clusters:
        members[cluster.key] = members.get(cluster.key, 0) + cluster.states[0].number
    states: list[State] = []
    places = []
    for cluster in clusters:
        if cluster.key not in kinds:
            kinds[cluster.key] = list(range(len(states), len(states) + len(cluster.states)))
            kind, number = len(kinds), members[cluster.key]
            states += [State(kind, number, s.among, s.here, s.up, s.down) for s in cluster.states]
        places.append(kinds[cluster.key])
    return states, places


def _clusters(
    form: Formulation, domains: list[Domain], kinds: tuple[int, ...], *, limited: bool
) -> tuple[list[_Cluster], bool] | None:
    """All members in clusters; whether their states count every flow. None: nobody works."""
    compiled = form.compiled
    members = {block.index: _member(form, block.index, kinds) for block in compiled.blocks}
    if not any(member.worth * member.fastest > 0 for member in members.values()):
        return None
    clusters: list[_Cluster] = []
    taken: set[int] = set()
    whole = limited and not any(group.rate for group in compiled.groups)
    for team in compiled.teams:
        keys = [("unary", ("team", team.index, domain.index)) for domain in domains]
        if not limited or not team.rate or any(key not in form.cache for key in keys):
            whole = whole and not team.rate
            continue
        among = tuple(members[b] for b in team.blocks for _ in range(compiled.blocks[b].count))
        most = min(len(form.cache[key].picks) for key in keys) - 1
        if any(len(form.cache[key].picks) - 1 != most for key in keys):
            whole = False
            continue
        loads = [float(team.rate * a * (team.size - a)) for a in range(most + 1)]
        states = tuple(State(0, 1, among, a, loads[a], loads[a]) for a in range(1, most + 1))
        taken.update(team.blocks)
        if states:  # else no domain has room for any of them
            clusters.append(_Cluster(("team", team.rate, among, most), states, team.blocks, team.index))
    rates: dict[tuple[int, int], list[Fraction]] = {}
    for pair in compiled.pairs:
        ends = min(pair.source, pair.target), max(pair.source, pair.target)
        rates.setdefault(ends, [Fraction(0), Fraction(0)])[0 if pair.source == ends[0] else 1] += pair.rate
    for ends in sorted(rates, key=lambda both: (-sum(rates[both]), both)):
        stated = all(("both", ends[0], domain.index, ends[1], domain.index) in form.cache for domain in domains)
        if not limited or taken.intersection(ends) or not stated:
            whole = whole and not any(rates[ends])
            continue
        first, second = (members[end] for end in ends)
        forth, back = (float(rate) for rate in rates[ends])
        states = (
            State(0, 1, (first,), 1, forth, back),
            State(0, 1, (second,), 1, back, forth),
            State(0, 1, (first, second), 2),
        )
        clusters.append(_Cluster(("pair", first, second, forth, back), states, ends))
        taken.update(ends)
    for block in compiled.blocks:
        if block.index not in taken:
            member = members[block.index]
            alone = (State(0, block.count, (member,), 1),)
            clusters.append(_Cluster(("alone", member), alone, (block.index,)))
    return clusters, whole


def _terms(form: Formulation, cluster: _Cluster, domain: int) -> tuple[Terms, ...]:
    """For each state of the cluster, whether it is in it in the domain."""
    if cluster.team >= 0:
        picks = form.cache["unary", ("team", cluster.team, domain)].picks
        return tuple(Terms([(1, pick)]) for pick in picks[1:])
    if len(cluster.blocks) == 1:
        return (form.count_in(cluster.blocks[0], domain),)
    first, second = cluster.blocks
    together: Terms = form.cache["both", first, domain, second, domain]
    alone = [form.count_in(block, domain).extend(together, -1) for block in cluster.blocks]
    return (*alone, together)


def _member(form: Formulation, block: int, kinds: tuple[int, ...]) -> Member:
    """A member at its best over its modes and the kinds of nodes."""
    compiled = form.compiled
    workload = compiled.instance.workloads[compiled.blocks[block].workload]
    options = compiled.options_of(workload.index)
    floors = compiled.floor[options.start : options.stop][:, kinds].min(axis=(0, 1))
    works = [mode.demand(compiled.kinds[kind]).work.compute for mode in workload.modes for kind in kinds]
    need, fastest = [], Fraction(workload.rate)
    for name in compiled.resources:
        least = min(work.get(name, Fraction(0)) for work in works)
        need.append(float(least / Fraction(10) ** compiled.instance.resources[name].exponent))
        if least > 0:
            fastest = min(fastest, Fraction(workload.parallel) / least)
    return Member(
        float(workload.weight),
        float(workload.rate),
        float(fastest),
        tuple(need),
        tuple(int(floor) for floor in floors),
    )
