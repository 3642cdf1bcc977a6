"""Methods side by side: statistics of the records as tables, drawings, sentences. Computes no statistic itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

from allocator.benchmark.statistics.duels import Duel, duels
from allocator.benchmark.statistics.gaps import best_values, gap_to_best
from allocator.benchmark.statistics.groups import by_method
from allocator.benchmark.statistics.integral import primal_integral
from allocator.benchmark.statistics.outcomes import outcome_counts
from allocator.benchmark.statistics.profiles import Profile, time_profiles
from allocator.benchmark.statistics.spread import Extent, seed_spread
from allocator.benchmark.statistics.targets import targets
from allocator.benchmark.statistics.times import MethodTimes, method_times
from allocator.plan.record import Record
from allocator.report.charts.bars import Bar, Part, stacked
from allocator.report.charts.lines import Line, profile
from allocator.report.charts.svg import element
from allocator.report.format import count, number, percent, seconds
from allocator.report.html.figures import line_swatch
from allocator.report.html.table import Cell, Column, Table, plain
from allocator.report.html.view import Picture

__all__ = ["Standing", "standing_of"]

MOST_SPREADS = 400
NOTES = (
    (
        "Times are shifted geometric means (shift 10 s), from reading to checking. Among all: over the runs that every "
        "method proved which proves anything, their number in brackets. With limit: runs without proof count with "
        "their time limit. In no mean: refused, crashed, out of memory."
    ),
    (
        "The primal integral is the area of the distance from the best value over time, in seconds: small is soon and "
        "good. Gaps and the integral are of the first goal."
    ),
)
WON, TIED, LOST = "s2", "s7", "s1"


@dataclass(frozen=True, slots=True)
class Standing:
    """How the methods stand: sentences for the verdict, tables, drawings, notes on how to read them."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    notes: tuple[str, ...]


def standing_of(records: Sequence[Record], series: Mapping[str, int]) -> Standing:
    """The standing of all methods in the records; refuted ones should not be among them.

    Parameters
    ----------
    series : number of the colour of every method.
    """
    times, pairs = method_times(records), duels(records)
    tables = [_methods(records, times), _soon(records), _outcomes(records), _pairs(pairs), _spreads(records)]
    pictures = [_profile(time_profiles(records), series), _duels(pairs)]
    return Standing(
        tuple(_sentences(records, times, pairs)),
        tuple(table for table in tables if table.rows),
        tuple(picture for picture in pictures if picture is not None),
        NOTES if records else (),
    )


# ---------------------------------------------------------------- sentences


def _sentences(records: Sequence[Record], times: Sequence[MethodTimes], pairs: Sequence[Duel]) -> Iterable[str]:
    if not times:
        return
    most = max(each.solved for each in times)
    first = [each for each in times if each.solved == most]
    if len(times) == 1:
        yield f"{times[0].method} proved {most:,} of {count(times[0].runs, 'run')}."
    elif not most:
        yield "No method proved anything."
    else:
        quickest = min(first, key=lambda each: each.of_common or each.of_solved or 0.0)
        names = _listed([each.method for each in first])
        yield (
            f"Most proofs: {names}, {most:,} of {count(quickest.runs, 'run')}{' each' if len(first) > 1 else ''}. "
            + (f"Quickest of these: {quickest.method}. " if len(first) > 1 else "")
            + (f"A proof took it {_time(quickest.of_solved).text} (shifted geometric mean).")
        )
    yield from _best_plans(pairs)
    seeds = {record.seed for record in records}
    if len(seeds) == 1:
        yield "There is one seed: how much a run varies by chance is not known."
        return
    varied = [spread.value for spread in seed_spread(records) if spread.value is not None and spread.value.count > 1]
    differing = sum(extent.least != extent.largest for extent in varied)
    yield (
        f"Over {len(seeds)} seeds, the first goal came out differently in {differing:,} of "
        f"{count(len(varied), 'problem and method', 'problems and methods')}."
    )


def _best_plans(pairs: Sequence[Duel]) -> Iterable[str]:
    """Whose plans are best, by what they win less what they lose; nothing where no plans can be compared."""
    sums: dict[str, tuple[int, int, int]] = {}
    for pair in pairs:
        wins, ties, losses = sums.get(pair.first, (0, 0, 0))
        sums[pair.first] = wins + pair.wins, ties + pair.ties, losses + pair.losses
    compared = {method: found for method, found in sums.items() if any(found)}
    if not compared:
        return
    if not any(wins for wins, _, _ in compared.values()):
        yield f"Equal plans: {_listed(list(compared))} differ on no problem that they can be compared on."
        return
    best = max(compared, key=lambda method: (compared[method][0] - compared[method][2], compared[method][0]))
    wins, ties, losses = compared[best]
    names = [method for method, found in compared.items() if found == compared[best]]
    who = "each" if len(names) > 1 else "it"
    yield (
        f"Best plans: {_listed(names)}. Against the plans of all others {who} has the better one "
        f"{_times(wins)}, an equal one {_times(ties)}, a worse one {_times(losses)}."
    )


