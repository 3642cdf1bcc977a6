"""The rows of the relaxation: every linear family of constraints, over cells.

Symbols: x members in a cell, e amount of a resource that they have above their needs, y nodes in use in a group, T
teams placed. Equation numbers are those of models/README.md. A family that is left out only loosens the bound. Knows no
goal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from allocator.compiled.entities import Compiled
from allocator.model.families import Family
from allocator.solvers.bounds.orbits import DomainOrbit, Orbits
from allocator.solvers.bounds.program import Number, Program
from allocator.solvers.bounds.relaxation.cells import Cell, Part, TeamType, cells_of, parts_of, team_types

if TYPE_CHECKING:
    from allocator.solvers.bounds.relaxation.response import Tangents

__all__ = ["Relaxation", "everyone"]

POWER = "power"


def everyone(compiled: Compiled) -> bool:
    """Whether every member has to be placed."""
    return not compiled.model.may_leave_out and Family.ASSIGNMENT not in compiled.model.ignore


@dataclass
class Relaxation:
    """The program with its columns by meaning.

    Attributes
    ----------
    all_placed : whether every member is placed in the plans that the bound is over.
    targets : further targets on P99 (s) by workload.
    """

    compiled: Compiled
    orbits: Orbits
    all_placed: bool
    targets: Mapping[int, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        compiled = self.compiled
        self.program = Program()
        self.rates: list[int] | None = None  # by cell, see ``rates``
        self.tangents: Tangents | None = None  # see ``response``
        self.types: tuple[TeamType, ...]
        self.types, _ = team_types(compiled)
        self.parts: tuple[Part, ...] = parts_of(compiled, self.types)
        self.cells: tuple[Cell, ...] = cells_of(compiled, self.orbits, self.parts, self.targets)
        self.units = [Fraction(10) ** compiled.instance.resources[name].exponent for name in compiled.resources]
        self.by_group: list[list[int]] = [[] for _ in range(self.orbits.num_groups)]
        self.by_part: list[list[int]] = [[] for _ in self.parts]
        for number, cell in enumerate(self.cells):
            self.by_group[cell.group].append(number)
            self.by_part[cell.part].append(number)
        self.x = [
            self.program.column(0, min(self.parts[c.part].count, c.fits * int(self.orbits.sizes[c.group])))
            for c in self.cells
        ]
        self.above: dict[tuple[int, int], int] = {}
        self._in_use: dict[int, int] = {}
        self._add_shares()
        self._add_placement()
        self._add_capacity()
        self._add_groups()
        self._add_reserve()
        self._add_power_limits()

    def use(self, groups: tuple[int, ...], r: int) -> dict[int, Number]:
        """Amount of a resource in use on groups of nodes, as terms."""
        terms: dict[int, Number] = {}
        for group in groups:
            for number in self.by_group[group]:
                if self.cells[number].need[r]:
                    terms[self.x[number]] = self.cells[number].need[r]
                if (number, r) in self.above:
                    terms[self.above[number, r]] = 1
        return terms

    def in_use(self, group: int) -> int:
        """Column of the nodes in use in a group, made when first asked for."""
        if group not in self._in_use:
            size = int(self.orbits.sizes[group])
            self._in_use[group] = y = self.program.column(0, size)
            domain = int(self.compiled.node_domain[self.orbits.nodes[group]])
            for r in range(len(self.compiled.resources)):
                limit = int(self.compiled.limit[domain, r])
                if limit >= 0:
                    self.program.row({**self.use((group,), r), y: -limit}, None, 0)
            for number in self.by_group[group]:
                self.program.row({self.x[number]: 1, y: -self.cells[number].fits}, None, 0)
        return self._in_use[group]

    @property
    def columns_in_use(self) -> Mapping[int, int]:
        """Column of the nodes in use, by group, of the groups for which it was asked."""
        return self._in_use

    @property
    def nodes_in_use(self) -> tuple[int, ...]:
        """Columns of the nodes in use, of the groups for which they were asked."""
        return tuple(self._in_use.values())

    def watts(self, group: int) -> dict[int, Number]:
        """Draw of the nodes of a group, as terms (12)."""
        node = int(self.orbits.nodes[group])
        domain = int(self.compiled.node_domain[node])
        power = self.compiled.instance.domains[domain].power
        terms: dict[int, Number] = {}
        if power is None:
            return terms
        r = int(self.compiled.compute_resource[node])
        if power.idle:
            terms[self.in_use(group)] = power.idle
        if r >= 0 and power.busy != power.idle:
            each = (power.busy - power.idle) / int(self.compiled.capacity[domain, r])
            for column, amount in self.use((group,), r).items():
                terms[column] = each * amount
        return terms

    def _add_shares(self) -> None:
        """What members can use above their needs (3)."""
        capacity = self.compiled.limit
        for number, cell in enumerate(self.cells):
            for r, most in cell.room.items():
                spare = most - cell.need[r]
                top = spare * (self.program.upper[self.x[number]] or 0)
                limit = int(capacity[self.compiled.node_domain[self.orbits.nodes[cell.group]], r])
                if limit >= 0:
                    top = min(top, Fraction(limit * int(self.orbits.sizes[cell.group])))
                self.above[number, r] = e = self.program.column(0, top)
                self.program.row({e: 1, self.x[number]: -spare}, None, 0)

    def _add_placement(self) -> None:
        """Everyone is placed where the model says so; teams as a whole (1), gangs as a whole (9)."""
        left: dict[int, int] = {}
        workloads = self.compiled.instance.workloads
        for number, part in enumerate(self.parts):
            gang = workloads[part.workload].placement.gang
            whole = part.count
            if gang is not None and Family.GANG not in self.compiled.model.ignore:
                whole = 0 if part.team >= 0 else part.count - workloads[part.workload].count % gang.size
            least = max(0, whole) if self.all_placed else 0
            self.program.row({self.x[c]: 1 for c in self.by_part[number]}, least, part.count)
        for number, part in enumerate(self.parts):
            if part.team >= 0 and Family.ASSIGNMENT not in self.compiled.model.ignore:
                if part.team not in left:
                    left[part.team] = self.program.column(0, self.types[part.team].count)
                terms: dict[int, Number] = {self.x[c]: 1 for c in self.by_part[number]}
                self.program.row({**terms, left[part.team]: -part.each}, 0, 0)

    def _add_capacity(self) -> None:
        """Limits of every domain (4) and pools (5), summed over domains alike."""
        compiled = self.compiled
        for r, name in enumerate(compiled.resources):
            for orbit in self.orbits.domains:
                limit = int(compiled.limit[orbit.domain, r])
                if limit >= 0 and name != POWER:
                    self.program.row(self.use(orbit.groups, r), None, limit * orbit.size)
                pool = int(compiled.pool_limit[orbit.domain, r])
                if pool >= 0:
                    self._add_pool(orbit, r, pool)

    def _add_pool(self, orbit: DomainOrbit, r: int, pool: int) -> None:
        drawn: dict[int, Number] = {}
        for group in orbit.groups:
            terms = self.use((group,), r)
            if not terms:
                continue
            own = max(0, int(self.compiled.capacity[self.compiled.node_domain[self.orbits.nodes[group]], r]))
            beyond = self.program.column(0, pool * orbit.size)
            self.program.row({**terms, beyond: -1}, None, own * int(self.orbits.sizes[group]))
            drawn[beyond] = 1
        self.program.row(drawn, None, pool * orbit.size)

    def _add_groups(self) -> None:
        """At most so many members of a group in a domain (9); of a gang's class one a gang on a node."""
        compiled, ignored = self.compiled, self.compiled.model.ignore
        workloads = compiled.instance.workloads
        if Family.CONFLICT not in ignored:
            for rule in compiled.instance.conflicts:
                wanted = {domain.index for domain in compiled.instance.domains_of(rule.level)}
                mine = {w.index for w in workloads if w.group == rule.group}
                for orbit in self.orbits.domains:
                    if orbit.domain in wanted:
                        self.program.row(self._members(orbit.groups, mine), None, rule.at_most * orbit.size)
        if Family.GANG not in ignored:
            for workload in workloads:
                if workload.placement.gang is not None:
                    gangs = workload.count // workload.placement.gang.size
                    for group in range(self.orbits.num_groups):
                        limit = gangs * int(self.orbits.sizes[group])
                        self.program.row(self._members((group,), {workload.index}), None, limit)

    def _members(self, groups: tuple[int, ...], workloads: set[int]) -> dict[int, Number]:
        return {
            self.x[number]: 1
            for group in groups
            for number in self.by_group[group]
            if self.parts[self.cells[number].part].workload in workloads
        }

    def _add_reserve(self) -> None:
        """Free capacity outside a domain for the floors inside, by kind (11), summed over domains alike."""
        compiled = self.compiled
        if Family.RESERVE in compiled.model.ignore:
            return
        for rule in compiled.instance.reserves:
            names = rule.resources or tuple(
                name for name in compiled.resources if any(name in node.capacity for node in compiled.instance.nodes)
            )
            wanted = {domain.index for domain in compiled.instance.domains_of(rule.level)}
            for orbit in self.orbits.domains:
                if orbit.domain in wanted:
                    for name in names:
                        self._add_reserve_of(orbit, compiled.resources.index(name))

    def _add_reserve_of(self, orbit: DomainOrbit, r: int) -> None:
        compiled = self.compiled
        inside = set(orbit.groups)
        kinds = compiled.node_kind[self.orbits.nodes]
        for kind in set(kinds[list(orbit.groups)].tolist()):
            terms: dict[int, Number] = {}
            free = 0
            for group in (kinds == kind).nonzero()[0].tolist():
                domain = int(compiled.node_domain[self.orbits.nodes[group]])
                stated = int(compiled.capacity[domain, r])
                # of a group inside, one domain of the orbit is the one to replace, the others are outside
                outside = orbit.size - 1 if group in inside else orbit.size
                if stated >= 0:
                    free += outside * stated * int(self.orbits.sizes[group])
                factor = (outside if stated >= 0 else 0) + (1 if group in inside else 0)
                for number in self.by_group[group]:
                    if self.cells[number].floor[r]:
                        terms[self.x[number]] = self.cells[number].floor[r] * factor
            self.program.row(terms, None, free)

    def _add_power_limits(self) -> None:
        """Watts of nodes and members under each capacity of power (12)."""
        compiled = self.compiled
        if POWER not in compiled.resources:
            return
        p = compiled.resources.index(POWER)
        for orbit in self.orbits.domains:
            limit = compiled.power_limit[orbit.domain]
            if limit is None:
                continue
            terms: dict[int, Number] = {
                column: amount * self.units[p] for column, amount in self.use(orbit.groups, p).items()
            }
            for group in orbit.groups:
                for column, amount in self.watts(group).items():
                    terms[column] = terms.get(column, 0) + amount
            self.program.row(terms, None, limit * orbit.size)
            if len(orbit.groups) == 1:
                self._add_whole_nodes(orbit, limit)

    def _add_whole_nodes(self, orbit: DomainOrbit, limit: Fraction) -> None:
        """What k nodes alike, in use, can use under a cap of power, for whole k.

        It is f(k) = min(k full, what the cap leaves when k draw their idle watts), concave in k, so that the chord
        between the two whole numbers around its top bounds it from above at all others.
        """
        group = orbit.groups[0]
        node = int(self.orbits.nodes[group])
        domain = int(self.compiled.node_domain[node])
        power, r = self.compiled.instance.domains[domain].power, int(self.compiled.compute_resource[node])
        number = int(self.orbits.sizes[group]) // orbit.size
        if power is None or r < 0 or power.busy <= power.idle or power.idle <= 0:
            return
        full = int(self.compiled.limit[domain, r])
        each = (power.busy - power.idle) / int(self.compiled.capacity[domain, r])
        whole = int(limit // (power.idle + each * full)) if full > 0 else number
        if whole >= number:
            return
        low, high = Fraction(whole * full), (limit - (whole + 1) * power.idle) / each
        terms: dict[int, Number] = dict(self.use((group,), r))
        column = self.in_use(group)
        terms[column] = terms.get(column, 0) - (high - low)
        self.program.row(terms, None, orbit.size * (low - whole * (high - low)))
