"""Files to plain trees of text. Owns encodings and the choice of syntax; knows nothing of what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from allocator.documents.json_tree import read_json
from allocator.documents.places import refuse
from allocator.errors import Problem

__all__ = ["read_document", "read_text"]


def read_document(path: Path) -> tuple[Any, list[Problem]]:
    """Tree of maps, lists, text and None in a file, and the duplicate keys found in it.

    Scalars stay text (nothing but null is resolved), so that names are always strings and numbers keep every digit.
    By suffix a file is JSON or YAML; without a known one it is JSON when it begins like it.

    Raises
    ------
    InputError
        When the file cannot be read or is neither YAML nor JSON.
    """
    text = read_text(path)
    suffix = path.suffix.lower()
    if suffix == ".json" or (suffix not in (".yaml", ".yml") and text.lstrip()[:1] in ("{", "[")):
        return read_json(text, str(path))
    from allocator.documents.yaml_tree import read_yaml

    return read_yaml(text, str(path))


def read_text(path: Path) -> str:
    """UTF-8 text of a file.

    Raises
    ------
    InputError
        When it cannot be read or is no UTF-8 text.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            refuse(str(path), "file", "is a device or a pipe, which may never end; name a regular file")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        refuse(str(path), "file", error.strerror or "cannot be read")
    except UnicodeDecodeError as error:
        refuse(str(path), "file", f"is not UTF-8 text (byte {error.start}); save it as UTF-8")
    except ValueError:
        refuse(str(path), "file", "cannot be read: the name holds a null character")
