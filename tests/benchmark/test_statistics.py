"""Statistics against independent computations: numpy and scipy, areas by hand, a small table worked out on paper."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from allocator.benchmark.statistics.contradictions import contradictions
from allocator.benchmark.statistics.duels import duels, quality_order
from allocator.benchmark.statistics.gaps import Best, best_values, gap_to_best, gap_to_bound, relative_gap
from allocator.benchmark.statistics.integral import primal_gap, primal_integral
from allocator.benchmark.statistics.outcomes import outcome_counts
from allocator.benchmark.statistics.profiles import performance_profiles, time_profiles
from allocator.benchmark.statistics.spread import extent, seed_spread
from allocator.benchmark.statistics.targets import seconds_to, targets
from allocator.benchmark.statistics.times import method_times, shifted_geometric_mean
from tests.benchmark.record_builder import make

TIMES = st.lists(st.floats(0, 1e5), min_size=1, max_size=30)
BEST = Best(Fraction(100), "by hand", "min", True)


@given(TIMES)
def test_the_shifted_geometric_mean_is_scipys_of_shifted_numbers(times: list[float]) -> None:
    expected = float(stats.gmean(np.array(times) + 10.0)) - 10.0
    assert shifted_geometric_mean(times) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert min(times) - 1e-6 <= shifted_geometric_mean(times) <= max(times) + 1e-6


def test_the_mean_of_nothing_is_none() -> None:
    assert shifted_geometric_mean([]) is None


def test_times_by_hand() -> None:
    # x solves a and b in 2 and 6 s, y solves a only in 10 s, z crashed on a and was refuted on b
    records = [
        make("a", "x", bound=10, seconds=2.0),
        make("b", "x", bound=10, seconds=6.0),
        make("a", "y", bound=10, seconds=10.0),
        make("b", "y", bound=9, seconds=30.0, limit=90.0),
        make("a", "z", outcome="crashed", seconds=1.0),
        make("b", "z", bound=10, seconds=1.0, wrong=True),
    ]
    x, y, z = method_times(records)
    assert (x.method, x.runs, x.solved, x.apart) == ("x", 2, 2, 0)
    assert x.of_solved == pytest.approx(math.sqrt(12 * 16) - 10)
    assert (x.common, x.of_common) == (1, pytest.approx(2.0))
    assert (y.solved, y.of_solved, y.of_common) == (1, pytest.approx(10.0), pytest.approx(10.0))
    assert y.capped == pytest.approx(math.sqrt(20 * 100) - 10)  # 90 s, the limit, for what it did not prove
    assert (z.solved, z.apart, z.of_solved, z.of_common, z.capped) == (0, 2, None, None, None)


MEASURES = st.dictionaries(
    st.sampled_from("xyz"),
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.just("m"), st.integers(0, 1)),
        st.none() | st.floats(0.01, 100),
    ),
    min_size=1,
)


@given(MEASURES)
def test_profiles_are_those_of_the_definition(measures: dict[str, dict[tuple[str, str, int], float | None]]) -> None:
    problems = sorted({key for each in measures.values() for key in each})
    table = np.array([[measures[m].get(p) or np.inf for p in problems] for m in sorted(measures)], dtype=float)
    for row, profile in zip(table, performance_profiles(measures), strict=True):
        for factor in (1.0, 1.5, 2.0, 10.0, 1e6):
            if not problems:
                assert profile.at(factor) == 0.0
                continue
            best = table.min(axis=0)
            with np.errstate(invalid="ignore"):
                within = np.isfinite(row) & (row / best <= factor)
            assert profile.at(factor) == pytest.approx(within.mean())


def test_a_profile_by_hand() -> None:
    # a: 1 s and 2 s; b: 4 s and 1 s; c: nobody; d: x alone
    records = [
        make("a", "x", bound=10, seconds=1.0),
        make("b", "x", bound=10, seconds=4.0),
        make("c", "x", bound=9),
        make("d", "x", bound=10, seconds=3.0),
        make("a", "y", bound=10, seconds=2.0),
        make("b", "y", bound=10, seconds=1.0),
        make("c", "y", outcome="timed_out"),
        make("d", "y", outcome="refused"),
    ]
    x, y = time_profiles(records)
    assert x.steps() == [(1.0, 0.5), (4.0, 0.75)]
    assert y.steps() == [(1.0, 0.25), (2.0, 0.5)]
    assert x.problems == y.problems == 4


def test_primal_gaps_by_hand() -> None:
    assert primal_gap(None, 5) == 1.0
    assert primal_gap(0, 0) == 0.0
    assert primal_gap(-1, 1) == 1.0
    assert primal_gap(125, 100) == 0.2
    assert primal_gap(100, 125) == 0.2
    assert primal_gap(7, 0) == 1.0


def test_the_integral_is_the_area_under_the_gap() -> None:
    trace = ((2.0, 0, 200.0, None), (5.0, 0, 125.0, 90.0), (5.5, 0, 125.0, 95.0), (8.0, 0, 100.0, 100.0))
    record = make(value=100, bound=100, trace=trace, limit=20.0)
    # 2 s without a plan, 3 s at 1/2, 3 s at 1/5, then 0
    assert primal_integral(record, BEST) == pytest.approx(2 + 1.5 + 0.6)
    assert primal_integral(record, BEST, horizon=4.0) == pytest.approx(2 + 1.0)

    def gap(moment: float) -> float:
        value = next((point[2] for point in reversed(trace) if point[0] <= moment), None)
        return primal_gap(value, 100.0)

    area = sum(integrate.quad(gap, low, high)[0] for low, high in ((0, 2), (2, 5), (5, 8), (8, 20)))
    assert primal_integral(record, BEST) == pytest.approx(area)


def test_the_integral_of_a_run_without_a_plan_is_its_whole_time_and_of_a_failure_none() -> None:
    assert primal_integral(make(value=None, limit=20.0), BEST) == 20.0
    for failed in (make(outcome="crashed"), make(outcome="refused"), make(value=100, wrong=True)):
        assert primal_integral(failed, BEST) is None
    assert primal_integral(make(), None) is None


def test_other_levels_and_beliefs_that_were_not_confirmed_do_not_help() -> None:
    trace = ((1.0, 0, 90.0, None), (2.0, 1, 3.0, None), (3.0, 0, 100.0, 100.0))
    record = make(value=100, bound=100, trace=trace, limit=10.0)
    assert primal_integral(record, Best(Fraction(80), "", "min", False)) == pytest.approx(1 + 9 * 0.2)


def test_times_to_targets_by_hand() -> None:
    trace = ((1.0, 0, 300.0, None), (4.0, 0, 100.9, None), (6.0, 0, 100.05, 1.0), (9.0, 0, 100.0, 1.0))
    record = make(value=100, bound=1, trace=trace)
    found = targets(record, BEST)
    assert (found.first, found.one_percent, found.tenth_percent) == (1.0, 4.0, 6.0)
    assert seconds_to(record, BEST, 0.0) == 9.0
    assert seconds_to(record, Best(Fraction(50), "", "min", False), 0.01) is None
    above = make(value=101, sense="max", trace=((2.0, 0, 101.0, None),))
    assert seconds_to(above, Best(Fraction(100), "", "max", False), 0.0) == 2.0
    assert targets(make(wrong=True, trace=trace), BEST).first is None


def test_the_best_value_is_the_stored_one_unless_a_confirmed_plan_is_better() -> None:
    known = {"value": 9.5, "source": "a paper"}
    records = [make(value=10, best_known=known), make(method="n", value=9, wrong=True, best_known=known)]
    best = best_values(records)["a", "cost"]
    assert (best.value, best.source, best.proven) == (Fraction(19, 2), "a paper", False)
    better = best_values([*records, make(method="k", value=9, bound=9, best_known=known)])["a", "cost"]
    assert (better.value, better.source, better.proven) == (9, "best in this suite, better than the stored one", True)
    assert best_values([make(value=3, sense="max"), make(seed=1, value=4, sense="max")])["a", "cost"].value == 4
    assert best_values([make(outcome="crashed")]) == {}


def test_gaps_have_a_sign_and_are_exact() -> None:
    assert relative_gap(Fraction(10), Fraction(9), "min") == Fraction(1, 10)
    assert relative_gap(Fraction(10), Fraction(9), "max") == Fraction(-1, 10)
    assert relative_gap(Fraction(0), Fraction(0), "min") == 0
    assert gap_to_best(make(value=125), BEST) == Fraction(1, 5)
    assert gap_to_best(make(value=125, wrong=True), BEST) is None
    assert gap_to_bound(make(value=0.3, bound=0.1)) == Fraction(2, 3)
    assert gap_to_bound(make(value=10)) is None


def test_duels_by_hand() -> None:
    records = [
        *(make("abcdef"[i], "x", value=v) for i, v in enumerate((1, 5, 3, None, None, 4))),
        *(make("abcd"[i], "y", value=v) for i, v in enumerate((2, 5, 2, 7))),
        make("e", "y", value=None),
        make("f", "y", outcome="refused"),
    ]
    table = {(duel.first, duel.second): duel for duel in duels(records)}
    duel = table["x", "y"]
    assert (duel.wins, duel.ties, duel.losses, duel.apart) == (1, 1, 2, 2)
    back = table["y", "x"]
    assert (back.wins, back.ties, back.losses, back.apart) == (2, 1, 1, 2)


def level(value: float, sense: str = "min", slack: float | str = 0) -> dict[str, object]:
    return {"goals": {}, "sense": sense, "value": value, "bound": None, "gap": None, "slack": slack}


def test_later_levels_decide_only_within_the_slack_of_earlier_ones() -> None:
    first = make(levels=(level(60, "max"), level(5)))
    assert quality_order(first, make(levels=(level(60, "max"), level(6)))) == -1
    assert quality_order(first, make(levels=(level(61, "max"), level(6)))) == 1
    within = make(levels=(level(101, slack="1 %"), level(5))), make(levels=(level(100, slack="1 %"), level(6)))
    assert quality_order(*within) == -1
    beyond = make(levels=(level(102, slack="1 %"), level(5))), make(levels=(level(100, slack="1 %"), level(6)))
    assert quality_order(*beyond) == 1
    absolute = make(levels=(level(102, slack=2), level(5))), make(levels=(level(100, slack=2), level(6)))
    assert quality_order(*absolute) == -1


def test_every_run_is_counted_once() -> None:
    records = [
        make("a", bound=10),
        make("b", bound=9),
        make("c", value=None),
        make("d", value=None, status="infeasible"),
        make("e", wrong=True),
        *(make(name, outcome=name) for name in ("refused", "crashed", "timed_out", "out_of_memory")),
    ]
    (counts,) = outcome_counts(records)
    each = [getattr(counts, name) for name in type(counts).__dataclass_fields__ if name not in ("method", "runs")]
    assert each == [1] * 9
    assert counts.runs == 9


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_the_extent_is_numpys(numbers: list[float]) -> None:
    found = extent(numbers)
    assert found is not None
    assert (found.least, found.median, found.largest) == (
        min(numbers),
        pytest.approx(float(np.median(numbers))),
        max(numbers),
    )


def test_spread_over_seeds_leaves_failures_out() -> None:
    records = [make(seed=s, value=v, seconds=float(s + 1)) for s, v in enumerate((10, 12, 11))]
    records += [make(seed=3, outcome="crashed", seconds=99.0), make(seed=4, value=1, wrong=True, seconds=99.0)]
    (row,) = seed_spread(records)
    assert (row.runs, row.failed) == (5, 2)
    assert row.value == extent([10.0, 12.0, 11.0])
    assert row.seconds == extent([1.0, 2.0, 3.0])


def test_a_bound_that_a_plan_passes_is_a_contradiction() -> None:
    plan = make(method="x", value=10, bound=9)
    assert contradictions([plan, make(method="y", value=12, bound=10)]) == []
    (found,) = contradictions([plan, make(method="y", value=12, bound=11)])
    assert "method y" in found
    assert "bound 11" in found
    assert contradictions([plan, make("b", method="y", value=12, bound=11)]) == []  # another case
    (found,) = contradictions([plan, make(method="y", value=None, status="infeasible")])
    assert "infeasible" in found
    top = [make(method="x", value=10, sense="max"), make(method="y", value=8, bound=9, sense="max")]
    assert len(contradictions(top)) == 1
    assert contradictions([make(method="x", value=5, wrong=True), make(method="y", value=12, bound=11)]) == []
