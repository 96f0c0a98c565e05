"""Masks: masked_fill, masked_select, masked_scatter, where, nonzero (SUBGRAD-05, INPLACE-15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays, dtypes
from . import layout
from .arithmetic import is_number
from .sizes import broadcast_shapes
from .table import composite, operation, vjp

Array = Any


# Masks
def _check_mask(name: str, mask: Array) -> None:
    if mask.dtype.kind != "b":
        raise RuntimeError(f"{name} only supports boolean masks, but got mask with dtype {_spelled(mask)}")


def _spelled(array: Array) -> str:
    return {
        "int64": "long int",
        "int32": "int",
        "uint8": "unsigned char",
        "float32": "float",
        "float64": "double",
    }.get(dtypes.of(array.dtype).name, dtypes.of(array.dtype).name)


def _masked_fill(self: Array, mask: Array, value: Any) -> Array:
    _check_mask("masked_fill_", mask)
    if not is_number(value):
        if value.ndim:
            raise RuntimeError(
                f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} "
                f"dimension(s)."
            )
        value = value.astype(self.dtype)
    else:
        value = self.dtype.type(value)
    result = numpy.where(mask, value, self)
    return result if result.ndim < 2 else layout.settle(result, self, mask)


operation(
    "masked_fill.Scalar", _masked_fill, tensors=("self", "mask"), node="MaskedFillBackward0", inplace=True,
    gradients={"self": vjp(lambda F, grad, mask: F.masked_fill_Scalar(grad, mask, 0), "mask")},
)  # fmt: skip
operation(
    "masked_fill.Tensor", _masked_fill, tensors=("self", "mask", "value"), node="MaskedFillBackward1",
    inplace=True,
    gradients={
        "self": vjp(lambda F, grad, mask: F.masked_fill_Scalar(grad, mask, 0), "mask"),
        "value": vjp(lambda F, grad, mask: F.sum(F.where(mask, grad, F.scalar_like(0, grad))), "mask"),
    },
)  # fmt: skip


@composite()
def masked_fill(F: Any, self: Any, mask: Any, value: Any) -> Any:
    """A copy that holds `value` wherever the mask is True."""
    return (F.masked_fill_Scalar if is_number(value) else F.masked_fill_Tensor)(self, mask, value)


@composite("masked_fill_", functions=())
def _masked_fill_(F: Any, self: Any, mask: Any, value: Any) -> Any:
    return (F.masked_fill_Scalar_ if is_number(value) else F.masked_fill_Tensor_)(self, mask, value)


def masked_select(self: Array, mask: Array) -> Array:
    """The entries where the mask is True, in one dimension."""
    if mask.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = numpy.broadcast_shapes(self.shape, mask.shape)
    return numpy.broadcast_to(self, shape)[numpy.broadcast_to(mask, shape)].reshape(-1)


def _masked_select_backward(F: Any, grad: Any, shape: Sequence[int], mask: Any) -> Any:
    whole = tuple(numpy.broadcast_shapes(tuple(shape), tuple(mask.shape)))
    return F.masked_scatter(F.new_zeros(grad, whole), mask, grad)


operation(
    "masked_select", masked_select, tensors=("self", "mask"), node="MaskedSelectBackward0",
    gradients={"self": vjp(_masked_select_backward, "self.shape", "mask")},
)  # fmt: skip


def masked_scatter(self: Array, mask: Array, source: Array) -> Array:
    """A copy with the entries of `source` put, in order, where the mask is True."""
    shape = numpy.broadcast_shapes(self.shape, mask.shape)
    made = numpy.array(numpy.broadcast_to(self, shape), copy=True)
    chosen = numpy.broadcast_to(mask, shape)
    count = int(numpy.count_nonzero(chosen))
    if source.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    made[chosen] = source.reshape(-1)[:count]
    return made


def _masked_scatter_backward(F: Any, grad: Any, mask: Any, shape: Sequence[int]) -> Any:
    picked = F.masked_select(grad, F.expand(mask, tuple(grad.shape)))
    missing = int(numpy.prod(shape)) - picked.shape[0]
    if missing > 0:
        picked = F.cat([picked, F.new_zeros(picked, (missing,))], 0)
    return F.reshape(picked, tuple(shape))


operation(
    "masked_scatter", masked_scatter, tensors=("self", "mask", "source"), node="MaskedScatterBackward0",
    inplace=True,
    gradients={
        "self": vjp(lambda F, grad, mask: F.masked_fill_Scalar(grad, mask, 0), "mask"),
        "source": vjp(_masked_scatter_backward, "mask", "source.shape"),
    },
)  # fmt: skip


def where_forward(condition: Array, self: Array, other: Array) -> Array:
    """self where the condition holds, else other. Raises RuntimeError unless the condition is bool."""
    if condition.dtype.kind != "b" and condition.dtype != numpy.uint8:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{dtypes.of(condition.dtype).scalar_name}"
        )
    broadcast_shapes(*(tuple(each.shape) for each in (condition, self, other) if hasattr(each, "shape")))
    kind = dtypes.result_type(self, other).numpy
    first, second = (
        each.astype(kind) if hasattr(each, "dtype") else kind.type(each) for each in (self, other)
    )
    result = numpy.where(condition, first, second)
    return result if result.ndim < 2 else layout.settle(result, condition, first, second)


operation(
    "where.self", where_forward, tensors=("condition", "self", "other"), scalars=("self", "other"),
    node="WhereBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, condition, dtype: F.handle_r_to_c(dtype, F.where(condition, grad,
            F.scalar_like(0, grad))),
            "condition", "self.dtype",
        ),
        "other": vjp(
            lambda F, grad, condition, dtype: F.handle_r_to_c(dtype, F.where(condition, F.scalar_like(0,
            grad), grad)),
            "condition", "other.dtype",
        ),
    },
)  # fmt: skip
operation("nonzero.plain", lambda self: arrays.asarray(numpy.stack(numpy.nonzero(self), 1)) if self.ndim else
          arrays.zeros((int(bool(self)), 0), numpy.int64), parameters="self")  # fmt: skip


@composite()
def nonzero(F: Any, self: Any, *, as_tuple: bool = False) -> Any:
    """The positions of the entries that are not 0."""
    found = F.nonzero_plain(self)
    return F.unbind(found, 1) if as_tuple else found


@composite("where", methods=())
def _where_function(F: Any, condition: Any, self: Any = None, other: Any = None, *, input: Any = None) -> Any:
    self = input if self is None else self
    if self is None and other is None:
        return F.nonzero(condition, as_tuple=True)
    return F.where_self(condition, self, other)


@composite("where.method", functions=(), methods=("where",))
def _where_method(F: Any, self: Any, condition: Any, other: Any) -> Any:
    return F.where_self(condition, self, other)
