"""The integer program under construction: exact scaling, refusal of what does not fit, derived variables."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from allocator.errors import MethodRefused
from allocator.solvers.budget import Limits
from allocator.solvers.cpsat.builder import LARGEST, Builder
from allocator.solvers.cpsat.derived import largest, positive_part, presence, product, smallest
from allocator.solvers.cpsat.engine import Controls, Outcome, run
from allocator.solvers.cpsat.linear import Linear, content


def solve(
    builder: Builder, objective: Linear | None = None, gap: float = 0.0, threads: int = 1
) -> tuple[Outcome, Fraction]:
    unit = Fraction(1) if objective is None else builder.minimize(objective, "the objective")
    budget = Limits().start()
    controls = Controls(seed=0, threads=threads, gap=gap, conflicts=None)
    outcome = run(
        builder, budget=budget, controls=controls, hint=None, on_value=lambda _: None, on_bound=lambda _: None
    )
    return outcome, unit


def best(builder: Builder, objective: Linear, threads: int = 1) -> Fraction:
    """Minimum, by value and by bound."""
    outcome, unit = solve(builder, objective, threads=threads)
    assert outcome.values is not None
    assert outcome.bound is not None
    exact = builder.complete(outcome.values)
    assert builder.holds(exact)
    reached = Fraction(objective.value(exact))
    assert reached == outcome.bound * unit + objective.constant
    return reached


def test_content_is_the_largest_common_unit() -> None:
    numbers = [Fraction(4, 3), Fraction(2, 5), 6, 0]
    unit = content(numbers)
    assert unit == Fraction(2, 15)
    assert all((Fraction(number) / unit).denominator == 1 for number in numbers)
    assert content([0]) == 1


def test_fractions_add_up_exactly() -> None:
    """Nine ninths fit 1; a tenth, a fifth more than 0.3 do not fit less."""
    builder = Builder()
    parts = [builder.integer(0, 1, "x") for _ in range(9)]
    ninths = Linear()
    for part in parts:
        ninths.add(part, Fraction(1, 9))
    builder.add(ninths, "row", upper=1)
    assert best(builder, ninths.scaled(-1)) == -1
    builder.add(ninths, "row", upper=Fraction(999_999_999_999_999, 10**15))
    assert best(builder, ninths.scaled(-1)) == Fraction(-8, 9)


def test_bounds_of_rows_round_inwards_only_where_no_integer_lies() -> None:
    builder = Builder()
    x = builder.integer(-10, 10, "x")
    builder.add(Linear().add(x, 3), "row", lower=Fraction(-71, 10), upper=Fraction(71, 10))
    assert best(builder, Linear().add(x, 1)) == -2
    assert best(builder, Linear().add(x, -1)) == -2


def test_numbers_that_do_not_fit_are_refused_by_name() -> None:
    builder = Builder()
    x = builder.integer(0, 4, "x")
    y = builder.integer(0, 3, "y")
    with pytest.raises(MethodRefused, match="the use of memory"):
        builder.add(Linear().add(x, LARGEST // 4).add(y, 1), "the use of memory", upper=LARGEST // 2)
    with pytest.raises(MethodRefused, match="an amount"):
        builder.integer(0, LARGEST, "an amount")
    with pytest.raises(MethodRefused, match="level 1"):
        builder.minimize(Linear().add(x, 2**60 + 1).add(y, 1), "level 1")


def test_the_largest_numbers_accepted_are_still_solved_exactly() -> None:
    builder = Builder()
    x, y = builder.integer(0, 1, "x"), builder.integer(0, 3, "y")
    huge = 2**59
    builder.add(Linear().add(x, huge).add(y, huge // 4 + 1), "row", lower=huge - 1, upper=huge)
    assert best(builder, Linear().add(x, huge - 1).add(y, huge // 4)) == huge - 1


def test_a_row_that_cannot_hold_makes_the_model_infeasible() -> None:
    builder = Builder()
    builder.integer(0, 1, "x")
    builder.add(Linear(3), "row", upper=2)
    outcome, _ = solve(builder)
    assert outcome.values is None
    assert outcome.complete
    assert not builder.holds([0])


def test_only_if_holds_the_row_when_the_condition_does() -> None:
    builder = Builder()
    condition, x = builder.integer(0, 1, "c"), builder.integer(0, 5, "x")
    builder.add(Linear().add(x, 1), "row", lower=4, only_if=condition)
    builder.add(Linear().add(x, 1), "row", lower=7, only_if=builder.integer(0, 1, "never"))
    assert builder.holds([1, 4, 0])
    assert builder.holds([0, 0, 0])
    assert not builder.holds([1, 3, 0])
    assert not builder.holds([0, 0, 1])
    assert best(builder, Linear().add(x, 1).add(condition, -9)) == -5


@pytest.mark.parametrize("seed", range(12))
def test_derived_variables_mean_what_they_say(seed: int) -> None:
    """Minimised over all assignments of three variables, against enumeration."""
    rng = random.Random(seed)
    spans = [(low := rng.randint(-2, 1), low + rng.randint(1, 3)) for _ in range(2)] + [(0, 2)]

    def expression(variables: list[int]) -> Linear:
        linear = Linear(Fraction(rng.randint(-5, 5), rng.randint(1, 3)))
        for variable in variables:
            linear.add(variable, Fraction(rng.randint(-4, 4), rng.randint(1, 4)))
        return linear

    builder = Builder()
    x = [builder.integer(low, high, "x") for low, high in spans]
    inner = [expression(x) for _ in range(4)]
    count = Linear().add(x[2], 1)
    other = Linear(2).add(x[0], 1)  # 0, 1, 2 ...
    made = [
        positive_part(builder, inner[0], "w"),
        largest(builder, inner[1:3], "w"),
        smallest(builder, inner[2:4], "w").scaled(-1),
        product(builder, count, other, "w").scaled(rng.choice([1, -1])),
        Linear().add(presence(builder, count, "w"), rng.choice([2, -2])),
    ]
    sign = made[3].terms and next(iter(made[3].terms.values()))
    objective = Linear(Fraction(1, 7))
    for part in made:
        objective.add_scaled(part)

    def truth(values: tuple[int, ...]) -> Fraction:
        e = [Fraction(linear.value(values)) for linear in inner]
        extra = next(iter(made[4].terms.values())) * (values[2] > 0)
        parts = max(e[0], 0), max(e[1:3]), -min(e[2:4]), sign * values[2] * (2 + values[0]), extra
        return Fraction(1, 7) + sum(parts)

    points = list(itertools.product(*(range(low, high + 1) for low, high in spans)))
    assert best(builder, objective) == min(map(truth, points))
    for point in points:
        exact = builder.complete(point)
        assert builder.holds(exact)
        assert objective.value(exact) == truth(point)


def test_a_gap_leaves_a_valid_bound() -> None:
    rng = random.Random(3)
    builder = Builder()
    x = [builder.integer(0, 1, "x") for _ in range(60)]
    weight, worth = Linear(), Linear(1000)
    for variable in x:
        weight.add(variable, rng.randint(1000, 2000))
        worth.add(variable, -rng.randint(1000, 2000))
    builder.add(weight, "row", upper=40_000)
    loose, unit = solve(builder, worth, gap=0.2)
    assert loose.values is not None
    assert loose.bound is not None
    exact = best(builder, worth)
    assert loose.bound * unit + worth.constant <= exact <= worth.value(builder.complete(loose.values))


@pytest.mark.parametrize("threads", [1, 2])
def test_presolve_does_not_cut_off_the_optimum(threads: int) -> None:
    """Rows that include one another: the presolve of OR-Tools 9.15, left alone, misses the optimum by 1."""
    builder = Builder()
    for upper in [1] * 11 + [8589934588, 8589934586, 4294967292, 8589934588]:
        builder.integer(0, upper, "x")
    rows: list[tuple[dict[int, int], int | None, int | None]] = [
        ({0: 1, 1: 1, 2: 1}, None, 1),
        ({3: 1, 4: 1}, None, 1),
        ({5: 1, 6: 1, 7: 1, 8: 1}, None, 1),
        ({3: 4, 7: 1}, None, 4),
        ({3: 1, 7: 2}, None, 2),
        ({2: 2, 4: 3, 8: 1}, None, 4),
        ({2: 4, 4: 1, 8: 2}, None, 4),
        ({0: -2, 5: -1, 9: 1}, None, 1),
        ({1: -2, 6: -1, 10: 1}, None, 1),
        ({9: 1, 10: 1}, None, 1),
        ({0: 8589934590, 5: 4294967295, 11: 1}, 8589934588, None),
        ({1: 8589934590, 6: 4294967295, 12: 1}, 8589934586, None),
        ({3: 2147483644, 7: 4294967295, 13: 1}, 4294967292, None),
        ({2: 8589934590, 4: 2147483645, 8: 4294967295, 14: 1}, 8589934588, None),
    ]

    def linear(terms: dict[int, int]) -> Linear:
        result = Linear()
        for variable, coefficient in terms.items():
            result.add(variable, coefficient)
        return result

    for terms, lower, upper in rows:
        builder.add(linear(terms), "row", lower=lower, upper=upper)
    objective = linear(dict.fromkeys((0, 1, 2, 5, 6, 7, 8), -4) | {3: -2, 4: -2} | dict.fromkeys((11, 12, 13, 14), 1))
    choices = itertools.product([(), (0,), (1,), (2,)], [(), (3,), (4,)], [(), (5,), (6,), (7,), (8,)])
    best_known = None
    for chosen in choices:
        point = [int(v in sum(chosen, ())) for v in range(9)] + [0, 0]
        for slack, (terms, lower, _) in zip((11, 12, 13, 14), rows[10:], strict=True):
            assert lower is not None
            point.append(max(0, lower - sum(c * point[v] for v, c in terms.items() if v != slack)))
        if builder.holds(point):
            value = objective.value(point)
            best_known = value if best_known is None else min(best_known, value)
    assert best(builder, objective, threads) == best_known
