"""Families ``conflict``, ``spread`` and ``dependency`` (equation 9)."""

from __future__ import annotations

from allocator.instance.entities import Domain
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


def _members_in(form: Formulation, blocks: list[int], domain: Domain) -> Terms:
    terms = Terms()
    for block in blocks:
        terms.extend(form.count_in(block, domain.index))
    return terms


def _add_conflicts(form: Formulation) -> None:
    for rule in form.compiled.instance.conflicts:
        blocks = form.blocks_of_group(rule.group)
        if sum(form.compiled.blocks[b].count for b in blocks) <= rule.at_most:
            continue
        for domain in form.compiled.instance.domains_of(rule.level):
            form.at_most("conflict", _members_in(form, blocks, domain), rule.at_most)


def _add_spreads(form: Formulation) -> None:
    for rule in form.compiled.instance.spreads:
        blocks = form.blocks_of_group(rule.group)
        total = sum(form.compiled.blocks[b].count for b in blocks)
        covered, concerned = Terms(), Terms()
        for domain in form.compiled.instance.domains_of(rule.level):
            members = _members_in(form, blocks, domain)
            if members:
                holds = form.binary("spread")
                form.at_most("spread", Terms([(1, holds)]).extend(members, -1), 0)
                covered.add(1, holds)
        for domain in form.compiled.outermost(rule.level):
            concerned.extend(_members_in(form, blocks, domain))
        everywhere = len(concerned.variables) == sum(len(form.of_block[block]) for block in blocks)
        if everywhere and not form.compiled.model.may_leave_out:
            form.at_least("spread", covered, min(rule.at_least, total))
            continue
        # covered >= min(at_least, members in some domain of the level): one of the two, chosen by a binary
        few = form.binary("spread")
        form.at_least("spread", covered.copy().extend(Terms([(rule.at_least, few)])), rule.at_least)
        form.at_least("spread", covered.copy().extend(concerned, -1).extend(Terms([(-total, few)])), -total)


def _add_dependencies(form: Formulation) -> None:
    for rule in form.compiled.instance.dependencies:
        blocks, needed = form.blocks_of_group(rule.group), form.blocks_of_group(rule.on)
        for domain in form.compiled.instance.domains_of(rule.level):
            there = _members_in(form, needed, domain)
            holds = form.binary("dependency")
            form.at_most("dependency", Terms([(1, holds)]).extend(there, -1), 0)
            for block in blocks:
                members = form.count_in(block, domain.index)
                count = form.compiled.blocks[block].count
                form.at_most("dependency", members.extend(Terms([(-count, holds)])), 0)
