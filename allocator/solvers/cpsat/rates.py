"""Family ``rates`` (equation 6), exact in integers.

Members of one n[b, o, h] share a total evenly, so with one binding resource their rates sum to
slope * (S1 + phi * S2): k = floor(cap / slope) whole units are used in full by each member (S1 <= k n), one more unit
in part (phi = cap / slope - k, S2 <= n). With several binding resources the sum is exact for a single member only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.errors import UnsupportedFamily
from allocator.model.families import Family
from allocator.solvers.cpsat.linear import Linear
from allocator.solvers.cpsat.shares import RateLaw, law_of
from allocator.solvers.cpsat.symbols import Rate, Symbols, most_members

__all__ = ["add_rates", "refuse_inexact"]


def refuse_inexact(compiled: Compiled) -> None:
    """Refuse classes whose members together compete for two or more resources of their work.

    Raises
    ------
    UnsupportedFamily : naming the class.
    """
    if not compiled.model.has_rate_goals:
        return
    binding: dict[tuple[int, int], int] = {}
    for block in compiled.blocks:
        if block.count == 1:
            continue
        for option in compiled.options_of(block.workload):
            for node in range(compiled.num_nodes):
                if (option, node) not in binding:
                    binding[option, node] = len(law_of(compiled, option, node).limits)
                if binding[option, node] > 1 and most_members(compiled, block.index, option, node) > 1:
                    raise _several(compiled, block.workload)


def _several(compiled: Compiled, workload: int) -> UnsupportedFamily:
    name = compiled.instance.workloads[workload].name
    hint = f"rates of class {name} depend on shares of several resources at once; use --method milp"
    return UnsupportedFamily("cpsat", [Family.RATES], hint)


def add_rates(symbols: Symbols, laws: dict[tuple[int, int], RateLaw]) -> None:
    """Collect the rates of all members. Needs ``add_shares``."""
    for (block, option, node), count in symbols.n.items():
        law = laws.get((option, node))
        if law is None or law.cap == 0:
            continue
        symbols.budget.check()
        workload = int(symbols.compiled.option_workload[option])
        shares = {r: symbols.share((block, option, node, r)) for r, _ in law.limits}
        if not law.limits:
            value = Linear().add(count, law.cap)
        elif len(law.limits) == 1:
            resource, slope = law.limits[0]
            value = _one_resource(symbols, count, shares[resource], law.cap, slope)
        elif symbols.builder.upper[count] == 1:
            value = _single_member(symbols, count, shares, law)
        else:
            raise _several(symbols.compiled, workload)
        symbols.rates.append(Rate(workload, value))


def _one_resource(symbols: Symbols, count: int, share: Linear, cap: Fraction, slope: Fraction) -> Linear:
    builder, where = symbols.builder, "the shares of a class"
    whole, part = divmod(cap / slope, 1)
    whole = int(whole)
    if part == 0 and builder.bounds(share)[1] <= whole * builder.upper[count]:
        return share.scaled(slope)  # S <= k n is a row of the share already

    full = builder.integer(
        0, whole * builder.upper[count], where, lambda values: min(int(share.value(values)), whole * values[count])
    )
    builder.add(Linear().add(full, 1).add(count, -whole), where, upper=0)
    used, value = Linear().add(full, 1), Linear().add(full, slope)
    if part:
        extra = builder.integer(
            0, builder.upper[count], where, lambda values: min(int(share.value(values)) - values[full], values[count])
        )
        builder.add(Linear().add(extra, 1).add(count, -1), where, upper=0)
        used.add(extra, 1)
        value.add(extra, slope * part)
    builder.add(used.add_scaled(share, -1), where, upper=0)
    return value


def _single_member(symbols: Symbols, count: int, shares: dict[int, Linear], law: RateLaw) -> Linear:
    """Rate q in a unit of which the cap and every slope are integer multiples: every minimum of them is one, too."""
    builder, where = symbols.builder, "the rates of a class"
    unit = Fraction(1, math.lcm(law.cap.denominator, *(slope.denominator for _, slope in law.limits)))

    def define(values: Sequence[int]) -> int:
        best = min(law.cap * values[count], *(slope * shares[r].value(values) for r, slope in law.limits))
        return int(best / unit)

    rate = builder.integer(0, int(law.cap / unit), where, define)
    value = Linear().add(rate, unit)
    builder.add(value.scaled(1).add(count, -law.cap), where, upper=0)
    for resource, slope in law.limits:
        builder.add(value.plus(shares[resource], -slope), where, upper=0)
    return value
