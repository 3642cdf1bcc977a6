"""The exact model as an MPS or LP file, written by HiGHS. Owns names, objective and header; knows no family.

The objective is that of the first level in the level's own units, its constant as the objective's offset: another
solver's optimum equals the level's value. Later levels are left out, and the header says so. HiGHS writes 15
significant digits.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import highspy
import numpy as np

from allocator.compiled.entities import Compiled
from allocator.errors import InternalError, UnsupportedFamily
from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.model.families import GoalId
from allocator.plan.whole import write_whole
from allocator.solvers.budget import Limits
from allocator.solvers.milp.build import LevelObjective, build
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix, compile_matrix
from allocator.solvers.milp.method import MilpMethod
from allocator.solvers.support import require_support

__all__ = ["export_lp", "export_mps", "refuse"]

LONGEST_PART = 40
_STRANGE = re.compile(r"[^A-Za-z0-9.]+")


def refuse(instance: Instance, model: Model) -> None:
    """Raise ``UnsupportedFamily`` when the formulation does not state a family or goal in use.

    Of the goal ``p99`` it is the solving that states the rows: a file would hold a relaxation of it.
    """
    require_support(MilpMethod(), instance, model)
    if GoalId.P99 in {goal.id for goal in model.levels[0].goals}:
        raise UnsupportedFamily("milp", ["p99 (in a file: its rows are added while it is solved)"])


def export_mps(compiled: Compiled, path: Path) -> None:
    """Write the first level as MPS (free format). It is minimised: a level to be maximised stands in it negated.

    Raises
    ------
    ModelTooLarge
        The model would be too large to build.
    InputError
        The file cannot be written.
    """
    _export(compiled, path, ".mps", "* ", minimise_only=True)


def export_lp(compiled: Compiled, path: Path) -> None:
    """Write the first level in LP format, in its own sense. Raises like ``export_mps``."""
    _export(compiled, path, ".lp", "\\ ", minimise_only=False)


def _export(compiled: Compiled, path: Path, suffix: str, comment: str, *, minimise_only: bool) -> None:
    MilpMethod().refuse(compiled)
    form, objectives = build(compiled, Limits().start())
    matrix = compile_matrix(form, objectives)
    solver = HighsRun(matrix, seed=0, threads=1).solver
    first = objectives[0]
    negated = minimise_only and not first.minimise
    _set_objective(solver, matrix, first, negated=negated)
    _name(solver.passColName, _column_names(form, matrix))
    _name(solver.passRowName, _row_names(matrix))
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / f"model{suffix}"
        _done(solver.writeModel(str(written)), "to write the model")
        body = written.read_bytes()
    lines = _header(compiled, first, negated=negated)
    header = "".join(f"{comment}{line}\n" for line in lines)
    write_whole(path, header.encode() + body)


def _header(compiled: Compiled, first: LevelObjective, *, negated: bool) -> list[str]:
    goals = " + ".join(f"{goal.weight} {goal.id}" if goal.weight != 1 else str(goal.id) for goal in first.level.goals)
    lines = [
        f"instance {_part(compiled.instance.name)}, digest {compiled.instance.digest}",
        f"model {_part(compiled.model.name)}, level 1 of {len(compiled.model.levels)}: {first.level.sense} {goals}",
        f"constant {float(first.constant):.17g} is part of the objective",
    ]
    if negated:
        lines.append("the level is maximised: its value is minus the objective, which is minimised")
    if first.step:
        lines.append(f"the value of the level is a multiple of {first.step}")
    return lines


def _set_objective(solver: Any, matrix: Matrix, first: LevelObjective, *, negated: bool) -> None:
    """Costs of the level in its own units; the matrix holds them scaled."""
    sign = -1 if negated else 1
    cost = np.zeros(len(matrix.column_lower))
    for coef, variable in zip(first.terms.coefs, first.terms.variables, strict=True):
        cost[matrix.columns[id(variable)]] += float(sign * Fraction(coef))
    everyone = np.arange(len(cost), dtype=np.int32)
    minimise = first.minimise or negated
    sense = highspy.ObjSense.kMinimize if minimise else highspy.ObjSense.kMaximize
    _done(solver.changeColsCost(len(cost), everyone, cost), "the costs")
    _done(solver.changeObjectiveSense(sense), "the sense")
    _done(solver.changeObjectiveOffset(float(sign * first.constant)), "the constant")


def _column_names(form: Formulation, matrix: Matrix) -> list[str]:
    """Placements by class, member, mode and node behind a number that makes them unique; the rest by family."""
    names = [f"{variable.part}_v{variable.column}" for variable in form.variables]
    instance = form.compiled.instance
    for position, entry in enumerate(form.entries):
        block = form.compiled.blocks[entry.block]
        workload = instance.workloads[block.workload]
        parts = [workload.name]
        if block.count < workload.count:
            parts.append(str(block.ranges[0][0]))
        if len(workload.modes) > 1:
            parts.append(workload.modes[int(form.compiled.option_mode[entry.option])].name)
        parts.append(instance.nodes[entry.node].path)
        column = matrix.columns[id(entry.variable)]
        names[column] = "_".join([f"x{position}", *(_part(part) for part in parts)])
    return names


def _row_names(matrix: Matrix) -> list[str]:
    """Rows by family and number."""
    return [f"{part}_c{row}" for row, part in enumerate(matrix.row_parts)]


def _part(text: str) -> str:
    """A name in letters that every format allows."""
    return _STRANGE.sub(".", text)[-LONGEST_PART:].strip(".") or "unnamed"


def _name(give: Callable[[int, str], Any], names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise InternalError("two columns or rows of the exported model have one name")
    for index, name in enumerate(names):
        _done(give(index, name), f"the name {name}")


def _done(status: Any, what: str) -> None:
    if status == highspy.HighsStatus.kError:
        raise InternalError(f"HiGHS refused {what}")
