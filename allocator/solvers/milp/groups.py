"""Families ``conflict``, ``spread`` and ``dependency`` (equation 9)."""

from __future__ import annotations

from collections.abc import Sequence

from allocator.instance.zones import Zone
from allocator.model.families import Family
from allocator.solvers.milp.formulation import Formulation
from allocator.solvers.milp.terms import Terms

__all__ = ["add_groups"]


def add_groups(form: Formulation) -> None:
    """Rows of all group rules of the instance."""
    if not form.ignores(Family.CONFLICT):
        _add_conflicts(form)
    if not form.ignores(Family.SPREAD):
        _add_spreads(form)
    if not form.ignores(Family.DEPENDENCY):
        _add_dependencies(form)


def _in_zones(form: Formulation, blocks: list[int], zones: Sequence[Zone]) -> list[Terms]:
    """Members of the blocks in each zone."""
    holders: dict[int, list[Terms]] = {}
    members = [Terms() for _ in zones]
    for zone, terms in zip(zones, members, strict=True):
        for node in zone.nodes:
            holders.setdefault(node, []).append(terms)
    for block in blocks:
        for entry in form.of_block[block]:
            for terms in holders.get(entry.node, ()):
                terms.add(1, entry.variable)
    return members


def _add_conflicts(form: Formulation) -> None:
    for rule in form.compiled.instance.conflicts:
        blocks = form.blocks_of_group(rule.group)
        if sum(form.compiled.blocks[b].count for b in blocks) <= rule.at_most:
            continue
        for members in _in_zones(form, blocks, form.compiled.instance.zones_of(rule.level)):
            form.at_most("conflict", members, rule.at_most)


def _add_spreads(form: Formulation) -> None:
    for rule in form.compiled.instance.spreads:
        blocks = form.blocks_of_group(rule.group)
        total = sum(form.compiled.blocks[b].count for b in blocks)
        zones = form.compiled.instance.zones_of(rule.level)
        covered = Terms()
        for members in _in_zones(form, blocks, zones):
            if members:
                holds = form.binary("spread")
                form.at_most("spread", Terms([(1, holds)]).extend(members, -1), 0)
                covered.add(1, holds)
        within = {node for zone in zones for node in zone.nodes}  # zones may lie in one another
        concerned = Terms((1, e.variable) for block in blocks for e in form.of_block[block] if e.node in within)
        everywhere = len(concerned.variables) == sum(len(form.of_block[block]) for block in blocks)
        if everywhere and not form.compiled.model.may_leave_out:
            form.at_least("spread", covered, min(rule.at_least, total))
            continue
        # covered >= min(at_least, members in some zone of the level): one of the two, chosen by a binary
        few = form.binary("spread")
        form.at_least("spread", covered.copy().extend(Terms([(rule.at_least, few)])), rule.at_least)
        form.at_least("spread", covered.copy().extend(concerned, -1).extend(Terms([(-total, few)])), -total)


def _add_dependencies(form: Formulation) -> None:
    for rule in form.compiled.instance.dependencies:
        blocks, needed = form.blocks_of_group(rule.group), form.blocks_of_group(rule.on)
        zones = form.compiled.instance.zones_of(rule.level)
        by_block = [_in_zones(form, [block], zones) for block in blocks]
        for number, there in enumerate(_in_zones(form, needed, zones)):
            holds = form.binary("dependency")
            form.at_most("dependency", Terms([(1, holds)]).extend(there, -1), 0)
            for block, members in zip(blocks, by_block, strict=True):
                count = form.compiled.blocks[block].count
                form.at_most("dependency", members[number].extend(Terms([(-count, holds)])), 0)
