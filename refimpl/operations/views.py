"""Views: other shapes of the same memory (VIEW-01 to VIEW-19).

Strides follow torch's rules exactly, also for dimensions of size 1, where numpy's differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any

import numpy

from .. import arrays, dtypes
from .dimensions import axes_of, axis_of
from .layout import element_strides, view_strides
from .sizes import expand_geometry, infer_size, shape_text, sizes_of
from .table import composite, operation, vjp

Array = Any


def view(self: Array, size: Sequence[int]) -> Array:
    """The same memory in another shape. Raises RuntimeError if the strides do not allow it (VIEW-12)."""
    shape = infer_size(size, self.size)
    strides = view_strides(self.shape, element_strides(self), shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans "
            "across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return arrays.restride(self, shape, strides)


operation(
    "view.shape", view, node="ViewBackward0", view=True,
    gradients={"self": vjp(lambda F, grad, shape: F.reshape(grad, shape), "self.shape")},
)  # fmt: skip
operation(
    "_reshape_alias", view, node="ReshapeAliasBackward0", view=True, functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad, shape: F.reshape(grad, shape), "self.shape")},
)  # fmt: skip
operation(
    "_unsafe_view", view, node="UnsafeViewBackward0", functions=("_unsafe_view",), methods=(),
    gradients={"self": vjp(lambda F, grad, shape: F.reshape(grad, shape), "self.shape")},
)  # fmt: skip


def _view_type(self: Array, dtype: Any) -> Array:
    if dtype.itemsize == self.dtype.itemsize:
        return self.view(dtype.numpy)
    raise RuntimeError("self.size(-1) must be divisible by the ratio of the sizes of the two types")


operation("view.dtype", _view_type, view=True)


@composite("view", functions=())
def _view(F: Any, self: Any, *size: Any, dtype: Any = None) -> Any:
    if dtype is not None or (len(size) == 1 and hasattr(size[0], "itemsize")):
        return F.view_dtype(self, dtype or size[0])
    return F.view_shape(self, sizes_of(size, "view"))


@composite(functions=())
def view_as(F: Any, self: Any, other: Any) -> Any:
    """A view in the shape of `other`."""
    return F.view_shape(self, tuple(other.shape))


@composite()
def reshape(F: Any, self: Any, *size: Any, shape: Any = None) -> Any:
    """A view where the strides allow it, else a copy (VIEW-12)."""
    wanted = infer_size(tuple(shape) if shape is not None else sizes_of(size, "reshape"), product(self.shape))
    if bool(F.is_row_major_value(self)):
        return F.view_shape(self, wanted)
    if F.is_viewable(self, wanted):
        return F._reshape_alias(self, wanted)
    return F._unsafe_view(F.contiguous_clone(self), wanted)


operation(
    "is_viewable.value",
    lambda self, size: numpy.bool_(view_strides(self.shape, element_strides(self), size) is not None),
)


@composite("is_viewable", functions=(), methods=())
def _is_viewable(F: Any, self: Any, size: Sequence[int]) -> bool:
    return bool(F.is_viewable_value(self, tuple(size)))


@composite(functions=())
def reshape_as(F: Any, self: Any, other: Any) -> Any:
    """Reshape to the shape of `other`."""
    return F.reshape(self, tuple(other.shape))


@composite()
def flatten(F: Any, self: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Merge the dimensions from `start_dim` to `end_dim`."""
    start, end = axis_of(start_dim, self.ndim), axis_of(end_dim, self.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if self.ndim == 0:
        return F.reshape(self, (1,))
    if start == end:
        return self
    shape = tuple(self.shape)
    return F.reshape(self, (*shape[:start], product(shape[start : end + 1]), *shape[end + 1 :]))


@composite()
def ravel(F: Any, self: Any) -> Any:
    """One dimension, contiguous."""
    return F.reshape(F.contiguous(self), (-1,))


@composite()
def unflatten(F: Any, self: Any, dim: int, sizes: Sequence[int]) -> Any:
    """Split one dimension into several."""
    axis = axis_of(dim, self.ndim)
    shape = tuple(self.shape)
    inner = tuple(sizes)
    if -1 not in inner and product(inner) != shape[axis]:
        raise RuntimeError(
            f"unflatten: Provided sizes {shape_text(inner)} don't multiply up to the size of dim {axis} "
            f"({shape[axis]}) "
            "in the input tensor"
        )
    return F.view_shape(self, (*shape[:axis], *infer_size(inner, shape[axis]), *shape[axis + 1 :]))


def permute(self: Array, dims: Sequence[int]) -> Array:
    """The dimensions in another order. Raises RuntimeError unless `dims` names each of them once."""
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
            "desired "
            f"ordering of dimensions i.e. input.dim() = {self.ndim} is not equal to len(dims) = {len(dims)}"
        )
    axes = tuple(axis_of(dim, self.ndim) for dim in dims)
    if len(set(axes)) < len(axes):
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return self.transpose(axes)


