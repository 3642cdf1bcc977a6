"""Loads of family ``fabric`` (equation 7): exact counts of flows that cross an uplink, and products over node pairs.

Loads are sums of b_f at what is offered; granted fractions are not modelled (``refusal`` sees to it). Cut indicators
are bounded from below only: they stand in minimised goals with weights of at least 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from allocator.solvers.cpsat.builder import Definition
from allocator.solvers.cpsat.derived import product
from allocator.solvers.cpsat.linear import Linear, total
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["class_count", "load", "team_split"]

WHERE = "the traffic across an uplink"


def load(symbols: Symbols, domain: int) -> tuple[Linear, Linear]:
    """Offered load on the uplink of a domain, bit/s: upwards, downwards."""
    first, end = int(symbols.compiled.first_node[domain]), int(symbols.compiled.end_node[domain])
    keys = ("up", first, end), ("down", first, end)
    if keys[0] not in symbols.cache:
        symbols.cache[keys[0]], symbols.cache[keys[1]] = _load(symbols, first, end)
    return symbols.cache[keys[0]], symbols.cache[keys[1]]


def _load(symbols: Symbols, first: int, end: int) -> tuple[Linear, Linear]:
    compiled = symbols.compiled
    up, down = Linear(), Linear()
    for team in compiled.teams:
        symbols.budget.check()
        crossing = team_split(symbols, team.index, first, end)
        up.add_scaled(crossing, team.rate)
        down.add_scaled(crossing, team.rate)
    for pair in compiled.pairs:
        symbols.budget.check()
        up.add_scaled(_cut(symbols, pair.source, pair.target, first, end), pair.rate)
        down.add_scaled(_cut(symbols, pair.target, pair.source, first, end), pair.rate)
    for group in compiled.groups:
        symbols.budget.check()
        up.add_scaled(_leaving(symbols, group.source, group.target, first, end), group.rate)
        down.add_scaled(_leaving(symbols, group.target, group.source, first, end), group.rate)
    return up, down


def team_split(symbols: Symbols, team: int, first: int, end: int) -> Linear:
    """Pairs a (m - a) for a whole team of m members, a of them on nodes first..end - 1: unary, one value of a."""
    entity, builder = symbols.compiled.teams[team], symbols.builder
    inside = total(symbols.count(block, first, end) for block in entity.blocks)
    outside = total(symbols.placed(block) for block in entity.blocks).plus(inside, -1)
    if not inside.terms or not outside.terms:
        return Linear()
    most = min(entity.size, int(builder.bounds(inside)[1]))
    one, count, value = Linear(-1), inside.scaled(-1), Linear()
    for a in range(most + 1):
        chosen = builder.integer(0, 1, WHERE, _equals(inside, a))
        one.add(chosen, 1)
        count.add(chosen, a)
        value.add(chosen, a * (entity.size - a))
    builder.add(one, WHERE, lower=0, upper=0)
    builder.add(count, WHERE, lower=0, upper=0)
    return value


def _equals(expression: Linear, number: int) -> Definition:
    return lambda values: 1 if expression.value(values) == number else 0


def _cut(symbols: Symbols, here: int, there: int, first: int, end: int) -> Linear:
    """1 iff single member ``here`` is on nodes first..end - 1 and single member ``there`` on another node."""
    inside = symbols.count(here, first, end)
    outside = symbols.placed(there).plus(symbols.count(there, first, end), -1)
    if not inside.terms or not outside.terms:
        return Linear()
    key = "cut", here, there, first, end
    if key not in symbols.cache:

        def define(values: Sequence[int]) -> int:
            return int(inside.value(values) * outside.value(values))

        cut = symbols.builder.integer(0, 1, WHERE, define)
        symbols.builder.add(inside.plus(outside).add(cut, -1), WHERE, upper=1)
        symbols.cache[key] = Linear().add(cut, 1)
    return symbols.cache[key]


def class_count(symbols: Symbols, workload: int, first: int, end: int) -> Linear:
    """Members of a class on nodes first..end - 1."""
    key = "class", workload, first, end
    if key not in symbols.cache:
        blocks = (block.index for block in symbols.compiled.blocks if block.workload == workload)
        symbols.cache[key] = total(symbols.count(block, first, end) for block in blocks)
    return symbols.cache[key]


def _leaving(symbols: Symbols, here: int, there: int, first: int, end: int) -> Linear:
    """Pairs of a member of class ``here`` on nodes first..end - 1 and one of class ``there`` on other nodes."""
    key = "leaving", here, there, first, end
    if key not in symbols.cache:
        inside = class_count(symbols, here, first, end)
        everywhere = class_count(symbols, there, 0, symbols.compiled.num_nodes)
        outside = everywhere.plus(class_count(symbols, there, first, end), -1)
        symbols.cache[key] = product(symbols.builder, inside, outside, WHERE) if inside.terms else Linear()
    return symbols.cache[key]
