"""Machine reassignment (ROADEF/EURO challenge 2012) as an instance. Owns the layout; knows no method.

Two files of whole numbers. The model: resources (transient or not, weight of the load cost); machines (neighbourhood,
location, capacities, safety capacities, costs of moving from it to each machine); services (least number of locations,
services they depend on); processes (service, requirements, cost of moving); balances (two resources, target, weight);
weights of the three parts of the move cost. The assignment: the machine of each process. Source: the challenge's
problem statement, 2011.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allocator.errors import ArgumentError
from allocator.formats.integers import Integers

__all__ = ["read_roadef2012"]

LAYOUT = "resources, machines, services, processes, balances and three weights"
LOCATION, NEIGHBOURHOOD = "location", "neighbourhood"


def read_roadef2012(path: Path, *, assignment: Path | None = None) -> dict[str, Any]:
    """Instance document of a model file and of the assignment that runs now.

    A machine is a node, its location and its neighbourhood are labels of it (the two divide the machines independently
    of each other); a process is a class of one member in the group of its service.

    Raises
    ------
    ArgumentError
        Without an assignment.
    InputError
        A file is not of this layout.
    """
    if assignment is None:
        raise ArgumentError("--from roadef2012: name the file of the start with --assignment FILE")
    numbers = Integers(path, LAYOUT)
    resources = {
        f"r{index}": {"transient": numbers.flag("whether it is transient"), "overload": numbers.next("a weight")}
        for index in range(numbers.count("the number of resources"))
    }
    machines, move_rows = _machines(numbers, list(resources))
    services = _services(numbers)
    processes = _processes(numbers, list(resources), len(services))
    balances = [
        {
            "resources": [f"r{numbers.below(len(resources), 'a resource')}" for _ in range(2)],
            "target": numbers.next("a target"),
            "weight": numbers.next("a weight"),
        }
        for _ in range(numbers.count("the number of balances"))
    ]
    weights = {key: numbers.next(f"the weight of {key} moves") for key in ("process", "service", "machine")}
    numbers.end()
    _add_rules(numbers, processes, services)
    document: dict[str, Any] = {
        "format": "allocator/v1",
        "name": path.stem.removeprefix("model_"),
        "model": "rebalance",
        "resources": resources,
        "topology": machines,
        "workloads": processes,
        "moves": {"weights": weights, "machine": {"rows": move_rows}},
        "current": _current(assignment, len(processes), len(machines)),
    }
    if balances:
        document["balance"] = balances
    return document


def _machines(numbers: Integers, names: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Topology entries, and a row of move costs for each."""
    count = numbers.count("the number of machines")
    entries: list[dict[str, Any]] = []
    rows: list[str] = []
    for index in range(count):
        neighbourhood, location = numbers.next("a neighbourhood"), numbers.next("a location")
        capacity = numbers.row(len(names), "a capacity")
        safety = numbers.row(len(names), "a safety capacity")
        entries.append(
            {
                "level": "machine",
                "name": f"machine{index}",
                "labels": {LOCATION: str(location), NEIGHBOURHOOD: str(neighbourhood)},
                "capacity": dict(zip(names, capacity, strict=True)),
                "safety": dict(zip(names, safety, strict=True)),
            }
        )
        rows.append(" ".join(map(str, numbers.row(count, "a move cost"))))
    return entries, rows


def _services(numbers: Integers) -> list[tuple[int, list[int]]]:
    """Least number of locations, and the services depended on."""
    count = numbers.count("the number of services")
    services = []
    for _ in range(count):
        spread = numbers.next("a number of locations")
        needed = [numbers.below(count, "a service") for _ in range(numbers.next("a number of dependencies"))]
        services.append((spread, needed))
    return services


def _processes(numbers: Integers, names: Sequence[str], num_services: int) -> list[dict[str, Any]]:
    processes = []
    for index in range(numbers.count("the number of processes")):
        service = numbers.below(num_services, "a service")
        requests = dict(zip(names, numbers.row(len(names), "a requirement"), strict=True))
        processes.append(
            {
                "class": f"process{index}",
                "group": _group(service),
                "requests": requests,
                "move_cost": numbers.next("a move cost"),
            }
        )
    return processes


def _group(service: int) -> str:
    return f"service{service}"


def _add_rules(numbers: Integers, processes: list[dict[str, Any]], services: Sequence[tuple[int, list[int]]]) -> None:
    """State the rules of each service at its first process."""
    first: dict[str, dict[str, Any]] = {}
    sizes: dict[str, int] = {}
    for process in processes:
        first.setdefault(process["group"], process)
        sizes[process["group"]] = sizes.get(process["group"], 0) + 1
    for service, (spread, needed) in enumerate(services):
        name = _group(service)
        if name not in first:
            continue
        if sizes[name] < spread:
            numbers.refuse(f"service {service}", str(spread), f"has {sizes[name]} processes, fewer than locations")
        rules: dict[str, Any] = {}
        if sizes[name] > 1:
            rules["conflict"] = {"level": "node", "at_most": 1}
        if spread > 1:
            rules["spread"] = {"level": f"label:{LOCATION}", "at_least": spread}
        for other in needed:
            if _group(other) not in first:
                numbers.refuse(f"service {service}", str(other), "depends on a service without any process")
        if needed:
            level = f"label:{NEIGHBOURHOOD}"
            rules["depends_on"] = [{"group": _group(other), "level": level} for other in dict.fromkeys(needed)]
        if rules:
            first[name]["placement"] = rules


def _current(path: Path, num_processes: int, num_machines: int) -> list[dict[str, Any]]:
    numbers = Integers(path, f"one machine for each of the {num_processes} processes of the model")
    current = [
        {"class": f"process{index}", "node": f"machine{numbers.below(num_machines, 'a machine')}"}
        for index in range(num_processes)
    ]
    numbers.end()
    return current
