"""Mixed-integer resource allocation: which agent goes on which node of a cluster, with which shares.

The public names are listed here and loaded on first use, so that importing the package costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allocator.checker import check as check
    from allocator.checker import check_claims as check_claims
    from allocator.errors import AllocatorError as AllocatorError
    from allocator.errors import ArgumentError as ArgumentError
    from allocator.errors import InputError as InputError
    from allocator.errors import InternalError as InternalError
    from allocator.errors import MethodRefused as MethodRefused
    from allocator.errors import UnsupportedFamily as UnsupportedFamily
    from allocator.instance import instance_from_dict as instance_from_dict
    from allocator.instance import json_schema as json_schema
    from allocator.instance import load_instance as load_instance
    from allocator.instance.entities import Instance as Instance
    from allocator.instance.frames import instance_from_frames as instance_from_frames
    from allocator.model import list_models as list_models
    from allocator.model import load_model as load_model
    from allocator.model.entities import Model as Model
    from allocator.plan.document import result_document as result_document
    from allocator.plan.entities import Plan as Plan
    from allocator.plan.evaluation import Evaluation as Evaluation
    from allocator.plan.files import read_plan as read_plan
    from allocator.plan.files import write_plan as write_plan
    from allocator.plan.result import Result as Result
    from allocator.plan.result import Status as Status
    from allocator.plan.result import TerminationReason as TerminationReason
    from allocator.report.frames import classes_frame as classes_frame
    from allocator.report.frames import links_frame as links_frame
    from allocator.report.frames import placements_frame as placements_frame
    from allocator.report.frames import utilization_frame as utilization_frame
    from allocator.report.summary import summarize as summarize
    from allocator.solve import solve as solve
    from allocator.solvers.budget import Budget as Budget
    from allocator.solvers.budget import Limits as Limits

_HOME = {
    "AllocatorError": "allocator.errors",
    "ArgumentError": "allocator.errors",
    "Budget": "allocator.solvers.budget",
    "Evaluation": "allocator.plan.evaluation",
    "InputError": "allocator.errors",
    "Instance": "allocator.instance.entities",
    "InternalError": "allocator.errors",
    "Limits": "allocator.solvers.budget",
    "MethodRefused": "allocator.errors",
    "Model": "allocator.model.entities",
    "Plan": "allocator.plan.entities",
    "Result": "allocator.plan.result",
    "Status": "allocator.plan.result",
    "TerminationReason": "allocator.plan.result",
    "UnsupportedFamily": "allocator.errors",
    "check": "allocator.checker",
    "check_claims": "allocator.checker",
    "classes_frame": "allocator.report.frames",
    "instance_from_dict": "allocator.instance",
    "instance_from_frames": "allocator.instance.frames",
    "json_schema": "allocator.instance",
    "links_frame": "allocator.report.frames",
    "list_models": "allocator.model",
    "load_instance": "allocator.instance",
    "load_model": "allocator.model",
    "placements_frame": "allocator.report.frames",
    "read_plan": "allocator.plan.files",
    "result_document": "allocator.plan.document",
    "solve": "allocator.solve",
    "summarize": "allocator.report.summary",
    "utilization_frame": "allocator.report.frames",
    "write_plan": "allocator.plan.files",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    """Load a public name from its module on first use."""
    if name == "__version__":
        return _version()
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, "__version__"})


def _version() -> str:
    """Version of the installed package; a checkout that is not installed has none."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("allocator")
    except PackageNotFoundError:
        return "0+uninstalled"


class _Package(ModuleType):
    """The package as an object: importing the submodule ``allocator.solve`` does not hide the function ``solve``."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
