"""What the kernels know of an instance: arrays alone, in the order of fields that compiled code was built for.

Owns the layout. Knows nothing of classes, names or fractions.

Index spaces: nodes N, domains D (those of the instance, then one for each kind of node under a ``reserve``), items M
(members, block by block), options O, kinds K, columns Q, groups of members G, internal levels L + 1.

Columns are what is summed up over the items in a domain: first the R resources, then derived amounts (effective need
of compute, stable load). Each column may have a hard limit and a soft one, at any domain.

Level 0 counts, by size, the items that must be placed and are not. Level l + 1 is level l of the model, minimised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from allocator.solvers.heuristic.kernels.tables import Tabled

__all__ = ["ENDLESS", "Problem", "tabled"]

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Byte = npt.NDArray[np.uint8]

ENDLESS = np.iinfo(np.int64).max // 4


class Problem(NamedTuple):
    """Arrays of a problem. CSR lists: ``x_start[i]:x_start[i + 1]`` delimits the entries of i.

    Attributes
    ----------
    sizes : int64[8], see ``NODES`` to ``LEVELS`` in ``indices``.
    level_of : int64[goals], internal level of each goal of ``indices``, -1 where it is not in the model.
    kind : int64[N]. first, end : int64[D], nodes of a domain. leaf : int64[N], domain of a node.
    area_start, area : domains above and at a node that have a limit or a cost; the node itself first.
    path_start, path : every domain at and above a node that has an uplink, from the node upwards.
    need : int64[O * K, Q]. limit : int64[D, Q]. closed : uint8[D], no new member may enter.
    soft : int64[D, Q], soft_weight : float64[D, Q] per unit above ``soft``. soft_level : int64[Q].
    holds : uint8[Q], transient columns. lasting : int64[H], their numbers; spare : int64[N, H], what newcomers may
    need of them at most, since who runs there now holds it there or elsewhere. eligible : uint8[O, N].
    pool_of : int64[N, R], domain whose pool the node draws on, -1. own : int64[N, R], what the node has itself.
    pool_limit : int64[D, R].
    workload, current, current_option, group : int64[M]; -1 where not running, or in no ruled group.
    size : float64[W], weight of a member that must be placed. first_option : int64[W + 1].
    value, move_cost : float64[W] times the weight of the goal. move_bytes : int64[M].
    cost : float64[W, N] or [1, 1]. machine : float64[N, N] or [1, 1].
    service : float64, weight of the largest number of moved members of one group; mover : int64[M], the group.
    most_moves : int64[2], members and bytes that may move.
    node_weight, idle, slope : float64[N], of the goals ``nodes`` and ``power``; ``driver`` : int64[N], its column.
    cap : float64[D], watts allowed, infinite where not stated; draw_idle, draw_slope : float64[N]; watt : float64.
    tally_start, tally : rules of a group; part : int64[T], row of slot : int64[., N], zone at a node, -1;
    tally_offset : int64[T], where the counts of a tally begin.
    at_most, at_least : int64[T]. needs_start, needs, needed_start, needed : dependency between tallies.
    unit : int64[M], team or gang that is placed whole, -1; unit_start, unit_items; unit_gang : uint8[U];
    unit_slot : int64[U], row of ``gang_slot`` : int64[., N]. unit_rate : float64[U], bit/s of a pair, 0 for gangs.
    pair_start, pair_item, pair_out, pair_in : flows of an item, bit/s.
    entry_start, entry, entry_side : entries between classes that an item's workload takes part in; entry_rate.
    weight : float64[D] of an uplink, times the goal's. distance : float64[N, N] or [1, 1], used if sizes[MATRIX].
    link : float64[D], bandwidth, infinite where unlimited; inside : float64[D]; curve : int64[D], 0 fair, 1 knee,
    2 table;
    bend : float64[D], p of a knee; point_start, point_load, point_carried : tables, per bandwidth.
    lost : float64, what one undelivered bit/s costs; jam : float64, weight of the goal congestion.
    root_need : float64[O * K], square root of weight times work times ln 100; stable_column : int64[N];
    p99_weight : float64;
    unit_of_share : float64[N], base units of one unit of ``stable_column``.
    """

    sizes: Int
    level_of: Int
    kind: Int
    first: Int
    end: Int
    leaf: Int
    area_start: Int
    area: Int
    path_start: Int
    path: Int
    need: Int
    limit: Int
    closed: Byte
    soft: Int
    soft_weight: Float
    soft_level: Int
    holds: Byte
    lasting: Int
    spare: Int
    eligible: Byte
    pool_of: Int
    own: Int
    pool_limit: Int
    triple_start: Int
    triple_first: Int
    triple_second: Int
    triple_target: Float
    triple_weight: Float
    triple_have: Float
    triple_unit: Float
    workload: Int
    current: Int
    current_option: Int
    group: Int
    size: Float
    first_option: Int
    value: Float
    move_cost: Float
    move_bytes: Int
    cost: Float
    machine: Float
    service: float
    mover: Int
    most_moves: Int
    node_weight: Float
    idle: Float
    slope: Float
    driver: Int
    cap: Float
    draw_idle: Float
    draw_slope: Float
    watt: float
    watt_column: int
    tally_start: Int
    tally: Int
    part: Int
    slot: Int
    tally_offset: Int
    at_most: Int
    at_least: Int
    needs_start: Int
    needs: Int
    needed_start: Int
    needed: Int
    unit: Int
    unit_start: Int
    unit_items: Int
    unit_gang: Byte
    unit_slot: Int
    gang_slot: Int
    unit_rate: Float
    pair_start: Int
    pair_item: Int
    pair_out: Float
    pair_in: Float
    entry_start: Int
    entry: Int
    entry_side: Int
    entry_rate: Float
    entry_same: Byte
    weight: Float
    distance: Float
    link: Float
    inside: Float
    curve: Int
    bend: Float
    point_start: Int
    point_load: Float
    point_carried: Float
    lost: float
    jam: float
    far: float
    nearness: float
    root_need: Float
    stable_column: Int
    p99_weight: float
    unit_of_share: Float


def tabled(problem: Problem) -> Tabled:
    """The problem as kernels take it: its arrays in the order of ``layout``, the scalars last, in one array."""
    arrays = [value for value in problem if isinstance(value, np.ndarray)]
    scalars = np.array([value for value in problem if not isinstance(value, np.ndarray)], dtype=np.float64)
    return Tabled((*arrays, scalars))
