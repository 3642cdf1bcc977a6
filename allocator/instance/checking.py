"""From a tree of text to a checked document: nulls, catalog profiles, the schema, and the wording of its findings."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from allocator.documents.memory import plain_tree
from allocator.documents.problems import Location, Problems
from allocator.errors import InputError
from allocator.instance.schema.document import FORMAT, InstanceDocument

__all__ = ["check_document"]

_TAGS = frozenset({"(text)", "(list)", "(rows)", "[key]"})
# What can be left out without making anything else look wrong: values below these keys, these keys themselves,
# items of these sections, and these sections.
_LEAVES = frozenset({"requests", "limits", "capacity", "safety", "pool"})
_WHOLE = frozenset(
    {"slo", "cost", "power", "internal", "goodput", "placement", "labels", "taints", "capabilities"}
    | {"value", "weight", "move_cost", "quality", "latency", "overload", "message", "link_load"}
)
_ITEMS = frozenset({"teams", "flows", "balance", "reserve", "current"})
_SECTIONS = frozenset({"moves", "distances"})
_MERGED = ("capacity", "safety", "pool", "labels")
_CONTAINERS = (dict, list)
_DROPPED = object()


def check_document(tree: dict[str, Any], problems: Problems) -> InstanceDocument | None:
    """The document, less single bad values that are noted; None when too much is wrong to look further."""
    nulls: list[Location] = []
    tree = _without_nulls(tree, (), nulls) if _has_nulls(tree) else dict(tree)
    for location in nulls:
        problems.add(location, "must not be null; state a value or leave the key out")
    before = len(problems.found)
    if isinstance(tree.get("topology"), list):
        tree["topology"] = [
            _with_profiles(entry, ("topology", index), problems) for index, entry in enumerate(tree["topology"])
        ]
    usable = len(problems.found) == before and all(_detachable(location, tree) for location in nulls)
    problems.document = tree
    try:
        document: InstanceDocument = InstanceDocument.model_validate(tree)
    except ValidationError as error:
        bad = _note(error, frozenset(nulls), problems)
        if not usable or bad is None:
            return None
        try:
            document = InstanceDocument.model_validate(_remove(tree, bad, problems))
        except ValidationError:
            return None
    return document if usable else None


def _detachable(location: Location, tree: Mapping[str, Any]) -> Location | None:
    """The part of the document to leave out for a bad value at a location; None when others may depend on it."""
    head = location[0]
    if head in _SECTIONS or (head in _ITEMS and not isinstance(tree.get(str(head)), list)):
        return location[:1]
    if head in _ITEMS:
        return location[:2]
    for depth, key in enumerate(location):
        if key in _WHOLE:
            return location[: depth + 1]
    return location if len(location) >= 2 and location[-2] in _LEAVES else None


def _remove(tree: dict[str, Any], targets: list[Location], problems: Problems) -> dict[str, Any]:
    """Copy of a tree without what stands at the targets; items of sections keep their number in later problems."""
    root = dict(tree)
    owned = {id(root)}  # containers copied already
    for target in targets:
        node: Any = root
        for key in target[:-1]:
            if isinstance(node, dict) and key == 0:
                continue  # one map where a list of them may stand
            child = node.get(key) if isinstance(node, dict) else node[key]
            if child is None or child is _DROPPED:
                break
            if id(child) not in owned:
                child = node[key] = child.copy()
                owned.add(id(child))
            node = child
        else:
            if isinstance(node, dict):
                node.pop(target[-1], None)
            else:
                node[target[-1]] = _DROPPED
    for section in _ITEMS & root.keys():
        items = root[section]
        if isinstance(items, list):
            kept = [index for index, item in enumerate(items) if item is not _DROPPED]
            problems.numbers[section] = kept
            root[section] = [items[index] for index in kept]
    return root


def _has_nulls(tree: dict[str, Any]) -> bool:
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        values = node.values() if node.__class__ is dict else node
        if None in values:
            return True
        stack.extend([value for value in values if value.__class__ is dict or value.__class__ is list])
    return False


def _without_nulls(node: Any, location: Location, nulls: list[Location]) -> Any:
    if isinstance(node, dict):
        if None not in node.values() and not any(value.__class__ in _CONTAINERS for value in node.values()):
            return node
        copy = {}
        for key, value in node.items():
            if value is None:
                nulls.append((*location, key))
            else:
                copy[key] = _without_nulls(value, (*location, key), nulls) if value.__class__ in _CONTAINERS else value
        return copy
    if isinstance(node, list):
        for index, value in enumerate(node):
            if value is None:
                nulls.append((*location, index))
        return [
            _without_nulls(value, (*location, index), nulls) if value.__class__ in _CONTAINERS else value
            for index, value in enumerate(node)
        ]
    return node


# ---------------------------------------------------------------- profiles


def _with_profiles(entry: Any, location: Location, problems: Problems) -> Any:
    """A topology entry with catalog profiles expanded, its own keys on top."""
    if not isinstance(entry, Mapping):
        return entry
    own = dict(entry)
    if isinstance(own.get("profile"), str):
        own = _expanded(own, location, problems)
    elif "set" in own:
        problems.add((*location, "set"), "overrides a profile, and none is named")
    if isinstance(own.get("children"), list):
        own["children"] = [
            _with_profiles(child, (*location, "children", index), problems)
            for index, child in enumerate(own["children"])
        ]
    return own


def _expanded(own: dict[str, Any], location: Location, problems: Problems) -> dict[str, Any]:
    from allocator.catalog import profiles

    name = own.pop("profile")
    overrides = own.pop("set", {})
    if not isinstance(overrides, Mapping):
        problems.add((*location, "set"), "must be a map")
        return own
    try:
        fragment = plain_tree(profiles.expand(name, overrides), f"profile {name}")
    except KeyError as error:
        problems.add((*location, "profile"), str(error.args[0]) if error.args else "is not in the catalog", name)
        return own
    except (ValueError, InputError) as error:
        problems.add((*location, "set"), str(error))
        return own
    merged = {**fragment, **own}
    for key in _MERGED:
        if isinstance(fragment.get(key), Mapping) and isinstance(own.get(key), Mapping):
            merged[key] = {**fragment[key], **own[key]}
    return merged


# ---------------------------------------------------------------- findings of the schema


def _note(error: ValidationError, nulls: frozenset[Location], problems: Problems) -> list[Location] | None:
    """Note what the schema found; the locations that can be left out, or None when something else is wrong."""
    separate: list[Location] | None = []
    for finding in error.errors(include_url=False, include_context=True):
        location: Location = tuple(key for key in finding["loc"] if key not in _TAGS)
        kind = finding["type"]
        if kind == "missing":
            if location not in nulls:
                problems.add(location, "must be stated")
            part = _detachable(location, problems.document)
            if part is None or part == location:
                separate = None
            elif separate is not None:
                separate.append(part)
            continue
        value = problems.value_at(location)
        if kind == "extra_forbidden":
            known = _keys_at(location[:-1])
            close = get_close_matches(str(location[-1]), known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(known)}"
            problems.add(location, f"there is no such key; {hint}")
            part = _detachable(location, problems.document) or (None if close else location)
        else:
            problems.add(location, _message(finding, location), value)
            part = _detachable(location, problems.document)
        if part is None:
            separate = None
        elif separate is not None:
            separate.append(part)
    return separate


def _message(finding: Any, location: Location) -> str:
    if location == ("format",):
        return f"must be {FORMAT}"
    context = finding.get("ctx", {})
    if finding["type"] in _MESSAGES:
        return _MESSAGES[finding["type"]].format(**context)
    return str(finding["msg"])


_MESSAGES = {
    "literal_error": "must be one of {expected}",
    "dict_type": "must be a map",
    "model_type": "must be a map",
    "model_attributes_type": "must be a map",
    "list_type": "must be a list",
    "string_type": "must be text",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
}


def _keys_at(location: Location) -> list[str]:
    """Keys that may stand in the map at a location."""
    annotation: Any = InstanceDocument
    for key in location:
        annotation = _below(annotation, key)
    model = _model_in(annotation)
    return [] if model is None else [field.alias or name for name, field in model.model_fields.items()]


def _below(annotation: Any, key: str | int) -> Any:
    model = _model_in(annotation)
    if isinstance(key, int):
        return annotation
    if model is not None and not _is_dict(annotation):
        for name, field in model.model_fields.items():
            if (field.alias or name) == key:
                return field.annotation
        return None
    return get_args(annotation)[1] if _is_dict(annotation) else None


def _is_dict(annotation: Any) -> bool:
    return get_origin(annotation) is dict


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model an annotation allows, looked for inside unions, lists and metadata."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