def _times(number_: int) -> str:
    return "never" if not number_ else "once" if number_ == 1 else f"{number_:,} times"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---------------------------------------------------------------- tables


def _methods(records: Sequence[Record], times: Sequence[MethodTimes]) -> Table:
    """A row a method: proofs, plans, times, gaps, memory."""
    best = best_values(records)
    columns = (
        Column("method", "method"),
        Column("runs", "runs", right=True),
        Column("plans", "plans", right=True),
        Column("proven", "proven", right=True),
        Column("apart", "in no mean", right=True),
        Column("time_proven", "time, own proofs", right=True),
        Column("time_common", "among all", right=True),
        Column("time_capped", "with limit", right=True),
        Column("gap_median", "gap to best, median", right=True),
        Column("gap_largest", "largest", right=True),
        Column("memory_mib", "MiB, median", right=True),
    )
    groups = by_method(records)
    rows = []
    for each in times:
        group = groups[each.method]
        gaps = [gap for record in group if (gap := gap_to_best(record, best.get(record.key))) is not None]
        memory = [record.peak_memory_mib for record in group if record.peak_memory_mib]
        common = _time(each.of_common)
        rows.append(
            (
                plain(each.method),
                _count(each.runs),
                _count(sum(record.has_plan for record in group)),
                _count(each.solved),
                _count(each.apart),
                _time(each.of_solved),
                common if not each.common else Cell(f"{common.text} ({each.common})", common.value),
                _time(each.capped),
                _gap(median(gaps) if gaps else None),
                _gap(max(gaps, default=None)),
                Cell("-") if not memory else Cell(f"{median(memory):,.0f}", median(memory)),
            )
        )
    return Table("methods", "Methods", columns, tuple(rows), filters=False)


def _soon(records: Sequence[Record]) -> Table:
    """A row a method: when it had a plan, and a good one; the primal integral."""
    best = best_values(records)
    columns = (
        Column("method", "method"),
        *(
            column
            for key, title in (("first", "first plan"), ("one_percent", "within 1 %"), ("tenth", "within 0.1 %"))
            for column in (Column(f"{key}_runs", title, right=True), Column(f"{key}_median", "median", right=True))
        ),
        Column("primal_integral", "primal integral, mean", right=True),
    )
    rows = []
    for method, group in by_method(records).items():
        found = [targets(record, best.get(record.key)) for record in group]
        cells: list[Cell] = [plain(method)]
        for moments in (
            [each.first for each in found],
            [each.one_percent for each in found],
            [each.tenth_percent for each in found],
        ):
            reached = [moment for moment in moments if moment is not None]
            cells += [_count(len(reached)), _time(median(reached) if reached else None)]
        areas = [area for record in group if (area := primal_integral(record, best.get(record.key))) is not None]
        mean = sum(areas) / len(areas) if areas else None
        cells.append(Cell("-") if mean is None else Cell(number(Fraction(repr(round(mean, 4)))), mean))
        rows.append(tuple(cells))
    return Table("soon", "How soon", columns, tuple(rows), filters=False)


def _outcomes(records: Sequence[Record]) -> Table:
    """A row a method: how its runs ended. Failures are counted here and in no mean."""
    names = ("runs", "optimal", "infeasible", "feasible", "no_plan", "refused", "timed_out", "out_of_memory", "crashed")
    columns = (Column("method", "method"), *(Column(name, name.replace("_", " "), right=True) for name in names))
    rows = tuple(
        (plain(each.method), *(_count(getattr(each, name)) for name in names)) for each in outcome_counts(records)
    )
    return Table("outcomes", "How runs ended", columns, rows, filters=False)


def _pairs(pairs: Sequence[Duel]) -> Table:
    """A row an unordered pair."""
    columns = (
        Column("first", "method"),
        Column("second", "against"),
        *(Column(name, name, right=True) for name in ("won", "tied", "lost", "apart")),
    )
    seen: set[frozenset[str]] = set()
    rows = []
    for pair in pairs:
        both = frozenset((pair.first, pair.second))
        if both in seen:
            continue
        seen.add(both)
        cells = [_count(value) for value in (pair.wins, pair.ties, pair.losses, pair.apart)]
        rows.append((plain(pair.first), plain(pair.second), *cells))
    return Table("duels", "Better, equal and worse plans", columns, tuple(rows))


