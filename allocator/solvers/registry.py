"""The methods by name. Each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from allocator.errors import ArgumentError
from allocator.solvers.base import Method

__all__ = ["METHODS", "method_named"]


def _milp() -> Method:
    from allocator.solvers.milp.method import MilpMethod

    return MilpMethod()


def _cpsat() -> Method:
    from allocator.solvers.cpsat.method import CpsatMethod

    return CpsatMethod()


def _greedy() -> Method:
    from allocator.solvers.heuristic.greedy import GreedyMethod

    return GreedyMethod()


def _local_search() -> Method:
    from allocator.solvers.heuristic.method import LocalSearchMethod

    return LocalSearchMethod()


def _uniform() -> Method:
    from allocator.solvers.heuristic.uniform import UniformMethod

    return UniformMethod()


def _adjust() -> Method:
    from allocator.solvers.heuristic.adjust import AdjustMethod

    return AdjustMethod()


def _lns() -> Method:
    from allocator.solvers.decomposition.lns.method import LnsMethod

    return LnsMethod()


def _genetic() -> Method:
    from allocator.solvers.heuristic.genetic.method import GeneticMethod

    return GeneticMethod()


METHODS: Mapping[str, Callable[[], Method]] = MappingProxyType(
    {
        "milp": _milp,
        "cpsat": _cpsat,
        "greedy": _greedy,
        "uniform": _uniform,
        "adjust": _adjust,
        "local-search": _local_search,
        "genetic": _genetic,
        "lns": _lns,
    }
)


def method_named(name: str) -> Method:
    """A method by name. Raises ``ArgumentError`` that lists the names there are."""
    if name not in METHODS:
        raise ArgumentError(f"method = {name}: unknown; the methods are {', '.join(['auto', *METHODS])}")
    return METHODS[name]()
