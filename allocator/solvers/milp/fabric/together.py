"""Pairs of single members in one domain: y[i, j, g] = 1 iff both members are in domain g. Tree distances.

Owns the index of these products, known and added, and the rows that hold for them from the start. Row kinds that are
many are left to separation (``separation.py``). Must not know how a flow is priced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from allocator.solvers.milp.fabric.room import domain_room, entries_in, floor_of, least_floors, times_presence
from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.rows import Rows, add_columns, close_columns

__all__ = ["UNKNOWN", "ZERO", "Together", "add_together"]

MAX_PRODUCTS = 10_000  # beyond it the rows cost more time than they are worth
MAX_DEFINED = 2_000
UNKNOWN, ZERO = -1, -2


@dataclass(frozen=True)
class Together:
    """Columns of the products.

    Attributes
    ----------
    present : present[i][g], columns whose sum is the presence x[i, g] of member i in domain g.
    product : int64[n, n, G], symmetric; column of y[i, j, g], or ``UNKNOWN`` or ``ZERO``.
    parent : int64[G], position of the nearest domain above, -1 without one.
    """

    present: tuple[tuple[tuple[int, ...], ...], ...]
    product: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]


def add_together(form: Formulation, matrix: Matrix, run: HighsRun) -> Together | None:
    """Complete the products that the model has to all pairs of members, and add their rows of capacity.

    None: there are no pairs, or too many (then only pairs that cannot meet are closed).

    Rows: sum_{j != i} w_rj y[i, j, g] <= (C_rg - w_ri) x[i, g] (capacity times presence), y = 0 for two that do not
    fit, y[i, j, g] <= the product "i in g, j placed" where members may be left out.
    """
    known = _known(form, matrix)
    if not known:
        return None
    blocks = sorted({block for i, j, _ in known for block in (i, j)})
    domains = sorted({domain for _, _, domain in known})
    position = {block: at for at, block in enumerate(blocks)}
    place = {domain: at for at, domain in enumerate(domains)}
    product = np.full((len(blocks), len(blocks), len(domains)), UNKNOWN, dtype=np.int64)
    for (i, j, domain), column in known.items():
        a, b, g = position[i], position[j], place[domain]
        product[a, b, g] = product[b, a, g] = column
    room = domain_room(form.compiled)
    here = [[entries_in(form, block, domain) for domain in domains] for block in blocks]
    least = [[least_floors(form.compiled, entries) if entries else None for entries in of_member] for of_member in here]
    closed: list[int] = []
    for g, domain in enumerate(domains):
        limits = room[domain]
        for a in range(len(blocks)):
            for b in range(a + 1, len(blocks)):
                first, second = least[a][g], least[b][g]
                if first is None or second is None or ((limits >= 0) & (first + second > limits)).any():
                    if product[a, b, g] >= 0:
                        closed.append(int(product[a, b, g]))
                    product[a, b, g] = product[b, a, g] = ZERO
    close_columns(run, closed)
    if not _complete(product, run):
        return None
    rows = Rows()
    columns = matrix.columns
    for g, domain in enumerate(domains):
        for a in range(len(blocks)):
            form.budget.check()
            weights = [(int(product[a, b, g]), least[b][g]) for b in range(len(blocks)) if product[a, b, g] >= 0]
            if weights:
                _add_capacity(form, rows, matrix, room[domain], (here[a][g], weights))
    _add_placed(form, matrix, known, rows)
    present = tuple(
        tuple(tuple(columns[id(entry.variable)] for entry in entries) for entries in of_member) for of_member in here
    )
    parent = [_above(form, domain, place) for domain in domains]
    together = Together(present, product, np.array(parent, dtype=np.int64))
    _add_nesting(together, rows)
    _add_definitions(together, set(known.values()), rows)
    rows.add_to(run)
    return together


def _pairs(together: Together) -> Iterator[tuple[int, int]]:
    return combinations(range(len(together.product)), 2)


def _add_nesting(together: Together, rows: Rows) -> None:
    """Products in disjoint domains below: sum over the k right below g of y[i, j, k] <= y[i, j, g]."""
    product = together.product
    for g in sorted(set(together.parent.tolist()) - {-1}):
        below = np.nonzero(together.parent == g)[0]
        for i, j in _pairs(together):
            inner = [int(c) for c in product[i, j, below] if c >= 0]
            if inner and product[i, j, g] >= 0:
                rows.add([*((c, 1.0) for c in inner), (int(product[i, j, g]), -1.0)], 0.0)


def _add_definitions(together: Together, known: set[int], rows: Rows) -> None:
    """Define added products: y <= x_i, y <= x_j, x_i + x_j - y <= 1; where they are many, separation finds some."""
    product = together.product
    if (product >= 0).sum() // 2 > MAX_DEFINED:
        return
    for i, j in _pairs(together):
        for g in range(product.shape[2]):
            column = int(product[i, j, g])
            if column < 0 or column in known:
                continue
            first, second = together.present[i][g], together.present[j][g]
            rows.add([(column, 1.0), *((c, -1.0) for c in first)], 0.0)
            rows.add([(column, 1.0), *((c, -1.0) for c in second)], 0.0)
            rows.add([*((c, 1.0) for c in (*first, *second)), (column, -1.0)], 1.0)


def _add_capacity(
    form: Formulation,
    rows: Rows,
    matrix: Matrix,
    room: npt.NDArray[np.int64],
    member: tuple[Sequence[Entry], Sequence[tuple[int, Any]]],
) -> None:
    """Capacity of a domain times a member's presence: its entries there; column and least floors of each partner."""
    entries, partners = member
    columns = matrix.columns
    for r in np.nonzero(room >= 0)[0]:
        left = {columns[id(e.variable)]: int(room[r]) - int(floor_of(form.compiled, e)[r]) for e in entries}
        made = times_presence({column: int(floors[r]) for column, floors in partners}, left)
        if made is not None:
            terms = [*made[0].items(), *((column, -coef) for column, coef in made[1].items())]
            rows.add(((column, float(coef)) for column, coef in terms), 0.0)


def _known(form: Formulation, matrix: Matrix) -> dict[tuple[int, int, int], int]:
    """Columns of the products (i, j, domain) that the model states already."""
    known = {}
    for key, terms in form.cache.items():
        if key[0] == "both" and key[2] == key[4] != 0 and terms:
            column = matrix.columns.get(id(terms.variables[0]))
            if column is not None:
                known[key[1], key[3], key[2]] = column
    return known


def _complete(product: npt.NDArray[np.int64], run: HighsRun) -> bool:
    """A new column for every unknown product; False: they would be too many."""
    size = len(product)
    upper = np.triu(np.ones((size, size), dtype=np.bool_), 1)[:, :, None]
    if upper.sum() * product.shape[2] > MAX_PRODUCTS:
        return False
    a, b, g = np.nonzero(upper & (product == UNKNOWN))
    if len(a):
        product[a, b, g] = product[b, a, g] = add_columns(run, len(a)) + np.arange(len(a))
    return True


def _add_placed(form: Formulation, matrix: Matrix, known: dict[tuple[int, int, int], int], rows: Rows) -> None:
    for (i, j, domain), column in known.items():
        for key in (("both", i, domain, j, 0), ("both", i, 0, j, domain)):
            half = form.cache.get(key)
            if half:
                rows.add([(column, 1.0), (matrix.columns[id(half.variables[0])], -1.0)], 0.0)


def _above(form: Formulation, domain: int, place: dict[int, int]) -> int:
    above = int(form.compiled.parent[domain])
    while above >= 0:
        if above in place:
            return place[above]
        above = int(form.compiled.parent[above])
    return -1
