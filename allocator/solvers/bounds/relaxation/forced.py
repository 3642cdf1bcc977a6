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
    grants = [*_group_grants(relaxation, rates), *_pair_grants(relaxation, rates)]
    for domain in compiled.instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        inside = np.zeros(compiled.num_nodes, dtype=np.bool_)
        inside[domain.first_node : domain.end_node] = True
        for way in (0, 1):
            for side in (0, 1):
                terms: dict[int, Number] = {}
                for source, target, side_of, column, load in grants:
                    ends = (source, target) if way == 0 else (target, source)
                    crosses = not (stands[ends[0]] & ~inside).any() and not (stands[ends[1]] & inside).any()
                    if crosses and side_of in (side, None):
                        terms[column] = terms.get(column, 0) + load
                relaxation.program.row(terms, None, domain.uplink.bandwidth)


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
