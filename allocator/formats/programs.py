"""Instance and model as a mixed-integer program for other solvers. Owns the refusals; the writing is the method's."""

from __future__ import annotations

from pathlib import Path

from allocator.instance.entities import Instance
from allocator.model.entities import Model

__all__ = ["write_lp", "write_mps"]


def write_mps(instance: Instance, model: Model, path: Path) -> None:
    """Write the first level of the model as an MPS file.

    Raises
    ------
    MethodRefused
        The exact formulation does not support a family or goal in use, or would be too large.
    InputError
        The file cannot be written.
    """
    from allocator.compiled.compile import compile_instance
    from allocator.solvers.milp.export import export_mps, refuse

    refuse(instance, model)
    export_mps(compile_instance(instance, model), path)


def write_lp(instance: Instance, model: Model, path: Path) -> None:
    """Write the first level of the model as an LP file; raises like ``write_mps``."""
    from allocator.compiled.compile import compile_instance
    from allocator.solvers.milp.export import export_lp, refuse

    refuse(instance, model)
    export_lp(compile_instance(instance, model), path)
