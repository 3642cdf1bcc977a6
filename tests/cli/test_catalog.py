"""Every model that comes with the package is listed and can be shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from allocator.model import list_models, load_model

Run = Callable[..., Any]


def test_every_model_is_listed_with_what_it_is_for(run: Run) -> None:
    done = run("catalog")
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    for name in list_models():
        assert name in text
        assert load_model(name).about.split()[0] in text


@pytest.mark.parametrize("name", list_models())
def test_every_model_can_be_shown(name: str, run: Run) -> None:
    done = run("catalog", name)
    assert done.returncode == 0
    for goal in load_model(name).goal_ids:
        assert goal.value in done.stdout


def test_an_unknown_name_lists_the_known_ones(run: Run) -> None:
    done = run("catalog", "magic")
    assert done.returncode == 2
    assert "throughput" in done.stderr
