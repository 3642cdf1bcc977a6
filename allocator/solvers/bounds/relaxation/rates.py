"""Task rates over the relaxation (models/README.md, equations 6, 7): q tasks/s of the members of a cell together.

Owns what compute, memory and uplinks allow. Of the fabric only what every plan carries counts: flows between classes
that no node can hold together, and teams too large for any domain of a layer.
"""

from __future__ import annotations

from fractions import Fraction

from allocator.model.families import Family
from allocator.solvers.bounds.program import Expression, Number
from allocator.solvers.bounds.relaxation.cells import Cell
from allocator.solvers.bounds.relaxation.forced import add_forced_flows
from allocator.solvers.bounds.relaxation.model import Relaxation

__all__ = ["throughput_of", "worst_served"]


def throughput_of(relaxation: Relaxation) -> Expression:
    """Weighted tasks/s (16)."""
    workloads = relaxation.compiled.instance.workloads
    parts = relaxation.parts
    return Expression(
        {
            q: workloads[parts[relaxation.cells[number].part].workload].weight
            for number, q in enumerate(_rates(relaxation))
        }
    )


def worst_served(relaxation: Relaxation) -> Expression:
    """The least part of its offered tasks that a class completes (17); at most 1."""
    least = relaxation.program.column(0, 1)
    rates = _rates(relaxation)
    for workload in relaxation.compiled.instance.workloads:
        offered = workload.rate * workload.count
        if offered > 0:
            terms: dict[int, Number] = {
                rates[number]: 1
                for number, cell in enumerate(relaxation.cells)
                if relaxation.parts[cell.part].workload == workload.index
            }
            relaxation.program.row({**terms, least: -offered}, 0, None)
    return Expression({least: 1})


def _rates(relaxation: Relaxation) -> list[int]:
    """Column of each cell's rate, made when first asked for."""
    if relaxation.rates is None:
        relaxation.rates = [_rate(relaxation, number, cell) for number, cell in enumerate(relaxation.cells)]
        if Family.RATES not in relaxation.compiled.model.ignore:
            add_forced_flows(relaxation, relaxation.rates)
    return relaxation.rates


def _rate(relaxation: Relaxation, number: int, cell: Cell) -> int:
    compiled, program, x = relaxation.compiled, relaxation.program, relaxation.x[number]
    workload = compiled.instance.workloads[relaxation.parts[cell.part].workload]
    mode = int(compiled.option_mode[cell.option])
    kind = compiled.kinds[int(compiled.node_kind[relaxation.orbits.nodes[cell.group]])]
    demand = workload.modes[mode].demand(kind)
    most = workload.rate
    uses: dict[int, Fraction] = {}
    if Family.RATES not in compiled.model.ignore:
        for name, each in demand.work.compute.items():
            if each > 0:
                most = min(most, workload.parallel / each)
                uses[compiled.resources.index(name)] = each
        for name, each in demand.work.memory.items():
            held = each * (workload.residence or 0)
            if held > 0:
                r = compiled.resources.index(name)
                uses[r] = max(uses.get(r, Fraction(0)), held)
    for r, each in uses.items():
        share = cell.room.get(r, Fraction(cell.need[r])) * relaxation.units[r]
        most = min(most, share / each)
    q = program.column(0, most * (program.upper[x] or 0))
    program.row({q: 1, x: -most}, None, 0)
    for r, each in uses.items():
        if (number, r) in relaxation.above and each * most > cell.need[r] * relaxation.units[r]:
            scaled = each / relaxation.units[r]
            program.row({q: scaled, x: -cell.need[r], relaxation.above[number, r]: -1}, None, 0)
    return q
