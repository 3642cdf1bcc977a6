"""Choice of a method from what an instance and a model use and how large they are."""

from __future__ import annotations

from allocator.instance.entities import Instance
from allocator.model.entities import Model
from allocator.solvers.base import Method
from allocator.solvers.registry import method_named

__all__ = ["choose"]


def choose(name: str, instance: Instance, model: Model) -> Method:  # noqa: ARG001 - the choice will read both
    """The named method, or for "auto" the one that suits."""
    return method_named("milp" if name == "auto" else name)
