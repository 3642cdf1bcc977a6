"""Benchmarks: suites as files, runs in processes of their own, records, statistics. Draws nothing.

The public names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allocator.benchmark.comparison import Comparison, compare
    from allocator.benchmark.exports import export_csv, export_parquet
    from allocator.benchmark.records import read_manifest, read_records, records_frame
    from allocator.benchmark.runner import run_suite
    from allocator.benchmark.suite import Suite, load_suite

__all__ = [
    "Comparison",
    "Suite",
    "compare",
    "export_csv",
    "export_parquet",
    "load_suite",
    "read_manifest",
    "read_records",
    "records_frame",
    "run_suite",
]

_HOMES = {
    "Comparison": "comparison",
    "Suite": "suite",
    "compare": "comparison",
    "export_csv": "exports",
    "export_parquet": "exports",
    "load_suite": "suite",
    "read_manifest": "records",
    "read_records": "records",
    "records_frame": "records",
    "run_suite": "runner",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
