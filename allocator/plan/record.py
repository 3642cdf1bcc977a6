"""A record: everything that is known of one benchmark run. Owns the keys of ``allocator/record/v1``.

Knows how a record is written and read, nothing of how a run is made, judged or drawn. The maps inside keep the shape of
the JSON line (docs/guide/benchmark.md); what is missing is None, never 0 or infinity.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal, cast

__all__ = ["FORMAT", "OUTCOMES", "Outcome", "Record", "TracePoint", "exact"]

FORMAT = "allocator/record/v1"

Outcome = Literal["done", "refused", "crashed", "timed_out", "out_of_memory"]
OUTCOMES: tuple[Outcome, ...] = ("done", "refused", "crashed", "timed_out", "out_of_memory")

TracePoint = tuple[float, int | None, float | None, float | None]
"""Seconds since the start, level from 0, best value, best bound."""


def exact(number: int | float | None) -> Fraction | None:
    """A number of a record as the decimal it prints as; None stays None."""
    return None if number is None else Fraction(repr(number))


@dataclass(frozen=True, slots=True)
class Record:
    """One run.

    Attributes
    ----------
    run : name of the run, hex: what was run decides it, so that the same run is never made twice.
    case : label of the instance in its suite.
    instance : ``name``, ``digest``, ``members``, ``nodes``.
    limits : ``seconds``, ``gap``, ``threads``, ``memory_mib``, ``iterations``.
    outcome : "done" when the method came back by itself, with a plan or without.
    status, reason : as in the result document; None when the run was not done.
    levels : the result's levels: ``goals``, ``sense``, ``value``, ``bound``, ``gap``, ``slack``.
    result : the whole result document.
    checked : ``feasible``, ``as_claimed``, ``mismatches``: the runner's own check of the plan file that was written.
    trace : what was known when, thinned.
    seconds, cpu_seconds : of the whole process, its start included; ``run_seconds`` is what methods are compared by.
    size : ``variables``, ``constraints``.
    best_known : ``value`` of the first level and its ``source``.
    plan : plan file, relative to the folder of the report.
    started : ISO time.
    """

    run: str
    suite: str
    case: str
    instance: Mapping[str, Any]
    model: str
    method: str
    seed: int
    limits: Mapping[str, Any]
    versions: Mapping[str, str | None]
    machine: Mapping[str, Any]
    outcome: Outcome
    error: str | None
    status: str | None
    reason: str | None
    levels: tuple[Mapping[str, Any], ...]
    result: Mapping[str, Any] | None
    checked: Mapping[str, Any]
    trace: tuple[TracePoint, ...]
    first_plan_seconds: float | None
    seconds: float
    cpu_seconds: float | None
    peak_memory_mib: float | None
    size: Mapping[str, int | None]
    best_known: Mapping[str, Any] | None
    plan: str | None
    started: str

    def __post_init__(self) -> None:
        if self.outcome not in OUTCOMES:
            raise ValueError(f"outcome {self.outcome!r} is none of {', '.join(OUTCOMES)}")

    @property
    def key(self) -> tuple[str, str]:
        """Case and model: what methods are compared on."""
        return self.case, self.model

    @property
    def run_seconds(self) -> float:
        """Seconds on the run's own clock, that of the limit and the trace: from reading to checking.

        Without an answer the seconds of the process, which are more by what starting Python took.
        """
        total = None if self.result is None else self.result["seconds"]["total"]
        return self.seconds if total is None else float(total)

    @property
    def wrong(self) -> bool:
        """Whether the check refutes the run: an infeasible plan, or other values than claimed."""
        return self.checked.get("feasible") is False or self.checked.get("as_claimed") is False

    @property
    def has_plan(self) -> bool:
        """Whether there is a plan that the check confirms."""
        return self.outcome == "done" and self.plan is not None and not self.wrong

    @property
    def solved(self) -> bool:
        """Whether the run is a proven answer, optimal or infeasible, that nothing refutes."""
        if self.outcome != "done" or self.wrong:
            return False
        return self.status == "infeasible" or (self.status == "optimal" and self.has_plan)

    @property
    def sense(self) -> str | None:
        """Whether the first level is to be "min" or "max"; None when the run came to no levels."""
        return self.levels[0]["sense"] if self.levels else None

    @property
    def value(self) -> Fraction | None:
        """Value of the first level at a confirmed plan."""
        return exact(self.levels[0]["value"]) if self.levels and self.has_plan else None

    @property
    def bound(self) -> Fraction | None:
        """Bound of the first level."""
        return exact(self.levels[0]["bound"]) if self.levels and self.outcome == "done" and not self.wrong else None

    def to_json(self) -> str:
        """The record as one line of JSON, without its line end."""
        tree = {"format": FORMAT, **{each.name: getattr(self, each.name) for each in fields(self)}}
        return json.dumps(tree, ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Record in a line.

        Raises
        ------
        ValueError
            It is no record: not JSON, another format, keys missing or unknown.
        """
        tree = json.loads(text)
        if not isinstance(tree, dict) or tree.pop("format", None) != FORMAT:
            raise ValueError(f"no record: its format is not {FORMAT}")
        names = {each.name for each in fields(cls)}
        if set(tree) != names:
            raise ValueError(f"no record: keys that are missing or unknown: {', '.join(sorted(set(tree) ^ names))}")
        tree["levels"] = tuple(tree["levels"])
        tree["trace"] = tuple(cast("TracePoint", tuple(point)) for point in tree["trace"])
        return cls(**tree)
