"""Random cases with messages and a limit on the load of links, made of those without. The same for the same seed."""

from __future__ import annotations

import copy
import random
from dataclasses import replace

from tests.oracle.random_instances import Case, random_case

__all__ = ["loaded_case"]

MESSAGES = ["0.01 B", "0.05 B", "0.2 B", "1 B"]


def loaded_case(seed: int, *, bent: bool = True) -> Case:
    """A case whose links may be offered a part of their bandwidth only, and whose flows carry messages."""
    case = random_case(seed, bent=bent)
    rng = random.Random(f"loaded {seed}")
    document = copy.deepcopy(case.document)
    document["link_load"] = rng.choice(["0.5", "0.8", "0.8", "0.99"])
    below = list(document["topology"])
    while below:
        domain = below.pop()
        below += domain.get("children", [])
        uplink = domain.setdefault("uplink", {})
        if "oversubscription" not in uplink and rng.random() < 0.8:
            uplink["bandwidth"] = f"{rng.choice([4, 10, 20, 40])} bit/s"
    for team in document.get("teams", []):
        if rng.random() < 0.8:
            team["traffic"]["message"] = rng.choice(MESSAGES)
    for flow in document.get("flows", []):
        if rng.random() < 0.8:
            flow["message"] = rng.choice(MESSAGES)
    return replace(case, document=document, features=case.features | {"link_load"})
