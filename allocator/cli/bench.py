"""``allocator bench``: run a suite into a report folder, and go on where an interrupted run stopped."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from allocator.cli.entry import NO_PLAN, OK
from allocator.cli.options import add_debug, duration

__all__ = ["command"]

MAX_SEED = 2**31 - 1


def _folder(text: str) -> Path:
    path = Path(text)
    if not text or "\0" in text or (path.exists() and not path.is_dir()):
        raise click.BadParameter(f"{text!r} is not a folder")
    return path


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names or len(set(names)) < len(names):
        raise click.BadParameter(f"{text!r} must name at least one, separated by commas, and none twice")
    return names


def _seeds(text: str) -> tuple[int, ...]:
    """Seeds of ``0,1,2`` or ``0-4``."""
    seeds: list[int] = []
    for part in _names(text):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise click.BadParameter(f"{text!r} must be numbers such as 0,1,2 or 0-4")
        low, high = int(first), int(last or first)
        if not low <= high <= MAX_SEED or high - low > 10_000:
            raise click.BadParameter(f"{part!r} is no range of seeds")
        seeds += range(low, high + 1)
    if len(set(seeds)) < len(seeds):
        raise click.BadParameter(f"{text!r} names a seed twice")
    return tuple(seeds)


@click.command("bench")
@click.argument("suite")
@click.option("-o", "--output", "folder", type=_folder, required=True, metavar="DIR", help="Report folder.")
@click.option("--data", type=_folder, metavar="DIR", help="Folder of the public instances that the suite needs.")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, metavar="N", help="Runs at a time.")
@click.option("--time-limit", type=duration, metavar="TIME", help="Of each run [default: the suite's].")
@click.option("--seeds", type=_seeds, metavar="LIST", help="Such as 0,1,2 or 0-4 [default: the suite's].")
@click.option("--only", metavar="PATTERN", help="Only instances whose label, or its last part, matches: 'c*'.")
@click.option("--methods", type=_names, metavar="A,B", help="Only these [default: the suite's].")
@click.option("--parquet", is_flag=True, help="Write records.parquet beside records.csv; needs pyarrow.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@add_debug
def command(
    suite: str,
    folder: Path,
    data: Path | None,
    jobs: int,
    time_limit: float | None,
    seeds: tuple[int, ...] | None,
    only: str | None,
    methods: tuple[str, ...] | None,
    parquet: bool,
    quiet: bool,
) -> int:
    """Run SUITE, the name of a shipped one or a file, and record every run in DIR.

    A run is recorded when it ends; the same command goes on after an interruption and repeats nothing. The exit code is
    1 when the check refutes a record, or two records contradict each other.
    """
    from contextlib import nullcontext

    from allocator.benchmark import export_csv, export_parquet, run_suite
    from allocator.benchmark.exports import RECORDS_CSV, RECORDS_PARQUET, require_parquet
    from allocator.benchmark.statistics.contradictions import contradictions
    from allocator.cli.bench_progress import BenchProgress
    from allocator.cli.output import emit

    if parquet:
        require_parquet()
    progress = None if quiet else BenchProgress(sys.stderr, live=sys.stderr.isatty())
    with progress if progress is not None else nullcontext():
        records = run_suite(
            suite,
            folder,
            jobs=jobs,
            listener=progress,
            data=data,
            keep=only,
            methods=methods,
            seeds=seeds,
            seconds=time_limit,
        )
    export_csv(folder, folder / RECORDS_CSV)
    if parquet:
        export_parquet(folder, folder / RECORDS_PARQUET)
    wrong = [record for record in records if record.wrong]
    clashes = contradictions(records)
    counts = {outcome: sum(record.outcome == outcome for record in records) for outcome in _outcomes()}
    told = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counts.items() if number)
    solved = sum(record.solved for record in records)
    emit(f"{len(records)} runs in {folder}: {told}; {solved} proven, {len(wrong)} wrong\n")
    for record in wrong:
        why = "; ".join(record.checked["mismatches"][:3])
        emit(f"WRONG: {record.case}, model {record.model}, method {record.method}, seed {record.seed}: {why}\n")
    for clash in clashes:
        emit(f"WRONG: {clash}\n")
    return NO_PLAN if wrong or clashes else OK


def _outcomes() -> tuple[str, ...]:
    from allocator.plan.record import OUTCOMES

    return OUTCOMES
