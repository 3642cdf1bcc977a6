"""Elements of a conflict and changes of a relaxation as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from allocator.errors import InternalError
from allocator.instance.entities import Instance
from allocator.solvers.explanation.apply import Change
from allocator.solvers.explanation.elements import POWER, Element
from allocator.solvers.explanation.words import at, base_text, listed, quantity

__all__ = ["change_text", "element_text", "packing_text"]

LIMITS = {"assignment", "capacity", "eligibility", "pool"}


def element_text(instance: Instance, element: Element) -> str:
    """What the constraint demands."""
    match element["family"]:
        case "assignment":
            count = instance.workload_by_name[element["class"]].count
            whom = "its one member" if count == 1 else f"all its {count:,} members"
            text = f"class {element['class']}: {whom} must be placed"
        case "eligibility":
            text = f"class {element['class']}: {_rule(instance, element)}"
        case "capacity" | "power" | "pool":
            text = _limit(instance, element)
        case "conflict":
            text = f"group {element['group']}: at most {_members(element['at_most'])} in one {element['level']}"
        case "spread":
            least = f"at least {element['at_least']:,} domains of level {element['level']}"
            text = f"group {element['group']}: covers {least}"
        case "dependency":
            text = f"group {element['group']}: where it stands in a {element['level']}, {element['on']} stands too"
        case "gang":
            text = f"class {element['class']}: gangs of {element['size']:,} on distinct nodes of one {element['level']}"
        case "move_limit":
            text = f"at most {_moves(instance, element['limit'], element['at_most'])} may move"
        case "reserve":
            resources = listed(element["resources"])
            text = f"reserve: what stands in one {element['level']} must fit elsewhere ({resources})"
        case family:
            raise InternalError(f"no sentence for a constraint of family {family}")
    return text


def _limit(instance: Instance, element: Element) -> str:
    resource = element.get("resource", POWER)
    domain = instance.domain_by_path[element["domain"]]
    stated = (domain.pool if element["family"] == "pool" else domain.capacity).get(resource, 0)
    what = "pool" if element["family"] == "pool" else "capacity"
    return f"{at(domain.path)}: {what} of {resource} is {quantity(instance, resource, stated)}"


def _rule(instance: Instance, element: Element) -> str:
    if "label" in element:
        accepted = instance.workload_by_name[element["class"]].placement.require.get(element["label"], ())
        return f"label {element['label']} must be {listed(accepted, 'or')}"
    if "taint" in element:
        return f"does not tolerate taint {element['taint']}"
    if "capability" in element:
        return f"needs capability {element['capability']}"
    return f"must stand within {listed(element['within'], 'or')}"


def _members(count: int) -> str:
    return "1 member" if count == 1 else f"{count:,} members"


def _moves(instance: Instance, limit: str, amount: int) -> str:
    return quantity(instance, "memory", amount) if limit == "bytes" else _members(amount)


def change_text(instance: Instance, change: Change) -> str:
    """What to change, as an instruction."""
    if change.get("drop"):
        return f"drop this rule: {element_text(instance, change)}"
    match change["family"]:
        case "assignment":
            text = f"class {change['class']}: leave out {change['leave_out']:,} of {_count(instance, change):,} members"
        case "capacity" | "power" | "pool":
            resource = change.get("resource", POWER)
            more = base_text(instance, resource, Fraction(change["add"]))
            what = " to the pool" if change["family"] == "pool" else ""
            text = f"{at(change['domain'])}: add {more} of {resource}{what}"
        case "eligibility":
            text = f"class {change['class']}: accept {change['accept']} as label {change['label']}"
        case "conflict":
            text = f"group {change['group']}: allow {_members(change['at_most'])} in one {change['level']}"
        case "spread":
            text = f"group {change['group']}: cover only {change['at_least']:,} domains of level {change['level']}"
        case "move_limit":
            limit = "members" if "members" in change else "bytes"
            text = f"allow {_moves(instance, limit, change[limit])} to move"
        case family:
            raise InternalError(f"no sentence for a change of family {family}")
    return text


def _count(instance: Instance, change: Change) -> int:
    return instance.workload_by_name[change["class"]].count


def packing_text(instance: Instance, conflict: Sequence[Element]) -> str:
    """What a conflict means for which no sum is short."""
    classes = listed(element["class"] for element in conflict if element["family"] == "assignment")
    if {element["family"] for element in conflict} <= LIMITS and classes:
        resources = listed(dict.fromkeys(e["resource"] for e in conflict if "resource" in e))
        return (
            f"The totals fit, but the members of {classes} cannot be packed: however whole members are put on nodes, "
            f"some limit of {resources} is exceeded."
        )
    rules = listed(element_text(instance, e) for e in conflict if e["family"] not in LIMITS)
    if not rules:
        return f"The members of {classes} cannot all be placed under the rules they state."
    beside = f" with the members of {classes} all placed" if classes else ""
    return f"These rules cannot hold together{beside}: {rules}."
