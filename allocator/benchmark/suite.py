"""A suite: instances x models x methods x seeds, and the limits of each run. Owns the format ``allocator/suite/v1``.

Knows the keys and their checks; finding the instances is ``cases``, running them ``runner``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from allocator.documents.reading import read_document
from allocator.errors import ArgumentError, InputError, Problem

__all__ = ["Entry", "Known", "RunLimits", "Suite", "list_suites", "load_suite"]

FORMAT = "allocator/suite/v1"
FOLDER = Path(__file__).resolve().parent / "suites"
PLACES = ("shipped", "data", "path")
MAX_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one run. A run that goes on ``grace`` seconds after its time is ended and counts as timed out."""

    seconds: float = 60.0
    gap: float = 0.0
    threads: int = 1
    memory_mib: int | None = None
    iterations: int | None = None
    grace: float = 20.0

    def to_tree(self) -> dict[str, Any]:
        """The part that stands in a record."""
        return {
            "seconds": self.seconds,
            "gap": self.gap,
            "threads": self.threads,
            "memory_mib": self.memory_mib,
            "iterations": self.iterations,
        }


@dataclass(frozen=True, slots=True)
class Known:
    """Where best known values stand: a CSV file with a column ``path``, or one ``value``.

    ``columns``: the first that holds a number counts. ``missing``: texts that stand for none. ``only_where``: column
    and beginnings of its text; other rows are passed over. ``source``: what is said of the values.
    """

    source: str
    table: str | None = None
    columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ("",)
    only_where: tuple[str, tuple[str, ...]] | None = None
    value: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """Instances of one place and format. ``pattern`` is relative to shipped instances, the data folder or the suite."""

    place: Literal["shipped", "data", "path"]
    pattern: str
    format: str
    models: tuple[str, ...]  # empty: the one that the instance names
    best_known: Known | None
    leave_out: Mapping[str, str]  # file name: reason


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite as its file states it. ``text`` is the file, ``folder`` where it lies."""

    name: str
    about: str
    entries: tuple[Entry, ...]
    methods: tuple[str, ...]
    seeds: tuple[int, ...]
    limits: RunLimits
    text: str
    folder: Path


def list_suites() -> tuple[str, ...]:
    """Names of the suites that come with the package."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def load_suite(source: str | PathLike[str]) -> Suite:
    """Suite by its name or from a file.

    Raises
    ------
    ArgumentError
        There is no suite of that name.
    InputError
        With every problem found in the file.
    """
    text = fspath(source)
    path = Path(text)
    if isinstance(source, str) and path.suffix == "" and path.name == text:
        if text not in list_suites():
            raise ArgumentError(f"suite = {text}: there is none; there are {', '.join(list_suites())}, or name a file")
        path = FOLDER / f"{text}.yaml"
    tree, found = read_document(path)
    reader = _Reader(list(found))
    suite = reader.suite(tree, path)
    if reader.problems:
        raise InputError(str(path), reader.problems)
    return suite


