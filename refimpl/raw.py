"""Raw operations: the functions of the raw namespace, arrays in and arrays out, with type promotion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import arrays, devices, dtypes
from .arguments import NUMBERS, bind
from .operations import layout
from .operations.table import FLOAT, KEEP, Operation

__all__ = ["call_forward", "compute", "make_raw", "promoted"]

_FLOATING = frozenset(d.numpy for d in dtypes.ALL if d.is_floating_point)


_WIDE_SCALARS = frozenset({"add", "sub", "mul", "div.true"})


def promoted(op: Operation, values: list[Any]) -> list[Any]:
    """The operands cast to the one dtype in which ``op`` computes."""
    places = [i for i, name in enumerate(op.parameters) if name in op.tensors and values[i] is not None]
    kind = dtypes.result_type(*(values[i] for i in places))
    if op.promotion is FLOAT and kind.category < dtypes.FLOATING:
        kind = dtypes.get_default_dtype()
    for i in places:
        value = values[i]
        if value.__class__ in NUMBERS:
            if i == places[0] or (value.__class__ is bool and kind is not dtypes.bool_):
                values[i] = kind.numpy.type(value)
        elif value.dtype != kind.numpy:
            wide = op.key in _WIDE_SCALARS and i != places[0] and not value.shape
            if wide and kind.numpy in dtypes.REDUCED:
                values[i] = value.item()  # enters the computation, which runs in float32, unrounded
            else:
                values[i] = value.astype(kind.numpy)
    return values


def make_raw(op: Operation) -> Callable[..., Any]:
    """The function of the raw namespace: the forward with type promotion."""
    if op.view or op.multi_view:
        return _raw_view(op)
    if op.promotion is KEEP:

        def keep(*args: Any, **kwargs: Any) -> Any:
            return op.forward(*args, **kwargs)

        return keep
    if len(op.parameters) - op.keyword_only == 2 and op.tensors == op.parameters[:2]:
        return _raw_binary(op)
    if op.parameters == ("self",) or (op.tensors == ("self",) and op.promotion is not KEEP):
        return _raw_unary(op)

    def general(*args: Any, **kwargs: Any) -> Any:
        return op.forward(*promoted(op, bind(op, args, kwargs)))

    if op.keyword_only:

        def with_keywords(*args: Any, **kwargs: Any) -> Any:
            return call_forward(op, promoted(op, bind(op, args, kwargs)))

        return with_keywords
    return general


def _raw_view(op: Operation) -> Callable[..., Any]:
    def view(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, numpy.generic):
            self = arrays.asarray(self)
        elif not self.size:
            self = layout.showable(self)
        made = op.forward(self, *args, **kwargs)
        # A view is an object of its own: the engine tells sole owners from others by it.
        return made[...] if made is self else made

    return view


def _raw_unary(op: Operation) -> Callable[..., Any]:
    to_float = op.promotion is FLOAT

    def unary(self: Any, *args: Any, **kwargs: Any) -> Any:
        if to_float and self.dtype.kind in "biu":
            self = self.astype(dtypes.get_default_dtype().numpy)
        return op.forward(self, *args, **kwargs)

    return unary


def _raw_binary(op: Operation) -> Callable[..., Any]:
    floating = _FLOATING
    numbers = NUMBERS

    def binary(self: Any, other: Any, **kwargs: Any) -> Any:
        kind = other.__class__
        try:
            if self.__class__ not in numbers:
                if kind is float or kind is int:
                    if self.dtype in floating:
                        return op.forward(self, other, **kwargs)
                elif kind not in numbers and self.dtype is other.dtype and self.dtype in floating:
                    return op.forward(self, other, **kwargs)
            self, other = promoted(op, [self, other, *([None] * (len(op.parameters) - 2))])[:2]
            return op.forward(self, other, **kwargs)
        except ValueError as error:
            raise broadcast_error(self, other, error) from None

    return binary


def broadcast_error(first: Any, second: Any, error: ValueError) -> Exception:
    """Torch's error for shapes that do not broadcast; any other error as it is."""
    shapes = (getattr(first, "shape", ()), getattr(second, "shape", ()))
    rank = max(len(shape) for shape in shapes)
    a, b = ((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes)
    for dim in reversed(range(rank)):
        if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
            return RuntimeError(
                f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) at "
                f"non-singleton dimension {dim}"
            )
    return error


def call_forward(op: Operation, values: list[Any]) -> Any:
    """Call the forward with all parameters, the last ones by keyword where it wants that."""
    if not op.keyword_only:
        return op.forward(*values)
    first = len(values) - op.keyword_only
    return op.forward(*values[:first], **dict(zip(op.parameters[first:], values[first:], strict=True)))


def compute(op: Operation, raw: list[Any]) -> Any:
    """Promote and run the forward on arrays; on meta arrays the result is one too (DEVICE-01)."""
    if op.promotion is KEEP:
        made = call_forward(op, raw)
    else:
        promoted_operands = promoted(op, raw)
        try:
            made = call_forward(op, promoted_operands)
        except ValueError as error:
            first, second = (*promoted_operands, None, None)[:2]
            raise broadcast_error(first, second, error) from None
    if devices.in_use and op.key != "_to_copy" and any(isinstance(each, devices.MetaArray) for each in raw):
        if op.outputs == 1:
            return devices.meta_array(made.shape, made.dtype)
        return tuple(devices.meta_array(each.shape, each.dtype) for each in made)
    return made
