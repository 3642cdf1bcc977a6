"""A least change that makes a question feasible. Owns what "least" means and the search for it.

Changes are tried in this order, and the first kind that helps is the answer: (1) one rule of the conflict moved by its
least step (a limit of a conflict or spread, a label value accepted, moves allowed, the members that fill no gang left
out); (2) more capacity, power or pool, the smallest sum of additions, each relative to what its domain has (what has
none counts the largest single request), weighed in steps of a thousandth; of equal sums one that touches few places;
(3) one rule of the conflict dropped; (4) the fewest members left out, which are then not there at all (what they still
hold of a transient resource on a node counted all the same). Within its kind a change is least when the search ended by
proof; ``proven`` says whether it did. Every relaxation that is handed out was solved: it has a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from allocator.compiled.compile import compile_instance
from allocator.instance.entities import Instance, WorkloadClass
from allocator.solvers.bounds.room import usable_nodes
from allocator.solvers.explanation.apply import Change, relaxed
from allocator.solvers.explanation.asking import without
from allocator.solvers.explanation.elastic import fewest_left_out, least_capacity, least_moved
from allocator.solvers.explanation.elements import Element
from allocator.solvers.explanation.obstacles import label_of
from allocator.solvers.explanation.oracle import Oracle, Standing

__all__ = ["Relaxation", "find_relaxation"]


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Changes to make together; ``proven``: no smaller change of this kind will do."""

    changes: tuple[Change, ...]
    proven: bool
    standing: Standing | None  # where members may stand then, if that is known


Accept = Callable[[Sequence[Change]], bool]


def find_relaxation(asked: Instance, conflict: Sequence[Element], oracle: Oracle) -> Relaxation | None:
    """A relaxation of a question that has no plan; None when none was found and solved in the time."""

    def helps(changes: Sequence[Change], start: Standing | None = None) -> bool:
        return bool(oracle.feasible(relaxed(asked, changes), start))

    searches: tuple[Callable[[], Found | None], ...] = (
        lambda: _steps(asked, conflict, oracle, helps),
        lambda: least_capacity(asked, oracle),
        lambda: _dropped(conflict, helps),
        lambda: fewest_left_out(asked, oracle),
        lambda: _stuck_left_out(asked, oracle),
    )
    for search in searches:
        if oracle.budget.exhausted:
            return None
        found = search()
        if found is not None and helps(found[0], found[2]):
            return Relaxation(tuple(found[0]), found[1], found[2])
    return None


Found = tuple[Sequence[Change], bool, Standing | None]


def _steps(asked: Instance, conflict: Sequence[Element], oracle: Oracle, helps: Accept) -> Found | None:
    for element in conflict:
        if element["family"] not in _STEPS:
            continue
        if element["family"] != "gang" and not oracle.feasible(without(asked, element)):
            continue  # even without it there is no plan
        found = _STEPS[element["family"]](asked, element, oracle, helps)
        if found is not None:
            return found
    return None


def _conflict(asked: Instance, element: Element, _oracle: Oracle, helps: Accept) -> Found | None:
    start = {key: element[key] for key in ("family", "group", "level")}
    members = sum(w.count for w in asked.workloads if w.group == element["group"])
    return _smallest(element["at_most"] + 1, members, lambda k: [{**start, "at_most": k}], helps)


def _spread(_asked: Instance, element: Element, _oracle: Oracle, helps: Accept) -> Found | None:
    start = {key: element[key] for key in ("family", "group", "level")}
    width = element["at_least"]
    return _smallest(1, width - 1, lambda k: [{**start, "at_least": width - k}], helps)


def _smallest(low: int, high: int, change: Callable[[int], Sequence[Change]], helps: Accept) -> Found | None:
    """Least k in low..high that helps, larger ones helping as well."""
    if low > high or not helps(change(high)):
        return None
    while low < high:
        middle = (low + high) // 2
        if helps(change(middle)):
            high = middle
        else:
            low = middle + 1
    return change(high), True, None


def _move_limit(asked: Instance, element: Element, oracle: Oracle, _helps: Accept) -> Found | None:
    found = least_moved(without(asked, element), element["limit"], oracle)
    if found is None:
        return None
    return [{"family": "move_limit", element["limit"]: found[0]}], found[1], None


def _eligibility(asked: Instance, element: Element, _oracle: Oracle, helps: Accept) -> Found | None:
    if "label" not in element:
        return None
    workload = asked.workload_by_name[element["class"]]
    for value in _other_values(asked, workload, element["label"]):
        change = {"family": "eligibility", "class": workload.name, "label": element["label"], "accept": value}
        if helps([change]):
            return [change], True, None
    return None


def _other_values(asked: Instance, workload: WorkloadClass, label: str) -> Iterator[str]:
    """Values of a label that the class does not accept, the most common first; no names of single nodes."""
    counts: dict[str, int] = {}
    for node in asked.nodes:
        value = label_of(node, label)
        if value is not None and value not in workload.placement.require[label]:
            counts[value] = counts.get(value, 0) + 1
    yield from sorted(counts, key=lambda value: (-counts[value], value))[:8]


def _gang(asked: Instance, element: Element, _oracle: Oracle, helps: Accept) -> Found | None:
    left = asked.workload_by_name[element["class"]].count % element["size"]
    change: dict[str, Any] = {"family": "assignment", "class": element["class"], "leave_out": left}
    return ([change], True, None) if left and helps([change]) else None


_STEPS: dict[str, Callable[[Instance, Element, Oracle, Accept], Found | None]] = {
    "eligibility": _eligibility,
    "conflict": _conflict,
    "spread": _spread,
    "move_limit": _move_limit,
    "gang": _gang,
}


def _stuck_left_out(asked: Instance, oracle: Oracle) -> Found | None:
    """Leave out the classes that can stand nowhere, whole: none of their members could stay in a smaller omission."""
    compiled = compile_instance(asked, oracle.model)
    stuck = [w for w in asked.workloads if w.value and w.count and not usable_nodes(compiled, w.index).any()]
    changes = [{"family": "assignment", "class": w.name, "leave_out": w.count} for w in stuck]
    return (changes, True, None) if changes else None


def _dropped(conflict: Sequence[Element], helps: Accept) -> Found | None:
    for element in conflict:
        if element["family"] in {"eligibility", "gang", "dependency", "reserve", "conflict", "spread"}:
            change = {**element, "drop": True}
            if helps([change]):
                return [change], True, None
    return None
