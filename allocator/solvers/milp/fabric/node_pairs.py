"""Pairs of single members on pairs of nodes, v[i, h, j, k]: capacity times presence. Distances by matrix.

Reformulation-linearisation of level 1 (Adams and Sherali 1986; for the generalised quadratic assignment problem Lee
and Ma 2004; Pessoa, Hahn, Guignard and Zhu 2010). ``matrix.py`` states the products of pairs with traffic.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from allocator.solvers.milp.fabric.room import domain_room, floor_of, least_floors, times_presence
from allocator.solvers.milp.formulation import Entry, Formulation
from allocator.solvers.milp.highs import HighsRun
from allocator.solvers.milp.matrix import Matrix
from allocator.solvers.milp.rows import Rows, add_columns, close_columns

__all__ = ["add_node_pairs"]

MAX_PRODUCTS = 20_000  # beyond it, pairs without traffic get no products

Products = dict[tuple[int, int], dict[tuple[int, int], int]]
ByNode = dict[int, list[Entry]]


def add_node_pairs(form: Formulation, matrix: Matrix, run: HighsRun) -> bool:
    """Complete the products to all pairs of members with traffic and add the rows; False: there are none.

    Rows: sum_{j != i} w_rj v[i, h, j, k] <= (C_rk - [h = k] w_ri) x[i, h] for all i, h, k, r; for added products
    sum_k v[i, h, j, k] = x[i, h] (<= where members may be left out).
    """
    products: Products = {
        (key[1], key[2]): {spot: matrix.columns[id(terms.variables[0])] for spot, terms in pairs.items()}
        for key, pairs in form.cache.items()
        if key[0] == "node pairs"
    }
    if not products:
        return False
    blocks = sorted({block for pair in products for block in pair})
    here: dict[int, ByNode] = {block: {} for block in blocks}
    for block in blocks:
        for entry in form.of_block[block]:
            here[block].setdefault(entry.node, []).append(entry)
    room = domain_room(form.compiled)[form.compiled.node_domain]
    least = {
        (block, node): least_floors(form.compiled, entries) for block in blocks for node, entries in here[block].items()
    }
    rows = Rows()

    def apart(i: int, j: int, node: int) -> bool:
        limits = room[node]
        return bool(((limits >= 0) & (least[i, node] + least[j, node] > limits)).any())

    for (i, j), spots in products.items():
        close_columns(run, [column for (h, k), column in spots.items() if h == k and apart(i, j, h)])
    if len(blocks) * (len(blocks) - 1) // 2 * form.compiled.num_nodes**2 <= MAX_PRODUCTS:
        for i, j in combinations(blocks, 2):
            if (i, j) not in products:
                wanted = [(h, k) for h in here[i] for k in here[j] if h != k or not apart(i, j, h)]
                first = add_columns(run, len(wanted))
                products[i, j] = {spot: first + at for at, spot in enumerate(wanted)}
                _add_margins(form, matrix, rows, products[i, j], (here[i], here[j]))
    for i in blocks:
        partners = {j: products[min(i, j), max(i, j)] for j in blocks if (min(i, j), max(i, j)) in products}
        for h, entries in here[i].items():
            form.budget.check()
            for k in range(form.compiled.num_nodes):
                columns = {j: spots.get((h, k) if i < j else (k, h)) for j, spots in partners.items() if k in here[j]}
                for r in np.nonzero(room[k] >= 0)[0]:
                    weights = {column: int(least[j, k][r]) for j, column in columns.items() if column is not None}
                    left = {
                        matrix.columns[id(e.variable)]: int(room[k, r])
                        - (int(floor_of(form.compiled, e)[r]) if h == k else 0)
                        for e in entries
                    }
                    made = times_presence(weights, left)
                    if made is not None:
                        terms = [*made[0].items(), *((column, -coef) for column, coef in made[1].items())]
                        rows.add(((column, float(coef)) for column, coef in terms), 0.0)
    rows.add_to(run)
    return True


def _add_margins(
    form: Formulation, matrix: Matrix, rows: Rows, spots: dict[tuple[int, int], int], ends: tuple[ByNode, ByNode]
) -> None:
    lower = -np.inf if form.compiled.model.may_leave_out else 0.0
    for side, nodes in enumerate(ends):
        for node, entries in nodes.items():
            terms = [(column, 1.0) for spot, column in spots.items() if spot[side] == node]
            terms += [(matrix.columns[id(entry.variable)], -1.0) for entry in entries]
            rows.add(terms, 0.0, lower)
