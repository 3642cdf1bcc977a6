"""Where there is time for it one walk starts hot and one cool; where there is more, all cool several times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from allocator import load_instance
from allocator.compiled.compile import compile_instance
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.search.clock import Clock
from allocator.solvers.heuristic.search.cooling import BOTH_FROM, Cooling
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from tests.builders import model

Float = npt.NDArray[np.float64]

QUICKSTART = Path(__file__).parents[4] / "instances" / "quickstart" / "quickstart.yaml"


class Walks:
    """Heats of every round of every walk; how far each gets is made up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, values: tuple[float, float]) -> None:
        self.heats: dict[int, list[float]] = {}
        self.order: list[Walker] = []
        self.values = values
        walk = Walker.walk

        def recorded(walker: Walker, level: int, caps: Float, heat: float, *rest: object) -> None:
            met = walker.sample.copy()
            walk(walker, level, caps, heat, *rest)  # type: ignore[arg-type]
            walker.sample[:] = met  # as many and as bad all along, so that only the schedule tells
            self.heats.setdefault(self.order.index(walker), []).append(heat)
            walker.values[level] = self.values[self.order.index(walker)]

        monkeypatch.setattr(Walker, "walk", recorded)

    def cool(self, moves_an_item: int) -> Cooling:
        compiled = compile_instance(load_instance(QUICKSTART), model("placed"))
        search = Search(compiled, Limits().start(), Recorder(lambda: 0.0), seed=1, threads=2)
        search._first_placement(None)
        search._spread_walkers()
        self.order = list(search.walkers)
        for walker in self.order:
            worsenings = np.random.default_rng(1).lognormal(0, 1, len(walker.sample) - 1)
            walker.sample[:] = np.concatenate([[len(worsenings)], worsenings])
        moves = moves_an_item * len(search.items.block)
        caps = np.full(len(search.compiled.model.levels) + 1, np.inf)
        search._cooling.cool(1, caps, Clock(search.budget, np.inf, moves))
        return search._cooling


def test_one_walk_starts_hot_and_one_cool_until_both_are_cold(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    monkeypatch.setattr(Cooling, "_exchange", lambda cooling, level: compared.append(level))
    walks = Walks(monkeypatch, (-2e30, -1e30))
    walks.cool(BOTH_FROM * 40)
    heats = np.array([walks.heats[0], walks.heats[1]])
    warm = heats[0] > 1e-200
    hot, cool = heats[:, warm]
    assert (hot > cool)[:-1].all()
    assert (np.diff(hot) <= 0).all()
    assert hot[0] > 5 * cool[0]
    assert hot[-1] == pytest.approx(cool[-1], rel=0.3)
    assert 0.9 < warm.mean() < 0.96  # descents before and after
    assert not warm[0]
    assert not warm[-1]
    assert 1 <= len(compared) <= 3  # of twenty comparisons those in the last tenth


def test_short_walks_have_one_start(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = Walks(monkeypatch, (-2e30, -1e30))
    walks.cool(BOTH_FROM // 10)
    assert walks.heats[0] == walks.heats[1]


def test_long_walks_all_start_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allocator.solvers.heuristic.search.cooling.BOTH_UNTIL", 2000)
    walks = Walks(monkeypatch, (-2e30, -1e30))
    walks.cool(6500)
    assert walks.heats[0] == walks.heats[1]
    assert (np.diff(walks.heats[0][10:]) > 0).sum() == 0  # one cooling


def test_longer_walks_cool_several_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allocator.solvers.heuristic.search.cooling.BOTH_UNTIL", 2000)
    monkeypatch.setattr("allocator.solvers.heuristic.search.cooling.TURN_MOVES", 2000)
    walks = Walks(monkeypatch, (-2e30, -1e30))
    walks.cool(6500)
    assert walks.heats[0] == walks.heats[1]
    assert (np.diff(walks.heats[0][10:]) > 0).sum() == 2  # three coolings
