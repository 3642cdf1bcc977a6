"""The page of a report folder: what is wrong is red and fails, failures stand apart, exports agree with it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from allocator.benchmark.records import read_records
from allocator.cli import main
from allocator.errors import InputError
from allocator.plan.record import Record
from allocator.report.html.report import make_report
from tests.report.html.folders import NASTY, document, make_folder, write_records
from tests.report.html.reading import check_page, rows_of

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path / "report")


def test_the_verdict_is_in_words(folder: Path) -> None:
    tree = check_page(make_report(folder).page)
    lead = tree.all("header")[0].text
    assert "6 methods on 2 problems in 16 runs: 12 ended with a plan" in lead
    assert "Most proofs: milp, 6 of 6 runs." in lead
    assert "Best plans: milp. Against the plans of all others it has the better one 6 times" in lead
    assert "Over 3 seeds, the first goal came out differently in 0 of 4 problems and methods." in lead
    assert "The checker judged 12 plans again while this page was made: all as claimed." in lead


def test_methods_with_equally_good_plans_are_all_named(folder: Path) -> None:
    records = read_records(folder)
    twins = [replace(each, method="twin", run=each.run[::-1]) for each in records if each.method == "milp"]
    write_records(folder, [*records, *twins])
    lead = check_page(make_report(folder).page).all("header")[0].text
    assert "Best plans: milp and twin. Against the plans of all others each has the better one" in lead


def test_failures_stand_apart(folder: Path) -> None:
    tree = check_page(make_report(folder).page)
    failures = {row["method"]: row for row in rows_of(tree, "failures")}
    assert {name: row["outcome"] for name, row in failures.items()} == {
        "crasher": "crashed",
        "sleeper": "timed out",
        "hungry": "out of memory",
        "picky": "refused",
    }
    assert failures["crasher"]["why"] == "Segmentation fault <at> 'x'"
    methods = {row["method"]: row for row in rows_of(tree, "methods")}
    assert methods["crasher"]["with limit"] == "-"  # a crash is in no mean
    assert methods["milp"]["proven"] == "6"


def test_every_drawing_is_there(folder: Path) -> None:
    tree = check_page(make_report(folder).page)
    titles = [drawing.children[0].text for drawing in tree.all("svg") if drawing.attributes.get("role") == "img"]
    assert "Performance profile by time" in titles
    assert "Better, equal and worse plans" in titles
    assert "Gap against size" in titles
    assert "Memory against size" in titles
    assert sum("over time" in title for title in titles) == 2
    assert sum(title.startswith("Utilisation of cpu") for title in titles) == 2


def test_thousands_of_runs_stay_small_and_the_csv_has_them_all(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "many", failures=False)
    records = read_records(folder)
    many = [
        replace(record, run=f"{record.run}-{copy}", case=f"{record.case} {copy:03}", peak_memory_mib=100.0 + copy)
        for copy in range(300)
        for record in records
        if record.seed == 0 or copy < 150
    ]
    write_records(
        folder, [replace(record, plan=None, status="unknown") if n > 40 else record for n, record in enumerate(many)]
    )
    report = make_report(folder)
    tree = check_page(report.page)
    assert len(rows_of(tree, "runs")) == 1000
    assert len(list(csv.DictReader(io.StringIO(report.tables["runs"])))) == len(many) == 2400
    assert "1,400 more rows" in tree.text


def test_no_runs_at_all(folder: Path) -> None:
    write_records(folder, [])
    report = make_report(folder)
    assert "Nothing has been run yet." in check_page(report.page).text
    assert report.wrong == 0


def spoil_plan(folder: Path, record: Record) -> None:
    """Put all members on one node."""
    file = folder / str(record.plan)
    tree = json.loads(file.read_text(encoding="utf-8"))
    for placed in tree["placements"]:
        placed["nodes"] = ["rack0/node0"]
    file.write_text(json.dumps(tree), encoding="utf-8")


def spoil_value(folder: Path, record: Record) -> None:
    """Claim one more placed member in the record alone."""
    records = read_records(folder)
    levels = ({**record.levels[0], "value": 99}, *record.levels[1:])
    write_records(folder, [replace(each, levels=levels) if each.run == record.run else each for each in records])


def refute(folder: Path, record: Record) -> None:
    """The runner's own check said no."""
    checked = {"feasible": False, "as_claimed": True, "mismatches": ["capacity: rack0/node0: <b>1 core too many</b>"]}
    write_records(
        folder, [replace(each, checked=checked) if each.run == record.run else each for each in read_records(folder)]
    )


def lose_plan(folder: Path, record: Record) -> None:
    (folder / str(record.plan)).unlink()


def point_outside(folder: Path, record: Record) -> None:
    records = read_records(folder)
    write_records(folder, [replace(each, plan="../x.json") if each.run == record.run else each for each in records])


def claim_a_bound(folder: Path, record: Record) -> None:
    """A bound that the plan of another run refutes."""
    records = read_records(folder)
    levels = ({**record.levels[0], "value": 6, "bound": 5}, *record.levels[1:])
    write_records(folder, [replace(each, levels=levels) if each.run == record.run else each for each in records])


