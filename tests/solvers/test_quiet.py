"""HiGHS runs with changing numbers of threads in one process, and keeps quiet."""

from __future__ import annotations

import highspy
import numpy as np
import pytest

from allocator.solvers.quiet import QuietHighs


def solver(threads: int, *, integral: bool) -> QuietHighs:
    made = QuietHighs()
    made.setOptionValue("output_flag", False)
    made.setOptionValue("threads", threads)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = 2, 1
    program.col_cost_ = np.array([1.0, 2.0])
    program.col_lower_, program.col_upper_ = np.zeros(2), np.full(2, 5.0)
    program.row_lower_, program.row_upper_ = np.array([1.5]), np.array([np.inf])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.array([0, 2], dtype=np.int32)
    program.a_matrix_.index_ = np.array([0, 1], dtype=np.int32)
    program.a_matrix_.value_ = np.ones(2)
    if integral:
        program.integrality_ = [highspy.HighsVarType.kInteger] * 2
    made.passModel(program)
    return made


def test_the_number_of_threads_may_change_between_runs() -> None:
    for threads, integral in ((2, True), (1, False), (2, True), (0, False), (1, True), (2, False)):
        made = solver(threads, integral=integral)
        assert made.run() != highspy.HighsStatus.kError
        assert made.getModelStatus() == highspy.HighsModelStatus.kOptimal


def test_a_run_of_somebody_else_in_between_does_not_matter() -> None:
    """Plain HiGHS objects set the scheduler up for their own number of threads."""
    for threads in (1, 2):
        solver(threads, integral=True).run()
        highspy.Highs.resetGlobalScheduler(True)
        other = highspy._core._Highs()
        other.setOptionValue("output_flag", False)
        other.setOptionValue("threads", 3 - threads)
        other.passModel(solver(0, integral=True).getLp())
        assert other.run() == highspy.HighsStatus.kOk
        made = solver(threads, integral=False)
        made.run()
        assert made.getModelStatus() == highspy.HighsModelStatus.kOptimal


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    solver(1, integral=True).run()
    assert capfd.readouterr() == ("", "")
