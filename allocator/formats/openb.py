"""A GPU cluster and a list of requests for it (the ``openb`` traces) as an instance. Owns the layout; knows no method.

Two CSV files with a header. Nodes: sn, cpu_milli, memory_mib, gpu (how many), model. Requests: name, cpu_milli,
memory_mib, num_gpu, gpu_milli (thousandths of each GPU) and, where stated, gpu_spec (GPU models that will do, joined by
``|``). Further columns are passed over. Source: the cluster trace GPU v2023 of Weng et al., "Beware of fragmentation",
USENIX ATC 2023.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from allocator.errors import ArgumentError
from allocator.formats.rows import rows_of
from allocator.formats.tokens import plain

__all__ = ["read_openb"]

WHOLE = 1000  # thousandths of a GPU
MEBIBYTE = 2**20
CPU_KIND = "cpu"
MOST_REQUESTS = 10_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """What one request asks for: ``gpu_milli`` of each of ``num_gpu`` GPUs on one host; ``models``: empty for any."""

    cpu_milli: int
    memory_mib: int
    num_gpu: int
    gpu_milli: int
    models: tuple[str, ...]

    @property
    def gpus(self) -> int:
        """GPU asked for in all, in thousandths."""
        return self.num_gpu * self.gpu_milli

    @property
    def name(self) -> str:
        """Name of the class of all such requests."""
        many = f"{self.num_gpu}x" if self.num_gpu > 1 else ""
        gpu = [f"gpu{many}{self.gpu_milli}m"] if self.num_gpu else []
        return "-".join([*gpu, f"cpu{self.cpu_milli}m", f"memory{self.memory_mib}Mi", *self.models])


def read_openb(
    path: Path, *, requests: Path | None = None, load: float | None = None, seed: int | None = None
) -> dict[str, Any]:
    """Instance document: a host is a domain with its CPU and memory, its GPUs are nodes below it.

    Parameters
    ----------
    path, requests : the two files.
    load : repeat the list until it asks for so many times the GPUs that are there; None: the list once.
    seed : shuffle the list, and each repetition of it; None: in the order of the file.

    Raises
    ------
    ArgumentError
        Without requests, with a load that they never reach, or with one of no GPUs.
    InputError
        A file is not of this layout.
    """
    if requests is None:
        raise ArgumentError("--from openb: name the list of requests with --requests FILE")
    hosts, num_gpus = _hosts(path)
    if load is not None and not num_gpus:
        raise ArgumentError(f"--load {load}: is a multiple of the GPUs, and {path} has none")
    counts = _counts(list(_requests(requests)), num_gpus, load, seed)
    return {
        "format": "allocator/v1",
        "name": requests.stem.removeprefix("openb_"),
        "model": "place",
        "topology": hosts,
        "workloads": [_workload(request, count) for request, count in counts.items()],
    }


def _hosts(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Topology entries, and the number of GPUs."""
    hosts: list[dict[str, Any]] = []
    num_gpus = 0
    for row in rows_of(path, ("sn", "cpu_milli", "memory_mib", "gpu", "model")):
        gpus = row.whole("gpu")
        children: list[dict[str, Any]] = [{"level": "node", "name": "cpu", "kind": CPU_KIND}]
        if gpus:
            model = row.text("model")
            if model == CPU_KIND:
                row.refuse("model", f"must be a GPU model other than {CPU_KIND}")
            children.append(
                {"level": "node", "name": "gpu", "count": gpus, "kind": model, "capacity": {"accelerator": 1}}
            )
        capacity = {"cpu": f"{row.whole('cpu_milli')}m", "memory": f"{row.whole('memory_mib')} MiB"}
        hosts.append({"level": "host", "name": row.text("sn"), "capacity": capacity, "children": children})
        num_gpus += gpus
    return hosts, num_gpus


def _requests(path: Path) -> Iterator[Request]:
    for row in rows_of(path, ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")):
        num_gpu, gpu_milli = row.whole("num_gpu"), row.whole("gpu_milli")
        if num_gpu and not 0 < gpu_milli <= WHOLE:
            row.refuse("gpu_milli", f"must be from 1 to {WHOLE} thousandths of a GPU")
        models = tuple(sorted({each for each in row.optional("gpu_spec").split("|") if each})) if num_gpu else ()
        yield Request(row.whole("cpu_milli"), row.whole("memory_mib"), num_gpu, gpu_milli if num_gpu else 0, models)


def _counts(listed: Sequence[Request], num_gpus: int, load: float | None, seed: int | None) -> Mapping[Request, int]:
    """How often each request is made, in the order of their first one."""
    rng = random.Random(seed)
    target = None if load is None else Fraction(str(load)) * num_gpus * WHOLE
    counts: dict[Request, int] = {}
    asked = total = 0
    while target is None or asked < target:
        order = list(listed)
        if seed is not None:
            rng.shuffle(order)
        for request in order:
            if target is not None and asked >= target:
                break
            counts[request] = counts.get(request, 0) + 1
            asked += request.gpus
        total += len(order)
        if target is None:
            break
        if not asked or total > MOST_REQUESTS:
            raise ArgumentError(f"--load {load}: {total} requests ask for {Fraction(asked, WHOLE)} GPUs of {num_gpus}")
    return counts


def _workload(request: Request, count: int) -> dict[str, Any]:
    """A class. Of a request for several GPUs, each member of a gang asks for one and an even part of the rest."""
    size = max(1, request.num_gpu)
    workload: dict[str, Any] = {"class": request.name, "count": count * size}
    asks: dict[str, Any] = {}
    if request.cpu_milli:
        asks["cpu"] = f"{-(-request.cpu_milli // size)}m"
    if request.memory_mib:
        asks["memory"] = -(-request.memory_mib * MEBIBYTE // size)
    placement: dict[str, Any] = {}
    if request.num_gpu:
        asks["accelerator"] = plain(Fraction(request.gpu_milli, WHOLE))
        if request.models:
            placement["require"] = {"kind": list(request.models)}
        if size > 1:
            placement["gang"] = {"size": size, "level": "host"}
    else:
        placement["require"] = {"kind": CPU_KIND}
    workload["value"] = plain(Fraction(request.gpu_milli, WHOLE))
    if asks:
        workload["requests"] = asks
    if placement:
        workload["placement"] = placement
    return workload
