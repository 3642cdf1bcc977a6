"""One member as a queue, simulated event by event: tasks arrive, wait their turn, are worked on, and leave."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import simpy

__all__ = ["Service", "exponential", "fixed", "halved", "response_times"]

Service = Callable[[random.Random, float], float]
"""Draws the time of one task from its mean."""


def exponential(rng: random.Random, mean: float) -> float:
    """What the formula assumes."""
    return rng.expovariate(1 / mean)


def fixed(_: random.Random, mean: float) -> float:
    """Every task takes the same."""
    return mean


def halved(rng: random.Random, mean: float) -> float:
    """Anything from half to one and a half of the mean."""
    return rng.uniform(0.5 * mean, 1.5 * mean)


@dataclass
class _Run:
    environment: simpy.Environment
    server: simpy.Resource
    rng: random.Random
    service: Service
    seconds: float
    found: list[float]

    def arrivals(self, rate: float, tasks: int) -> Iterator[Any]:
        for _ in range(tasks):
            yield self.environment.timeout(self.rng.expovariate(rate))
            self.environment.process(self.task())

    def task(self) -> Iterator[Any]:
        arrived = self.environment.now
        with self.server.request() as turn:
            yield turn
            yield self.environment.timeout(self.service(self.rng, self.seconds))
        self.found.append(self.environment.now - arrived)


def response_times(
    *, rate: float, seconds: float, tasks: int, warm_up: int, seed: int, service: Service
) -> list[float]:
    """Seconds from arrival to departure of ``tasks`` tasks after the first ``warm_up`` that leave an empty queue.

    Parameters
    ----------
    rate : tasks/s that arrive, Poisson.
    seconds : mean time of one task, c / u.
    """
    environment = simpy.Environment()
    run = _Run(environment, simpy.Resource(environment, capacity=1), random.Random(seed), service, seconds, [])
    environment.process(run.arrivals(rate, warm_up + tasks))
    environment.run()
    return run.found[warm_up:]