@pytest.mark.parametrize("spoil", [spoil_plan, spoil_value, refute, lose_plan, point_outside, claim_a_bound])
def test_what_the_checker_refutes_is_wrong_and_fails_the_command(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path, Record], None]
) -> None:
    record = read_records(folder)[0]
    assert main(["report", str(folder), "-o", str(tmp_path / "good.html")]) == 0
    said = capsys.readouterr().out
    assert (
        said == f"{tmp_path / 'good.html'}: the page; the same tables: {folder / 'summary.md'}, {folder / 'tables'}\n"
    )
    spoil(folder, record)
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 1
    assert "WRONG" in capsys.readouterr().out
    tree = check_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    alarm = next(element for element in tree.all("section") if element.attributes.get("role") == "alert")
    assert "Wrong: refuted by the checker" in alarm.text
    assert any(element.attributes.get("class") in {"bad", "n bad", "w bad"} for element in alarm.all("td", "li"))
    lead = tree.all("header")[0].text
    assert "WRONG" in lead
    runs = rows_of(tree, "runs")
    assert runs[0]["outcome"] == "WRONG"
    assert runs[0]["goals reached"] == "-"
    assert all(row["outcome"] != "WRONG" for row in runs[1:])
    assert all(bold.parent is not None and bold.parent.tag == "figcaption" for bold in tree.all("b"))


def test_a_plan_that_cannot_be_judged_again_says_so(folder: Path) -> None:
    for file in (folder / "instances").iterdir():
        file.unlink()
    report = make_report(folder)
    tree = check_page(report.page)
    assert "Some plans could not be judged again" in tree.text
    assert "judged 0 plans again" in tree.text
    assert report.wrong == 0


def test_tables_are_the_same_in_markdown_and_csv(folder: Path, tmp_path: Path) -> None:
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    tree = check_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    files = {path.stem for path in (folder / "tables").iterdir()}
    assert {"runs", "methods", "soon", "outcomes", "duels", "spread", "failures"} <= files
    text = (folder / "summary.md").read_text(encoding="utf-8")
    for key in files:
        shown = rows_of(tree, key)
        rows = list(csv.DictReader(io.StringIO((folder / "tables" / f"{key}.csv").read_text(encoding="utf-8"))))
        assert len(rows) == len(shown), key
    runs = list(csv.DictReader(io.StringIO((folder / "tables" / "runs.csv").read_text(encoding="utf-8"))))
    records = read_records(folder)
    assert [float(row["seconds"]) for row in runs] == [record.run_seconds for record in records]
    assert [row["variables"] for row in runs if row["method"] == "crasher"] == [""]
    assert "| crasher | 0 | crashed | Segmentation fault \\<at\\> 'x' |" in text.replace("| pair | place-close ", "")
    assert main(["report", str(folder), "-o", str(tmp_path / "p.html"), "--markdown", str(tmp_path / "m.md")]) == 0
    assert (tmp_path / "m.md").read_text(encoding="utf-8") == text


def test_names_are_text_everywhere(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "nasty", documents=[document(nasty=True)], methods=("milp",), seeds=(0,))
    report = make_report(folder)
    tree = check_page(report.page)
    assert report.page.count("<script>") == 1
    assert {row["case"] for row in rows_of(tree, "runs")} == {NASTY["script"]}
    assert "<script>" not in report.markdown.replace("\\<", "")
    assert all(not line.startswith(("=", "+", "@")) for line in report.tables["runs"].splitlines())


def test_the_older_report_is_compared_with_its_uncertainty(folder: Path, tmp_path: Path) -> None:
    older = make_folder(tmp_path / "older", slower=3.0, failures=False)
    tree = check_page(make_report(folder, older).page)
    changes = rows_of(tree, "changes")
    times = [row for row in changes if row["measure"] == "time when proven" and row["method"] == "milp"]
    assert [row["verdict"] for row in times] == ["better", "better"]
    assert times[0]["change"] == "-66.7 %"
    assert " to " in times[0]["95 % interval"]
    assert times[0]["seeds"] == "3 / 3"
    assert "2 better and 0 worse with certainty" in tree.text
    assert "Only in this report: pair / place-close / crasher" in tree.text
    worse = check_page(make_report(older, folder).page)
    assert "0 better and 2 worse with certainty" in worse.text


def test_the_page_is_made_without_any_solver(folder: Path, tmp_path: Path) -> None:
    program = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("highspy", "ortools", "pyomo", "scipy", "numba", "matplotlib", "plotly"):
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Refuse())
from allocator.cli import main
sys.exit(main(["report", sys.argv[1], "-o", sys.argv[2], "--against", sys.argv[1]]))
"""
    page = tmp_path / "page.html"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(folder), str(page)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert page.read_text(encoding="utf-8") == make_report(folder, folder).page


def test_what_is_no_report_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "page.html")]) == 2
    assert "is no report folder" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "nowhere"), "-o", str(tmp_path / "page.html")]) == 2
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "page.txt")]) == 2
    with pytest.raises(InputError):
        make_report(tmp_path)


def test_solve_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "pair.json"
    source.write_text(json.dumps(document()), encoding="utf-8")
    page = tmp_path / "plan.html"
    assert main(["solve", str(source), "--model", "place-close", "--quiet", "--report", str(page)]) == 0
    assert "All 6 members are placed" in check_page(page.read_text(encoding="utf-8")).text
    assert main(["solve", str(source), "--model", "place-close", "--report", str(tmp_path / "plan.txt")]) == 2
    assert "unknown file type" in capsys.readouterr().err
