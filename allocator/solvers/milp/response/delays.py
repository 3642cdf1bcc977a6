"""Path delays of served members as indicators "at least so late" (equation 13).

A flow is early at a delay when those who talk stand in one clique, or biclique, of nodes nearer than it. Owns the
indicators of flows and blocks and what of each entry is late. Knows no goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.response.near import Latencies, bicliques, cliques, latencies
from allocator.solvers.milp.response.service import Seat, Service, seat_of, service_of
from allocator.solvers.milp.terms import Terms, Variable

__all__ = ["Step", "add_delays", "seat_at", "served_blocks", "steps_of"]

PART = "slo"
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Step:
    """``late``: 1 when the path delay is at least ``delay`` seconds (it may be 1 where it is less)."""

    delay: Fraction
    late: Variable


@dataclass(frozen=True, slots=True)
class _Ends:
    """Blocks that a flow joins: each of the first with each of the second, or all of one set (``second`` None).

    ``message``: bits of one.
    """

    first: tuple[int, ...]
    second: tuple[int, ...] | None
    message: Fraction


def served_blocks(form: Formulation) -> dict[int, Service]:
    """Blocks whose members have response times in this model."""
    if "served" not in form.cache:
        services = [service_of(form.compiled, w.index) for w in form.compiled.instance.workloads]
        form.cache["served"] = {
            block.index: service
            for block in form.compiled.blocks
            if (service := services[block.workload]) is not None and block.count
        }
    found: dict[int, Service] = form.cache["served"]
    return found


def seat_at(form: Formulation, entry: Entry) -> Seat:
    """A member of an entry of a served block."""
    kind = int(form.compiled.node_kind[entry.node])
    key = "seat", entry.option, kind
    if key not in form.cache:
        form.cache[key] = seat_of(form.compiled, served_blocks(form)[entry.block], entry.option, kind)
    found: Seat = form.cache[key]
    return found


def steps_of(form: Formulation, block: int) -> list[Step]:
    """Delays that make a difference to a served block, rising."""
    found: list[Step] = form.cache.get(("delay steps", block), [])
    return found


def add_delays(form: Formulation) -> None:
    """Indicators of every flow of a served block, and of the blocks themselves."""
    served = served_blocks(form)
    if not served:
        return
    ways: dict[Fraction, Latencies | None] = {}
    of_block: dict[int, list[list[Step]]] = {}
    for ends in _flows(form):
        joined = dict.fromkeys((*ends.first, *(ends.second or ())))
        blocks = [block for block in joined if block in served]
        if blocks and ends.message not in ways:
            ways[ends.message] = latencies(form.compiled, ends.message)
        known = ways[ends.message] if blocks else None
        if known is not None:
            form.budget.check()
            steps = _Flow(form, known, ends).steps(blocks)
            for block in blocks:
                of_block.setdefault(block, []).append(steps)
    for block, flows in of_block.items():
        form.cache["delay steps", block] = flows[0] if len(flows) == 1 else _latest(form, flows)


def _flows(form: Formulation) -> Iterable[_Ends]:
    compiled = form.compiled
    for team in compiled.teams:
        if team.rate and team.size > 1:
            yield _Ends(team.blocks, None, team.message)
    for pair in compiled.pairs:
        if pair.rate:
            yield _Ends((pair.source,), (pair.target,), pair.message)
    for group in compiled.groups:
        if group.rate:
            source = tuple(form.blocks_of(group.source))
            target = None if group.source == group.target else tuple(form.blocks_of(group.target))
            yield _Ends(source, target, group.message)


def _latest(form: Formulation, flows: list[list[Step]]) -> list[Step]:
    """Indicators of a block from those of its flows: late as soon as one of them is."""
    merged = []
    for delay in sorted({step.delay for steps in flows for step in steps}):
        late = form.real(PART, 1.0)
        for steps in flows:
            step = next((step for step in steps if step.delay >= delay), None)
            if step is not None:
                form.at_most(PART, Terms([(1, step.late), (-1, late)]), 0)
        merged.append(Step(delay, late))
    return merged


class _Flow:
    """Sites of the two ends of one flow, and the rows of one indicator after another."""

    def __init__(self, form: Formulation, known: Latencies, ends: _Ends) -> None:
        self.form = form
        self.known = known
        self.ends = ends
        self.by_site = {block: self._by_site(block) for block in dict.fromkeys((*ends.first, *(ends.second or ())))}
        self.first = self._sites(ends.first)
        self.second = self.first if ends.second is None else self._sites(ends.second)

    def _by_site(self, block: int) -> dict[int, Terms]:
        found: dict[int, Terms] = {}
        for entry in self.form.of_block[block]:
            if entry.variable.upper:
                found.setdefault(int(self.known.site[entry.node]), Terms()).add(1, entry.variable)
        return found

    def _sites(self, blocks: Sequence[int]) -> Bool:
        sites = np.zeros(len(self.known.table), dtype=np.bool_)
        sites[[site for block in blocks for site in self.by_site[block]]] = True
        return sites

    def steps(self, blocks: Sequence[int]) -> list[Step]:
        """Indicators at the delays that make a difference to the served ones of its blocks."""
        found: list[Step] = []
        floors = _floors(self.form, blocks, Fraction(0))
        for ticks in self.known.levels(self.first, self.second):
            delay = self.known.seconds(ticks)
            changed = _floors(self.form, blocks, delay)
            if changed == floors and not any(served_blocks(self.form)[block].critical for block in blocks):
                continue
            floors = changed
            late = self.form.binary(PART)
            if found:
                self.form.at_most(PART, Terms([(1, late), (-1, found[-1].late)]), 0)
            if self.ends.second is None:
                self._join(late, *self._together(ticks))
            elif len(self.ends.first) == len(self.ends.second) == 1 and self._single():
                self._pair(late, ticks)
            else:
                self._join(late, *self._across(ticks))
            found.append(Step(delay, late))
        return found

    def _single(self) -> bool:
        blocks = self.form.compiled.blocks
        return all(blocks[block].count == 1 for block in self.by_site)

    def _pair(self, late: Variable, ticks: int) -> None:
        """Two members: x_i(S) + x_j(T) <= 1 + late for T all sites as late from those of S."""
        (i,), (j,) = self.ends.first, self.ends.second or ()
        far = self.known.table >= ticks
        groups: dict[bytes, list[int]] = {}
        for site in self.by_site[i]:
            groups.setdefault((far[site] & self.second).tobytes(), []).append(site)
        for sites in groups.values():
            there = self._count(j, far[sites[0]])
            if there:
                here = Terms().extend(there)
                for site in sites:
                    here.extend(self.by_site[i][site])
                self.form.at_most(PART, here.extend(Terms([(-1, late)])), 1)

    def _together(self, ticks: int) -> tuple[Bool, Bool]:
        found = cliques(self.known.table, self.first, ticks)
        return found, found

    def _across(self, ticks: int) -> tuple[Bool, Bool]:
        here, there = bicliques(self.known.table, self.first, self.second, ticks)
        if self.form.compiled.model.may_leave_out:  # with one end empty nobody talks
            nobody = np.zeros_like(self.first)
            here = np.vstack([here, self.first, nobody])
            there = np.vstack([there, nobody, self.second])
        return here, there

    def _join(self, late: Variable, here: Bool, there: Bool) -> None:
        """Early: members of the first ends within one row of ``here``, those of the second within that of ``there``."""
        form = self.form
        homes = [form.binary(PART) for _ in here]
        form.equal(PART, Terms([*((1, home) for home in homes), (1, late)]), 1)
        sides = [(self.ends.first, here)]
        if self.ends.second is not None:
            sides.append((self.ends.second, there))
        for blocks, sets in sides:
            for block in blocks:
                self._within(block, late, homes, sets)

    def _within(self, block: int, late: Variable, homes: list[Variable], sets: Bool) -> None:
        count = self.form.compiled.blocks[block].count
        groups: dict[bytes, list[int]] = {}
        for site in self.by_site[block]:
            groups.setdefault(sets[:, site].tobytes(), []).append(site)
        if len(groups) == 1 and sets[:, next(iter(self.by_site[block]))].all():
            return
        for sites in groups.values():
            members = Terms([(-count, late)])
            members.extend(
                Terms((1, home) for home, inside in zip(homes, sets[:, sites[0]], strict=True) if inside), -count
            )
            for site in sites:
                members.extend(self.by_site[block][site])
            self.form.at_most(PART, members, 0)

    def _count(self, block: int, sites: Bool) -> Terms:
        terms = Terms()
        for site, members in self.by_site[block].items():
            if sites[site]:
                terms.extend(members)
        return terms


def _floors(form: Formulation, blocks: Sequence[int], delay: Fraction) -> list[int | None]:
    """Least shares of all entries of served blocks at a delay."""
    compiled = form.compiled
    floors: dict[tuple[int, int], int | None] = {}
    found = []
    for block in blocks:
        for entry in form.of_block[block]:
            key = entry.option, int(compiled.node_kind[entry.node])
            if key not in floors:
                floors[key] = seat_at(form, entry).least(delay)
            found.append(floors[key])
    return found
