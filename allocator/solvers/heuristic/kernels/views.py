"""Arrays inside compiled code: an address and lengths, no more.

numba's own arrays count references at every hand-over and ask the sign of every index, since negative ones count from
the end. A view does neither: indices are from 0 on, and who made the array keeps it alive. With ``NUMBA_BOUNDSCHECK=1``
in the environment, every index is compared with the lengths. Owns the compiler's side.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, config, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

__all__ = ["looked_up"]

CONFIG: Any = config  # its entries are set as the module is imported
BYTES_OF_ENTRY = 8
BYTES_OF_ROW = 4 * BYTES_OF_ENTRY  # of a table: the address, three lengths


class View(types.Type):
    """``dtype``[., ...] with ``ndim`` lengths, contiguous, the last index quickest."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype, self.ndim = dtype, ndim
        super().__init__(name=f"View({dtype}, {ndim})")


@register_model(View)
class ViewModel(models.StructModel):
    """The address, then the lengths."""

    def __init__(self, manager: Any, view: View) -> None:
        lengths = [(f"n{axis}", types.intp) for axis in range(view.ndim)]
        super().__init__(manager, view, [("data", types.CPointer(view.dtype)), *lengths])


def looked_up(dtype: Any, ndim: int) -> Any:
    """The function that finds array number ``k`` of a table, given the table's address."""
    view = View(dtype, ndim)

    def find(_context, table, k):  # type: ignore[no-untyped-def]  # numba calls it with its own types
        def generate(context, builder, _, arguments):  # type: ignore[no-untyped-def]
            row = builder.mul(context.cast(builder, arguments[1], k, types.intp), _word(context, BYTES_OF_ROW))
            first = builder.add(arguments[0], row)
            found = cgutils.create_struct_proxy(view)(context, builder)
            pointer = context.get_value_type(types.CPointer(dtype))
            found.data = builder.inttoptr(_entry(context, builder, first, 0), pointer)
            for axis in range(ndim):
                setattr(found, f"n{axis}", _entry(context, builder, first, 1 + axis))
            return found._getvalue()

        return view(table, k), generate

    return intrinsic(find)


def _word(context: Any, number: int) -> Any:
    return context.get_constant(types.intp, number)


def _entry(context: Any, builder: Any, row: Any, number: int) -> Any:
    """An entry of a row of a table; tables never change while compiled code runs."""
    address = builder.add(row, _word(context, BYTES_OF_ENTRY * number))
    loaded = builder.load(builder.inttoptr(address, context.get_value_type(types.CPointer(types.intp))))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _index_of(view: View, index: Any) -> Any:
    """The signature's index type where it fits the view, else None."""
    if view.ndim == 1:
        return types.intp if isinstance(index, types.Integer) else None
    fits = isinstance(index, types.BaseTuple) and len(index) == view.ndim
    return index if fits and all(isinstance(one, types.Integer) for one in index) else None


@infer_global(operator.getitem)
class GetItem(AbstractTemplate):
    """``view[i]``, ``view[i, j]``."""

    def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002  # numba's signature
        view, index = args
        found = _index_of(view, index) if isinstance(view, View) else None
        return None if found is None else signature(view.dtype, view, found)


@infer_global(operator.setitem)
class SetItem(AbstractTemplate):
    """``view[i] = value``."""

    def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002  # numba's signature
        view, index, value = args
        found = _index_of(view, index) if isinstance(view, View) else None
        if found is None or not isinstance(value, (types.Number, types.Boolean)):
            return None
        return signature(types.none, view, found, view.dtype)


@infer_global(len)
class Length(AbstractTemplate):
    """``len(view)``: the first length."""

    def generic(self, args: Any, kws: Any) -> Any:  # noqa: ARG002  # numba's signature
        return signature(types.intp, args[0]) if len(args) == 1 and isinstance(args[0], View) else None


def _place(context: Any, builder: Any, view: View, value: Any, index: Any, index_type: Any) -> Any:
    """Pointer to an entry."""
    found = cgutils.create_struct_proxy(view)(context, builder, value=value)
    pairs = [(index, index_type)]
    if view.ndim > 1:
        pairs = list(zip(cgutils.unpack_tuple(builder, index, view.ndim), index_type, strict=True))
    offset = _word(context, 0)
    for axis, (one, its_type) in enumerate(pairs):
        length, more = getattr(found, f"n{axis}"), context.cast(builder, one, its_type, types.intp)
        if CONFIG.BOUNDSCHECK:
            outside = builder.icmp_unsigned(">=", more, length)  # negative ones are large
            with builder.if_then(outside, likely=False):
                context.call_conv.return_user_exc(builder, IndexError, (f"axis {axis} of {view}",))
        offset = builder.add(builder.mul(offset, length), more)
    return builder.gep(found.data, [offset])


@lower_builtin(operator.getitem, View, types.Any)
def _get(context, builder, sig, args):  # type: ignore[no-untyped-def]
    view, index_type = sig.args
    return builder.load(_place(context, builder, view, args[0], args[1], index_type))


@lower_builtin(operator.setitem, View, types.Any, types.Any)
def _set(context, builder, sig, args):  # type: ignore[no-untyped-def]
    view, index_type, _ = sig.args
    builder.store(args[2], _place(context, builder, view, args[0], args[1], index_type))
    return context.get_dummy_value()


@lower_builtin(len, View)
def _len(context, builder, sig, args):  # type: ignore[no-untyped-def]
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).n0
