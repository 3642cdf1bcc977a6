"""Values of options: durations, ratios, files. Turns text into values, or into a message that says what would be right.

Every function here is a click ``type``: it takes the text and raises ``click.BadParameter``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import click

__all__ = [
    "INSTANCE_SUFFIXES",
    "PLAN_SUFFIXES",
    "add_debug",
    "duration",
    "input_file",
    "keep_inputs",
    "multiple",
    "output_file",
    "ratio",
    "share",
]

INSTANCE_SUFFIXES = (".yaml", ".yml", ".json")
PLAN_SUFFIXES = (".json", ".csv")
LONGEST = 10**9  # s, about 30 years

_UNITS = {
    **dict.fromkeys(("ms",), Fraction(1, 1000)),
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("m", "min", "minute", "minutes"), Fraction(60)),
    **dict.fromkeys(("h", "hour", "hours"), Fraction(3600)),
}
_NUMBER = r"((?:[0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})(?:[eE][+-]?[0-9]{1,2})?)"
_DURATION = re.compile(rf"\s*{_NUMBER}\s*([a-z]*)\s*", re.ASCII)
_RATIO = re.compile(rf"\s*{_NUMBER}\s*(%?)\s*", re.ASCII)


def duration(text: str) -> float:
    """Seconds of ``90``, ``60s``, ``5 min``, ``500ms`` or ``2h``; more than 0."""
    match = _DURATION.fullmatch(text)
    unit = _UNITS.get(match[2]) if match else None
    if match is None or unit is None:
        raise click.BadParameter(f"{text!r} is not a duration; write for example 90, 60s, '5 min', 500ms or 2h")
    seconds = Fraction(match[1]) * unit
    if not 0 < seconds <= LONGEST:
        raise click.BadParameter(f"{text!r} must be more than 0 and at most {LONGEST} seconds")
    return float(seconds)


def ratio(text: str) -> float:
    """Ratio of ``0.01`` or ``1 %``; from 0 to 1."""
    value = multiple(text)
    if value > 1:
        raise click.BadParameter(f"{text!r} must be at least 0 and at most 1 (100 %)")
    return value


def multiple(text: str) -> float:
    """Ratio of ``0.85``, ``1.3`` or ``130 %``; at least 0."""
    match = _RATIO.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a ratio; write for example 0.01 or '1 %'")
    return float(Fraction(match[1]) / (100 if match[2] else 1))


def share(text: str) -> float:
    """Ratio above 0, up to 1."""
    value = ratio(text)
    if value == 0:
        raise click.BadParameter(f"{text!r} must be more than 0")
    return value


def input_file(*suffixes: str) -> Callable[[str], Path]:
    """Type of an existing, readable file with one of these suffixes (none: any)."""

    def convert(text: str) -> Path:
        path = _path(text, suffixes)
        if path.is_dir():
            raise click.BadParameter(f"{text!r} is a folder")
        if not path.exists():
            raise click.BadParameter(f"there is no file {text!r}")
        if not path.is_file():
            raise click.BadParameter(f"{text!r} is a device or a pipe; name a regular file")
        if not os.access(path, os.R_OK):
            raise click.BadParameter(f"{text!r} cannot be read: permission denied")
        return path

    return convert


def output_file(*suffixes: str) -> Callable[[str], Path]:
    """Type of a file that can be written: its type is known, its folder takes files (tried with one without a name)."""

    def convert(text: str) -> Path:
        import tempfile

        path = _path(text, suffixes)
        if path.is_dir():
            raise click.BadParameter(f"{text!r} is a folder")
        folder = path.resolve().parent
        if not folder.is_dir():
            raise click.BadParameter(f"{text!r} cannot be written: there is no folder {str(folder)!r}")
        if path.exists() and not os.access(path, os.W_OK):
            raise click.BadParameter(f"{text!r} cannot be written: permission denied")
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise click.BadParameter(f"{text!r} cannot be written: {error.strerror}") from error
        return path

    return convert


def keep_inputs(read: Iterable[Path | None], written: Iterable[Path | None]) -> None:
    """Refuse to write a file over one that is read, under whatever name; None: not asked for.

    Raises
    ------
    click.BadParameter
        A file is in both.
    """
    sources = [path for path in read if path is not None and path.exists()]
    for target in written:
        if target is not None and target.exists() and any(target.samefile(path) for path in sources):
            raise click.BadParameter(f"{str(target)!r} is read, too, and would be lost; name another file to write")


def _path(text: str, suffixes: tuple[str, ...]) -> Path:
    if not text or "\0" in text:
        raise click.BadParameter(f"{text!r} is not a file name")
    path = Path(text)
    if suffixes and path.suffix.lower() not in suffixes:
        raise click.BadParameter(f"{text!r} has an unknown file type; use one of: {', '.join(suffixes)}")
    try:
        path.exists()
    except OSError as error:
        raise click.BadParameter(f"{text!r}: {error.strerror}") from error
    return path


def _ignore(_ctx: click.Context, _param: click.Parameter, _value: bool) -> None:
    """``--debug`` is read where exceptions end (``allocator.cli.entry``)."""


add_debug = click.option("--debug", is_flag=True, expose_value=False, hidden=True, callback=_ignore)
"""Accept ``--debug`` after the command's name, too."""