def _permute_backward(F: Any, grad: Any, dims: Sequence[int]) -> Any:
    axes = [axis_of(dim, len(dims)) for dim in dims]
    return F.permute(grad, tuple(axes.index(axis) for axis in range(len(axes))))


operation(
    "permute.dims",
    permute,
    node="PermuteBackward0",
    view=True,
    gradients={"self": vjp(_permute_backward, "dims")},
)


@composite("permute")
def _permute(F: Any, self: Any, *dims: Any) -> Any:
    return F.permute_dims(self, sizes_of(dims, "permute"))


def transpose(self: Array, dim0: int, dim1: int) -> Array:
    """Two dimensions exchanged."""
    first, second = axis_of(dim0, self.ndim), axis_of(dim1, self.ndim)
    if first == second or self.ndim == 0:
        return self
    return self.swapaxes(first, second)


operation(
    "transpose", transpose, node="TransposeBackward0", view=True, functions=("transpose", "swapaxes",
    "swapdims"),
    methods=("transpose", "swapaxes", "swapdims"),
    gradients={"self": vjp(lambda F, grad, dim0, dim1: F.transpose(grad, dim0, dim1), "dim0", "dim1")},
)  # fmt: skip


def t(self: Array) -> Array:
    """The transpose of a matrix. Raises RuntimeError for more than two dimensions."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.transpose()


operation("t", t, node="TBackward0", view=True, gradients={"self": vjp(lambda F, grad: F.t(grad))})


@composite()
def movedim(F: Any, self: Any, source: Any, destination: Any) -> Any:
    """Move dimensions to other places."""
    sources = (source,) if isinstance(source, int) else tuple(source)
    destinations = (destination,) if isinstance(destination, int) else tuple(destination)
    if len(sources) != len(destinations):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({shape_text(sources)} dims) should contain the same number of dims as destination "
            f"({shape_text(destinations)} dims)"
        )
    from_axes = [axis_of(each, self.ndim) for each in sources]
    to_axes = [axis_of(each, self.ndim) for each in destinations]
    order: list[int] = [-1] * self.ndim
    for from_axis, to_axis in zip(from_axes, to_axes, strict=True):
        order[to_axis] = from_axis
    rest = iter(axis for axis in range(self.ndim) if axis not in from_axes)
    return F.permute_dims(self, tuple(next(rest) if axis < 0 else axis for axis in order))


@composite()
def moveaxis(F: Any, self: Any, source: Any, destination: Any) -> Any:
    """Another name of movedim."""
    return F.movedim(self, source, destination)


@composite()
def adjoint(F: Any, self: Any) -> Any:
    """The conjugate transpose of the last two dimensions."""
    return F.conj(F.transpose(self, -2, -1))


def expand(self: Array, size: Sequence[int]) -> Array:
    """Repeated along new and size-1 dimensions by stride 0. Raises RuntimeError where sizes do not fit
    (VIEW-11)."""
    kind = "CPUBFloat16Type" if self.dtype == dtypes.bfloat16.numpy else dtypes.of(self.dtype).tensor_name
    shape, strides = expand_geometry(self.shape, element_strides(self), size, kind)
    return arrays.restride(self, shape, strides)


def sum_to(F: Any, grad: Any, shape: Sequence[int]) -> Any:
    """Sum what was expanded: leading dimensions and those of size 1."""
    shape = tuple(shape)
    if tuple(grad.shape) == shape:
        return grad
    lead = grad.ndim - len(shape)
    axes = [*range(lead)]
    axes += [lead + axis for axis, size in enumerate(shape) if size == 1 and grad.shape[lead + axis] != 1]
    if axes:
        grad = F.sum_dim(grad, axes, True)
    return F.view_shape(grad, shape) if lead > 0 else grad


operation(
    "expand.size", expand, node="ExpandBackward0", view=True,
    gradients={"self": vjp(sum_to, "self.shape")},
)  # fmt: skip


@composite("expand", functions=())
def _expand(F: Any, self: Any, *size: Any, implicit: bool = False) -> Any:
    return F.expand_size(self, sizes_of(size, "expand"))


@composite("sum_to_size", functions=())
def _sum_to_size(F: Any, self: Any, *size: Any) -> Any:
    return sum_to(F, self, sizes_of(size, "sum_to_size"))


@composite(functions=())
def expand_as(F: Any, self: Any, other: Any) -> Any:
    """Expand to the shape of `other`."""
    return F.expand_size(self, tuple(other.shape))


@composite()
def broadcast_to(F: Any, self: Any, size: Sequence[int]) -> Any:
    """Expand to `size`."""
    return F.expand_size(self, tuple(size))


# squeeze and unsqueeze
def _without(self: Array, axes: Sequence[int]) -> Array:
    strides = element_strides(self)
    keep = [axis for axis in range(self.ndim) if axis not in axes or self.shape[axis] != 1]
    return arrays.restride(
        self, tuple(self.shape[axis] for axis in keep), tuple(strides[axis] for axis in keep)
    )


def _unsqueeze_to(F: Any, grad: Any, shape: Sequence[int], axes: Sequence[int]) -> Any:
    for axis in axes:
        if shape[axis] == 1:
            grad = F.unsqueeze(grad, axis)
    return grad


operation(
    "squeeze.all", lambda self: _without(self, range(self.ndim)), node="SqueezeBackward0", view=True,
    gradients={"self": vjp(lambda F, grad, shape: _unsqueeze_to(F, grad, shape, range(len(shape))),
    "self.shape")},
)  # fmt: skip
operation(
    "squeeze.dim", lambda self, dim: _without(self, (axis_of(dim, self.ndim),)), node="SqueezeBackward1",
    view=True,
    gradients={
        "self": vjp(
            lambda F, grad, shape, dim: _unsqueeze_to(F, grad, shape, (axis_of(dim,
            len(shape)),)) if shape else grad,
            "self.shape", "dim",
        )
    },
)  # fmt: skip
operation(
    "squeeze.dims", lambda self, dim: _without(self, axes_of(dim, self.ndim)), node="SqueezeBackward2",
    view=True,
    gradients={
        "self": vjp(
            lambda F, grad, shape, dim: _unsqueeze_to(F, grad, shape, axes_of(dim, len(shape))),
            "self.shape", "dim"
        )
    },
)  # fmt: skip


@composite()
def squeeze(F: Any, self: Any, dim: Any = None) -> Any:
    """Without the dimensions of size 1, or without those of `dim` that are."""
    if dim is None:
        return F.squeeze_all(self)
    return F.squeeze_dim(self, dim) if isinstance(dim, int) else F.squeeze_dims(self, tuple(dim))


def unsqueeze(self: Array, dim: int) -> Array:
    """With one more dimension of size 1 at `dim`."""
    axis = axis_of(dim, self.ndim + 1)
    shape, strides = list(self.shape), list(element_strides(self))
    stride = 1 if axis >= self.ndim else shape[axis] * strides[axis]
    shape.insert(axis, 1)
    strides.insert(axis, stride)
    return arrays.restride(self, tuple(shape), tuple(strides))


operation(
    "unsqueeze", unsqueeze, node="UnsqueezeBackward0", view=True,
    gradients={"self": vjp(lambda F, grad, dim: F.squeeze_dim(grad, dim), "dim")},
)  # fmt: skip


@composite("T", functions=(), methods=("T",))
def _reversed(F: Any, self: Any) -> Any:
    return F.permute_dims(self, tuple(range(self.ndim - 1, -1, -1)))


@composite("mT", functions=(), methods=("mT",))
def _matrix_transpose(F: Any, self: Any) -> Any:
    if self.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor."
        )
    return F.transpose(self, -2, -1)


@composite("mH", functions=(), methods=("mH",))
def _matrix_adjoint(F: Any, self: Any) -> Any:
    return F.conj(F.mT(self))


@composite("H", functions=(), methods=("H",))
def _adjoint(F: Any, self: Any) -> Any:
    if self.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.")
    return F.conj(F.transpose(self, 0, 1)) if self.ndim else F.conj(self)
