"""Which classes answer within a time in a model, and the least share of a member for it (equation 13).

Owns what a bound on P99 asks for in whole units, exactly. Knows no placement and no variable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from allocator.compiled.entities import Compiled
from allocator.errors import InternalError
from allocator.model.entities import Goal
from allocator.model.families import GoalId
from allocator.solvers.evaluation.response import LN_100, Server, is_critical, server_of, target_of

__all__ = ["Seat", "Service", "p99_goal", "seat_of", "service_of"]


@dataclass(frozen=True, slots=True)
class Service:
    """A class with a target that is held (s, or None) or that the goal ``p99`` counts (``critical``)."""

    target: Fraction | None
    critical: bool
    weight: Fraction


@dataclass(frozen=True, slots=True)
class Seat:
    """A member of a service in one option on one kind of node."""

    service: Service
    server: Server

    @property
    def offered(self) -> Fraction:
        """Compute that arriving tasks take, base units."""
        return self.server.rate * self.server.work

    def least(self, delay: Fraction, bound: Fraction | None = None, *, below: bool = False) -> int | None:
        """Least share in whole amounts at a path delay; None where no share is enough.

        ``bound``: a further P99 to keep, s; with ``below`` to stay strictly below.
        """
        server = self.server
        need, amount = server.stable, 0
        for target, strictly in ((self.service.target, False), (bound, below)):
            if target is None:
                continue
            if target <= delay:
                return None
            wanted = server.work * (server.rate + LN_100 / (target - delay))
            if strictly:
                if wanted >= server.parallel:
                    return None
                amount = math.floor(wanted / server.unit) + 1
            need = max(need, wanted)
        return max(amount, math.ceil(need / server.unit)) if need <= server.parallel else None

    def seconds(self, usable: Fraction) -> Fraction:
        """P99 at so much usable compute (base units), path delay apart; the member must be stable."""
        return LN_100 * self.server.work / (usable - self.offered)


def p99_goal(compiled: Compiled) -> Goal | None:
    """The goal ``p99`` of the model."""
    goals = (goal for level in compiled.model.levels for goal in level.goals)
    return next((goal for goal in goals if goal.id is GoalId.P99), None)


def service_of(compiled: Compiled, workload: int) -> Service | None:
    """What a class must answer within, or is counted for; None where the model asks for neither."""
    target, critical = target_of(compiled, workload), is_critical(compiled, workload)
    if target is None and not critical:
        return None
    return Service(target, critical, compiled.instance.workloads[workload].weight)


def seat_of(compiled: Compiled, service: Service, option: int, kind: int) -> Seat:
    """A member of the service's class in an option on a kind of node.

    Raises
    ------
    InternalError
        Tasks need not exactly one compute resource, which validation refuses.
    """
    server = server_of(compiled, option, kind)
    if server is None:
        name = compiled.instance.workloads[int(compiled.option_workload[option])].name
        raise InternalError(f"response times of {name} are not defined: its tasks need not one compute resource")
    return Seat(service, server)
