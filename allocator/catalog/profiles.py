"""Catalog entries as topology entries, with overrides. Owns what ``profile`` and ``set`` mean in an instance file.

An override is a dotted path ``WHO.KEY`` or ``WHO.KEY.KEY``. WHO is the level, kind or name of domains of the profile;
where several apply to one key, the name wins over the kind, and that over the level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allocator.catalog.entries import show, stated

__all__ = ["expand"]

_SINGLE = frozenset({"count", "name", "profile", "weight"})
_MAPS = frozenset({"capacity", "internal", "labels", "pool", "power", "safety", "uplink"})
_INSTEAD = {"bandwidth": "oversubscription", "oversubscription": "bandwidth"}  # of an uplink: one of the two stands
_DEEPEST = 8


def expand(name: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Topology entry of a catalog entry, without sources.

    Parameters
    ----------
    name : of the entry.
    overrides : value by dotted path, such as {"sled.count": "8", "node.capacity.cpu": "24"}.

    Raises
    ------
    KeyError
        When there is no such entry.
    ValueError
        When an override says what cannot be set, or reaches no domain of the entry.
    """
    wanted = [_Override(path, value) for path, value in overrides.items()]
    domain = show(name).domain
    found = _resolve({"profile": name, "level": domain["level"], "name": domain["name"]}, wanted, 0)
    for override in wanted:
        if not override.reached:
            raise ValueError(f"{override.path}: the profile {name} has no level, kind or name {override.who}")
    return found


class _Override:
    """One override; ``reached``: whether it met a domain it is for."""

    def __init__(self, path: str, value: Any) -> None:
        self.path = path
        self.who, *self.keys = path.split(".")
        self.value = value
        self.reached = False
        if isinstance(value, (Mapping, list, tuple)):
            raise ValueError(f"{path}: must be a single value, not a map or a list")
        allowed = _SINGLE if len(self.keys) == 1 else _MAPS if len(self.keys) == 2 else ()
        if not self.keys or self.keys[0] not in allowed or not self.keys[-1]:
            raise ValueError(f"{path}: cannot be set; write for example sled.count or node.capacity.memory")

    def apply(self, domain: dict[str, Any]) -> None:
        self.reached = True
        if len(self.keys) == 1:
            domain[self.keys[0]] = self.value
            return
        outer, inner = self.keys
        changed = dict(domain.get(outer, {}))
        if outer == "uplink":
            changed.pop(_INSTEAD.get(inner, ""), None)
        domain[outer] = {**changed, inner: self.value}


def _resolve(domain: Mapping[str, Any], overrides: list[_Override], depth: int) -> dict[str, Any]:
    """Copy of a domain with references followed, overrides applied and sources left out, and so all below it."""
    if depth > _DEEPEST:
        raise ValueError("the profiles refer to each other without end")
    own = dict(domain)
    profile = own.pop("profile", None)
    for override in _matching(overrides, (own["level"], profile, own["name"])):
        if override.keys == ["profile"]:
            override.reached = True
            profile = override.value
    own = _merged(_base(profile), own)
    if "children" not in own:
        own["kind"] = profile
    own = {key: value if key == "children" else _plain(value) for key, value in own.items()}
    for override in _matching(overrides, (own["level"], profile, domain["name"])):
        if override.keys != ["profile"]:
            override.apply(own)
    if "children" in own:
        own["children"] = [_resolve(child, overrides, depth + 1) for child in own["children"]]
    return own


def _matching(overrides: list[_Override], labels: tuple[Any, ...]) -> list[_Override]:
    """Overrides for a domain of this level, kind and name, the strongest last."""
    return [override for label in labels for override in overrides if override.who == label]


def _base(profile: str | None) -> Mapping[str, Any]:
    if profile is None:
        return {}
    try:
        return show(profile).domain
    except KeyError as error:
        raise ValueError(f"{profile}: {error.args[0]}") from None


def _merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**base, **own}
    for key in _MAPS & base.keys() & own.keys():
        merged[key] = {**base[key], **own[key]}
    return merged


def _plain(value: Any) -> Any:
    value = stated(value)
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, Mapping) else value
