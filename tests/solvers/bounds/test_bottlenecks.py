"""Bottlenecks: by price, then by utilisation; links by their busier direction."""

from __future__ import annotations

from fractions import Fraction

from allocator.plan.evaluation import Evaluation, LinkUse, Use
from allocator.solvers.bounds.bottlenecks import bottlenecks
from tests.builders import build, group, node

INSTANCE = build(group("rack", "r", node("a"), node("b")))
DOMAIN = {domain.path: domain.index for domain in INSTANCE.domains}


def evaluation(
    *uses: tuple[str, str, int, int], links: tuple[tuple[str, str, int, int | None], ...] = ()
) -> Evaluation:
    return Evaluation(
        (),
        (),
        {},
        (),
        tuple(Use(d, "host", r, Fraction(used), Fraction(cap)) for d, r, used, cap in uses),
        tuple(
            LinkUse(d, "host", way, Fraction(load), Fraction(0), None if cap is None else Fraction(cap))
            for d, way, load, cap in links
        ),
        (),
    )


def test_the_most_used_first_without_prices() -> None:
    found = bottlenecks(evaluation(("r/a", "cpu", 1, 4), ("r/b", "cpu", 3, 4)), {}, INSTANCE)
    assert [(b.domain, b.utilization, b.price) for b in found] == [
        ("r/b", Fraction(3, 4), None),
        ("r/a", Fraction(1, 4), None),
    ]


def test_a_price_counts_more_than_utilisation() -> None:
    prices = {(DOMAIN["r/a"], "cpu"): 2.5}
    found = bottlenecks(evaluation(("r/a", "cpu", 1, 4), ("r/b", "cpu", 4, 4)), prices, INSTANCE)
    assert [(b.domain, b.price) for b in found] == [("r/a", 2.5), ("r/b", None)]


def test_a_link_is_as_busy_as_its_busier_direction() -> None:
    links = (("r/a", "up", 5, 10), ("r/a", "down", 12, 10), ("r/b", "up", 9, None))
    found = bottlenecks(evaluation(links=links), {}, INSTANCE)
    assert [(b.domain, b.resource, b.utilization) for b in found] == [("r/a", "bandwidth", Fraction(6, 5))]


def test_unused_and_empty_capacities_are_no_bottleneck() -> None:
    assert bottlenecks(evaluation(("r/a", "cpu", 0, 4), ("r/b", "cpu", 0, 0)), {}, INSTANCE) == ()


def test_at_most_as_many_as_asked_for() -> None:
    uses = [("r/a", r, 1, 2) for r in ("cpu", "memory", "gpu")] + [("r/b", r, 1, 2) for r in ("cpu", "memory", "gpu")]
    found = bottlenecks(evaluation(*uses), {}, INSTANCE)
    assert len(found) == 5
    assert len(bottlenecks(evaluation(*uses), {}, INSTANCE, limit=2)) == 2
