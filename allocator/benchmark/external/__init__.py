"""Methods of others, through the same instances and the same checker: ``external:NAME``. Not part of ``solve``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from allocator.errors import ArgumentError
from allocator.solvers.base import Method

__all__ = ["EXTERNAL", "EXTERNAL_PREFIX", "external_method"]

EXTERNAL_PREFIX = "external:"


def _highs() -> Method:
    from allocator.benchmark.external.highs import solve_by_highs
    from allocator.benchmark.external.program import ProgramMethod

    return ProgramMethod("external:highs", solve_by_highs)


def _cpsat() -> Method:
    from allocator.benchmark.external.mathopt import solve_by_cpsat
    from allocator.benchmark.external.program import ProgramMethod

    return ProgramMethod("external:cpsat", solve_by_cpsat)


def _scip() -> Method:
    from allocator.benchmark.external.mathopt import solve_by_scip
    from allocator.benchmark.external.program import ProgramMethod

    return ProgramMethod("external:scip", solve_by_scip)


def _best_fit() -> Method:
    from allocator.benchmark.external.scheduler import SchedulerMethod

    return SchedulerMethod("external:best-fit", most_allocated=True)


def _least_allocated() -> Method:
    from allocator.benchmark.external.scheduler import SchedulerMethod

    return SchedulerMethod("external:least-allocated", most_allocated=False)


EXTERNAL: Mapping[str, Callable[[], Method]] = MappingProxyType(
    {
        "external:highs": _highs,
        "external:cpsat": _cpsat,
        "external:scip": _scip,
        "external:best-fit": _best_fit,
        "external:least-allocated": _least_allocated,
    }
)


def external_method(name: str) -> Method:
    """A method of others by name. Raises ``ArgumentError`` that lists the names there are."""
    if name not in EXTERNAL:
        raise ArgumentError(f"method = {name}: unknown; methods of others are {', '.join(EXTERNAL)}")
    return EXTERNAL[name]()
