"""The exception tree. Owns every error the package raises on purpose; knows nothing of what raises it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "AllocatorError",
    "ArgumentError",
    "BudgetExhausted",
    "ClaimMismatch",
    "InputError",
    "InternalError",
    "MethodRefused",
    "ModelTooLarge",
    "Problem",
    "UnsupportedFamily",
]

SHOWN_PROBLEMS = 5


class AllocatorError(Exception):
    """Root of the errors this package raises on purpose. ``exit_code`` is what the command line returns."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in an input file: where, what stands there, what would be right."""

    path: str
    value: str | None
    message: str

    def __str__(self) -> str:
        shown = "" if self.value is None else f" = {self.value}"
        return f"{self.path}{shown}: {self.message}"


class InputError(AllocatorError):
    """Bad input: every problem found in one source, all at once.

    Parameters
    ----------
    source : file name or a word for in-memory data.
    problems : at least one problem.
    """

    exit_code = 2

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        super().__init__(source, self.problems)

    def __str__(self) -> str:
        lines = [f"{self.source}: {problem}" for problem in self.problems[:SHOWN_PROBLEMS]]
        total = len(self.problems)
        if total > SHOWN_PROBLEMS:
            lines.append(f"{self.source}: {total} problems in all, the first {SHOWN_PROBLEMS} shown")
        return "\n".join(lines)


class ArgumentError(AllocatorError):
    """An argument of a call or of the command line is wrong."""

    exit_code = 2


class MethodRefused(AllocatorError):
    """A method declines an instance before building anything; the message says what to use instead."""

    exit_code = 2


class UnsupportedFamily(MethodRefused):
    """A family that the instance or the model uses and the method does not support.

    Parameters
    ----------
    method : the method's name.
    families : ids of the families, at least one.
    """

    def __init__(self, method: str, families: Sequence[str], hint: str = "") -> None:
        self.method = method
        self.families = tuple(families)
        self.hint = hint
        super().__init__(method, self.families, hint)

    def __str__(self) -> str:
        names = ", ".join(self.families)
        tail = f"; {self.hint}" if self.hint else ""
        return f"method {self.method} does not support: {names}{tail}"


class ModelTooLarge(MethodRefused):
    """The estimated size of the exact model is beyond what the method accepts."""


class BudgetExhausted(AllocatorError):
    """The time limit was reached inside a step that cannot return a partial answer. Caught by the methods."""


class InternalError(AllocatorError):
    """Something that must hold does not: a fault of this package, never of the input."""


class ClaimMismatch(InternalError):
    """The checker disagrees with what a method claims about its own plan."""
