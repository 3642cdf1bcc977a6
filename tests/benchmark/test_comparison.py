"""Two sets of records compared, and how sure one can be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from allocator.benchmark.comparison import Change, Comparison, bootstrap_interval, compare
from allocator.plan.record import Record
from tests.benchmark.record_builder import make


def changes(comparison: Comparison) -> dict[str, Change]:
    return {change.measure: change for change in comparison.changes}


def runs(values: list[float], **fields: object) -> list[Record]:
    return [make(seed=seed, value=value, **fields) for seed, value in enumerate(values)]  # type: ignore[arg-type]


def test_a_clear_change_is_certain_and_a_small_sample_is_not() -> None:
    worse = changes(compare(runs([100, 101, 102, 100]), runs([110, 111, 110, 112])))["value"]
    assert worse.verdict == "worse"
    assert worse.change == pytest.approx(10 / 100.5)
    assert worse.low is not None
    assert worse.low > 0
    assert changes(compare(runs([100, 101]), runs([110, 111])))["value"].verdict == "perhaps worse"
    assert changes(compare(runs([100, 101, 102]), runs([90, 91, 92])))["value"].verdict == "better"


def test_a_change_within_the_spread_is_uncertain() -> None:
    change = changes(compare(runs([100, 110, 120, 90]), runs([101, 108, 118, 95])))["value"]
    assert change.verdict in ("perhaps worse", "perhaps better")
    assert change.low is not None
    assert change.high is not None
    assert change.low <= 0 <= change.high


def test_more_is_better_where_it_is_to_be_maximised() -> None:
    change = changes(compare(runs([10, 10, 10], sense="max"), runs([12, 12, 12], sense="max")))["value"]
    assert change.verdict == "better"
    assert change.change == pytest.approx(-0.2)
    assert change.high is not None
    assert change.high < 0


def test_equal_is_the_same() -> None:
    comparison = compare(runs([10, 11, 12], bound=3), runs([10, 11, 12], bound=3))
    assert {change.verdict for change in comparison.changes if change.measure != "seconds"} == {"same"}
    assert comparison.count("same", "value") == 1
    assert comparison.rows()[0]["verdict"] == "same"


def test_solved_and_failed_runs_are_shares_and_failures_enter_no_median() -> None:
    before = [make(seed=s, bound=10, seconds=5.0) for s in range(3)]
    after = [make(seed=0, outcome="crashed", seconds=0.1), *(make(seed=s, bound=9, value=10) for s in (1, 2))]
    found = changes(compare(before, after))
    assert (found["solved"].before, found["solved"].after, found["solved"].verdict) == (1.0, 0.0, "worse")
    assert found["failed"].after == pytest.approx(1 / 3)
    assert found["failed"].verdict == "perhaps worse"
    assert found["value"].verdict == "same"
    assert found["value"].seeds == (3, 2)
    assert found["seconds"].verdict == "not comparable"


def test_times_within_a_tenth_are_the_same() -> None:
    def timed(seconds: list[float]) -> list[Record]:
        return [make(seed=s, bound=10, seconds=t) for s, t in enumerate(seconds)]

    assert changes(compare(timed([10, 10.1, 10.2]), timed([10.5, 10.6, 10.7])))["seconds"].verdict == "same"
    assert changes(compare(timed([10, 10.1, 10.2]), timed([5.0, 5.1, 5.2])))["seconds"].verdict == "better"


def test_what_stands_on_one_side_only_and_what_is_not_the_same_problem_is_told() -> None:
    other = make("b", instance={"name": "b", "digest": "new", "members": 1, "nodes": 1})
    comparison = compare([make("a"), make("b")], [other, make("c", limit=5.0)])
    assert comparison.only_before == (("a", "cost", "m"),)
    assert comparison.only_after == (("c", "cost", "m"),)
    (change,) = comparison.changes
    assert (change.verdict, change.note) == ("not comparable", "the instance changed")
    assert any("time limits differ" in note for note in comparison.notes)
    assert any("machines differ" in note for note in compare([make()], [make(machine={"cpu": "d", "cores": 2})]).notes)


def test_the_bootstrap_interval_is_near_scipys() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.normal(10, 1, 12), rng.normal(12, 1, 12)
    low, high = bootstrap_interval(list(before), list(after))

    def difference(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.median(b, axis=axis) - np.median(a, axis=axis)

    theirs = stats.bootstrap(
        (before, after), difference, n_resamples=4000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert low == pytest.approx(theirs.low, abs=0.2)
    assert high == pytest.approx(theirs.high, abs=0.2)
    assert bootstrap_interval([1.0], [2.0, 3.0]) == (None, None)
    assert bootstrap_interval(list(before), list(after)) == (low, high)
