"""Figures of what bends: goodput curves with the loads of a plan, P99 against share, links coloured by their load.

Each is a function of an instance and the evaluation of a plan for it. Pieces are computed for the stated tolerance by
``allocator.linearization``; no solver is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from allocator.errors import ArgumentError
from allocator.instance.entities import Goodput, Instance, WorkloadClass
from allocator.linearization import (
    Fair,
    Function,
    Knee,
    Pieces,
    Reciprocal,
    Table,
    concave_envelope,
    inner,
    ln_100,
    outer,
)
from allocator.linearization.pieces import active_lines
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation, LinkUse
from allocator.report.charts.bands import band
from allocator.report.charts.links import draw_links
from allocator.report.charts.points import Point
from allocator.report.format import amount, percent, seconds
from allocator.report.html.maps import domain_name
from allocator.report.html.view import Picture

__all__ = ["curve_pictures", "delay_picture", "goodput_picture", "link_picture"]

MOST_CURVES = 4
MOST_MARKS = 60
SAMPLES = 120
HIGHEST = 6  # times the least response time that a drawing holds
OFFERED, CARRIED = "offered load over capacity", "carried over capacity"
Places = list[tuple[float, float]]


def curve_pictures(
    instance: Instance, plan: Plan, evaluation: Evaluation, tolerance: Fraction, table_key: str = ""
) -> tuple[Picture, ...]:
    """Links, every curve other than ``fair``, and every class with a response time; a few at most of each."""
    links = link_picture(instance, evaluation, table_key)
    curves = dict.fromkeys(
        domain.uplink.goodput
        for domain in instance.domains
        if domain.uplink is not None and domain.uplink.bandwidth and domain.uplink.goodput.curve != "fair"
    )
    served = [
        workload
        for workload, outcome in zip(instance.workloads, evaluation.classes, strict=True)
        if outcome.p99 is not None
    ]
    found = [links] if links is not None else []
    found += [
        goodput_picture(instance, evaluation, curve, tolerance, table_key) for curve in list(curves)[:MOST_CURVES]
    ]
    delays = (delay_picture(instance, plan, evaluation, each.name, tolerance) for each in served[:MOST_CURVES])
    return (*found, *(picture for picture in delays if picture is not None))


def link_picture(instance: Instance, evaluation: Evaluation, table_key: str = "") -> Picture | None:
    """The tree with every uplink coloured by the load of its busier direction; None: too large, or nothing flows."""
    busier: dict[str, LinkUse] = {}
    for link in evaluation.links:
        if link.capacity and (link.domain not in busier or link.offered > busier[link.domain].offered):
            busier[link.domain] = link
    if not any(link.offered for link in busier.values()):
        return None

    def words(path: str) -> str:
        link = busier.get(path)
        if link is None or not link.capacity:
            return f"{domain_name(path)}: no bandwidth stated"
        load = f"{amount(link.offered, 'bit/s')} of {amount(link.capacity, 'bit/s')} {link.direction}"
        return f"{domain_name(path)}: {percent(link.offered / link.capacity)} ({load})"

    ratios = {path: float(link.offered / link.capacity) for path, link in busier.items() if link.capacity}
    top = max(ratios, key=lambda path: ratios[path])
    said = f"Fullest: {words(top)}."
    title = "Links by load, busier direction"
    drawing = draw_links(instance, dict(ratios), title=title, description=said, words=words)
    return None if drawing is None else Picture(title, drawing, said, elsewhere=table_key)


def goodput_picture(
    instance: Instance, evaluation: Evaluation, curve: Goodput, tolerance: Fraction, table_key: str = ""
) -> Picture:
    """Carried over offered load, both in parts of the capacity, with the links of the plan that have this curve."""
    having = {
        domain.path: domain.uplink.bandwidth
        for domain in instance.domains
        if domain.uplink is not None and domain.uplink.bandwidth and domain.uplink.goodput == curve
    }
    marks = [
        Point(3, float(link.offered / link.capacity), float(link.carried / link.capacity), _said(link))
        for link in sorted(evaluation.links, key=lambda link: -link.offered)
        if link.domain in having and link.capacity and link.carried is not None and link.offered
    ][:MOST_MARKS]
    function = _function(curve)
    least = function.points[-1][0] * Fraction(5, 4) if isinstance(function, Table) else Fraction(2)
    high = max(least, *(Fraction(mark.x).limit_denominator(1000) for mark in marks), Fraction(0))
    title = f"Goodput: {_name(curve)}"
    if isinstance(function, Table):
        line = function.polyline(high).simplified()
        exact = _floats(line.points)
        hull = [] if function.shape.value == "concave" else _floats(concave_envelope(line).points)
        caption = f"{len(exact) - 1} pieces, exact: they are the measured points."
        if hull:
            caption += " Dotted: what tangents would allow, which no plan gets."
        drawing = band(
            exact,
            outer=exact,
            inner=exact,
            hull=hull,
            marks=marks,
            title=title,
            description=caption,
            x_label=OFFERED,
            y_label=CARRIED,
        )
        return Picture(title, drawing, caption, elsewhere=table_key)
    above, below = (side(function, Fraction(0), high, tolerance) for side in (outer, inner))
    true = [(float(x), float(function.value(x).lower)) for x in _samples(Fraction(0), high)]
    caption = _pieces_said(above, below)
    drawing = band(
        true,
        outer=_joints(above),
        inner=_joints(below),
        marks=marks,
        title=title,
        description=caption,
        x_label=OFFERED,
        y_label=CARRIED,
    )
    return Picture(title, drawing, caption, elsewhere=table_key)


def delay_picture(
    instance: Instance, plan: Plan, evaluation: Evaluation, name: str, tolerance: Fraction
) -> Picture | None:
    """P99 of a member of a class against its share of compute, path delay apart, with the shares of the plan.

    None for a class without a response time, or whose work differs between kinds of nodes or modes.
    """
    workload = next((each for each in instance.workloads if each.name == name), None)
    if workload is None:
        raise ArgumentError(f"instance {instance.name} has no class {name}")
    work = _one_work(workload)
    if work is None or not workload.rate:
        return None
    resource, need = work
    unit = Fraction(10) ** instance.resources[resource].exponent
    shares = sorted(
        {
            min(Fraction(group.shares.get(resource, 0)) * unit, Fraction(workload.parallel))
            for group in plan.placements
            if group.workload == name
        }
    )
    function = Reciprocal(ln_100().lower * need, workload.rate * need)
    stable = workload.rate * need * Fraction(101, 100)
    high = max([*shares, Fraction(workload.parallel)])
    low = max(stable, function.pole + (high - function.pole) / HIGHEST)
    low = min([low, *(share for share in shares if share > function.pole)])
    if not low < high:
        return None
    above, below = (side(function, low, high, tolerance) for side in (inner, outer))
    true = [(float(x), float(function.value(x).upper)) for x in _samples(low, high)]
    outcome = next(each for each in evaluation.classes if each.workload == name)
    marks = [
        Point(3, float(share), float(function.value(share).upper), f"{name}: {amount(share, '')} {resource}")
        for share in shares[:MOST_MARKS]
        if share > function.pole
    ]
    title = f"P99 of {name} against its share"
    worst = "" if outcome.p99 is None else f" Worst in this plan, path delay included: {seconds(outcome.p99)}."
    caption = f"{len(below.segments)} tangents, {_error(below)}; path delay apart.{worst}"
    drawing = band(
        true,
        outer=_joints(below),
        inner=_joints(above),
        marks=marks,
        title=title,
        description=caption,
        x_label=f"{resource} of a member",
        y_label="P99 in seconds",
    )
    return Picture(title, drawing, caption)


def _function(curve: Goodput) -> Function:
    if curve.curve == "knee":
        return Knee(curve.p)
    return Table(curve.points) if curve.curve == "table" else Fair()


def _name(curve: Goodput) -> str:
    return f"knee, p = {curve.p}" if curve.curve == "knee" else curve.curve


def _said(link: LinkUse) -> str:
    return f"{domain_name(link.domain)} {link.direction}: {amount(link.offered, 'bit/s')} offered"


def _error(pieces: Pieces) -> str:
    return f"error at most {percent(pieces.max_error, 2)}"


def _pieces_said(above: Pieces, below: Pieces) -> str:
    return (
        f"{len(above.segments)} tangents above, {_error(above)}; {len(below.segments)} chords below, {_error(below)}."
        " The band is what lies between."
    )


def _joints(pieces: Pieces) -> Places:
    """Where the pieces meet, and both ends."""
    lines = pieces.segments
    if pieces.function.shape.value == "convex":
        lines = tuple(type(line)(-line.slope, -line.intercept) for line in lines)
    starts = [low for low, _, _ in active_lines(lines, pieces.low, pieces.high)]
    return _floats((x, pieces.value(x)) for x in (*starts, pieces.high))


def _floats(points: Iterable[tuple[Fraction, Fraction]]) -> Places:
    return [(float(x), float(y)) for x, y in points]


def _samples(low: Fraction, high: Fraction) -> list[Fraction]:
    step = (high - low) / SAMPLES
    return [low, *(low + step * at for at in range(1, SAMPLES)), high]


def _one_work(workload: WorkloadClass) -> tuple[str, Fraction] | None:
    """The compute resource and the work on it, where it is one for all modes and kinds."""
    works = [demand.work.compute for mode in workload.modes for demand in (mode.default, *mode.by_kind.values())]
    if any(len(work) != 1 for work in works) or any(first != second for first, second in pairwise(works)):
        return None
    ((resource, need),) = works[0].items()
    return (resource, need) if need > 0 else None
