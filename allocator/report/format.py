"""Numbers as a person reads them: GiB, Gbit/s, cores, kW, percent. Rounds for display only; knows no layout.

Rounding never turns "almost" into "exactly": a utilisation just below 1 is shown as >99.9 %, a tiny gap as <0.01 %.
"""

from __future__ import annotations

from fractions import Fraction

from allocator.model.entities import Level
from allocator.model.families import GoalId, sense_of

__all__ = ["amount", "count", "goal_value", "level_name", "level_value", "number", "percent", "price", "seconds"]

Number = int | float | Fraction

_DECIMAL = ((10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_BINARY = ((2**50, "Pi"), (2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
LARGEST_PLAIN = 10**15
NONE = "-"


def number(value: Number, digits: int = 4) -> str:
    """A plain number: integers whole with separators, others with about ``digits`` significant digits."""
    exact = Fraction(value)
    size = abs(exact)
    if size >= LARGEST_PLAIN:
        return f"{float(exact):.{digits - 1}e}" if size < Fraction(10) ** 300 else f"about 1e{len(str(int(size))) - 1}"
    if exact.denominator == 1:
        return f"{int(exact):,}"
    if size < Fraction(1, 1000):
        return f"{float(exact):.{digits - 1}g}"
    whole = len(str(int(size))) if size >= 1 else 0
    places = max(digits - whole, 0)
    text = f"{float(exact):,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(value: int, noun: str, plural: str | None = None) -> str:
    """``1 member``, ``8,001 members``."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def percent(value: Number | None, places: int = 1) -> str:
    """A ratio in percent; ``-`` for None."""
    if value is None:
        return NONE
    exact = Fraction(value) * 100
    step = Fraction(1, 10**places)
    if 0 < exact < step:
        return f"<{float(step):.{places}f} %"
    if 100 - step < exact < 100:
        return f">{float(100 - step):.{places}f} %"
    if 100 < exact < 100 + step:
        return f">{100:.{places}f} %"
    if exact.denominator == 1:
        return f"{int(exact):,} %"
    return f"{float(exact):,.{places}f} %"


def amount(value: Number, unit: str) -> str:
    """An amount in base units ("core", "B", "bit/s", "W", "s" or "") in the unit a person would choose."""
    exact = Fraction(value)
    if unit == "core":
        return f"{number(exact)} {'core' if exact == 1 else 'cores'}"
    if unit == "B":
        return _scaled(exact, _BINARY, "B")
    if unit in {"bit/s", "W"}:
        return _scaled(exact, _DECIMAL, unit)
    if unit == "s":
        return seconds(exact)
    return f"{number(exact)} {unit}" if unit else number(exact)


def _scaled(value: Fraction, prefixes: tuple[tuple[int, str], ...], unit: str) -> str:
    for factor, prefix in prefixes:
        if abs(value) >= factor:
            return f"{number(value / factor)} {prefix}{unit}"
    return f"{number(value)} {unit}"


def seconds(value: Number) -> str:
    """A duration: ``12 ms``, ``3.4 s``, ``2 min 5 s``, ``1 h 2 min``."""
    exact = Fraction(value)
    if exact >= 3600:
        hours, rest = divmod(round(exact / 60), 60)
        return f"{hours:,} h {rest} min"
    if exact >= 60:
        minutes, rest = divmod(round(exact), 60)
        return f"{minutes} min {rest} s"
    if exact == 0 or exact >= 1:
        return f"{number(exact, 3)} s"
    if exact >= Fraction(1, 1000):
        return f"{number(exact * 1000, 3)} ms"
    return f"{number(exact * 10**6, 3)} us"


def goal_value(goal: GoalId, value: Number | None) -> str:
    """The value of a goal with its unit."""
    if value is None:
        return NONE
    match goal:
        case GoalId.THROUGHPUT:
            text = f"{number(value)} tasks/s"
        case GoalId.FAIRNESS | GoalId.PEAK:
            text = percent(value)
        case GoalId.P99:
            text = seconds(value)
        case GoalId.TRAFFIC:
            text = f"{amount(value, 'bit/s')} x hops"
        case GoalId.CONGESTION:
            text = f"{amount(value, 'bit/s')} weighted"
        case GoalId.POWER:
            text = amount(value, "W")
        case _:
            text = number(value)
    return text


def level_name(level: Level) -> str:
    """``placed``, or ``traffic + 0.1 moves`` for a weighted sum (maximised goals with a minus)."""
    if len(level.goals) == 1:
        return level.goals[0].id.value
    parts: list[str] = []
    for goal in level.goals:
        sign = "-" if sense_of(goal.id) == "max" else "+"
        weight = "" if goal.weight == 1 else f"{number(goal.weight)} "
        if parts or sign == "-":
            parts.append(sign)
        parts.append(f"{weight}{goal.id.value}")
    return " ".join(parts)


def level_value(level: Level, value: Number | None) -> str:
    """The value of a level: with the goal's unit when it is that goal alone, else a plain number."""
    if value is None:
        return NONE
    if len(level.goals) == 1 and level.goals[0].weight == 1:
        return goal_value(level.goals[0].id, value)
    return number(value)


def price(value: float, unit: str, goal: GoalId | None = None) -> str:
    """Worth of one more unit of a resource, per unit worth naming (core, GiB, Gbit/s, W), in the unit of the goal."""
    factor, name = {"core": (1, "core"), "B": (2**30, "GiB"), "bit/s": (10**9, "Gbit/s"), "W": (1, "W")}.get(
        unit, (1, unit or "unit")
    )
    worth = Fraction(value) * factor
    return f"{number(worth) if goal is None else goal_value(goal, worth)} per {name}"
