"""The communication wall in a table and a figure: ``python -m tests.bench.commwall`` (``make commwall``).

The same job on a tree with racks 4:1 and on a full mesh, 2 to 16 nodes: dealt out by hand, and as planned for the most
throughput. Written as ``commwall.md`` and ``commwall.html`` in a folder. Exit code 1 when the effect is not there:
on the mesh nodes keep helping, on the tree they stop, and close talkers do more than dealt out ones.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path

import allocator
from allocator import solve
from allocator.instance.entities import Instance
from allocator.plan.entities import Plan
from allocator.plan.evaluation import Evaluation
from allocator.plan.result import Result
from allocator.report.charts.points import marker
from allocator.report.charts.series import Series, joined
from allocator.report.html.curves import goodput_picture, link_picture
from allocator.report.html.environment import style_sheet
from tests.bench.runs import ROOT
from tests.bench.table import _processor
from tests.commwall.hand_plans import FABRICS, SIZES, dealt, named

__all__ = ["Case", "cases", "effects", "main", "page", "table"]

HELPS = Fraction(11, 10)  # more nodes help when they add a tenth
ONE_PERCENT = Fraction(1, 100)


@dataclass(frozen=True)
class Case:
    """One instance: the plan dealt out by hand, and the planner's."""

    fabric: str
    size: int
    instance: Instance
    dealt: tuple[Plan, Evaluation]
    result: Result

    @property
    def by_hand(self) -> Fraction:
        """Tasks/s, dealt out."""
        return self.dealt[1].levels[0]

    @property
    def value(self) -> Fraction:
        """Tasks/s as planned."""
        value = self.result.levels[0].value
        if value is None:
            raise SystemExit(f"{self.instance.name}: no plan ({self.result.termination.detail})")
        return value


def cases(method: str, seconds: float, threads: int, sizes: Sequence[int] = SIZES) -> list[Case]:
    """Solve all of them to 1 %."""
    found = []
    for fabric in FABRICS:
        for size in sizes:
            instance = named(fabric, size)
            limits = {"time_limit": seconds, "gap": 0.01, "seed": 0, "threads": threads}
            result = solve(instance, "throughput", method=method, **limits)  # type: ignore[arg-type]
            found.append(Case(fabric, size, instance, dealt(instance), result))
    return found


