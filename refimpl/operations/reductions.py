"""Reductions that add or multiply: sum, mean, prod, var, std, logsumexp, and the running cumsum, cumprod."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any

import numpy

from .. import arrays, dtypes
from ..dtypes import REDUCED
from . import summation
from .dimensions import axes_of, axis_of, unsqueeze_all
from .layout import contiguous, settle
from .pointwise import widen
from .table import FLOAT, composite, operation, vjp

Array = Any


def accumulate_type(dtype: Any) -> Any:
    """The numpy type that sums of `dtype` run in."""
    return numpy.dtype(numpy.float32) if dtype in REDUCED else dtype


def sum_over(self: Array, axes: Sequence[int], keepdim: bool, dtype: Any = None) -> Array:
    """The sum over `axes`, in torch's order, rounded once to `dtype` (a numpy type; default the array's
    own)."""
    if dtype is None:
        dtype = numpy.dtype(numpy.int64) if self.dtype.kind in "biu" else self.dtype
    if self.dtype != dtype and not (self.dtype in REDUCED and dtype == numpy.float32):
        self = self.astype(dtype)
    result = summation.total(self, axes, accumulate_type(dtype)).astype(dtype)
    if keepdim:
        result = result.reshape(tuple(1 if axis in axes else size for axis, size in enumerate(self.shape)))
    return result if self.size else contiguous(arrays.asarray(result))


def _sum(self: Array, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
    return sum_over(self, axes_of(dim, self.ndim), keepdim, dtype and dtype.numpy)


def _sum_backward(F: Any, grad: Any, shape: tuple[int, ...]) -> Any:
    return F.expand(grad, shape)


def sum_dim_backward(F: Any, grad: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """The gradient of a sum, seen in the operand's shape with stride 0 along the summed dimensions
    (LAYOUT-04)."""
    if not keepdim and shape:
        grad = unsqueeze_all(F, grad, axes_of(dim, len(shape)))
    return F.expand(grad, shape)


operation(
    "sum.full", lambda self, *, dtype=None: _sum(self, dtype=dtype), node="SumBackward0",
    gradients={"self": vjp(_sum_backward, "self.shape")},
)  # fmt: skip
operation(
    "sum.dim", _sum, node="SumBackward1", out=True,
    gradients={"self": vjp(sum_dim_backward, "self.shape", "dim", "keepdim")},
)  # fmt: skip


@composite()
def sum(
    F: Any, self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None
) -> Any:
    """The sum of all entries, or over `dim`."""
    dim = axis if dim is None else dim
    if dim is None and not keepdim:
        return F.sum_full(self, dtype=dtype)
    return F.sum_dim(self, dim, keepdim, dtype=dtype)


def _nansum(self: Array, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
    if self.dtype.kind not in "biu":
        self = numpy.where(numpy.isnan(self), self.dtype.type(0), self)
    return _sum(self, dim, keepdim, dtype=dtype)


operation(
    "nansum", _nansum, node="NansumBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, self, shape, dim, keepdim: F.mul(
                sum_dim_backward(F, grad, shape, dim, keepdim), F.logical_not(F.isnan(self))
            ),
            "self", "self.shape", "dim", "keepdim",
        )
    },
)  # fmt: skip


def _mean(self: Array, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
    kind = self.dtype if dtype is None else dtype.numpy
    if kind.kind in "biu":
        given = f"Got: {dtypes.of(kind).scalar_name}"
        which = "Input dtype must be either a floating point or complex dtype."
        if dtype is not None:
            which = "Optional dtype must be either a floating point or complex dtype."
        raise RuntimeError(f"mean(): could not infer output dtype. {which} {given}")
    axes = axes_of(dim, self.ndim)
    count = product(self.shape[axis] for axis in axes)
    wide = accumulate_type(kind)
    terms = self if self.dtype == wide else self.astype(wide)
    return (sum_over(terms, axes, keepdim, wide) / wide.type(count)).astype(kind)


def _mean_backward(F: Any, grad: Any, shape: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    count = product(shape[axis] for axis in axes_of(dim, len(shape)))
    return F.div_Scalar(sum_dim_backward(F, grad, shape, dim, keepdim), count)


operation(
    "mean.full", lambda self, *, dtype=None: _mean(self, dtype=dtype), node="MeanBackward0",
    gradients={
        "self": vjp(lambda F, grad, shape: F.div_Scalar(F.expand(grad, shape), product(shape)), "self.shape")
    },
)  # fmt: skip
operation(
    "mean.dim", _mean, node="MeanBackward1", out=True,
    gradients={"self": vjp(_mean_backward, "self.shape", "dim", "keepdim")},
)  # fmt: skip


@composite()
def mean(
    F: Any, self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, axis: Any = None
) -> Any:
    """The mean of all entries, or over `dim`."""
    dim = axis if dim is None else dim
    if dim is None and not keepdim:
        return F.mean_full(self, dtype=dtype)
    return F.mean_dim(self, dim, keepdim, dtype=dtype)


@composite()
def nanmean(F: Any, self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of the entries that are not NaN."""
    count = F.sum(F.logical_not(F.isnan(self)), dim, keepdim)
    return F.div(F.nansum(self, dim, keepdim, dtype=dtype), count)


