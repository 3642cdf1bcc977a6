"""MILP, CP-SAT and brute force agree on random tiny instances, which together use every family and every goal.

The normal run takes ``DEFAULT`` instances; ``-m bench`` takes ``MANY``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

import pytest

from allocator import solve
from allocator.errors import MethodRefused, UnsupportedFamily
from allocator.instance import instance_from_dict
from allocator.instance.entities import Instance
from allocator.model.entities import Linearization, Model
from allocator.model.families import Family, GoalId
from allocator.solvers.registry import METHODS
from tests.oracle.brute_force import Truth, brute_force
from tests.oracle.comparing import disagreement, left_open, wrongly_refused
from tests.oracle.in_use import ids_in_use
from tests.oracle.loaded_links import loaded_case
from tests.oracle.placements import TooMany
from tests.oracle.random_instances import GOALS, Case, random_case

DEFAULT = 300
BLOCKS = 10
BENT = 60
MANY = 2_000
MOST_OPEN = 0.002  # of many instances: not proven in time, or as far as floats can tell, or refused for their numbers
TIME_LIMIT = 30.0
ONLY_BENT = {Family.SLO, GoalId.P99}
LOADED = 60
ALWAYS_HELD = {Family.ASSIGNMENT, Family.SHARES, Family.RATES}  # taking these away is no model of its own


@dataclass
class Tally:
    """What a run over many instances met."""

    instances: int = 0
    infeasible: int = 0
    used: Counter[str] = field(default_factory=Counter)
    binding: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)

    def table(self) -> str:
        """Counts as lines of text."""
        lines = [f"{self.instances} instances, {self.infeasible} infeasible, refusals {dict(self.refused)}"]
        lines += [
            f"  {name:12} used {count:5} binding {self.binding[name]:5}" for name, count in self.used.most_common()
        ]
        return "\n".join([*lines, *self.disagreements, *self.unproven])


def compare(
    seeds: Iterable[int],
    methods: tuple[str, ...],
    tally: Tally,
    *,
    binding: bool = False,
    bent: bool = False,
    made: Callable[..., Case] = random_case,
    many: bool = False,
) -> None:
    """Solve each instance by every method and by brute force. ``many``: answers left open are counted, not judged."""
    for seed in seeds:
        case = made(seed, bent=bent)
        model = replace(case.model, linearization=Linearization(Fraction(0))) if bent else case.model
        instance = instance_from_dict(case.document)
        try:
            truth = brute_force(instance, model)
        except TooMany:
            continue
        tally.instances += 1
        tally.infeasible += not truth.feasible
        used = ids_in_use(instance, model)
        tally.used.update(str(name) for name in used)
        if binding:
            tally.binding.update(str(name) for name in used if binds(instance, model, truth, name))
        for method in methods:
            problem, is_open = judge(instance, model, truth, method, tally)
            if problem is not None:
                found = tally.unproven if many and is_open else tally.disagreements
                found.append(f"seed {seed}, {method}: {problem} ({', '.join(sorted(case.features))})")


def judge(instance: Instance, model: Model, truth: Truth, method: str, tally: Tally) -> tuple[str | None, bool]:
    """What one method gets wrong, and whether it only left open what the truth is, with all its claims valid."""
    try:
        result = solve(instance, model, method=method, time_limit=TIME_LIMIT, seed=0, threads=1, gap=0.0)
    except UnsupportedFamily as error:
        tally.refused[method] += 1
        wrong = wrongly_refused(method, error.families, METHODS[method]().support, model)
        return (f"refuses {wrong}, which it claims to support" if wrong else None), False
    except MethodRefused as error:
        return str(error), True
    except Exception as error:  # noqa: BLE001  # a crash is a disagreement to report with its seed, not the end of the run
        return f"{type(error).__name__}: {error}", False
    return disagreement(result, truth, model), left_open(result, truth)


def binds(instance: Instance, model: Model, truth: Truth, name: Family | GoalId) -> bool:
    """Whether taking a family or goal away changes what is feasible or what is reached."""
    if isinstance(name, GoalId):
        return truth.feasible and len(set(truth.values)) > 0 and truth.placements > 1
    if name in ALWAYS_HELD:
        return truth.feasible
    try:
        free = brute_force(instance, replace(model, ignore=model.ignore | {name}))
    except TooMany:
        return False
    return (free.feasible, free.values, free.placements) != (truth.feasible, truth.values, truth.placements)


def settle(tally: Tally, *, many: bool) -> None:
    """Claims about a whole run."""
    assert not tally.disagreements, tally.table()
    assert tally.refused["milp"] == 0, tally.table()
    if many:
        assert 0.1 <= tally.infeasible / tally.instances <= 0.3, tally.table()


@pytest.mark.parametrize("block", range(BLOCKS))
def test_exact_methods_agree_with_brute_force(block: int) -> None:
    size = DEFAULT // BLOCKS
    tally = Tally()
    compare(range(block * size, (block + 1) * size), ("milp", "cpsat"), tally)
    settle(tally, many=False)


def test_random_instances_use_and_bind_every_family_and_goal() -> None:
    tally = Tally()
    compare(range(300), (), tally, binding=True)
    wanted = {str(name) for name in [*Family, *GOALS] if name not in {*ONLY_BENT, Family.LINK_LOAD}}
    assert {name for name in wanted if tally.used[name] == 0} == set(), tally.table()
    assert {name for name in wanted if tally.binding[name] == 0} == set(), tally.table()
    assert 0.1 <= tally.infeasible / tally.instances <= 0.35, tally.table()


@pytest.mark.parametrize("block", range(BLOCKS))
def test_exact_methods_agree_with_brute_force_on_what_bends(block: int) -> None:
    """At tolerance 0. A refusal by name is counted, not judged."""
    size = BENT // BLOCKS
    tally = Tally()
    compare(range(block * size, (block + 1) * size), ("milp", "cpsat"), tally, bent=True)
    assert not tally.disagreements, tally.table()


@pytest.mark.parametrize("seed", [298, 10_218, 11_045, 11_264])
def test_what_bends_and_was_answered_wrongly_once(seed: int) -> None:
    tally = Tally()
    compare([seed], ("milp",), tally, bent=True)
    assert not tally.disagreements, tally.table()


@pytest.mark.parametrize("seed", [10_095, 10_594, 10_598, 10_841, 10_857, 10_929, 11_466, 11_524, 11_972])
def test_large_numbers_that_cancel_hide_no_optimum_and_make_no_claim(seed: int) -> None:
    """Bytes against cores, or beside goals of a few units: once answered wrongly, or with a false bound."""
    tally = Tally()
    compare([seed], ("milp", "auto"), tally)
    assert not tally.disagreements, tally.table()


def test_bent_instances_use_and_bind_targets_and_response_times() -> None:
    tally = Tally()
    compare(range(BENT), (), tally, binding=True, bent=True)
    assert all(tally.binding[str(name)] for name in (*ONLY_BENT, Family.FABRIC)), tally.table()
    assert 0.1 <= tally.infeasible / tally.instances <= 0.4, tally.table()


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("bent", [False, True])
def test_exact_methods_agree_with_brute_force_on_loaded_links(block: int, *, bent: bool) -> None:
    """Messages count in targets and in the goal p99 at the load that the links may have."""
    size = LOADED // BLOCKS
    tally = Tally()
    seeds = range(block * size, (block + 1) * size)
    compare(seeds, ("milp", "cpsat", "auto"), tally, bent=bent, made=loaded_case)
    assert not tally.disagreements, tally.table()


def test_loaded_links_bind() -> None:
    tally = Tally()
    compare(range(LOADED), (), tally, binding=True, bent=True, made=loaded_case)
    assert tally.binding[Family.LINK_LOAD] >= LOADED // 4, tally.table()
    assert tally.binding[Family.SLO], tally.table()


@pytest.mark.bench
@pytest.mark.parametrize("bent", [False, True])
def test_exact_methods_agree_with_brute_force_on_thousands(*, bent: bool) -> None:
    tally = Tally()
    seed = 10_000
    while tally.instances < MANY:
        compare([seed], ("milp", "cpsat"), tally, bent=bent, many=True)
        seed += 1
    print(tally.table())
    assert len(tally.unproven) <= MOST_OPEN * MANY, tally.table()
    if bent:
        assert not tally.disagreements, tally.table()
    else:
        settle(tally, many=True)