def table(found: Sequence[Case]) -> list[str]:
    """Side by side, in Markdown."""
    lines = [
        "| fabric | nodes | dealt, tasks/s | planned, tasks/s | bound | members by node, [rack] | P99 dealt | P99 |",
        "| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
    ]
    for case in found:
        bound = case.result.levels[0].bound
        plan = case.result.plan
        cells = [
            "tree, 4:1" if case.fabric == "tree" else "mesh",
            str(case.size),
            f"{float(case.by_hand):.2f}",
            f"{float(case.value):.2f}",
            "-" if bound is None else f"{float(bound):.2f}",
            "-" if plan is None else where(case.instance, plan),
            _milliseconds(case.dealt[1]),
            "-" if case.result.evaluation is None else _milliseconds(case.result.evaluation),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def where(instance: Instance, plan: Plan) -> str:
    """Members on each node of every domain that holds some."""
    at: dict[str, int] = {}
    for _, _, _, node in plan.members():
        at[node] = at.get(node, 0) + 1
    groups = []
    for domain in instance.domains:
        if domain.children and all(instance.domains[child].is_node for child in domain.children):
            counts = [at.get(instance.domains[child].path, 0) for child in domain.children]
            if any(counts):
                groups.append(f"[{' '.join(str(count) for count in counts if count)}]")
    return " ".join(groups)


def effects(found: Sequence[Case]) -> list[tuple[str, bool]]:
    """What the table must show, and whether it does."""
    value = {(case.fabric, case.size): case.value for case in found}
    by_hand = {(case.fabric, case.size): case.by_hand for case in found}
    first, last = max(4, min(case.size for case in found)), max(case.size for case in found)
    spread = [case for case in found if case.fabric == "tree" and case.size > first]
    return [
        ("on the mesh nodes keep helping", value["mesh", last] >= HELPS * value["mesh", first]),
        (
            "on the tree they stop: all that are added bring less than a quarter of what they bring on the mesh",
            4 * (value["tree", last] - value["tree", first]) < value["mesh", last] - value["mesh", first],
        ),
        (
            "who deals out on the tree does less than one rack",
            all(by_hand["tree", c.size] < value["tree", first] for c in spread),
        ),
        ("close talkers do more than dealt out ones", all(c.value >= HELPS * c.by_hand for c in spread)),
        ("no plan does more than its bound", all(_kept(case) for case in found)),
    ]


def _kept(case: Case) -> bool:
    bound = case.result.levels[0].bound
    return bound is not None and case.value <= bound * (1 + Fraction(1, 10**9))


def _milliseconds(evaluation: Evaluation) -> str:
    p99 = next(outcome.p99 for outcome in evaluation.classes if outcome.workload == "desk")
    return "-" if p99 is None else f"{float(1000 * p99):.1f} ms"


def page(found: Sequence[Case], lines: Sequence[str], head: str) -> str:
    """The figure: throughput over nodes, P99 over nodes, and the links of the largest tree, dealt out and planned."""
    rates, delays = [], []
    for number, fabric in enumerate(FABRICS):
        of = [case for case in found if case.fabric == fabric]
        for at, (name, value) in enumerate((("planned", "value"), ("dealt out", "by_hand"))):
            points = tuple((float(case.size), float(getattr(case, value))) for case in of)
            rates.append(Series(2 * number + at, f"{fabric}, {name}", points))
        for at, name in enumerate(("planned", "dealt out")):
            evaluations = [(case.size, case.dealt[1] if at else case.result.evaluation) for case in of]
            seen = [(size, each.classes[1].p99) for size, each in evaluations if each is not None]
            points = tuple((float(size), 1000 * float(p99)) for size, p99 in seen if p99 is not None)
            delays.append(Series(2 * number + at, f"{fabric}, {name}", points))
    key = "; ".join(f"{each.name}: colour and mark {each.number + 1}" for each in rates)
    drawings = [
        joined(rates, title="Throughput", description=key, x_label="nodes", y_label="tasks/s"),
        joined(delays, title="P99 of the desk", description=key, x_label="nodes", y_label="P99, ms"),
    ]
    names = [("Throughput, tasks/s", ""), ("P99 of the desk, ms", "")]
    largest = max((case for case in found if case.fabric == "tree"), key=lambda case: case.size)
    for name, evaluation in (("dealt out", largest.dealt[1]), ("planned", largest.result.evaluation)):
        picture = None if evaluation is None else link_picture(largest.instance, evaluation)
        if picture is not None and evaluation is not None:
            drawings.append(picture.drawing)
            names.append((f"Links of the tree, {largest.size} nodes, {name}", picture.caption))
            curve = next(d.uplink.goodput for d in largest.instance.domains if d.level == "rack" and d.uplink)
            bent = goodput_picture(largest.instance, evaluation, curve, ONE_PERCENT)
            drawings.append(bent.drawing)
            names.append((f"Uplinks of the racks on their curve, {name}", bent.caption))
    figures = ""
    for at, ((name, caption), drawing) in enumerate(zip(names, drawings, strict=True)):
        said = f"<figcaption><b>{name}</b><span>{caption}</span></figcaption>"
        figures += f"<figure>{said}{drawing}{_key(rates) if at < 2 else ''}</figure>"
    titles, *rows = ([cell.strip() for cell in line.strip("| ").split("|")] for line in (lines[0], *lines[2:]))
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    heads = "".join(f"<th>{title}</th>" for title in titles)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>Communication wall</title>'
        f"<style>{style_sheet()}</style></head><body><div class='page'><header><h1>Communication wall</h1>"
        "<p class='lead'>One job of 17 talkers on a tree with racks 4:1 and on a full mesh.</p></header>"
        f"<div class='figures'>{figures}</div><div class='scroll'><table><thead><tr>{heads}</tr></thead>"
        f"<tbody>{cells}</tbody></table></div><footer><p>{head}</p></footer></div></body></html>\n"
    )


def _key(series: Sequence[Series]) -> str:
    items = (f"<li><svg viewBox='0 0 20 12'>{marker(each.number, 10, 6)}</svg>{each.name}</li>" for each in series)
    return f"<ul class='key'>{''.join(items)}</ul>"


def main() -> int:
    """Solve, print, write, judge."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.commwall", description=__doc__)
    parser.add_argument("--method", default="milp")
    parser.add_argument("--time-limit", type=float, default=120.0, metavar="S", help="per instance")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "reports", metavar="FOLDER")
    arguments = parser.parse_args()
    found = cases(arguments.method, arguments.time_limit, arguments.threads)
    lines = table(found)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, check=False)
    made = f"allocator {allocator.__version__} ({commit.stdout.decode().strip() or 'no commit'})"
    head = f"{made}, method {arguments.method}, to 1 %, seed 0, {arguments.threads} threads; "
    head += f"HiGHS {version('highspy')}; {_processor()}. Made by make commwall. Digests: "
    head += ", ".join(f"{case.instance.name} {case.instance.digest[:12]}" for case in found) + "."
    text = ["# Communication wall", "", head, "", *lines, ""]
    seen = effects(found)
    text += [f"- {'seen' if holds else 'NOT SEEN'}: {what}" for what, holds in seen]
    print("\n".join(text))
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "commwall.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    (arguments.output / "commwall.html").write_text(page(found, lines, head), encoding="utf-8")
    return 0 if all(holds for _, holds in seen) else 1


if __name__ == "__main__":
    sys.exit(main())
