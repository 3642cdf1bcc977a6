"""Derived variables: positive part, largest, smallest, product, presence. Owns their rows and definitions.

``positive_part`` and ``largest`` are bounded from below only, ``smallest`` from above only: they may stand where the
solver gains from making them tight (a minimised, respectively maximised goal; the small side of an inequality).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from allocator.solvers.cpsat.builder import Builder
from allocator.solvers.cpsat.linear import Linear, content

__all__ = ["largest", "positive_part", "presence", "product", "smallest"]


def positive_part(builder: Builder, expression: Linear, where: str) -> Linear:
    """max(0, expression)."""
    return largest(builder, [Linear(), expression], where)


def largest(builder: Builder, expressions: Sequence[Linear], where: str) -> Linear:
    """The largest of at least one expression, in a unit of which every one is an integer multiple."""
    bounds = [builder.bounds(expression) for expression in expressions]
    floor = max(low for low, _ in bounds)
    live = [e for e, (_, high) in zip(expressions, bounds, strict=True) if high > floor]
    if not live:
        return Linear(floor)
    if len(live) == 1 and builder.bounds(live[0])[0] >= floor:
        return live[0]
    unit = content([floor, *(number for e in live for number in (*e.terms.values(), e.constant))])
    top = max(builder.bounds(e)[1] for e in live)

    def define(values: Sequence[int]) -> int:
        return int(max(floor, *(e.value(values) for e in live)) / unit)

    variable = builder.integer(int(floor / unit), int(top / unit), where, define)
    for e in live:
        builder.add(e.scaled(-1).add(variable, unit), where, lower=0)
    return Linear().add(variable, unit)


def smallest(builder: Builder, expressions: Sequence[Linear], where: str) -> Linear:
    """The smallest of at least one expression."""
    return largest(builder, [e.scaled(-1) for e in expressions], where).scaled(-1)


def product(builder: Builder, first: Linear, second: Linear, where: str) -> Linear:
    """The product of two integer expressions with integer values, both bounds at least 0."""
    if not first.terms:
        return second.scaled(first.constant)
    if not second.terms:
        return first.scaled(second.constant)
    x, y = _variable(builder, first, where), _variable(builder, second, where)
    z = builder.integer(
        builder.lower[x] * builder.lower[y],
        builder.upper[x] * builder.upper[y],
        where,
        lambda values: values[x] * values[y],
    )
    builder.products.append((z, x, y))
    builder.model.add_multiplication_equality(builder.variables[z], [builder.variables[x], builder.variables[y]])
    return Linear().add(z, 1)


def _variable(builder: Builder, expression: Linear, where: str) -> int:
    if not expression.constant and list(expression.terms.values()) == [1]:
        return next(iter(expression.terms))
    low, high = builder.bounds(expression)
    low = max(0, low)
    variable = builder.integer(math.ceil(low), math.floor(high), where, lambda values: int(expression.value(values)))
    builder.add(expression.plus(Linear().add(variable, 1), -1), where, lower=0, upper=0)
    return variable


def presence(builder: Builder, count: Linear, where: str) -> int:
    """0-1 variable: 1 iff the count, an expression with values 0, 1, 2 ..., is positive."""
    most = builder.bounds(count)[1]
    variable = builder.integer(0, 1, where, lambda values: 1 if count.value(values) > 0 else 0)
    builder.add(count.plus(Linear().add(variable, Fraction(most)), -1), where, upper=0)
    builder.add(count.plus(Linear().add(variable, 1), -1), where, lower=0)
    return variable
