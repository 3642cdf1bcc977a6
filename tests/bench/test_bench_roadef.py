"""The benchmark of machine reassignment scores as the challenge did, and misses what is not good enough."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tests.bench.process import Solved
from tests.bench.roadef import Problem, Run, demands, problems, run, score
from tests.bench.runs import Budget, Known
from tests.formats.reassignment import TINY

F = Fraction
STORED = Known({"initial": "2000", "best_known": "1000"})


def made(name: str = "b_2", cost: int | None = 1000, bound: int | None = 1000, seed: int = 0, **fields: object) -> Run:
    problem = Problem(name, Path("model"), Path("assignment"), STORED)
    value = None if cost is None else F(cost)
    limit = None if bound is None else F(bound)
    whole = Run(problem, seed, "feasible", cost, frozenset(), value, limit, 2000, 3.0, 299.0, 900.0)
    return replace(whole, **fields)  # type: ignore[arg-type]


def missed(*runs: Run, limit: float = 300) -> set[str]:
    return {demand.text for demand in demands(runs, limit) if not demand.met}


def test_the_score_is_the_mean_of_the_seeds_summed_over_the_instances() -> None:
    assert score([made(cost=1040), made(cost=1000, seed=1), made("b_4", cost=1100)]) == 1 + 5
    assert score([made(), made("b_4", cost=None)]) is None


def test_a_good_run_misses_nothing() -> None:
    assert missed(made()) == set()


def test_what_is_not_good_enough_is_missed() -> None:
    assert missed(made(cost=1001)) == {"near the best known value", "near the own bound"}
    assert missed(made(bound=999)) == {"near the own bound"}
    assert missed(made("b_1", cost=1015)) == set()
    assert missed(made("b_1", cost=1016)) == {"near the best known value"}
    assert missed(made("a2_5", cost=1150)) == {"score at most 7"}
    assert missed(made(cost=None, value=None)) >= {"every run ends by itself, with a plan", "score at most 7"}
    assert missed(made("a2_5", cost=2001)) >= {"no plan costs more than the start"}
    assert missed(made(broken=frozenset({"spread"}))) == {"every plan keeps the rules and costs what was said"}
    assert missed(made(value=F(999))) == {"every plan keeps the rules and costs what was said"}
    assert missed(made(bound=1001)) == {"no bound lies above a known value"}
    assert missed(made(seconds=317.0)) == {"on time"}
    assert missed(made(peak_mib=1600.0)) == {"at most 1536 MiB"}
    assert missed(made("b_9", first_improved=6.0)) == {"first improved plan of b_9 within 5 s"}


def test_a_short_run_is_not_judged_by_what_a_long_one_must_reach() -> None:
    assert missed(made(cost=1900), limit=10) == {"on time"}
    assert missed(made(cost=1900, seconds=10.0), limit=10) == set()


def test_progress_tells_when_a_value_was_first_better() -> None:
    solved = Solved({}, 9.0, ((2.0, 2000.0), (3.5, 1900.0), (4.5, 1800.0)))
    assert solved.first_below(F(2000)) == 3.5
    assert solved.first_below(F(1800)) is None


def test_a_run_is_judged_by_the_files() -> None:
    (tiny,) = problems(TINY, "*")
    done = run(tiny, Budget(30, 1, 0, "auto"))
    assert (done.status, done.cost, done.value, done.bound, done.start) == ("optimal", 153, 153, 153, 197)
    assert not done.broken
    assert done.points == 0
