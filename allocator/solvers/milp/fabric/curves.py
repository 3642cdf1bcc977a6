"""Goodput curves other than ``fair`` (equation 7): granted load below the curve at the offered load.

Concave curves by tangents, a relaxation that is refined at the loads of the plans found; tables of any other shape
exactly, by incremental binaries (Markowitz and Manne 1957).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from allocator.instance.entities import Domain
from allocator.linearization.approximate import outer, tangents
from allocator.linearization.functions import Function, Shape
from allocator.linearization.pieces import Certificate, Segment
from allocator.plan.result import LinearizationCertificate
from allocator.solvers.evaluation.links import curve_of, offered
from allocator.solvers.evaluation.loads import flow_crossings
from allocator.solvers.evaluation.use import Counts
from allocator.solvers.milp.fabric.loads import class_size, link_load
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["BentLink", "add_curve", "bent_links", "linearization", "refine"]

PART = "curves"
ZERO = Fraction(0)
FIRST_TOLERANCE = Fraction(1, 100)  # finer ones start from here: tangents at the loads that matter do the rest


@dataclass
class BentLink:
    """A link under a smooth concave curve: granted - slope * load <= intercept * capacity for each tangent."""

    domain: int
    side: str
    capacity: Fraction
    function: Function
    most: Fraction  # largest offered load over capacity
    granted: Terms
    load: Terms
    certificate: Certificate
    segments: list[Segment]
    points: set[Fraction] = field(default_factory=set)

    def terms(self, segment: Segment) -> Terms:
        """Left side of a tangent's row."""
        return Terms().extend(self.granted, 1 / self.capacity).extend(self.load, -segment.slope / self.capacity)


def bent_links(form: Formulation) -> list[BentLink]:
    """Links under a tangent relaxation."""
    links: list[BentLink] = form.cache.setdefault("bent links", [])
    return links


def add_curve(form: Formulation, domain: Domain, side: str, granted: Terms) -> None:
    """Granted <= C phi(load / C) on one direction of an uplink with a curve other than ``fair``."""
    uplink = domain.uplink
    if uplink is None or uplink.bandwidth is None or not granted:
        return
    if not uplink.bandwidth:
        form.at_most(PART, granted, 0)
        return
    load = link_load(form, domain.index, side)
    most = _largest_load(form) / uplink.bandwidth
    if not load or not most:
        return
    function = curve_of(uplink.goodput)
    vertices = function.vertices(Fraction(0), most)
    if function.shape is Shape.CONCAVE and vertices is not None:
        for line in _lines([(x, function.value(x).lower) for x in vertices]):
            row = Terms().extend(granted).extend(load, -line.slope)
            form.at_most(PART, row, line.intercept * uplink.bandwidth)
    elif function.shape is Shape.CONCAVE:
        tolerance = max(form.compiled.model.linearization.tolerance, FIRST_TOLERANCE)
        pieces = outer(function, ZERO, most, tolerance)
        link = BentLink(
            domain.index,
            side,
            uplink.bandwidth,
            function,
            most,
            granted.copy(),
            load.copy(),
            pieces.certificate,
            list(pieces.segments),
        )
        bent_links(form).append(link)
        for segment in pieces.segments:
            form.at_most(PART, link.terms(segment), segment.intercept)
    elif vertices is not None:
        goodput = _incremental(form, load, uplink.bandwidth, [(x, function.value(x).lower) for x in vertices])
        form.at_most(PART, granted.copy().extend(goodput, -1), 0)


def _largest_load(form: Formulation) -> Fraction:
    """More than all flows together can offer on any link."""
    compiled = form.compiled
    total = sum((team.rate * (team.size // 2) * ((team.size + 1) // 2) for team in compiled.teams), Fraction(0))
    total += sum((pair.rate for pair in compiled.pairs), Fraction(0))
    for group in compiled.groups:
        total += group.rate * class_size(form, group.source) * class_size(form, group.target)
    return total


def _lines(points: Sequence[tuple[Fraction, Fraction]]) -> list[Segment]:
    """Lines through neighbouring points."""
    lines = []
    for (left, low), (right, high) in pairwise(points):
        slope = (high - low) / (right - left)
        lines.append(Segment(slope, low - slope * left))
    return lines


def _incremental(
    form: Formulation, load: Terms, capacity: Fraction, points: Sequence[tuple[Fraction, Fraction]]
) -> Terms:
    """C phi(load / C), exact: load = C sum width_i fill_i, a segment is entered only when the one before is full."""
    filled = load.copy()
    value = Terms(constant=capacity * points[0][1])
    before = None
    for (left, low), (right, high) in pairwise(points):
        fill = form.real(PART, 1.0)
        filled.add(-capacity * (right - left), fill)
        value.add(capacity * (high - low), fill)
        if before is not None:
            full = form.binary(PART)
            form.at_most(PART, Terms([(1, fill), (-1, full)]), 0)
            form.at_most(PART, Terms([(1, full), (-1, before)]), 0)
        before = fill
    form.equal(PART, filled, 0)
    return value


def refine(form: Formulation, counts: Counts) -> list[tuple[dict[int, float], float]]:
    """Tangents at the placement's own loads where bent links have none yet, as rows (coefficients by column) <= bound."""
    links = bent_links(form)
    flows = flow_crossings(form.compiled, counts) if links else []
    rows = []
    for link in links:
        point = offered(flows, link.domain, link.side) / link.capacity
        if point in link.points or not 0 < point <= link.most:
            continue
        link.points.add(point)
        for segment in tangents(link.function, [point], ZERO, link.most, relative=False).segments:
            link.segments.append(segment)
            row = link.terms(segment).merged()
            coefs = {v.column: float(coef) for coef, v in zip(row.coefs, row.variables, strict=True)}
            rows.append((coefs, math.nextafter(float(segment.intercept - row.constant), math.inf)))
    return rows


def linearization(form: Formulation, counts: Counts) -> LinearizationCertificate:
    """Largest relative error proven of the tangents first laid, and the one that all of them have at a placement."""
    links = bent_links(form)
    if not links:
        return LinearizationCertificate(ZERO, ZERO, "no curve is approximated: the formulation is exact")
    flows = flow_crossings(form.compiled, counts)
    measured = ZERO
    for link in links:
        x = offered(flows, link.domain, link.side) / link.capacity
        true = link.function.value(x).lower
        if true > 0:
            measured = max(measured, min(segment.at(x) for segment in link.segments) / true - 1)
    worst = Certificate.worst(link.certificate for link in links)
    return LinearizationCertificate(
        worst.max_error, measured, f"{worst.proven_over} times capacity, {len(links)} links"
    )
