"""The oracle and the checker were written apart from models/README.md: on every placement they must say the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from allocator.checker import check
from allocator.errors import InputError
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from tests.oracle.bent_features import BENT
from tests.oracle.brute_force import brute_force, row_plan
from tests.oracle.comparing import same
from tests.oracle.goals import RATE_GOALS, goal_values, level_values
from tests.oracle.placements import TooMany, Usage, enumerate_placements, feasibility
from tests.oracle.random_instances import FEATURES, Case, random_case
from tests.oracle.tiny import Tiny

SEEDS = 400
BENT_SEEDS = 300
ROWS = 12


def read(case: Case) -> Instance:
    return instance_from_dict(case.document)


def block_of_cases(block: int) -> Iterator[Case]:
    """A tenth of the plain cases and of the bent ones."""
    for bent, seeds in ((False, SEEDS), (True, BENT_SEEDS)):
        for seed in range(block * seeds // 10, (block + 1) * seeds // 10):
            yield random_case(seed, bent=bent)


@pytest.mark.parametrize("block", range(10))
def test_every_placement_has_the_checkers_verdict_and_values(block: int) -> None:
    for case in block_of_cases(block):
        seed = case.seed
        instance = read(case)
        tiny = Tiny(instance, case.model)
        try:
            rows = enumerate_placements(tiny, prune=False)
        except TooMany:
            continue
        rng = np.random.default_rng(seed)
        sample = rows[rng.choice(len(rows), size=min(ROWS, len(rows)), replace=False)]
        feasible = np.logical_and.reduce(list(feasibility(Usage(tiny, rows, served=True)).values()))
        good = rows[feasible]
        if len(good):
            sample = np.vstack([sample, good[rng.choice(len(good), size=min(ROWS, len(good)), replace=False)]])
        _compare(tiny, sample, seed)


def _compare(tiny: Tiny, rows: np.ndarray, seed: int) -> None:
    usage = Usage(tiny, rows, served=True)
    masks = feasibility(usage)
    goals = {
        goal.id: goal_values(usage, goal)
        for level in tiny.model.levels
        for goal in level.goals
        if goal.id not in RATE_GOALS
    }
    for number, row in enumerate(rows):
        evaluation = check(tiny.instance, tiny.model, row_plan(tiny, row))
        broken = {family for family, mask in masks.items() if not mask[number]}
        where = f"seed {seed}, row {row.tolist()}: oracle {broken}, checker {evaluation.violations}"
        assert evaluation.feasible == (not broken), where
        for goal, values in goals.items():
            assert evaluation.goals[goal] == values.exact(number), f"{where}, {goal}"
        for level, value in zip(tiny.model.levels, evaluation.levels, strict=True):
            if all(goal.id in goals for goal in level.goals):
                assert level_values(level, goals, len(rows)).exact(number) == value, where


@pytest.mark.parametrize("block", range(10))
def test_the_best_plan_holds_and_is_worth_what_the_oracle_says(block: int) -> None:
    for case in block_of_cases(block):
        seed = case.seed
        instance = read(case)
        truth = brute_force(instance, case.model)
        if truth.plan is None:
            continue
        evaluation = check(instance, case.model, truth.plan)
        assert evaluation.feasible, f"seed {seed}: {evaluation.violations}"
        for level, value, true in zip(case.model.levels, evaluation.levels, truth.values, strict=True):
            kept = level.slack.allowance(Fraction(true)) if level is not case.model.levels[-1] else Fraction(0)
            worse = value - Fraction(true) if level.sense == "min" else Fraction(true) - value
            close = 1e-6 * max(1.0, abs(true))
            assert same(value, true) or -close <= float(worse) <= float(kept) + close, (
                f"seed {seed}: {value} for {true}"
            )


def test_the_generator_uses_every_feature_and_repeats_itself() -> None:
    used: set[str] = set()
    for seed in range(SEEDS):
        used |= random_case(seed).features
    assert used == {*FEATURES, "gib"}
    bent = set().union(*(random_case(seed, bent=True).features for seed in range(BENT_SEEDS)))
    assert set(BENT) <= bent
    assert not used & set(BENT)
    for seed in random.Random(0).sample(range(10_000), 20):
        for bent_too in (False, True):
            assert random_case(seed, bent=bent_too).document == random_case(seed, bent=bent_too).document


def test_the_generator_writes_valid_documents() -> None:
    refused = []
    for bent, seeds in ((False, SEEDS), (True, BENT_SEEDS)):
        for seed in range(seeds):
            try:
                read(random_case(seed, bent=bent))
            except InputError as error:
                refused.append(f"seed {seed}, bent {bent}: {error}")
    assert not refused, "\n".join(refused[:5])
