"""Goodput curves other than ``fair`` (equation 7): granted load below the curve at the offered load.

Concave curves by tangents, a relaxation that is refined at the loads of the plans found; tables of any other shape
exactly, with binaries only where they are not concave.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from allocator.errors import ArgumentError, MethodRefused
from allocator.instance.entities import Domain
from allocator.linearization.approximate import outer, tangents
from allocator.linearization.encodings import Encoding, Relation, incremental
from allocator.linearization.functions import Function
from allocator.linearization.pieces import Certificate, Segment
from allocator.linearization.polyline import Table
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
FINEST_TOLERANCE = Fraction(1, 1000)  # proven over the whole range; below it, tangents at the loads that matter


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
    if isinstance(function, Table):
        line = function.polyline(most)
        bound = incremental(line, "load", "granted", "", Relation.AT_MOST)  # no binary where the curve is concave
        share = 1 / uplink.bandwidth
        _state(form, bound, {"load": Terms().extend(load, share), "granted": Terms().extend(granted, share)})
        return
    tolerance = max(form.compiled.model.linearization.tolerance, FINEST_TOLERANCE)
    try:
        pieces = outer(function, ZERO, most, tolerance)
    except ArgumentError as problem:  # a knee so soft that it bends within loads beyond floats
        raise MethodRefused(f"method milp cannot approximate the goodput of {domain.path}: {problem}") from None
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


def _state(form: Formulation, encoding: Encoding, bound: dict[str, Terms]) -> None:
    """Add the columns and rows of an encoding; ``bound``: what stands for its x and y."""
    made = {
        column.name: Terms([(1, form.binary(PART) if column.binary else form.real(PART, 1.0))])
        for column in encoding.columns
    }
    names = {**made, **bound}
    for row in encoding.rows:
        terms = Terms()
        for name, coef in row.coefficients.items():
            terms.extend(names[name], coef)
        if row.lower is not None and row.lower == row.upper:
            form.equal(PART, terms, row.lower)
            continue
        if row.lower is not None:
            form.at_least(PART, terms, row.lower)
        if row.upper is not None:
            form.at_most(PART, terms, row.upper)


def _largest_load(form: Formulation) -> Fraction:
    """More than all flows together can offer on any link."""
    compiled = form.compiled
    total = sum((team.rate * (team.size // 2) * ((team.size + 1) // 2) for team in compiled.teams), Fraction(0))
    total += sum((pair.rate for pair in compiled.pairs), Fraction(0))
    for group in compiled.groups:
        total += group.rate * class_size(form, group.source) * class_size(form, group.target)
    return total


def refine(form: Formulation, counts: Counts) -> list[tuple[dict[int, float], float]]:
    """Tangents at the placement's own loads where bent links have none yet: (coefficients by column, upper bound)."""
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