@composite()
def count_nonzero(F: Any, self: Any, dim: Any = None) -> Any:
    """How many entries are not 0."""
    return F.sum(F.ne(self, 0), dim)


def _prod(self: Array, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
    kind = dtype.numpy if dtype is not None else self.dtype
    if dtype is None and kind.kind in "biu":
        kind = numpy.dtype(numpy.int64)
    axis = None if dim is None else axis_of(dim, self.ndim)
    if self.ndim == 0:
        return self.astype(kind)
    return numpy.prod(widen(self.astype(kind)), axis=axis, keepdims=keepdim).astype(kind)


def _others_product(F: Any, x: Any, axis: int) -> Any:
    """For each entry the product of the others along `axis`, exact also where some are 0 (SUBGRAD-09)."""
    size = x.shape[axis]
    ones = F.ones_like(F.narrow(x, axis, 0, 1))
    if size == 1:
        return ones
    before = F.cat([ones, F.cumprod(F.narrow(x, axis, 0, size - 1), axis)], axis)
    reverse = F.flip(F.narrow(x, axis, 1, size - 1), (axis,))
    after = F.flip(F.cat([ones, F.cumprod(reverse, axis)], axis), (axis,))
    return F.mul(before, after)


def _prod_backward(F: Any, grad: Any, self: Any, result: Any, shape: tuple[int, ...]) -> Any:
    if not shape:
        return grad
    self = F.to(self, F.dtype_of(grad))
    if F.count_of_zeros(self) == 0:
        return F.mul(grad, F.conj(F.div(result, self)))
    if not F.recorded and F.count_of_zeros(self) > 1:
        return F.zeros_like(self)
    flat = F.reshape(self, (-1,))
    return F.view_shape(F.mul(grad, F.conj(_others_product(F, flat, 0))), tuple(shape))


def _prod_dim_backward(
    F: Any, grad: Any, self: Any, result: Any, shape: tuple[int, ...], dim: int, keepdim: bool
) -> Any:
    if not shape:
        return grad
    axis = axis_of(dim, len(shape))
    self = F.to(self, F.dtype_of(grad))
    if not keepdim:
        grad, result = F.unsqueeze(grad, axis), F.unsqueeze(result, axis)
    if F.count_of_zeros(self) == 0:
        return F.mul(grad, F.conj(F.div(result, self)))
    return F.mul(grad, F.conj(_others_product(F, self, axis)))


operation(
    "prod.full", lambda self, *, dtype=None: _prod(self, dtype=dtype), node="ProdBackward0",
    gradients={"self": vjp(_prod_backward, "self", "result", "self.shape")},
)  # fmt: skip
operation(
    "prod.dim", _prod, node="ProdBackward1",
    gradients={"self": vjp(_prod_dim_backward, "self", "result", "self.shape", "dim", "keepdim")},
)  # fmt: skip


@composite()
def prod(F: Any, self: Any, dim: int | None = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of all entries, or along `dim`."""
    return F.prod_full(self, dtype=dtype) if dim is None else F.prod_dim(self, dim, keepdim, dtype=dtype)


operation("count_of_zeros.value", lambda self: numpy.int64(numpy.count_nonzero(self == 0)), parameters="self")


@composite("count_of_zeros", functions=(), methods=())
def _count_of_zeros(F: Any, self: Any) -> int:
    return int(F.count_of_zeros_value(self))


def _cumsum(self: Array, dim: int, *, dtype: Any = None) -> Array:
    kind = dtype.numpy if dtype is not None else self.dtype
    if dtype is None and kind.kind in "biu":
        kind = numpy.dtype(numpy.int64)
    axis = axis_of(dim, self.ndim)
    if self.ndim == 0:
        return self.astype(kind)
    # each partial sum is rounded, but the running total is kept in float64 (float32) as the kernel does
    wide = {"f": numpy.float64, "c": numpy.complex128, "V": numpy.float32}.get(kind.kind, kind)
    if kind in REDUCED:
        wide = numpy.float32
    # the kernel adds to a zero from the start, so that no partial sum is -0.0
    result = numpy.add(numpy.cumsum(self.astype(wide), axis=axis), 0).astype(kind)
    return result if result.ndim < 2 else settle(result, self)


def _cumsum_backward(F: Any, grad: Any, dim: int, dtype: Any) -> Any:
    grad = F.to(grad, dtype)
    if grad.ndim == 0 or product(grad.shape) <= 1 or grad.shape[dim] == 1:
        return grad
    return F.flip(F.cumsum(F.flip(grad, (dim,)), dim), (dim,))


operation(
    "cumsum", _cumsum, node="CumsumBackward0", inplace=True, out=True,
    gradients={"self": vjp(_cumsum_backward, "dim", "self.dtype")},
)  # fmt: skip


def _cumprod(self: Array, dim: int, *, dtype: Any = None) -> Array:
    kind = dtype.numpy if dtype is not None else self.dtype
    if dtype is None and kind.kind in "biu":
        kind = numpy.dtype(numpy.int64)
    axis = axis_of(dim, self.ndim)
    if self.ndim == 0:
        return self.astype(kind)
    wide = {"f": numpy.float64, "c": numpy.complex128}.get(kind.kind, kind)
    if kind in REDUCED:
        wide = numpy.float32
    result = numpy.cumprod(self.astype(wide), axis=axis).astype(kind)
    return result if result.ndim < 2 else settle(result, self)


def _cumprod_backward(F: Any, grad: Any, self: Any, result: Any, dim: int, dtype: Any) -> Any:
    grad = F.to(grad, dtype)
    if grad.ndim == 0 or product(grad.shape) <= 1:
        return grad
    if F.count_of_zeros(self) == 0:
        weighted = F.mul(F.conj(result), grad)
        return F.div(F.flip(F.cumsum(F.flip(weighted, (dim,)), dim), (dim,)), F.conj(self))
    axis = axis_of(dim, grad.ndim)
    size = self.shape[axis]
    ones = F.ones_like(F.narrow(self, axis, 0, 1))
    parts = []
    for index in range(size):
        before = F.prod(F.narrow(self, axis, 0, index), axis, True) if index else ones
        if index + 1 < size:
            after = F.cat([ones, F.cumprod(F.narrow(self, axis, index + 1, size - index - 1), axis)], axis)
        else:
            after = ones
        slope = F.conj(F.mul(before, after))
        parts.append(F.sum(F.mul(F.narrow(grad, axis, index, size - index), slope), axis, True))
    return F.cat(parts, axis)


operation(
    "cumprod", _cumprod, node="CumprodBackward0", inplace=True, out=True,
    gradients={"self": vjp(_cumprod_backward, "self", "result", "dim", "self.dtype")},
)  # fmt: skip


def _logcumsumexp(self: Array, dim: int) -> Array:
    return numpy.logaddexp.accumulate(widen(self), axis=axis_of(dim, self.ndim)).astype(self.dtype)


operation(
    "logcumsumexp", _logcumsumexp, node="LogcumsumexpBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, self, result, dim: F.mul(
                F.exp(self), F.flip(F.cumsum(F.flip(F.mul(grad, F.exp(F.neg(result))), (dim,)), dim), (dim,))
            ),
            "self", "result", "dim",
        )
    },
)  # fmt: skip


def _logsumexp(self: Array, dim: Any, keepdim: bool = False) -> Array:
    axes = axes_of(dim, self.ndim)
    wide = widen(self)
    if self.size == 0:
        return contiguous(arrays.asarray(numpy.log(sum_over(wide, axes, keepdim)).astype(self.dtype)))
    largest = numpy.max(wide, axis=tuple(axes), keepdims=True) if self.ndim else wide
    largest = numpy.where(numpy.isinf(largest), 0, largest).astype(wide.dtype)
    shift = largest if keepdim else arrays.asarray(largest).reshape(
        tuple(size for axis, size in enumerate(self.shape) if axis not in axes)
    )  # fmt: skip
    return (numpy.log(sum_over(numpy.exp(wide - largest), axes, keepdim)) + shift).astype(self.dtype)


def _logsumexp_backward(
    F: Any, grad: Any, self: Any, result: Any, shape: tuple[int, ...], dim: Any, keepdim: bool
) -> Any:
    if not keepdim and shape:
        axes = axes_of(dim, len(shape))
        grad, result = unsqueeze_all(F, grad, axes), unsqueeze_all(F, result, axes)
    return F.mul(grad, F.conj(F.exp(F.sub(self, result))))


operation(
    "logsumexp", _logsumexp, node="LogsumexpBackward0", promotion=FLOAT,
    gradients={"self": vjp(_logsumexp_backward, "self", "result", "self.shape", "dim", "keepdim")},
)  # fmt: skip
