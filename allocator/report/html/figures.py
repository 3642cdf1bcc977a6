"""Drawings of a report folder that need no statistics: values over time, gap and memory against size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isfinite

from allocator.model.families import GoalId
from allocator.plan.record import Record, exact
from allocator.plan.result import gap_between
from allocator.report.charts.axes import tick_text
from allocator.report.charts.lines import Line, trace
from allocator.report.charts.points import Point, marker, scatter
from allocator.report.charts.svg import dash_of, element, series_class
from allocator.report.format import count, goal_value, number, percent, seconds
from allocator.report.html.table import Cell, Column, Table, plain
from allocator.report.html.view import Picture

__all__ = [
    "gap_picture",
    "line_swatch",
    "memory_picture",
    "open_gap",
    "point_swatch",
    "series_of",
    "shown_value",
    "trace_pictures",
]

MOST_TRACES = 12
MOST_POINTS = 60
MOST_ROWS = 24
MOST_LISTED = 300
MOST_DRAWN = 1_500
MOST_NAMED = 500  # points that say what they are when they are pointed at


def series_of(records: Sequence[Record]) -> dict[str, int]:
    """Number of the series of every method, in the order of the records: one colour each on the whole page."""
    return {method: index for index, method in enumerate(dict.fromkeys(record.method for record in records))}


def line_swatch(series: int) -> str:
    """Sample of a line for a key."""
    stroke = element("path", d="M0 6H31", class_=f"line {series_class(series)}", stroke_dasharray=dash_of(series))
    return f'<svg viewBox="0 0 32 12" aria-hidden="true">{stroke}</svg>'


def point_swatch(series: int) -> str:
    """Sample of a mark for a key."""
    return f'<svg viewBox="0 0 32 12" aria-hidden="true">{marker(series, 16, 6)}</svg>'


def shown_value(goals: Mapping[str, object], value: float | None) -> str:
    """Value of a record's level: with the goal's unit when it is that goal alone with weight 1."""
    if value is None:
        return "-"
    exactly = Fraction(repr(value))
    if len(goals) == 1 and next(iter(goals.values())) == 1:
        name = next(iter(goals))
        if name in set(GoalId):
            return goal_value(GoalId(name), exactly)
    return number(exactly)


def open_gap(record: Record) -> tuple[str, Fraction] | None:
    """Name and gap of the first level that is not proven; of the last one where all are. None without plan or bound."""
    if not record.has_plan:
        return None
    found = None
    for level in record.levels:
        gap = gap_between(exact(level["value"]), exact(level["bound"]))
        if gap is None:
            return None
        found = " + ".join(level["goals"]), gap
        if gap:
            break
    return found


# ---------------------------------------------------------------- over time


def trace_pictures(records: Sequence[Record], series: Mapping[str, int], key: str) -> tuple[tuple[Picture, ...], int]:
    """A drawing a case and model: the best value and the bound of every method over time, first seed.

    Returns
    -------
    tuple
        The drawings, those with the longest runs, and how many more there would be.
    """
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda each: each.seed):
        methods = {(other.method, other.seed) for other in groups[record.key]}
        if record.trace and not any(method == record.method for method, _ in methods):
            groups[record.key].append(record)
    drawn = []
    for group in groups.values():
        level = _telling_level(group)
        if level is not None:
            drawn.append((max(record.trace[-1][0] for record in group), level, group))
    longest = sorted(drawn, key=lambda entry: -entry[0])[:MOST_TRACES]
    kept = [entry for entry in drawn if entry in longest]
    pictures = tuple(
        _trace_picture(group, level, series, f"{key}-{index}") for index, (_, level, group) in enumerate(kept)
    )
    return pictures, len(drawn) - len(kept)


def _telling_level(records: Sequence[Record]) -> int | None:
    """The last level on which some run has a value: the earlier ones are usually settled at once."""
    levels = [point[1] for record in records for point in record.trace if point[1] is not None and point[2] is not None]
    return max(levels, default=None)


def _trace_picture(records: Sequence[Record], level: int, series: Mapping[str, int], key: str) -> Picture:
    case, model = records[0].key
    records = sorted(records, key=lambda record: series[record.method])
    lines, rows, names = [], [], []
    goals: Mapping[str, object] = {}
    for record in records:
        values = _steps(record, level, 2)
        bounds = _steps(record, level, 3)
        if not values and not bounds:
            continue
        if level < len(record.levels):
            goals = record.levels[level]["goals"]
        colour, end = series[record.method], record.trace[-1][0]
        lines += [Line(colour, values, end=end), Line(colour, bounds, bound=True, end=end)]
        names.append((line_swatch(series[record.method]), record.method))
        for what, points in (("value", values), ("bound", bounds)):
            for at, reached in _thin(points, MOST_ROWS):
                shown = Cell(shown_value(goals, reached), reached)
                rows.append((plain(record.method), plain(what), Cell(seconds(round(at, 4)), at), shown))
    until = max(record.trace[-1][0] for record in records)
    name = " + ".join(goals) or f"level {level + 1}"
    ends = "; ".join(
        f"{record.method} {shown_value(goals, value)}"
        for record in records
        if (value := _last(record, level)) is not None
    )
    columns = (
        Column("method", "method", choice=True),
        Column("what", "what", choice=True),
        Column("seconds", "at", right=True),
        Column("value", name, right=True),
    )
    table = Table(key, f"{case}, model {model}: {name} over time", columns, tuple(rows), filters=False)
    drawing = trace(
        [line for line in lines if line.points],
        title=f"{case}, model {model}: {name} over time",
        description=f"Best values (lines) and bounds (dotted) over {seconds(round(until, 2))}. At the end: {ends}.",
        y_label=name,
        until=until,
        y_text=_unit_text(goals),
    )
    caption = f"model {model}, {name}. Lines: best value; dotted: bound."
    return Picture(case, drawing, caption, tuple(names), table)


def _unit_text(goals: Mapping[str, object]) -> Callable[[float], str]:
    if set(goals) in ({"peak"}, {"fairness"}):
        return lambda value: percent(Fraction(repr(value)))
    return tick_text


def _steps(record: Record, level: int, field: int) -> tuple[tuple[float, float], ...]:
    """Times and values of one level where they change, thinned; ``field``: 2 value, 3 bound.

    A value counts when it is better than all before. Bounds stand as they were told: a wrong one is to be seen.
    """
    sign = -1 if level < len(record.levels) and record.levels[level]["sense"] == "max" else 1
    points: list[tuple[float, float]] = []
    for point in record.trace:
        value = point[field]
        if point[1] != level or value is None or not isfinite(value):
            continue
        if field == 2 and points and sign * value >= sign * points[-1][1]:
            continue
        if not points or value != points[-1][1]:
            points.append((point[0], float(value)))
    return _thin(points, MOST_POINTS)


def _thin(points: Sequence[tuple[float, float]], most: int) -> tuple[tuple[float, float], ...]:
    """At most so many of the points, first and last among them."""
    if len(points) <= most:
        return tuple(points)
    step = (len(points) - 1) / (most - 1)
    return tuple(points[round(index * step)] for index in range(most))


def _last(record: Record, level: int) -> float | None:
    found = _steps(record, level, 2)
    return found[-1][1] if found else None


# ---------------------------------------------------------------- against size


def gap_picture(records: Sequence[Record], series: Mapping[str, int], key: str) -> Picture | None:
    """Gap to the bound against members; None where no run has one."""
    found = [(record, gap) for record in records if (gap := open_gap(record)) is not None]
    if not found:
        return None
    columns = (
        Column("case", "case"),
        Column("model", "model", choice=True),
        Column("method", "method", choice=True),
        Column("seed", "seed", right=True),
        Column("members", "members", right=True),
        Column("goal", "goal"),
        Column("gap", "gap", right=True),
    )
    rows = tuple((*_who(record), plain(gap[0]), Cell(percent(gap[1], 2), gap[1])) for record, gap in found)
    closed = sum(1 for _, gap in found if not gap[1])
    open_ones = [gap[1] for _, gap in found if gap[1]]
    words = f"{closed:,} of {count(len(found), 'run')} {'is' if closed == 1 else 'are'} proven"
    words += f"; the widest gap is {percent(max(open_ones), 2)}." if open_ones else "."
    without = sum(1 for record in records if record.has_plan) - len(found)
    if without:
        words += f" {count(without, 'plan')} without a bound {'is' if without == 1 else 'are'} not drawn."
    if len(found) > MOST_DRAWN:
        words += f" Drawn: the {MOST_DRAWN:,} widest."
    widest = sorted(found, key=lambda entry: -entry[1][1])[:MOST_DRAWN]
    points = [
        Point(series[record.method], _members(record), float(gap[1]), _said(widest, record, percent(gap[1], 2)))
        for record, gap in widest
    ]
    drawing = scatter(
        points,
        title="Gap against size",
        description=words,
        x_label="members",
        y_label="gap to the bound",
        y_text=lambda value: percent(Fraction(repr(value))),
    )
    table = Table(key, "Gap against size", columns, rows).cut(MOST_LISTED)
    return Picture("Gap against size", drawing, words, _key(series, [record for record, _ in found]), table)


def memory_picture(records: Sequence[Record], series: Mapping[str, int], key: str) -> Picture | None:
    """Peak memory of the whole process against members; None where it was not measured."""
    found = [(record, record.peak_memory_mib) for record in records if record.peak_memory_mib]
    if not found:
        return None
    columns = (
        Column("case", "case"),
        Column("model", "model", choice=True),
        Column("method", "method", choice=True),
        Column("seed", "seed", right=True),
        Column("members", "members", right=True),
        Column("memory_mib", "peak MiB", right=True),
    )
    rows = tuple((*_who(record), Cell(f"{mib:,.0f}", mib)) for record, mib in found)
    most = max(found, key=lambda entry: entry[1] or 0.0)
    words = f"Peak of the whole process. The most: {most[1]:,.0f} MiB, {_named(most[0])}."
    if len(found) > MOST_DRAWN:
        words += f" Drawn: the {MOST_DRAWN:,} largest."
    largest = sorted(found, key=lambda entry: -(entry[1] or 0.0))[:MOST_DRAWN]
    drawing = scatter(
        [
            Point(series[record.method], _members(record), float(mib or 0), _said(largest, record, f"{mib:,.0f} MiB"))
            for record, mib in largest
        ],
        title="Memory against size",
        description=words,
        x_label="members",
        y_label="MiB",
    )
    table = Table(key, "Memory against size", columns, rows).cut(MOST_LISTED)
    return Picture("Memory against size", drawing, words, _key(series, [record for record, _ in found]), table)


def _key(series: Mapping[str, int], records: Sequence[Record]) -> tuple[tuple[str, str], ...]:
    present = {record.method for record in records}
    return tuple((point_swatch(index), method) for method, index in series.items() if method in present)


def _who(record: Record) -> tuple[Cell, ...]:
    members = record.instance["members"]
    return (
        plain(record.case),
        plain(record.model),
        plain(record.method),
        Cell(str(record.seed), record.seed),
        Cell(f"{members:,}", members),
    )


def _members(record: Record) -> float:
    return float(max(record.instance["members"], 1))


def _said(drawn: Sequence[object], record: Record, value: str) -> str:
    """What a point says: nothing where there are so many that the page would grow too large."""
    return "" if len(drawn) > MOST_NAMED else f"{_named(record)}: {value}"


def _named(record: Record) -> str:
    return f"{record.case}, {record.model}, {record.method}, seed {record.seed}"
