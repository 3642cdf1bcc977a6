"""The generalised quadratic assignment problem as an instance. Owns the layout; knows no method.

Layout: number of facilities n, number of sites m, unit traffic cost v; traffic t (n x n); distance d (m x m);
installation cost of a facility at a site (n x m); weight of each facility; capacity of each site. At least total of
installation costs and v * t[i][j] * d[site of i][site of j] over all ordered pairs. Source: the layout of Cordeau,
Gaudioso, Laporte and Moccia (2006); Lee and Ma's instances use it with asymmetric traffic.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator.formats.tokens import Tokens, plain, plain_row

__all__ = ["read_gqap"]

LAYOUT = (
    "facilities n, sites m, unit traffic cost, traffic (n x n), distances (m x m), installation costs (n x m), "
    "weights (n), capacities (m)"
)
RESOURCE = "space"


def read_gqap(path: Path) -> dict[str, Any]:
    """Instance document: traffic times its unit cost is a directed flow, the distances are a matrix of nodes.

    Traffic of a facility with itself is no flow; where a site has a distance to itself, it stands in the cost there.

    Raises
    ------
    InputError
        The file is not of this layout.
    """
    tokens = Tokens(path)
    num_facilities, num_sites = tokens.size("the number of facilities"), tokens.size("the number of sites")
    total = 3 + num_facilities * (num_facilities + num_sites + 1) + num_sites * (num_sites + 1)
    tokens.expect(total, LAYOUT)
    unit = tokens.number("the unit traffic cost")
    traffic = [
        [unit * rate for rate in row] for row in tokens.table(num_facilities, num_facilities, "a traffic intensity")
    ]
    distances = tokens.table(num_sites, num_sites, "a distance")
    costs = tokens.table(num_facilities, num_sites, "an installation cost")
    weights = tokens.numbers(num_facilities, "the weight of a facility")
    capacities = tokens.numbers(num_sites, "the capacity of a site")
    sites = [f"site{index}" for index in range(num_sites)]

    def cost(facility: int, site: int) -> Fraction:
        return costs[facility][site] + traffic[facility][facility] * distances[site][site]

    return {
        "format": "allocator/v1",
        "name": path.stem,
        "model": "task-assignment",
        "resources": {RESOURCE: {"role": "other"}},
        "topology": [
            {"level": "node", "name": name, "kind": "site", "capacity": {RESOURCE: plain(capacity)}}
            for name, capacity in zip(sites, capacities, strict=True)
        ],
        "workloads": [
            {
                "class": f"facility{facility}",
                "requests": {RESOURCE: plain(weight)},
                "cost": {name: plain(cost(facility, site)) for site, name in enumerate(sites)},
            }
            for facility, weight in enumerate(weights)
        ],
        "flows": [
            {"from": f"facility{i}", "to": f"facility{j}", "pattern": "pair", "rate": plain(rate)}
            for i, row in enumerate(traffic)
            for j, rate in enumerate(row)
            if rate and i != j
        ],
        "distances": {
            "matrix": {
                name: dict(zip(sites, plain_row(row), strict=True)) for name, row in zip(sites, distances, strict=True)
            }
        },
    }
