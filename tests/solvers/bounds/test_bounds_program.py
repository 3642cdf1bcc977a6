"""A proven bound is one for any multipliers, and the optimum where those are right."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from allocator.solvers.bounds import program as module
from allocator.solvers.bounds.program import Expression, Program
from allocator.solvers.budget import Budget, Limits

F = Fraction


def clock() -> Budget:
    return Limits(60.0).start()


def random_program(
    rng: random.Random,
) -> tuple[Program, Expression, np.ndarray, list[float], list[tuple[float, float]]]:
    """A feasible program of covering rows, and the same as arrays (A x >= b)."""
    program = Program()
    size, rows = rng.randint(2, 6), rng.randint(1, 6)
    scale = [F(10) ** rng.randint(-6, 6) for _ in range(size)]
    columns = [program.column(0, rng.randint(3, 9) * scale[j]) for j in range(size)]
    matrix = np.zeros((rows, size))
    sides = []
    for i in range(rows):
        terms = {j: F(rng.randint(0, 5)) / scale[j] for j in columns}
        side = F(rng.randint(0, 6), rng.randint(1, 3))
        if sum((terms[j] * (program.upper[j] or 0) for j in columns), F(0)) < side:
            side = F(0)
        program.row(terms, side, None)
        matrix[i] = [float(terms[j] * scale[j]) for j in columns]
        sides.append(float(side))
    costs = {j: F(rng.randint(0, 9)) / scale[j] for j in columns}
    bounds = [(0.0, float(F(program.upper[j] or 0) / scale[j])) for j in columns]
    costs_there = [float(costs[j] * scale[j]) for j in columns]
    answer = linprog(costs_there, A_ub=-matrix, b_ub=[-side for side in sides], bounds=bounds, method="highs")
    return program, Expression(costs, 1), matrix, [answer.fun + 1], bounds


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_the_optimum_of_small_programs_of_any_scale(seed: int) -> None:
    program, objective, _, (optimum,), _ = random_program(random.Random(seed))
    proof = program.minimise(objective, clock())
    assert proof is not None
    assert proof.bound is not None
    assert float(proof.bound) <= optimum + 1e-9 * abs(optimum)
    assert float(proof.bound) == pytest.approx(optimum, rel=1e-6)


def test_simple_multipliers_give_the_exact_optimum() -> None:
    """3 x + 3 y >= 1, min x + 2 y: 1/3 exactly."""
    program = Program()
    x, y = program.column(0, 5), program.column(0, 5)
    program.row({x: 3, y: 3}, 1, None)
    proof = program.minimise(Expression({x: 1, y: 2}), clock())
    assert proof is not None
    assert proof.bound == F(1, 3)


@pytest.mark.parametrize("seed", range(30))
def test_wrong_multipliers_prove_less_and_never_more(seed: int) -> None:
    rng = random.Random(seed)
    program, objective, _, (optimum,), _ = random_program(rng)
    solver = module._Solver(program)
    duals = [F(rng.randint(-20, 40), rng.randint(1, 7)) for _ in range(program.num_rows)]
    bound = solver._proven(objective, duals)
    assert bound is not None
    assert float(bound) <= optimum + 1e-9


def test_a_column_without_upper_bound_never_makes_the_bound_endless() -> None:
    """Multipliers that pull z below its cost are scaled down: min z, z >= 2 x, z >= x + 1, x >= 3."""
    program = Program()
    x, z = program.column(3, 9), program.column(0, None)
    program.row({z: 1, x: -2}, 0, None)
    program.row({z: 1, x: -1}, 1, None)
    solver = module._Solver(program)
    bound = solver._proven(Expression({z: 1}), [F(3), F(1)])
    assert bound == F(3, 4) * 6 + F(1, 4) * 4
    proof = program.minimise(Expression({z: 1}), clock())
    assert proof is not None
    assert proof.bound == 6


def test_sides_that_a_row_does_not_have_are_not_used() -> None:
    program = Program()
    x = program.column(0, 10)
    program.row({x: 1}, None, 4)
    solver = module._Solver(program)
    assert solver._proven(Expression({x: 1}), [F(5)]) == 0
    assert solver._proven(Expression({x: -1}), [F(-1)]) == -4


def test_no_feasible_point_or_no_time_gives_no_proof() -> None:
    program = Program()
    x = program.column(0, 1)
    program.row({x: 1}, 2, None)
    assert program.minimise(Expression({x: 1}), clock()) is None
    late = clock()
    late.interrupt()
    assert program.minimise(Expression({x: 1}), late) is None


def test_a_program_without_columns_has_its_constant() -> None:
    proof = Program().minimise(Expression({}, 7), clock())
    assert proof is not None
    assert proof.bound == 7
