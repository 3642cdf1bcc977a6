"""Two starts of a walk are tried where there is time for it, and the better one is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from allocator import load_instance
from allocator.compiled.compile import compile_instance
from allocator.solvers.budget import Limits
from allocator.solvers.heuristic.search.clock import Clock
from allocator.solvers.heuristic.search.cooling import TRIAL_SHARE, TRIED_FROM, Cooling
from allocator.solvers.heuristic.search.run import Search
from allocator.solvers.heuristic.search.walker import Walker
from allocator.solvers.recorder import Recorder
from tests.builders import model

Float = npt.NDArray[np.float64]

QUICKSTART = Path(__file__).parents[4] / "instances" / "quickstart" / "quickstart.yaml"


class Walks:
    """Heats of every round of every walk; the walks of one parity are made to get further than the others."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, better: int) -> None:
        self.heats: dict[int, list[float]] = {}
        self.order: list[Walker] = []
        self.better = better
        walk = Walker.walk

        def recorded(walker: Walker, level: int, caps: Float, heat: float, *rest: object) -> None:
            walk(walker, level, caps, heat, *rest)  # type: ignore[arg-type]
            self.heats.setdefault(self.order.index(walker), []).append(heat)
            walker.values[level] = -1e30 if self.order.index(walker) == better else 1.0

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


@pytest.mark.parametrize("better", [0, 1])
def test_both_walks_go_on_with_the_better_start(monkeypatch: pytest.MonkeyPatch, better: int) -> None:
    walks = Walks(monkeypatch, better)
    walks.cool(TRIED_FROM * 40)
    hot, cool = (np.array(walks.heats[index]) for index in (0, 1))
    tried = hot != cool
    assert tried.any()
    assert (hot[tried] > cool[tried]).mean() > 0.9  # the first walk has the hot start; both end alike
    assert not tried[-1]
    assert tried.nonzero()[0].max() <= len(tried) * TRIAL_SHARE * 1.5
    after = hot[tried.nonzero()[0].max() + 2 :]  # the trial's last round may have one temperature
    first = (hot, cool)[better][tried.nonzero()[0].min()]
    assert after[0] == pytest.approx(first, rel=0.2)  # from the start that got further, once more
    assert (np.diff(after) <= 0).all()


def test_short_walks_try_one_start_only(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = Walks(monkeypatch, 0)
    walks.cool(TRIED_FROM // 10)
    assert walks.heats[0] == walks.heats[1]
