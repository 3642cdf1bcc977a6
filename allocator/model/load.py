"""Find and read model files. Owns where they are; knows nothing of what a document means (``document``)."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from allocator.documents.memory import plain_tree
from allocator.documents.reading import read_document
from allocator.errors import ArgumentError
from allocator.model.document import model_from_tree
from allocator.model.entities import Model

__all__ = ["list_models", "load_model"]

_SUFFIXES = (".yaml", ".yml", ".json")


def load_model(source: str | PathLike[str] | Mapping[str, Any] | Model) -> Model:
    """Model by its name, from a file, or from an in-memory document.

    Parameters
    ----------
    source : name of a model that comes with the package ("p99"), path of a file (it has a suffix or a folder), the
        document itself, or a model, which is returned as it is.

    Raises
    ------
    ArgumentError
        When there is no model of that name.
    InputError
        With every problem found, when the document is not a valid model.
    """
    if isinstance(source, Model):
        return source
    if isinstance(source, Mapping):
        return model_from_tree(plain_tree(source, "<model>"), [], "<model>", "model")
    text = fspath(source)
    path = Path(text)
    if not isinstance(source, str) or path.suffix.lower() in _SUFFIXES or path.name != text:
        tree, found = read_document(path)
        return model_from_tree(tree, found, str(path), path.stem)
    names = list_models()
    if text not in names:
        raise ArgumentError(f"model = {text}: there is no such model; there are {', '.join(names)}, or name a file")
    path = _folder() / f"{text}.yaml"
    tree, found = read_document(path)
    return model_from_tree(tree, found, str(path), text)


def list_models() -> tuple[str, ...]:
    """Names of the models that come with the package, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.yaml")))


def _folder() -> Path:
    """Folder of the model files: installed with the package, or the checkout's top-level one."""
    package = Path(__file__).resolve().parent
    installed = package / "files"
    return installed if installed.is_dir() else package.parents[1] / "models"
