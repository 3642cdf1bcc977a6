"""Family ``link_load`` (equation 29): offered loads within a part of every bandwidth, each way."""

from __future__ import annotations

from allocator.solvers.cpsat.fabric import load
from allocator.solvers.cpsat.symbols import Symbols

__all__ = ["add_rows"]


def add_rows(symbols: Symbols) -> None:
    """Two rows for each uplink that states a bandwidth and that flows may cross."""
    part = symbols.compiled.link_load
    if part is None:
        return
    for domain in symbols.compiled.instance.domains:
        if domain.uplink is None or domain.uplink.bandwidth is None:
            continue
        symbols.budget.check()
        for offered in load(symbols, domain.index):
            symbols.builder.add(offered, "the load of an uplink", upper=part * domain.uplink.bandwidth)
