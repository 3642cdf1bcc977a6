"""Instance documents as files: YAML or JSON by the file's name. Judges nothing of what is in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allocator.errors import ArgumentError
from allocator.plan.whole import write_whole

__all__ = ["write_document"]


def write_document(document: Mapping[str, Any], path: Path) -> None:
    """Write a document of maps, lists, text and whole numbers.

    Raises
    ------
    ArgumentError
        The file's name ends neither in .yaml or .yml nor in .json.
    InputError
        The file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    elif suffix in (".yaml", ".yml"):
        text = _yaml(document)
    else:
        raise ArgumentError(f"{path}: an instance file is named .yaml, .yml or .json")
    write_whole(path, text.encode())


def _yaml(document: Mapping[str, Any]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(
        dict(document), Dumper=dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None
    )
    return text
