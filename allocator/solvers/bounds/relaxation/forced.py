"""What uplinks let through of flows that no plan can keep off them (models/README.md, equation 7).

A flow from a class that only fits inside a domain to one that only fits outside crosses its uplink in every plan. With
theta the granted fraction, sum theta b <= C there, and q <= lambda theta for every member of the flow. Owns those rows;
they are stated only where every member is placed, since what has one end only loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.model.families import Family
from allocator.solvers.bounds.program import Number
from allocator.solvers.bounds.relaxation.model import Relaxation

__all__ = ["add_forced_flows"]

Bool = npt.NDArray[np.bool_]


def add_forced_flows(relaxation: Relaxation, rates: Sequence[int]) -> None:
    """Rows for every uplink with a bandwidth that some flow has to cross."""
    compiled = relaxation.compiled
    if not relaxation.all_placed or Family.FABRIC in compiled.model.ignore:
        return
    stands = _stands(relaxation)
    holders = [_holders(relaxation, stand) for stand in stands]
    rows: dict[tuple[int, int, int], dict[int, Number]] = {}
    for source, target, side_of, column, load in [*_group_grants(relaxation, rates), *_pair_grants(relaxation, rates)]:
        for way, (inner, outer) in enumerate(((source, target), (target, source))):
            for domain in holders[inner]:
                first, end = int(compiled.first_node[domain]), int(compiled.end_node[domain])
                if stands[outer][first:end].any():
                    break
                for side in (0, 1) if side_of is None else (side_of,):
                    terms = rows.setdefault((domain, way, side), {})
                    terms[column] = terms.get(column, 0) + load
    for (domain, _, _), terms in rows.items():
        uplink = compiled.instance.domains[domain].uplink
        if uplink is not None and uplink.bandwidth is not None:
            relaxation.program.row(terms, None, uplink.bandwidth)


def _holders(relaxation: Relaxation, stand: Bool) -> list[int]:
    """Domains that hold every node a class may stand on, from the lowest upwards."""
    compiled = relaxation.compiled
    nodes = stand.nonzero()[0]
    if not len(nodes):
        return []
    domain = int(compiled.node_domain[nodes[0]])
    found = []
    while domain >= 0:
        if int(compiled.first_node[domain]) <= int(nodes[0]) and int(nodes[-1]) < int(compiled.end_node[domain]):
            found.append(domain)
        domain = int(compiled.parent[domain])
    return found


Grant = tuple[int, int, int | None, int, Fraction]  # source, target, whose members it covers, column, bit/s of 1


def _stands(relaxation: Relaxation) -> list[Bool]:
    """bool[N] by workload: where its members may stand."""
    compiled = relaxation.compiled
    found = []
    for workload in range(len(compiled.instance.workloads)):
        options = compiled.options_of(workload)
        found.append(np.asarray(compiled.eligible[options.start : options.stop].any(axis=0), dtype=np.bool_))
    return found


def _cells_of(relaxation: Relaxation, rates: Sequence[int], workload: int) -> dict[int, Number]:
    return {
        rates[number]: 1
        for number, cell in enumerate(relaxation.cells)
        if relaxation.parts[cell.part].workload == workload
    }


def _group_grants(relaxation: Relaxation, rates: Sequence[int]) -> list[Grant]:
    """One fraction an entry between two classes; it binds every member of both."""
    workloads = relaxation.compiled.instance.workloads
    found: list[Grant] = []
    for flow in relaxation.compiled.groups:
        source, target = workloads[flow.source], workloads[flow.target]
        if flow.source == flow.target:
            continue
        theta = relaxation.program.column(0, 1)
        for workload in (source, target):
            offered = workload.rate * workload.count
            relaxation.program.row({**_cells_of(relaxation, rates, workload.index), theta: -offered}, None, 0)
        found.append((flow.source, flow.target, None, theta, flow.rate * source.count * target.count))
    return found


def _pair_grants(relaxation: Relaxation, rates: Sequence[int]) -> list[Grant]:
    """By pair of classes and end: the sum of the fractions of one flow for each member there that has any."""
    compiled = relaxation.compiled
    largest: dict[tuple[int, int, int], dict[int, Fraction]] = {}
    for pair in compiled.pairs:
        key = compiled.blocks[pair.source].workload, compiled.blocks[pair.target].workload
        if key[0] == key[1]:
            continue
        for side, block in enumerate((pair.source, pair.target)):
            mine = largest.setdefault((*key, side), {})
            mine[block] = max(mine.get(block, Fraction(0)), pair.rate)
    found: list[Grant] = []
    for (source, target, side), of_block in largest.items():
        workload = compiled.instance.workloads[(source, target)[side]]
        covered = len(of_block)
        granted = relaxation.program.column(0, covered)
        terms = {**_cells_of(relaxation, rates, workload.index), granted: -workload.rate}
        relaxation.program.row(terms, None, workload.rate * (workload.count - covered))
        found.append((source, target, side, granted, min(of_block.values())))
    return found
