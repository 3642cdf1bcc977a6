"""Writing to stdout: text and JSON, whatever the encoding, and quietly when the reader has gone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["emit", "emit_json", "is_terminal", "pacify", "terminal_width"]

DEFAULT_WIDTH = 80
NARROWEST = 60
WIDEST = 120
LONG = 1000  # entries of a list that are indented


def emit(text: str) -> None:
    """Write text to stdout and flush. A character that the stream cannot encode is written as an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        pacify()


def emit_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to stdout; plain ASCII where the stream is not Unicode."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    emit(_json_text(document, ensure_ascii=not unicode) + "\n")


def _json_text(document: Mapping[str, Any], *, ensure_ascii: bool) -> str:
    """Indented JSON; long lists an entry a line, since indenting them takes seconds and nobody reads so far."""
    members = []
    for key, value in document.items():
        if isinstance(value, list) and len(value) > LONG:
            entries = [json.dumps(entry, ensure_ascii=ensure_ascii, allow_nan=False) for entry in value]
            text = "[\n    " + ",\n    ".join(entries) + "\n  ]"
        else:
            text = json.dumps(value, indent=2, ensure_ascii=ensure_ascii, allow_nan=False).replace("\n", "\n  ")
        members.append(f"  {json.dumps(key, ensure_ascii=ensure_ascii)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}" if members else "{}"


def pacify() -> None:
    """Point stdout to nowhere, so that the interpreter does not complain when it flushes at its end."""
    try:
        target = sys.stdout.fileno()
    except (OSError, ValueError):  # replaced by an object without a file
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, target)
    os.close(nowhere)


def is_terminal() -> bool:
    """Whether stdout is a terminal that takes colour (https://no-color.org)."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """Columns to fill: the terminal's, 60 to 120; 80 elsewhere (COLUMNS overrides)."""
    import shutil

    if "COLUMNS" in os.environ or sys.stdout.isatty():
        return max(NARROWEST, min(shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns, WIDEST))
    return DEFAULT_WIDTH
