"""Why there is no plan, and why a member has no place. Imports nothing until it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allocator.solvers.explanation.apply import relaxed
    from allocator.solvers.explanation.asking import alone, question, without
    from allocator.solvers.explanation.explain import explain_infeasible
    from allocator.solvers.explanation.unplaced import explain_unplaced

__all__ = ["alone", "explain_infeasible", "explain_unplaced", "question", "relaxed", "without"]

_HOMES = {
    "alone": "asking",
    "explain_infeasible": "explain",
    "explain_unplaced": "unplaced",
    "question": "asking",
    "relaxed": "apply",
    "without": "asking",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
