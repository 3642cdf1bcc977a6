"""A foreign problem comes in, is solved to its known optimum, and the plan goes out again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

# Three agents of capacity 6, 6, 5 and four jobs; the least cost is found by enumeration
GAP = """\
3 4
1 5 6 3
4 2 7 8
9 6 3 7
3 4 5 3
4 3 6 5
4 5 4 4
6 6 5
"""


def least_cost() -> int:
    from itertools import product

    numbers = [int(token) for token in GAP.split()][2:]
    costs = [numbers[4 * agent : 4 * agent + 4] for agent in range(3)]
    loads = [numbers[12 + 4 * agent : 12 + 4 * agent + 4] for agent in range(3)]
    capacity = numbers[24:]
    return min(
        sum(costs[agent][job] for job, agent in enumerate(where))
        for where in product(range(3), repeat=4)
        if all(sum(loads[a][job] for job, agent in enumerate(where) if agent == a) <= capacity[a] for a in range(3))
    )


@pytest.fixture
def gap(tmp_path: Path) -> Path:
    path = tmp_path / "problem.txt"
    path.write_text(GAP)
    return path


@pytest.mark.parametrize("name", ["problem.json", "problem.yaml"])
def test_in_solve_and_out(name: str, gap: Path, run: Run, tmp_path: Path) -> None:
    instance, plan, answer = tmp_path / name, tmp_path / "plan.json", tmp_path / "answer.txt"
    done = run("convert", gap, instance, "--from", "gap", "--to", "allocator")
    assert done.returncode == 0
    assert done.stdout == f"{instance}: problem, 3 nodes, 4 members, model cost\n"
    solved = run("solve", instance, "-o", plan, "-q")
    assert solved.returncode == 0, solved.stderr
    assert "proven optimal" in solved.stdout
    done = run("convert", plan, answer, "--from", "allocator", "--to", "gap", "--instance", instance)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{answer}: where 4 members of problem run\n"
    agents = [int(line) for line in answer.read_text().split()]
    numbers = [int(token) for token in GAP.split()][2:]
    assert sum(numbers[4 * agent + job] for job, agent in enumerate(agents)) == least_cost()


@pytest.mark.parametrize("kind", ["mps", "lp"])
def test_a_program_goes_out(kind: str, small: Path, gap: Path, run: Run, tmp_path: Path) -> None:
    for source, source_format, what in (
        (small, "allocator", "small with model traffic"),
        (gap, "gap", "problem with model cost"),
    ):
        target = tmp_path / f"{source_format}.{kind}"
        done = run("convert", source, target, "--from", source_format, "--to", kind)
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{target}: {what}\n"
        assert target.stat().st_size > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["problem.txt", "x.txt", "--from", "gap", "--to", "allocator"], "x.txt"),
        (["problem.txt", "x.txt", "--from", "gap", "--to", "gqap"], "nothing to convert"),
        (["small.yaml", "x.yaml", "--from", "allocator", "--to", "allocator"], "nothing to convert"),
        (["small.yaml", "x.txt", "--from", "allocator", "--to", "gap"], "--instance"),
        (["problem.txt", "x.txt", "--from", "gap", "--to", "gap", "--instance", "small.yaml"], "--instance goes with"),
        (["small.yaml", "x.yaml", "--from", "gap", "--to", "allocator"], "small.yaml"),
        (["problem.txt", "none/x.yaml", "--from", "gap", "--to", "allocator"], "no folder"),
        (["problem.txt", "x.yaml", "--from", "gap"], "--to"),
    ],
)
def test_what_cannot_be_converted_says_so(arguments: list[str], message: str, gap: Path, small: Path, run: Run) -> None:
    done = run("convert", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(gap.parent.glob("x.*"))
