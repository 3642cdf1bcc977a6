"""Least additions and omissions by optimisation over the plans of a question: capacity, members, moves.

Owns the elastic rows; what it returns still has to be applied and solved by whoever asks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from allocator.compiled.compile import compile_instance
from allocator.errors import BudgetExhausted, MethodRefused
from allocator.instance.entities import Instance
from allocator.model.families import Family
from allocator.plan.numbers import base_units
from allocator.solvers.cpsat import power, transient
from allocator.solvers.cpsat.derived import positive_part
from allocator.solvers.cpsat.linear import Linear, total
from allocator.solvers.cpsat.symbols import Symbols
from allocator.solvers.explanation.apply import Change
from allocator.solvers.explanation.asking import switched_off
from allocator.solvers.explanation.elements import DOMAIN_FAMILIES, POWER, Element, elements_of
from allocator.solvers.explanation.oracle import Found, Oracle, Standing, reduced

__all__ = ["fewest_left_out", "least_capacity", "least_moved"]

FINE = 1000  # steps of the largest capacity in which relative additions are weighed
Least = tuple[Sequence[Change], bool, Standing]
"""Changes, whether they are proven to be least, and where members may stand then."""

MOST_PLACES = 2000
SHORT = 0.1  # of the time left, for the choice among equally small additions


def least_capacity(asked: Instance, oracle: Oracle) -> Least | None:
    """Smallest sum of relative additions to capacities, power caps and pools; None when none would do or was found."""
    limits = _raisable(asked, oracle)
    if not limits:
        return None
    symbols = oracle.state(reduced(switched_off(asked, limits)))
    if symbols is None:
        return None
    by_path = asked.domain_by_path
    added: list[tuple[Element, int, int]] = []  # element, variable, what the domain has
    try:
        for element in limits:
            oracle.budget.check()
            domain, resource = by_path[element["domain"]], element.get("resource", POWER)
            field = domain.pool if element["family"] == "pool" else domain.capacity
            stated = field.get(resource, 0)
            used = _used(symbols, asked, element)
            most = math.ceil(symbols.builder.bounds(used)[1]) - stated
            if asked.reserves:  # what stands elsewhere must fit here as well
                most += _everybody(symbols, resource)
            if most <= 0:
                continue
            slack = symbols.builder.integer(0, most, f"the shortage of {resource}")
            symbols.builder.add(used.plus(Linear().add(slack, 1), -1), f"the use of {resource}", upper=stated)
            added.append((element, slack, stated))
        _add_reserves(symbols, asked, {(e["domain"], e.get("resource", POWER)): v for e, v, _ in added})
        found = _least_sum(symbols, added, oracle)
    except (BudgetExhausted, MethodRefused):
        return None
    if found is None:
        return None
    changes: list[Change] = []
    for element, slack, _ in added:
        if found.values[slack]:
            resource = asked.resources[element.get("resource", POWER)]
            amount = base_units(int(found.values[slack]), resource.exponent)
            add = amount.numerator if amount.denominator == 1 else amount
            changes.append({**element, "add": add, "unit": resource.unit})
    return changes, found.proven, found.standing


def _raisable(asked: Instance, oracle: Oracle) -> list[Element]:
    """Limits that may be raised: not those that the present use exceeds, whose meaning (4) would change with them."""
    overfull = compile_instance(asked, oracle.model).overfull
    families = ("pool",) if Family.CAPACITY in oracle.ignore else DOMAIN_FAMILIES
    return [
        element
        for element in elements_of(asked)
        if element["family"] in families and not overfull[asked.domain_by_path[element["domain"]].index]
    ]


def _used(symbols: Symbols, asked: Instance, element: Element) -> Linear:
    """What counts against a limit: use of the domain, or what its nodes draw on its pool."""
    domain = asked.domain_by_path[element["domain"]]
    resource = symbols.compiled.resources.index(element.get("resource", POWER))
    nodes = range(domain.first_node, domain.end_node)
    if element["family"] != "pool":
        return total(_counted(symbols, node, resource) for node in nodes)
    drawn = Linear()
    for node in nodes:
        own = asked.nodes[node].capacity.get(element["resource"], 0)
        drawn.add_scaled(positive_part(symbols.builder, _counted(symbols, node, resource).plus(-own), "the pool"))
    return drawn


def _everybody(symbols: Symbols, resource: str) -> int:
    """No plan asks for more of a resource in all."""
    column = symbols.compiled.resources.index(resource)
    return math.ceil(symbols.builder.bounds(symbols.use(0, column))[1])


def _add_reserves(symbols: Symbols, asked: Instance, added: Mapping[tuple[str, str], int]) -> None:
    """Equation (11) with the capacities as they are stated plus what is added."""
    for rule in asked.reserves:
        for domain in asked.domains_of(rule.level):
            inside = range(domain.first_node, domain.end_node)
            for name in rule.resources:
                column = symbols.compiled.resources.index(name)
                spare: dict[str, Linear] = {}
                for number, node in enumerate(asked.nodes):
                    row = spare.setdefault(str(node.kind), Linear())
                    slack = added.get((node.path, name))
                    if number in inside or (name in node.capacity or slack is not None):
                        row.add_scaled(symbols.node_floors(number, column), -1)
                    if number not in inside:
                        row.constant += node.capacity.get(name, 0)
                        if slack is not None:
                            row.add(slack, 1)
                for row in spare.values():
                    symbols.builder.add(row, f"the reserve of {name}", lower=0)


def _counted(symbols: Symbols, node: int, resource: int) -> Linear:
    used = symbols.node_use(node, resource)
    if symbols.compiled.resources[resource] == POWER:
        used = used.plus(power.draw(symbols, node), 1 / symbols.base(resource))
    left = transient.left_behind(symbols, node, resource)
    return used if left is None else used.plus(left)


def _least_sum(symbols: Symbols, added: list[tuple[Element, int, int]], oracle: Oracle) -> Found | None:
    floors = symbols.compiled.floor
    largest = {
        name: int(floors[:, :, r].max()) if floors.size else 0 for r, name in enumerate(symbols.compiled.resources)
    }
    sizes = {v: max(1, stated or largest[e.get("resource", POWER)]) for e, v, stated in added}
    top = max(sizes.values(), default=1)
    for steps in (FINE, 1):
        objective = Linear()
        for variable, size in sizes.items():
            objective.add(variable, max(1, steps * top // size))
        found = oracle.least(symbols, objective)
        if found is not None:
            return _fewest_places(symbols, list(sizes), objective, found, oracle)
    return None


def _fewest_places(symbols: Symbols, slacks: list[int], objective: Linear, found: Found, oracle: Oracle) -> Found:
    """Of the equally small additions, one that touches few places, if it is found in time."""
    if len(slacks) > MOST_PLACES or sum(1 for slack in slacks if found.values[slack]) < 2:
        return found
    builder = symbols.builder
    touched = Linear()
    for slack in slacks:
        flag = builder.integer(0, 1, "a place")
        builder.add(Linear().add(slack, 1).add(flag, -builder.upper[slack]), "an addition", upper=0)
        touched.add(flag, 1)
    builder.add(objective, "the size of a change", upper=found.value)
    better = oracle.least(symbols, touched, portion=SHORT)
    return found if better is None else Found(found.value, better.values, found.proven, better.standing)


def fewest_left_out(asked: Instance, oracle: Oracle) -> Least | None:
    """Fewest members to leave out of classes that must be placed; None when even that gives no plan in time."""
    must = [w for w in asked.workloads if w.value and w.count]
    moves = [element for element in elements_of(asked) if element["family"] == "move_limit"]
    free = switched_off(asked, [*({"family": "assignment", "class": w.name} for w in must), *moves])
    symbols = oracle.state(free)
    if symbols is None or not must:
        return None
    for element in moves:  # who is left out is not there any more, so it does not move
        symbols.builder.add(_moved(symbols, element["limit"], leaving=False), "moves", upper=element["at_most"])
    names = {w.index for w in must}
    missing = Linear(sum(w.count for w in must))
    blocks = [block for block in symbols.compiled.blocks if block.workload in names]
    for block in blocks:
        missing.add_scaled(symbols.placed(block.index), -1)
    found = oracle.least(symbols, missing)
    if found is None:
        return None
    changes: list[Change] = []
    for workload in must:
        own = [block for block in blocks if block.workload == workload.index]
        out = [(block, block.count - int(symbols.placed(block.index).value(found.values))) for block in own]
        left = sum(count for _, count in out)
        if not left:
            continue
        change: dict[str, object] = {"family": "assignment", "class": workload.name, "leave_out": left}
        if len(own) > 1:
            change["members"] = [part for block, count in out for part in _last(block.ranges, count)]
        changes.append(change)
    return changes, found.proven, found.standing


def _last(ranges: Sequence[tuple[int, int]], count: int) -> list[list[int]]:
    """The last members of some ranges, as [first, count] entries."""
    found: list[list[int]] = []
    for first, size in reversed(ranges):
        taken = min(size, count)
        if taken:
            found.append([first + size - taken, taken])
        count -= taken
    return found[::-1]


def least_moved(asked: Instance, what: str, oracle: Oracle) -> tuple[int, bool] | None:
    """Fewest members, or least memory, that leave their node in any plan of a question without that limit."""
    symbols = oracle.state(asked)
    if symbols is None:
        return None
    found = oracle.least(symbols, _moved(symbols, what, leaving=True))
    return None if found is None else (int(found.value), found.proven)


def _moved(symbols: Symbols, what: str, *, leaving: bool) -> Linear:
    """Members, or their memory, that leave their node; ``leaving``: those that get no other node as well."""
    compiled = symbols.compiled
    memory = compiled.resources.index("memory") if "memory" in compiled.resources else -1
    moved = Linear()
    for block in compiled.blocks:
        node = block.current_node
        if node < 0:
            continue
        weight = 1
        if what == "bytes":
            weight = int(compiled.floor[block.current_option, compiled.node_kind[node], memory]) if memory >= 0 else 0
        if leaving:
            moved.add_scaled(symbols.moved(block.index), weight)
        else:
            moved.add_scaled(symbols.placed(block.index), weight)
            moved.add_scaled(symbols.count(block.index, node, node + 1), -weight)
    return moved
