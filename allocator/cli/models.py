"""Which model a command uses: the first one that is named."""

from __future__ import annotations

from allocator.errors import ArgumentError
from allocator.model import list_models, load_model
from allocator.model.entities import Model

__all__ = ["choose_model"]


def choose_model(*names: str | None) -> Model:
    """Load the first model that is named, by the option, the plan, the instance.

    Raises
    ------
    ArgumentError
        None is named, or there is no such model.
    """
    for name in names:
        if name is not None:
            return load_model(name)
    raise ArgumentError(f"the instance names no model: choose one with --model: {', '.join(list_models())}, or a file")
