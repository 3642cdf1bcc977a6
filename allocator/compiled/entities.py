"""Compiled form of an instance under a model: integer arrays and blocks of exchangeable members.

Owns the layout every solver reads. Must not know any solver, nor the checker.

Index spaces: domains D and nodes N in the instance's preorder (node index = position in ``instance.nodes``); resources
R in ``resources`` order; kinds K; options O = (workload, mode) pairs, those of one workload consecutive; blocks B.
A block is a set of exchangeable members: same class, same team, same current node and mode, and never more than one
member when it takes part in a pair flow. Amounts are int64 in the resource's unit; -1 means "not stated".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.instance.entities import Domain, Instance
from allocator.model.entities import Model
from allocator.model.families import Family

__all__ = ["Block", "Compiled", "GangUnit", "GroupTraffic", "PairTraffic", "TeamTraffic"]

Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Block:
    """Exchangeable members of one class. ``ranges``: (first, count) runs of member numbers, ascending."""

    index: int
    workload: int
    count: int
    ranges: tuple[tuple[int, int], ...]
    team: int = -1  # index into Compiled.teams
    current_node: int = -1  # node index; -1: not running now
    current_option: int = -1  # option index


@dataclass(frozen=True, slots=True)
class GangUnit:
    """``replicas`` interchangeable gangs of ``size`` members of ``blocks``; each stands in one domain of ``level``.

    One unit a class, or one unit a gang (replicas = 1, blocks split by current node) when some member runs already.
    """

    workload: int
    size: int
    replicas: int
    level: str
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TeamTraffic:
    """One all-to-all team: its blocks, its size, bit/s per ordered pair. ``name``: flow endpoint in a plan.

    ``message``: bits of one; of merged flows the largest.
    """

    index: int
    name: str
    blocks: tuple[int, ...]
    size: int
    rate: Fraction
    message: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class PairTraffic:
    """Directed flow between two single-member blocks, bit/s; parallel flows are merged. ``message``: as of a team."""

    source: int  # block
    target: int  # block
    source_name: str
    target_name: str
    rate: Fraction
    message: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class GroupTraffic:
    """Entry ``spread`` or ``broadcast``: ``rate`` bit/s per ordered pair (i, j), i != j, of members of two classes.

    ``message``: as of a team.
    """

    source: int  # workload
    target: int  # workload
    source_name: str
    target_name: str
    rate: Fraction
    message: Fraction = Fraction(0)


@dataclass(frozen=True)
class Compiled:
    """Arrays of an instance under a model. All arrays are read-only.

    Attributes
    ----------
    parent : int64[D], -1 for the root.
    first_node, end_node : int64[D], nodes of a domain are first_node[d]:end_node[d].
    end_domain : int64[D], descendants of d are d+1:end_domain[d].
    node_domain : int64[N], domain index of a node.
    node_kind : int64[N], index into ``kinds``.
    capacity, safety, pool : int64[D, R], -1 where not stated. ``capacity`` of resource ``power`` is kept as stated.
    limit : int64[D, R], effective limit of family ``capacity``: capacity, or the current use where that is higher
        (``overfull``), -1 where there is none. All -1 when the model ignores ``capacity``. At nodes under a pool of
        the resource it is -1 too: there ``pool_limit`` of the pool's domain rules. Of ``power``: whole amounts of
        ``power_limit``.
    pool_limit : int64[D, R], like ``limit`` for pools.
    overfull : bool[D], domains no new member may enter (family ``capacity``, overfull start).
    first_option : int64[W + 1], options of workload w are first_option[w]:first_option[w + 1].
    option_workload, option_mode : int64[O].
    floor : int64[O, K, R].
    ceiling : int64[O, K, R], -1 where not stated.
    eligible : bool[O, N], by labels, taints, capabilities, ``within``, and single floors against every limit above.
    cost : object[W, N] of Fraction, or None when no class states a cost.
    compute_resource : int64[N], the resource that drives the node's power draw, -1 if none.
    power_limit : by domain, watts that its nodes and members may draw (equation 12), the current draw where that is
        higher; None where no capacity of ``power`` is stated or the model ignores ``capacity``.
    """

    instance: Instance
    model: Model
    resources: tuple[str, ...]
    kinds: tuple[str, ...]
    parent: Int64
    first_node: Int64
    end_node: Int64
    end_domain: Int64
    node_domain: Int64
    node_kind: Int64
    capacity: Int64
    safety: Int64
    pool: Int64
    limit: Int64
    pool_limit: Int64
    overfull: Bool
    first_option: Int64
    option_workload: Int64
    option_mode: Int64
    floor: Int64
    ceiling: Int64
    eligible: Bool
    cost: npt.NDArray[np.object_] | None
    compute_resource: Int64
    power_limit: tuple[Fraction | None, ...]
    blocks: tuple[Block, ...]
    teams: tuple[TeamTraffic, ...]
    pairs: tuple[PairTraffic, ...]
    groups: tuple[GroupTraffic, ...]
    gangs: tuple[GangUnit, ...]

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.node_domain)

    @property
    def num_domains(self) -> int:
        """D."""
        return len(self.parent)

    @property
    def link_load(self) -> Fraction | None:
        """Most of its bandwidth that an uplink may be offered each way, where family ``link_load`` holds."""
        return None if Family.LINK_LOAD in self.model.ignore else self.instance.link_load

    @property
    def num_options(self) -> int:
        """O."""
        return len(self.option_workload)

    def options_of(self, workload: int) -> range:
        """Options of a workload."""
        return range(int(self.first_option[workload]), int(self.first_option[workload + 1]))

    def outermost(self, level: str) -> list[Domain]:
        """Domains of a level that lie in no other domain of it."""
        found: list[Domain] = []
        for domain in self.instance.domains_of(level):
            if not found or domain.index >= self.end_domain[found[-1].index]:
                found.append(domain)
        return found

    def ceiling_of(self, option: int, node: int, resource: int) -> int:
        """Most one member may get of a resource on a node (equation 3); at least its floor."""
        kind = self.node_kind[node]
        stated = int(self.ceiling[option, kind, resource])
        if stated < 0:
            stated = 0
            domain, found = int(self.node_domain[node]), False
            while domain >= 0:
                if not found and self.capacity[domain, resource] >= 0:
                    stated += int(self.capacity[domain, resource])
                    found = True
                if Family.POOL not in self.model.ignore:  # the stated pool, also where more is drawn now
                    stated += max(0, int(self.pool[domain, resource]))
                domain = int(self.parent[domain])
        return max(stated, int(self.floor[option, kind, resource]))

    def uses_shares(self, workload: int, resource: int) -> bool:
        """Whether members of the class may get more than their floor of the resource under this model (equation 3)."""
        name = self.resources[resource]
        if not self.model.has_rate_goals:
            if self.instance.workloads[workload].slo.p99 is None or Family.SLO in self.model.ignore:
                return False
            modes = self.instance.workloads[workload].modes
            demands = [demand for mode in modes for demand in (mode.default, *mode.by_kind.values())]
            return any(demand.work.compute.get(name, 0) > 0 for demand in demands)
        for mode in self.instance.workloads[workload].modes:
            for demand in (mode.default, *mode.by_kind.values()):
                if name in demand.work.compute or name in demand.work.memory:
                    return True
        return False
