"""What latency targets and ``link_load`` ask for where nothing else stands in the way of a plan (equations 13, 29).

Owns the sentences. They hold by arithmetic, for every plan. Knows no solver.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from allocator.compiled.compile import compile_instance
from allocator.compiled.entities import Compiled
from allocator.instance.entities import Instance, WorkloadClass
from allocator.model.entities import Model
from allocator.solvers.evaluation.response import (
    LN_100,
    Server,
    asks_for_response,
    least_share,
    server_of,
    target_of,
)

__all__ = ["target_reasons"]


def target_reasons(instance: Instance, model: Model) -> tuple[str, ...]:
    """Why targets, stable queues where the goal ``p99`` needs them, or ``link_load`` leave no plan; () without any.

    To be asked where there is a plan without them.
    """
    compiled = compile_instance(instance, model)
    asking = [w for w in instance.workloads if w.count and asks_for_response(compiled, w.index)]
    loaded = compiled.link_load is not None
    links = (
        f"links would be offered more than {float(compiled.link_load or 0) * 100:g} % of their bandwidth (link_load)"
    )
    if not asking:
        return (f"Without the limit on the load of links there is a plan; {links}.",) if loaded else ()
    sentences = [sentence for workload in asking if (sentence := _out_of_reach(compiled, workload)) is not None]
    left_out = "latency targets, stable queues and link_load" if loaded else "latency targets and stable queues"
    whole = f"Without {left_out} there is a plan; "
    if sentences:
        return (*sentences, f"{whole}a larger limit, parallel or target, or faster nodes would be needed.")
    other = f", or {links}" if loaded else ""
    return (f"{whole}the compute that they need at the path delays there are does not fit{other}.",)


def _out_of_reach(compiled: Compiled, workload: WorkloadClass) -> str | None:
    """A sentence where no node lets a member of the class use what it needs, even without path delay."""
    least: tuple[Fraction, str] | None = None
    most = Fraction(0)
    target = target_of(compiled, workload.index)
    for option in compiled.options_of(workload.index):
        for node in np.nonzero(compiled.eligible[option])[0].tolist():
            server = server_of(compiled, option, int(compiled.node_kind[node]))
            if server is None or least_share(compiled, option, node) is not None:
                return None
            ceiling = compiled.ceiling_of(option, node, server.resource) * server.unit
            most = max(most, min(ceiling, server.parallel))
            need = _needed(server, target)
            if least is None or need < least[0]:
                least = need, compiled.resources[server.resource]
    if least is None:
        return None
    what = "a stable queue" if target is None else f"a P99 of {float(target):g} s"
    return (
        f"class {workload.name}: {what} needs {_up(least[0])} {least[1]} a member at least, "
        f"and no node lets it use more than {float(most):.4g}."
    )


def _needed(server: Server, target: Fraction | None) -> Fraction:
    """Usable compute that a member needs without path delay, base units."""
    least = server.stable
    return least if target is None else max(least, server.work * (server.rate + LN_100 / target))


def _up(amount: Fraction) -> str:
    """Four digits, rounded up."""
    digits = 3 - math.floor(math.log10(float(amount)))
    scale = Fraction(10) ** digits
    return f"{float(Fraction(math.ceil(amount * scale)) / scale):.6g}"
