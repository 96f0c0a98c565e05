"""diagonal, diag_embed, diag, unfold (VIEW-13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays
from .dimensions import axis_of
from .layout import element_strides
from .table import composite, operation, vjp

Array = Any


# diagonal, unfold
def diagonal(self: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """The view of a diagonal, as the last dimension."""
    first, second = axis_of(dim1, self.ndim), axis_of(dim2, self.ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape, strides = list(self.shape), list(element_strides(self))
    if offset >= 0:
        size = max(min(shape[first], shape[second] - offset), 0)
        start = offset * strides[second]
    else:
        size = max(min(shape[first] + offset, shape[second]), 0)
        start = -offset * strides[first]
    keep = [axis for axis in range(self.ndim) if axis not in (first, second)]
    return arrays.restride(
        self, (*(shape[axis] for axis in keep), size), (*(strides[axis] for axis in keep),
        strides[first] + strides[second]),
        start if size else 0,
    )  # fmt: skip


def _diagonal_backward(grad: Array, input_sizes: Sequence[int], offset: int, dim1: int, dim2: int) -> Array:
    whole = arrays.zeros(tuple(input_sizes), dtype=grad.dtype)
    diagonal(whole, offset, dim1, dim2)[...] = grad
    return whole


_DIAGONAL = ("offset", "dim1", "dim2")
operation(
    "diagonal_backward", _diagonal_backward, tensors=("grad",), node="DiagonalBackwardBackward0",
    functions=(), methods=(),
    gradients={"grad": vjp(lambda F, grad, *where: F.diagonal(grad, *where), *_DIAGONAL)},
)  # fmt: skip
operation(
    "diagonal", diagonal, node="DiagonalBackward0", view=True,
    gradients={
        "self": vjp(lambda F, grad, shape, *where: F.diagonal_backward(grad, shape, *where), "self.shape",
        *_DIAGONAL)
    },
)  # fmt: skip


def diag_embed(self: Array, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Array:
    """The last dimension as the diagonal of new square matrices."""
    ndim = self.ndim + 1
    first, second = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if first == second:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    for axis in sorted((first, second)):
        shape.insert(axis, size)
    return _diagonal_backward(self, shape, offset, first, second)


operation(
    "diag_embed", diag_embed, node="DiagEmbedBackward0",
    gradients={"self": vjp(lambda F, grad, *where: F.diagonal(grad, *where), *_DIAGONAL)},
)  # fmt: skip
operation(
    "diagonal_copy", lambda self, offset=0, dim1=0, dim2=1: diagonal(self, offset, dim1, dim2).copy(),
    node="DiagonalBackward0_copy",
    gradients={
        "self": vjp(lambda F, grad, shape, *where: F.diagonal_backward(grad, shape, *where), "self.shape",
        *_DIAGONAL)
    },
)  # fmt: skip


@composite()
def diag(F: Any, self: Any, diagonal: int = 0) -> Any:
    """A matrix from a diagonal, or the diagonal of a matrix."""
    if self.ndim == 1:
        return F.diag_embed(self, diagonal)
    if self.ndim == 2:
        return F.diagonal_copy(self, diagonal)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")


@composite()
def diagflat(F: Any, self: Any, offset: int = 0) -> Any:
    """A matrix whose diagonal holds all entries."""
    return F.diag_embed(F.reshape(F.contiguous(self), (-1,)), offset)


def unfold(self: Array, dimension: int, size: int, step: int) -> Array:
    """All windows of `size` positions, `step` apart, with the window as a new last dimension (VIEW-13)."""
    axis = axis_of(dimension, self.ndim)
    shape, strides = list(self.shape) or [1], list(element_strides(self)) or [1]
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > shape[axis]:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {shape[axis]} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    windows = (shape[axis] - size) // step + 1
    new_shape, new_strides = [*shape, size], [*strides, strides[axis]]
    new_shape[axis], new_strides[axis] = windows, strides[axis] * step
    if self.ndim == 0:
        new_shape, new_strides = [size], [1]
    return arrays.restride(self, tuple(new_shape), tuple(new_strides))


def _unfold_backward(grad: Array, input_sizes: Sequence[int], dim: int, size: int, step: int) -> Array:
    whole = arrays.zeros(tuple(input_sizes), dtype=grad.dtype)
    if not len(input_sizes):
        return grad.reshape(())
    axis = axis_of(dim, len(input_sizes))
    lead = (slice(None),) * axis
    for window in range(grad.shape[axis]):
        piece = numpy.moveaxis(grad[(*lead, window)], -1, axis)
        whole[(*lead, slice(window * step, window * step + size))] += piece
    return whole


_UNFOLD = ("dimension", "size", "step")
operation(
    "unfold_backward", _unfold_backward, tensors=("grad",), node="UnfoldBackwardBackward0", functions=(),
    methods=(),
    gradients={"grad": vjp(lambda F, grad, *where: F.unfold(grad, *where), "dim", "size", "step")},
)  # fmt: skip
operation(
    "unfold", unfold, node="UnfoldBackward0", view=True, functions=(),
    gradients={
        "self": vjp(lambda F, grad, shape, *where: F.unfold_backward(grad, shape, *where), "self.shape",
        *_UNFOLD)
    },
)  # fmt: skip
