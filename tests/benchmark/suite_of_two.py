"""A suite that runs in seconds, and an executor that changes what comes back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

SUITE = """
format: allocator/suite/v1
name: mine
instances:
  - {{shipped: gap_tiny/*, from: gap, best_known: {{value: 20, source: enumeration}}}}
  - {{shipped: small/gangs.yaml}}
methods: [{methods}]
seeds: [0, 1]
limits: {{seconds: {seconds}, threads: 1, grace: {grace}{more}}}
"""


def suite(folder: Path, methods: str = "milp, greedy", seconds: float = 60, grace: float = 60, more: str = "") -> Path:
    path = folder / "mine.yaml"
    path.write_text(SUITE.format(methods=methods, seconds=seconds, grace=grace, more=more))
    return path


class Tampering(Executor):
    """Any executor will do; this one changes what comes back."""

    def __init__(self, change: Callable[[dict[str, Any]], None]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._change = change

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        def run() -> Any:
            answer = function(*arguments, **named)
            self._change(answer)
            return answer

        return self._pool.submit(run)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)
