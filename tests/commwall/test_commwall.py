"""The instances of the communication wall: what placements by hand achieve, by the checker alone.

Two ways to place the job: *dealt* out over all nodes in turn, and *close*, one rack filled before a few go elsewhere.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.commwall.hand_plans import SIZES, close, dealt, named

DEALT = {"tree": {2: 15.15, 4: 31.15, 8: 13.87, 16: 19.2}, "mesh": {2: 15.15, 4: 31.15, 8: 45.71, 16: 64.0}}
CLOSE_VALUE = 34.46


@pytest.mark.parametrize("fabric", DEALT)
@pytest.mark.parametrize("size", SIZES)
def test_what_dealing_out_achieves(fabric: str, size: int) -> None:
    _, evaluation = dealt(named(fabric, size))
    assert evaluation.feasible, evaluation.violations
    assert abs(float(evaluation.levels[0]) - DEALT[fabric][size]) < 0.01


@pytest.mark.parametrize("size", [8, 16])
def test_on_the_thin_fabric_close_talkers_do_more_than_dealt_out_ones(size: int) -> None:
    instance = named("tree", size)
    _, together = close(instance)
    assert together.feasible, together.violations
    assert abs(float(together.levels[0]) - CLOSE_VALUE) < 0.01
    assert together.levels[0] > Fraction(17, 10) * dealt(instance)[1].levels[0]


def test_more_nodes_help_on_the_mesh_and_hurt_who_deals_out_on_the_tree() -> None:
    """From one full rack to two and four; up to four nodes the two fabrics are the same."""
    tree, mesh = ([dealt(named(fabric, size))[1].levels[0] for size in SIZES] for fabric in ("tree", "mesh"))
    assert tree[:2] == mesh[:2]
    assert mesh == sorted(mesh)
    assert mesh[3] == 64, "everything that is offered"
    assert max(tree[2:]) < tree[1]


def test_the_answer_over_two_racks_is_late_by_their_latency() -> None:
    """The desk's P99 in one rack and over two: 2 ms apart, both within 15 ms."""
    near, far = (dealt(named("tree", size))[1].classes[1].p99 for size in (4, 8))
    assert near is not None
    assert far is not None
    assert far - near == Fraction(2, 1000)
    assert far < Fraction(15, 1000)
