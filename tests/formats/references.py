"""The classical problems stated once more, from the files alone: what any assignment costs, and whether it fits.

Shares nothing with the readers: one token list, cut up by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path

Assignment = Sequence[int]
INSTANCES = Path(__file__).resolve().parents[2] / "instances"


@dataclass(frozen=True)
class Reference:
    items: int
    nodes: int
    fits: Callable[[Assignment], bool]
    value: Callable[[Assignment], Fraction]

    def optimum(self) -> Fraction:
        return min(self.value(x) for x in product(range(self.nodes), repeat=self.items) if self.fits(x))


def numbers(text: str) -> list[Fraction]:
    return [Fraction(token) for token in text.split()]


def gap(text: str) -> Reference:
    t = numbers(text)
    m, n = int(t[0]), int(t[1])
    cost, load, room = t[2 : 2 + m * n], t[2 + m * n : 2 + 2 * m * n], t[2 + 2 * m * n :]

    def fits(x: Assignment) -> bool:
        return all(sum(load[a * n + j] for j in range(n) if x[j] == a) <= room[a] for a in range(m))

    return Reference(n, m, fits, lambda x: sum((cost[a * n + j] for j, a in enumerate(x)), Fraction(0)))


def ctap(text: str) -> Reference:
    t = numbers(text)
    n, m = int(t[0]), int(t[1])
    cost = t[2 : 2 + m * n]
    rest = t[2 + m * n :]
    pairs = {}
    for i in range(n):
        for j in range(i + 1, n):
            pairs[i, j] = rest.pop(0)
    memory, room = rest[:n], rest[n:]

    def fits(x: Assignment) -> bool:
        return all(sum(memory[i] for i in range(n) if x[i] == p) <= room[p] for p in range(m))

    def value(x: Assignment) -> Fraction:
        executing = sum(cost[p * n + i] for i, p in enumerate(x))
        return executing + sum((c for (i, j), c in pairs.items() if x[i] != x[j]), Fraction(0))

    return Reference(n, m, fits, value)


def gqap(text: str) -> Reference:
    t = numbers(text)
    n, m, unit = int(t[0]), int(t[1]), t[2]
    t = t[3:]
    traffic, t = t[: n * n], t[n * n :]
    distance, t = t[: m * m], t[m * m :]
    cost, t = t[: n * m], t[n * m :]
    weight, room = t[:n], t[n:]

    def fits(x: Assignment) -> bool:
        return all(sum(weight[i] for i in range(n) if x[i] == k) <= room[k] for k in range(m))

    def value(x: Assignment) -> Fraction:
        installing = sum((cost[i * m + k] for i, k in enumerate(x)), Fraction(0))
        moving = sum(traffic[i * n + j] * distance[x[i] * m + x[j]] for i in range(n) for j in range(n))
        return installing + unit * moving

    return Reference(n, m, fits, value)


REFERENCES = {"gap": gap, "ctap": ctap, "gqap": gqap}
TINY = {
    "gap": INSTANCES / "gap_tiny" / "problem.txt",
    "ctap": INSTANCES / "ctap_tiny" / "problem.dat",
    "gqap": INSTANCES / "gqap_tiny" / "problem.txt",
    "vbp": INSTANCES / "vbp_tiny" / "problem.vbp",
}
OPTIMA = {"gap": 20, "ctap": 27, "gqap": 140, "vbp": 3}
