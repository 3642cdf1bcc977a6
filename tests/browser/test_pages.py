"""The pages in a real browser: no error, no request, everything in view, tables that sort and filter by keyboard too.

Without Chromium (on PATH, or named by CHROMIUM) nothing of this is run, and pytest's summary says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from allocator.report.html import plan_page
from allocator.report.html.report import make_report
from tests.browser.chromium import Chromium, Page, find_chromium
from tests.report.html.folders import NASTY, document, make_folder, solved

PROGRAM = find_chromium()
WIDTHS = (1280, 390)

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="PAGE TESTS NOT RUN: there is no Chromium here (Debian: apt-get install chromium)"
)

OUT_OF_VIEW = """
(() => {
  const wide = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > wide) found.push("the page: " + document.documentElement.scrollWidth);
  for (const item of document.querySelectorAll("h1,h2,h3,h4,p,figure,svg,dl,dd,.scroll,.tools,.tools *,summary,li")) {
    if (item.closest(".scroll table, .skip")) continue;
    const box = item.getBoundingClientRect();
    if (box.width && (box.left < -0.5 || box.right > wide + 0.5)) found.push(item.tagName + " " + box.right);
  }
  return found;
})()
"""

UNSEEN = """
(() => {
  const found = [];
  for (const part of document.querySelectorAll("details.case")) part.open = true;
  const drawings = [...document.querySelectorAll("svg[role=img]")];
  for (const drawing of drawings) {
    const box = drawing.getBoundingClientRect(), name = drawing.querySelector("title").textContent;
    if (box.width < 150 || box.height < 15) found.push(`${name}: ${box.width} x ${box.height}`);
    for (const text of drawing.querySelectorAll("text")) {
      const inner = text.getBoundingClientRect();
      if (inner.left < box.left - 1 || inner.right > box.right + 1
          || inner.top < box.top - 1 || inner.bottom > box.bottom + 1)
        found.push(`${name}: "${text.textContent}" is cut`);
      if (inner.height < 6) found.push(`${name}: "${text.textContent}" is ${inner.height} high`);
    }
    for (const shape of drawing.querySelectorAll("path,rect,circle")) {
      const style = getComputedStyle(shape);
      if (style.fill === "rgb(0, 0, 0)" || style.fill === style.stroke && style.fill === "none")
        found.push(`${name}: a ${shape.tagName} without colour`);
    }
  }
  return [drawings.length, found];
})()
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    assert PROGRAM is not None
    with Chromium(PROGRAM) as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page about a plan, one about names that want to be markup, one about a folder against an older one."""
    place = tmp_path_factory.mktemp("pages")
    found = {}
    for name, nasty in (("plan", False), ("nasty", True)):
        instance, result = solved(json.dumps(document(nasty=nasty)), "place-close", "milp", 0)
        found[name] = place / f"{name}.html"
        found[name].write_text(plan_page(result, instance), encoding="utf-8")
    older = make_folder(place / "older", slower=3.0, failures=False)
    found["report"] = place / "report.html"
    found["report"].write_text(make_report(make_folder(place / "folder"), older).page, encoding="utf-8")
    return found


@pytest.fixture
def report(browser: Chromium, pages: dict[str, Path]) -> Iterator[Page]:
    page = browser.open(pages["report"])
    yield page
    page.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["plan", "nasty", "report"])
def test_opens_without_a_complaint_and_stays_in_view(
    browser: Chromium, pages: dict[str, Path], name: str, width: int, *, dark: bool
) -> None:
    page = browser.open(pages[name], width=width, dark=dark)
    try:
        assert page.run("innerWidth") == width
        drawings, unseen = page.run(UNSEEN)
        assert unseen == []
        assert drawings >= 5
        assert page.run(OUT_OF_VIEW) == []
        assert page.requests == [pages[name].resolve().as_uri()]
        assert page.complaints == []
        ground = page.run("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(", "))) < 200) == dark
    finally:
        page.close()


def test_the_policy_lets_nothing_else_run(browser: Chromium, pages: dict[str, Path], tmp_path: Path) -> None:
    file = tmp_path / "broken.html"
    text = pages["plan"].read_text(encoding="utf-8")
    file.write_text(text.replace("</main>", "<script>document.title='taken over'</script></main>"), encoding="utf-8")
    page = browser.open(file)
    assert page.run("document.title") == "pair: plan"
    assert any("Content Security Policy" in text for text in page.complaints)
    page.close()


def column(page: Page, table: str, head: str) -> list[str]:
    """Texts of a column, visible rows only."""
    script = f"""
    (() => {{
      const table = document.getElementById({json.dumps(table)});
      const heads = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
      const index = heads.indexOf({json.dumps(head)});
      return [...table.tBodies[0].rows].filter(row => !row.hidden).map(row => row.cells[index].textContent);
    }})()
    """
    found: list[str] = page.run(script)
    return found


def click(page: Page, table: str, head: str) -> str:
    """Press the button in a head; returns how the column is then said to be sorted."""
    script = f"""
    (() => {{
      const heads = [...document.getElementById({json.dumps(table)}).tHead.rows[0].cells];
      const head = heads.find(cell => cell.textContent === {json.dumps(head)});
      head.querySelector("button").click();
      return head.getAttribute("aria-sort");
    }})()
    """
    return str(page.run(script))


def test_tables_sort_by_value_both_ways_and_what_is_missing_stays_last(report: Page) -> None:
    before = column(report, "runs", "time")
    assert click(report, "runs", "time") == "ascending"
    times = column(report, "runs", "time")
    assert sorted(before) == sorted(times)
    seconds = [float(text.split()[0]) for text in times]
    assert seconds == sorted(seconds)
    assert click(report, "runs", "time") == "descending"
    assert [float(text.split()[0]) for text in column(report, "runs", "time")] == sorted(seconds, reverse=True)
    for _ in range(2):
        click(report, "runs", "first plan")
        first = column(report, "runs", "first plan")
        assert first[-4:] == ["-"] * 4
        assert "-" not in first[:-4]
    assert report.run("document.querySelectorAll('#runs [aria-sort]').length") == 1
    click(report, "runs", "method")
    assert column(report, "runs", "method") == sorted(column(report, "runs", "method"))


def test_filters_are_labelled_and_say_how_many_rows_are_left(report: Page) -> None:
    labels = report.run(
        "[...document.querySelectorAll('.tools input, .tools select')].map(f => f.labels[0].textContent)"
    )
    assert labels
    assert all(label.strip() for label in labels)
    script = """
    (() => {
      const tools = document.getElementById("runs").closest(".scroll").previousElementSibling;
      const words = tools.querySelector("input"), list = [...tools.querySelectorAll("select")];
      const choose = (label, text) => {
        const field = list.find(item => item.labels[0].textContent.startsWith(label));
        field.value = text && "=" + text;
        field.dispatchEvent(new Event("input", {bubbles: true}));
      };
      const said = () => tools.querySelector("[role=status]").textContent;
      const steps = [said()];
      choose("method", "greedy"); steps.push(said());
      words.value = "LARGER"; words.dispatchEvent(new Event("input", {bubbles: true})); steps.push(said());
      choose("method", ""); steps.push(said());
      words.value = "nothing like it"; words.dispatchEvent(new Event("input", {bubbles: true})); steps.push(said());
      words.value = ""; words.dispatchEvent(new Event("input", {bubbles: true})); steps.push(said());
      return steps;
    })()
    """
    rows = [f"{count} of 16 rows" for count in (16, 6, 3, 6, 0, 16)]
    assert report.run(script) == rows
    assert len(column(report, "runs", "method")) == 16


def test_everything_can_be_reached_and_pressed_by_keyboard(report: Page) -> None:
    report.press("Tab", 9)
    assert report.run("document.activeElement.className") == "skip"
    report.run("document.querySelector('#runs th button').focus()")
    report.press("Enter", 13)
    assert report.run("document.querySelector('#runs th').getAttribute('aria-sort')") == "ascending"
    report.press("Tab", 9)
    assert report.run("document.activeElement.textContent") == "model"
    controls = "a, button, input, select, summary, .scroll"
    assert report.run(f"[...document.querySelectorAll('{controls}')].filter(e => e.tabIndex < 0).length") == 0
    unnamed = report.run("[...document.querySelectorAll('[role=region]')].filter(e => !e.ariaLabel).length")
    assert unnamed == 0


def test_a_link_to_a_plan_opens_it(report: Page) -> None:
    report.run("document.querySelectorAll('details.case').forEach(part => { part.open = false; })")
    target = report.run("[...document.querySelectorAll('#runs a')].at(-1).getAttribute('href').slice(1)")
    report.run(f"location.hash = {json.dumps(target)}; new Promise(done => setTimeout(done, 100))")
    assert report.run(
        "[...document.querySelectorAll('details.case')].filter(part => part.open).map(part => part.id)"
    ) == [target]


def test_names_stay_text(browser: Chromium, pages: dict[str, Path]) -> None:
    page = browser.open(pages["nasty"])
    assert page.run("document.querySelector('h1').textContent") == NASTY["script"]
    assert set(column(page, "plan-shares", "class")) == set(NASTY.values())
    assert page.run("document.scripts.length") == 1
    page.close()


def test_everything_has_a_name_for_who_does_not_see_it(report: Page) -> None:
    report.run("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    for roles, least in ((("image", "img"), 10), (("button",), 50), (("searchbox", "combobox"), 5), (("link",), 10)):
        names = report.names(*roles)
        assert len(names) >= least, roles
        assert all(name.strip() for name in names), roles
    assert any(name.startswith("Utilisation of cpu") for name in report.names("image", "img"))
    assert "Every run" in report.names("region")


@pytest.mark.parametrize("name", ["plan", "report", "nasty"])
def test_nothing_is_cut_on_paper(browser: Chromium, pages: dict[str, Path], name: str) -> None:
    page = browser.open(pages[name], width=688)  # A4 without its margins
    page.run("document.querySelectorAll('details.case').forEach(part => { part.open = true; })")
    page.media("print", dark=True)
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    wide = page.run("[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > 689).length")
    assert wide == 0
    assert page.run(OUT_OF_VIEW) == []
    page.close()


def test_it_prints(report: Page) -> None:
    data: Any = report.paper()
    assert data.startswith(b"%PDF")
    assert report.run("document.querySelectorAll('details.case:not([open])').length") == 1  # closed again afterwards
