"""Small documents to change, and what is wrong with them, for the tests of this folder."""

from __future__ import annotations

from typing import Any

import pytest

from allocator.errors import InputError, Problem
from allocator.instance import Instance, instance_from_dict

__all__ = ["base", "instance", "problems_of", "words_of"]


def base(**changes: Any) -> dict[str, Any]:
    """Two nodes and one class of two members, with other top-level keys on top."""
    document: dict[str, Any] = {
        "format": "allocator/v1",
        "name": "small",
        "topology": [{"level": "node", "name": "n", "count": 2, "capacity": {"cpu": 4, "memory": "8Gi"}}],
        "workloads": [{"class": "a", "count": 2, "requests": {"cpu": 1}}],
    }
    return {**document, **changes}


def instance(**changes: Any) -> Instance:
    """Instance of the base document with changes."""
    return instance_from_dict(base(**changes))


def problems_of(document: Any) -> list[Problem]:
    """What is wrong with a document; it must be something."""
    with pytest.raises(InputError) as caught:
        instance_from_dict(document)
    return list(caught.value.problems)


def words_of(**changes: Any) -> str:
    """Problems of the base document with changes, a line each."""
    return "\n".join(str(problem) for problem in problems_of(base(**changes)))