def _spreads(records: Sequence[Record]) -> Table:
    """A row a case, model and method with several seeds."""
    columns = (
        Column("case", "case"),
        Column("model", "model", choice=True),
        Column("method", "method", choice=True),
        Column("seeds", "seeds", right=True),
        *(Column(f"value_{name}", f"first goal, {name}", right=True) for name in ("least", "median", "largest")),
        *(Column(f"seconds_{name}", f"time, {name}", right=True) for name in ("least", "median", "largest")),
    )
    spreads = [spread for spread in seed_spread(records) if spread.runs > 1]
    spreads.sort(key=lambda spread: -_width(spread.value))
    rows = tuple(
        (
            plain(spread.case),
            plain(spread.model),
            plain(spread.method),
            _count(spread.runs),
            *_extent(spread.value, time=False),
            *_extent(spread.seconds, time=True),
        )
        for spread in spreads[:MOST_SPREADS]
    )
    return Table("spread", "Spread over seeds", columns, rows, max(0, len(spreads) - MOST_SPREADS))


def _width(extent: Extent | None) -> float:
    return 0.0 if extent is None or not extent.median else (extent.largest - extent.least) / abs(extent.median)


def _extent(extent: Extent | None, *, time: bool) -> tuple[Cell, ...]:
    if extent is None:
        return (Cell("-"),) * 3
    numbers = (extent.least, extent.median, extent.largest)
    return tuple(_time(value) if time else Cell(number(Fraction(repr(value))), value) for value in numbers)


def _count(value: int) -> Cell:
    return Cell(f"{value:,}", value)


def _time(value: float | None) -> Cell:
    return Cell("-") if value is None else Cell(seconds(Fraction(repr(round(max(value, 0.0), 4)))), value)


def _gap(value: Fraction | None) -> Cell:
    return Cell("-") if value is None else Cell(percent(value, 2), value)


# ---------------------------------------------------------------- drawings


def _profile(profiles: Sequence[Profile], series: Mapping[str, int]) -> Picture | None:
    """Performance profile by time; None where nothing was proven."""
    if not any(each.ratios for each in profiles):
        return None
    most = max((each.ratios[-1] for each in profiles if each.ratios), default=1.0)
    lines = [Line(series[each.method], tuple(each.steps())) for each in profiles]
    factors = (1, 2, 4, 10, 100)
    columns = (
        Column("method", "method"),
        *(Column(f"within_{factor}", f"within {factor} x", right=True) for factor in factors),
        Column("ever", "ever", right=True),
    )
    rows = tuple(
        (
            plain(each.method),
            *(Cell(percent(Fraction(repr(each.at(factor)))), each.at(factor)) for factor in factors),
            Cell(percent(Fraction(len(each.ratios), each.problems)), len(each.ratios) / each.problems),
        )
        for each in profiles
    )
    ends = ", ".join(f"{each.method} {percent(Fraction(len(each.ratios), each.problems))}" for each in profiles)
    caption = "Share of the runs proven within a factor of the quickest method's time: high and left is good."
    drawing = profile(
        lines,
        title="Performance profile by time",
        description=f"{caption} Proven at all: {ends}.",
        x_label="times the quickest (log scale)",
        most=most,
    )
    key = tuple((line_swatch(series[each.method]), each.method) for each in profiles)
    table = Table("profile", "Performance profile by time", columns, rows, filters=False)
    return Picture("Performance profile", drawing, caption, key, table)


def _duels(pairs: Sequence[Duel]) -> Picture | None:
    """A bar a method: its plans against those of all others; None with fewer than two methods."""
    methods = list(dict.fromkeys(pair.first for pair in pairs))
    if not methods:
        return None
    bars, words = [], []
    for method in methods:
        mine = [pair for pair in pairs if pair.first == method]
        sums = [sum(pair.wins for pair in mine), sum(pair.ties for pair in mine), sum(pair.losses for pair in mine)]
        total = sum(sums)
        fact = f"{sums[0]:,} better, {sums[1]:,} equal, {sums[2]:,} worse"
        parts = zip(sums, (WON, TIED, LOST), ("better", "equal", "worse"), strict=True)
        shown = tuple(
            Part(value / total, colour, f"{method}: {value:,} {name}") for value, colour, name in parts if total
        )
        bars.append(Bar(method, fact, shown))
        words.append(f"{method}: {fact}")
    drawing = stacked(bars, title="Better, equal and worse plans", description=f"{'; '.join(words)}.")
    key = tuple(
        (_swatch(colour), name)
        for colour, name in ((WON, "better plan"), (TIED, "equal"), (LOST, "worse plan, or none"))
    )
    caption = "Plans of each method against those of every other, on the same problems. Times decide nothing."
    return Picture("Win, tie, loss", drawing, caption, key, elsewhere="duels")


def _swatch(colour: str) -> str:
    inner = element("rect", x=0, y=0, width=30, height=11, class_=f"part {colour}")
    return f'<svg viewBox="0 0 32 12" aria-hidden="true">{inner}</svg>'