class _Reader:
    """Walks the tree and collects problems; what is wrong is replaced by something harmless."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems

    def suite(self, tree: Any, path: Path) -> Suite:
        top = self._map(tree, "suite", ("format", "name", "about", "instances", "models", "methods", "seeds", "limits"))
        if top.get("format") != FORMAT:
            self._add("format", top.get("format"), f"must be {FORMAT}")
        models = self._texts(top.get("models", []), "models")
        entries = top.get("instances")
        if not isinstance(entries, list) or not entries:
            self._add("instances", None, "must be a list of at least one entry")
            entries = []
        methods = self._texts(top.get("methods"), "methods")
        seeds = self._list(top.get("seeds", ["0"]), "seeds")
        for name, values in (("methods", methods), ("seeds", seeds)):
            if not values or len(set(values)) < len(values):
                self._add(name, None, "must name at least one, and none twice")
        return Suite(
            name=self._text(top.get("name", path.stem), "name"),
            about=self._text(top.get("about", path.stem), "about"),
            entries=tuple(self._entry(entry, f"instances[{n}]", models) for n, entry in enumerate(entries)),
            methods=methods,
            seeds=tuple(self._whole(seed, f"seeds[{n}]", 0, MAX_SEED) for n, seed in enumerate(seeds)),
            limits=self._limits(top.get("limits", {})),
            text=path.read_text(encoding="utf-8-sig"),
            folder=path.resolve().parent,
        )

    def _entry(self, tree: Any, at: str, models: tuple[str, ...]) -> Entry:
        entry = self._map(tree, at, (*PLACES, "from", "models", "best_known", "leave_out"))
        stated = [place for place in PLACES if place in entry]
        if len(stated) != 1:
            self._add(at, None, f"must have one of the keys {', '.join(PLACES)}")
        place = stated[0] if stated else "path"
        return Entry(
            place=place,  # type: ignore[arg-type]  # one of PLACES
            pattern=self._text(entry.get(place, "*"), f"{at}.{place}"),
            format=self._format(entry.get("from", "allocator"), f"{at}.from"),
            models=self._texts(entry["models"], f"{at}.models") if "models" in entry else models,
            best_known=self._known(entry["best_known"], f"{at}.best_known") if "best_known" in entry else None,
            leave_out={
                name: self._text(why, f"{at}.leave_out.{name}")
                for name, why in self._map(entry.get("leave_out", {}), f"{at}.leave_out").items()
            },
        )

    def _known(self, tree: Any, at: str) -> Known:
        known = self._map(tree, at, ("source", "table", "columns", "missing", "only_where", "value"))
        if ("table" in known) == ("value" in known):
            self._add(at, None, "must have a table with columns, or a value")
        if "table" in known and "columns" not in known:
            self._add(f"{at}.columns", None, "must name the columns that hold the values")
        where = self._map(known.get("only_where", {}), f"{at}.only_where")
        if len(where) > 1:
            self._add(f"{at}.only_where", None, "must be one column with its texts")
        return Known(
            source=self._text(known.get("source"), f"{at}.source"),
            table=self._text(known["table"], f"{at}.table") if "table" in known else None,
            columns=self._texts(known.get("columns", []), f"{at}.columns"),
            missing=("", *self._texts(known.get("missing", []), f"{at}.missing")),
            only_where=next(((name, self._texts(texts, f"{at}.only_where")) for name, texts in where.items()), None),
            value=Fraction(self._number(known["value"], f"{at}.value", None, None)) if "value" in known else None,
        )

    def _limits(self, tree: Any) -> RunLimits:
        stated = self._map(tree, "limits", ("seconds", "gap", "threads", "memory_mib", "iterations", "grace"))
        usual = RunLimits()
        return RunLimits(
            seconds=self._optional(stated, "seconds", usual.seconds, lambda v, at: self._real(v, at, 0.001, 10.0**7)),
            gap=self._optional(stated, "gap", usual.gap, lambda v, at: self._real(v, at, 0.0, 0.999)),
            threads=self._optional(stated, "threads", usual.threads, lambda v, at: self._whole(v, at, 1, 1024)),
            memory_mib=self._optional(stated, "memory_mib", None, lambda v, at: self._whole(v, at, 64, 2**30)),
            iterations=self._optional(stated, "iterations", None, lambda v, at: self._whole(v, at, 0, 2**60)),
            grace=self._optional(stated, "grace", usual.grace, lambda v, at: self._real(v, at, 0.1, 10.0**7)),
        )

    @staticmethod
    def _optional(stated: Mapping[str, Any], name: str, usual: Any, read: Callable[[Any, str], Any]) -> Any:
        return usual if stated.get(name) is None else read(stated[name], f"limits.{name}")

    def _format(self, value: Any, at: str) -> str:
        from allocator.formats.registry import READERS

        known = ("allocator", *READERS)
        if value not in known:
            self._add(at, value, f"must be one of {', '.join(known)}")
        return str(value)

    def _map(self, value: Any, at: str, known: tuple[str, ...] | None = None) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            self._add(at, value, "must be a map")
            return {}
        for key in value:
            if known is not None and key not in known:
                self._add(f"{at}.{key}", None, f"is not known; the keys are {', '.join(known)}")
        return value

    def _list(self, value: Any, at: str) -> list[Any]:
        if isinstance(value, list):
            return value
        self._add(at, value, "must be a list")
        return []

    def _texts(self, value: Any, at: str) -> tuple[str, ...]:
        return tuple(self._text(item, f"{at}[{n}]") for n, item in enumerate(self._list(value, at)))

    def _text(self, value: Any, at: str) -> str:
        if isinstance(value, str) and value:
            return value
        self._add(at, value, "must be text")
        return ""

    def _whole(self, value: Any, at: str, low: int, high: int) -> int:
        number = self._number(value, at, low, high)
        if number.denominator != 1:
            self._add(at, value, "must be a whole number")
        return int(number)

    def _real(self, value: Any, at: str, low: float, high: float) -> float:
        return float(self._number(value, at, low, high))

    def _number(self, value: Any, at: str, low: float | None, high: float | None) -> Fraction:
        from allocator.quantities import QuantityError, parse_decimal

        try:
            number = Fraction(parse_decimal(value))
        except (QuantityError, TypeError, AttributeError):
            self._add(at, value, "must be a number")
            return Fraction(1)
        least, most = (None if edge is None else Fraction(repr(edge)) for edge in (low, high))
        if (least is not None and number < least) or (most is not None and number > most):
            self._add(at, value, f"must be from {low:g} to {high:g}")
        return number

    def _add(self, at: str, value: Any, message: str) -> None:
        text = value if isinstance(value, str) else None if value is None else type(value).__name__
        self.problems.append(Problem(at, text, message))
