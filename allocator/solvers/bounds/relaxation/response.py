"""Response times over the relaxation (models/README.md, equations 13, 27), delays of paths taken to be none.

n members of a cell with slack s > 0 together have percentiles that sum to at least K c n^2 / s, convex in (n, s):
z >= 2 t n - t^2 s for every t > 0, so tangents are added where the optimum of the last program stands. Owns z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from allocator.solvers.bounds.program import Expression, Number
from allocator.solvers.bounds.relaxation.cells import LN_100_BELOW, response_work
from allocator.solvers.bounds.relaxation.model import Relaxation

__all__ = ["Tangents", "percentiles"]


@dataclass
class Tangents:
    """The curves n^2 / s <= z of a relaxation: members, slack as terms, z."""

    curves: list[tuple[int, dict[int, Number], int]] = field(default_factory=list)
    price: list[Fraction] = field(default_factory=list)

    def add(self, relaxation: Relaxation, point: npt.NDArray[np.float64], tolerance: float) -> bool:
        """Add tangents at a point where z is too small there; whether any was needed."""
        missing, total, wanted = 0.0, 0.0, []
        for (n, slack, z), price in zip(self.curves, self.price, strict=True):
            members = float(point[n])
            free = sum(float(a) * float(point[column]) for column, a in slack.items())
            if members <= 1e-9:
                continue
            free = max(free, 1e-12 * members)
            true = float(price) * members * members / free
            total += true
            if true > float(price) * float(point[z]) * (1 + tolerance):
                missing += true - float(price) * float(point[z])
                wanted.append((n, slack, z, members / free))
        if missing <= tolerance * total:
            return False
        for n, slack, z, t in wanted:
            tangent(relaxation, n, slack, z, _short(t))
        return True


def percentiles(relaxation: Relaxation) -> Expression:
    """The weighted sum of P99 over critical members, from below; the tangents to refine are kept beside it."""
    compiled = relaxation.compiled
    if relaxation.tangents is not None:
        tangents = relaxation.tangents
        return Expression({z: price for (_, _, z), price in zip(tangents.curves, tangents.price, strict=True)})
    relaxation.tangents = tangents = Tangents()
    for number, cell in enumerate(relaxation.cells):
        workload = compiled.instance.workloads[relaxation.parts[cell.part].workload]
        mode = workload.modes[int(compiled.option_mode[cell.option])]
        kind = compiled.kinds[int(compiled.node_kind[relaxation.orbits.nodes[cell.group]])]
        work = response_work(compiled, mode.demand(kind))
        if not workload.slo.critical or work is None or workload.weight <= 0:
            continue
        r, each = work
        unit = relaxation.units[r]
        # slack in units of the resource: what is usable less what the arrivals take
        usable = min(Fraction(cell.need[r]), workload.parallel / unit)
        arrivals = workload.rate * each / unit
        slack: dict[int, Number] = {relaxation.x[number]: usable - arrivals}
        most = usable
        if (number, r) in relaxation.above:
            above, most = relaxation.above[number, r], cell.room[r]
            if most * unit > workload.parallel:  # no use to this queue
                most, given = max(usable, workload.parallel / unit), above
                above = relaxation.program.column(0, relaxation.program.upper[given])
                relaxation.program.row({above: 1, given: -1}, None, 0)
                relaxation.program.row({above: 1, relaxation.x[number]: usable - most}, None, 0)
            slack[above] = 1
        price = LN_100_BELOW * workload.weight * each / unit
        scale = Fraction(2) ** round(math.log2(price))  # z in about seconds: a solver's tolerance is absolute
        slack = {column: amount / scale for column, amount in slack.items()}
        z = relaxation.program.column(0, None)
        tangents.curves.append((relaxation.x[number], slack, z))
        tangents.price.append(price / scale)
        least_slack = most - arrivals
        if least_slack > 0:
            tangent(relaxation, relaxation.x[number], slack, z, _short(float(scale / least_slack)))
        if usable > arrivals:
            tangent(relaxation, relaxation.x[number], slack, z, _short(float(scale / (usable - arrivals))))
    return percentiles(relaxation)


def tangent(relaxation: Relaxation, n: int, slack: dict[int, Number], z: int, t: Fraction) -> None:
    """Add the row z >= 2 t n - t^2 s."""
    terms: dict[int, Number] = {z: 1, n: -2 * t}
    for column, amount in slack.items():
        terms[column] = terms.get(column, 0) + t * t * amount
    relaxation.program.row(terms, 0, None)


def _short(value: float) -> Fraction:
    """A positive fraction near a number, of few digits; any argument gives a valid tangent."""
    mantissa, exponent = np.frexp(value)
    scaled = max(1, int(np.ldexp(mantissa, 20)))
    return Fraction(scaled) * Fraction(2) ** (int(exponent) - 20)
