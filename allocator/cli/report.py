"""``allocator report``: the page of a report folder, with its tables as Markdown and CSV."""

from __future__ import annotations

from pathlib import Path

import click

from allocator.cli.entry import NO_PLAN, OK
from allocator.cli.options import add_debug, output_file

__all__ = ["command"]


def _folder(text: str) -> Path:
    path = Path(text)
    if not text or "\0" in text or not path.is_dir():
        raise click.BadParameter(f"there is no folder {text!r}")
    if not (path / "manifest.json").is_file():
        raise click.BadParameter(f"{text!r} is no report folder: it has no manifest.json; allocator bench makes one")
    return path


@click.command("report")
@click.argument("folder", metavar="DIR", type=_folder)
@click.option("-o", "--output", type=output_file(".html"), metavar="FILE", required=True, help="Write the page: .html.")
@click.option("--against", type=_folder, metavar="DIR", help="An older report folder to compare with.")
@click.option("--markdown", type=output_file(".md"), metavar="FILE", help="Write the tables there [default: in DIR].")
@add_debug
def command(folder: Path, output: Path, against: Path | None, markdown: Path | None) -> int:
    """Make one page of the report folder DIR that opens anywhere, without network.

    Every plan in DIR is judged again; no solver is needed. Beside the page the same tables go to DIR/summary.md and
    DIR/tables/*.csv. The exit code is 1 when the checker refutes a record, or two records contradict each other.
    """
    from allocator.cli.output import emit
    from allocator.plan.whole import write_whole
    from allocator.report.html.report import make_report

    report = make_report(folder, against)
    write_whole(output, report.page.encode())
    tables = folder / "summary.md" if markdown is None else markdown
    write_whole(tables, report.markdown.encode())
    (folder / "tables").mkdir(exist_ok=True)
    for name, text in report.tables.items():
        write_whole(folder / "tables" / f"{name}.csv", text.encode())
    emit(f"{output}: the page; the same tables: {tables}, {folder / 'tables'}\n")
    if report.wrong:
        emit(f"WRONG: {report.wrong} refuted; see the top of {output}\n")
    return NO_PLAN if report.wrong else OK
