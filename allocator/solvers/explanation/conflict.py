"""An irreducible conflict: constraints that cannot hold together, and can as soon as any one of them is dropped.

A deletion filter over the elements of a question. Dropping an element only ever admits more plans, so what was needed
in a larger conflict stays needed in a smaller one, and whole groups of elements are tried before their parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from allocator.instance.entities import Instance
from allocator.solvers.explanation.asking import alone
from allocator.solvers.explanation.elements import Element, key_of
from allocator.solvers.explanation.symmetry import interchangeable

__all__ = ["Undecided", "irreducible"]

Decide = Callable[[Instance], bool | None]

FIRST_OUT = (
    "assignment",  # few classes make the shortest explanation
    "move_limit",
    "reserve",
    "spread",
    "dependency",
    "conflict",
    "gang",
    "eligibility",
    "pool",
    "power",
    "capacity",
)


class Undecided(Exception):
    """A question stayed without an answer: the time ran out, or it is too large."""


def irreducible(
    asked: Instance, elements: Sequence[Element], decide: Decide, about: frozenset[str] = frozenset()
) -> tuple[Element, ...]:
    """Reduce elements that cannot hold together to a conflict none of whose elements is superfluous.

    Parameters
    ----------
    asked : the question.
    elements : constraints known to be infeasible alone.
    decide : answers questions.
    about : families that are tried last, since what is known of the conflict speaks of them.

    Raises
    ------
    Undecided
        A question that the reduction needs stayed without an answer.
    """
    search = _Filter(asked, list(elements), decide)
    for group in _groups(elements, about):
        search.reduce(group)
    return tuple(search.core)


def _groups(elements: Sequence[Element], about: frozenset[str]) -> list[list[Element]]:
    groups: dict[tuple[bool, int, str], list[Element]] = {}
    for element in elements:
        family = element["family"]
        key = family in about, FIRST_OUT.index(family), str(element.get("resource", ""))
        groups.setdefault(key, []).append(element)
    return [groups[key] for key in sorted(groups)]


class _Filter:
    def __init__(self, asked: Instance, core: list[Element], decide: Decide) -> None:
        self._asked = asked
        self._decide = decide
        self.core = core

    def reduce(self, group: list[Element]) -> None:
        """Drop what is superfluous of a group."""
        if not group:
            return
        if self._superfluous(group):
            return
        if len(group) == 1:
            return  # needed
        orbits = interchangeable(self._asked, self.core, group)
        if len(orbits) > 1 and len(orbits) < len(group):
            for orbit in orbits:
                self.reduce(orbit)
            return
        if len(orbits) == 1:
            if not self._superfluous(group[:1]):
                return  # one of them is needed, so all are
            group = group[1:]
            if len(group) == 1:
                return  # the pair was needed, so what is left of it is
        half = len(group) // 2
        self.reduce(group[:half])
        self.reduce(group[half:])

    def _superfluous(self, group: list[Element]) -> bool:
        """Drop the group when the rest cannot hold together either."""
        gone = {key_of(element) for element in group}
        rest = [element for element in self.core if key_of(element) not in gone]
        answer = self._decide(alone(self._asked, rest))
        if answer is None:
            raise Undecided
        if not answer:
            self.core = rest
        return not answer
