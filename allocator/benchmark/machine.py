"""Where and with what a benchmark ran: machine, versions, commit. Reads files and metadata; imports none of them."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["commit", "machine", "own_version", "versions"]

PACKAGES = ("highspy", "ortools", "numpy", "scipy", "pandas", "pyomo", "pydantic")


def versions() -> dict[str, str | None]:
    """Versions that an answer depends on; None where a package is not installed."""
    found: dict[str, str | None] = {"allocator": own_version(), "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found


def own_version() -> str:
    """Version of this package; a checkout that is not installed has none."""
    try:
        return metadata.version("allocator")
    except metadata.PackageNotFoundError:
        return "0+uninstalled"


def machine() -> dict[str, Any]:
    """Processor, cores that may be used, memory in MiB, system and Python."""
    return {
        "cpu": _from_proc("cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mib": _memory_mib(),
        "platform": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def commit() -> str | None:
    """Commit of the checkout that the package runs from, "-dirty" with changes; None when it is installed."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def _memory_mib() -> int | None:
    kibibytes = (_from_proc("meminfo", "MemTotal") or "").split()
    return int(kibibytes[0]) // 1024 if kibibytes else None


def _from_proc(file: str, key: str) -> str | None:
    try:
        text = (Path("/proc") / file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None
