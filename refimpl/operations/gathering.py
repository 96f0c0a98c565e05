"""Picking and scattering by index tensors: gather, scatter, index_select, index_add, take, put and the
masked ones.

Positions that occur more than once add up in the gradient (SUBGRAD-11).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays, dtypes
from . import layout
from .arithmetic import is_number
from .dimensions import axis_of
from .sizes import shape_text
from .table import composite, operation, vjp

Array = Any


def _check_index(name: str, index: Array) -> None:
    if index.dtype not in (numpy.dtype(numpy.int64), numpy.dtype(numpy.int32)):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def _in_range(index: Array, size: int, dim: int) -> None:
    if index.size:
        for bad in (index.max(), index.min()):
            if not 0 <= bad < size:
                raise RuntimeError(f"index {int(bad)} is out of bounds for dimension {dim} with size {size}")


def _grid(index: Array, axis: int) -> tuple[Any, ...]:
    """The key that picks `index` along `axis` and every own position elsewhere."""
    key = []
    for other, size in enumerate(index.shape):
        if other == axis:
            key.append(index)
        else:
            shape = [1] * index.ndim
            shape[other] = size
            key.append(arrays.arange(size).reshape(shape))
    return tuple(key)


def _copy(self: Array) -> Array:
    made = layout.empty_strided(self.shape, layout.preserved_strides(self), self.dtype)
    made[...] = self
    return made


def gather(self: Array, dim: int, index: Array, *, sparse_grad: bool = False) -> Array:
    """Along `dim` the entry that `index` names. Raises RuntimeError for shapes, types or positions that do
    not fit."""
    _check_index("gather", index)
    axis = axis_of(dim, self.ndim)
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for other in range(self.ndim):
        if other != axis and index.ndim and index.shape[other] > self.shape[other]:
            raise RuntimeError(
                f"Size does not match at dimension {other} expected index {shape_text(index.shape)} to be no "
                f"larger than "
                f"self {shape_text(self.shape)} apart from dimension {axis}"
            )
    _in_range(index, self.shape[axis] if self.ndim else 1, axis)
    if self.ndim == 0:
        return numpy.full(index.shape, self)
    if index.ndim == 0:
        return self[index.reshape(1)].reshape(())
    return layout.contiguous(self[_grid(index, axis)])


def _gather_backward(F: Any, grad: Any, shape: Sequence[int], dim: int, index: Any) -> Any:
    return F.scatter_add(F.new_zeros(grad, tuple(shape)), dim, index, grad)


operation(
    "gather", gather, tensors=("self", "index"), node="GatherBackward0",
    gradients={"self": vjp(_gather_backward, "self.shape", "dim", "index")},
)  # fmt: skip


def _check_scatter(name: str, self: Array, dim: int, index: Array, src: Array | None) -> int:
    _check_index(name, index)
    axis = axis_of(dim, self.ndim)
    if index.size == 0:
        return axis
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if src is not None:
        if src.dtype != self.dtype:
            raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
        if max(src.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for other, size in enumerate(index.shape):
        too_big = other != axis and size > self.shape[other]
        if too_big or (src is not None and size > src.shape[other]):
            text = (
                f"Expected index {shape_text(index.shape)} to be no larger than self "
                f"{shape_text(self.shape)} apart from "
                f"dimension {axis}"
            )
            if src is not None:
                text += f" and to be no larger size than src {shape_text(src.shape)}"
            raise RuntimeError(text)
    _in_range(index, self.shape[axis] if self.ndim else 1, axis)
    return axis


def _scatter(self: Array, dim: int, index: Array, src: Array, add: bool, name: str) -> Array:
    axis = _check_scatter(name, self, dim, index, src)
    made = _copy(self)
    if index.size == 0:
        return made
    if self.ndim == 0 or index.ndim == 0:
        made = made.reshape(-1)
        index, src, axis = index.reshape(-1), src.reshape(-1), 0
    part = src[tuple(slice(size) for size in index.shape)]
    if add:
        numpy.add.at(made, _grid(index, axis), part)
    else:
        made[_grid(index, axis)] = part
    return made.reshape(self.shape)


operation(
    "scatter.src", lambda self, dim, index, src: _scatter(self, dim, index, src, False, "scatter"),
    tensors=("self", "index", "src"), node="ScatterBackward0", inplace=True,
    gradients={
        "self": vjp(lambda F, grad, dim, index: F.scatter_value(grad, dim, index, 0), "dim", "index"),
        "src": vjp(lambda F, grad, dim, index: F.gather(grad, dim, index), "dim", "index"),
    },
)  # fmt: skip


def _scatter_value(self: Array, dim: int, index: Array, value: Any) -> Array:
    axis = _check_scatter("scatter", self, dim, index, None)
    made = _copy(self)
    if index.size and self.ndim:
        made[_grid(index.reshape(-1) if index.ndim == 0 else index, axis)] = made.dtype.type(value)
    elif index.size:
        made[...] = made.dtype.type(value)
    return made


operation(
    "scatter.value", _scatter_value, tensors=("self", "index"), node="ScatterBackward1", inplace=True,
    gradients={"self": vjp(lambda F, grad, dim, index: F.scatter_value(grad, dim, index, 0), "dim", "index")},
)  # fmt: skip
operation(
    "scatter_add", lambda self, dim, index, src: _scatter(self, dim, index, src, True, "scatter_add"),
    tensors=("self", "index", "src"), node="ScatterAddBackward0", inplace=True,
    gradients={
        "self": vjp(lambda F, grad: grad),
        "src": vjp(lambda F, grad, dim, index: F.gather(grad, dim, index), "dim", "index"),
    },
)  # fmt: skip


@composite()
def scatter(F: Any, self: Any, dim: int, index: Any, src: Any = None, *, value: Any = None) -> Any:
    """A copy with the entries of `src` (or one value) written at the positions of `index`."""
    src = value if src is None else src
    return (F.scatter_value if is_number(src) else F.scatter_src)(self, dim, index, src)


@composite("scatter_", functions=())
def _scatter_(F: Any, self: Any, dim: int, index: Any, src: Any = None, *, value: Any = None) -> Any:
    src = value if src is None else src
    return (F.scatter_value_ if is_number(src) else F.scatter_src_)(self, dim, index, src)


@composite()
def take_along_dim(F: Any, self: Any, indices: Any, dim: int | None = None) -> Any:
    """gather, with broadcasting; over the flattened tensor without `dim`."""
    if dim is None:
        return F.gather(F.reshape(self, (-1,)), 0, F.reshape(indices, (-1,)))
    axis = axis_of(dim, self.ndim)
    shape = list(numpy.broadcast_shapes(
        tuple(1 if a == axis else s for a, s in enumerate(self.shape)),
        tuple(1 if a == axis else s for a, s in enumerate(indices.shape)),
    ))  # fmt: skip
    own, other = list(shape), list(shape)
    own[axis], other[axis] = self.shape[axis], indices.shape[axis]
    return F.gather(F.expand(self, tuple(own)), axis, F.expand(indices, tuple(other)))


def index_select(self: Array, dim: int, index: Array) -> Array:
    """The slices of `dim` that a 1-d index names."""
    axis = axis_of(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    _check_index("index_select", index)
    if self.ndim == 0:
        return self.reshape(-1)[index.reshape(-1)].reshape(index.shape)
    flat = index.reshape(-1)
    size = self.shape[axis]
    if flat.size and not (flat.min() >= 0 and flat.max() < size):
        raise IndexError("index out of range in self")
    return layout.contiguous(self[(slice(None),) * axis + (flat,)])


operation(
    "index_select", index_select, tensors=("self", "index"), node="IndexSelectBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, shape, dim, index: F.index_add(F.new_zeros(grad, tuple(shape)), dim, index, grad)
            if len(shape) else F.reshape(grad, ()),
            "self.shape", "dim", "index",
        )
    },
)  # fmt: skip


def _place(self: Array, dim: int, index: Array) -> tuple[Any, ...]:
    axis = axis_of(dim, self.ndim)
    flat = index.reshape(-1)
    if flat.size and self.ndim and not (flat.min() >= -self.shape[axis] and flat.max() < self.shape[axis]):
        bad = flat.max() if flat.max() >= self.shape[axis] else flat.min()
        raise IndexError(
            f"index {int(bad)} is out of bounds for dimension {axis} with size {self.shape[axis]}"
        )
    return (slice(None),) * axis + (flat,) if self.ndim else ()


def _index_add(self: Array, dim: int, index: Array, source: Array, *, alpha: Any = 1) -> Array:
    if index.ndim > 1:
        raise IndexError("index_add_(): Index is supposed to be a vector")
    if source.dtype != self.dtype:
        raise RuntimeError("index_add_(): self and source must have the same scalar type")
    axis = axis_of(dim, self.ndim)
    if index.size != (source.shape[axis] if source.ndim else 1):
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.size}) should be equal to source.size(dim): "
            f"({source.shape[axis] if source.ndim else 1}), for dim: {dim}"
        )
    made = _copy(self)
    added = source if alpha == 1 else source * source.dtype.type(alpha)
    if made.ndim == 0:
        return made + added.reshape(())
    numpy.add.at(made, _place(made, axis, index), added)
    return made


def _picked(F: Any, grad: Any, dim: int, index: Any, shape: Sequence[int]) -> Any:
    if not shape:
        return F.reshape(F.index_select(grad, dim, index), ())
    return F.expand(F.index_select(grad, dim, index), tuple(shape))


operation(
    "index_add", _index_add, tensors=("self", "index", "source"), node="IndexAddBackward0", inplace=True,
    gradients={
        "self": vjp(lambda F, grad: grad),
        "source": vjp(
            lambda F, grad, dim, index, shape, alpha: F.maybe_multiply(_picked(F, grad, dim, index, shape),
            alpha),
            "dim", "index", "source.shape", "alpha",
        ),
    },
)  # fmt: skip


def _index_copy(self: Array, dim: int, index: Array, source: Array) -> Array:
    if source.dtype != self.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{dtypes.of(self.dtype).scalar_name} and (source) {dtypes.of(source.dtype).scalar_name}"
        )
    made = _copy(self)
    made[_place(made, dim, index)] = source
    return made


operation(
    "index_copy", _index_copy, tensors=("self", "index", "source"), node="IndexCopyBackward0", inplace=True,
    gradients={
        "self": vjp(lambda F, grad, dim, index: F.index_fill_Scalar(grad, dim, index, 0), "dim", "index"),
        "source": vjp(_picked, "dim", "index", "source.shape"),
    },
)  # fmt: skip


def _index_fill(self: Array, dim: int, index: Array, value: Any) -> Array:
    made = _copy(self)
    made[_place(made, dim, index)] = made.dtype.type(value) if is_number(value) else value.astype(made.dtype)
    return made


operation(
    "index_fill.Scalar", _index_fill, tensors=("self", "index"), node="IndexFillBackward0", inplace=True,
    gradients={"self": vjp(lambda F, grad, dim, index: F.index_fill_Scalar(grad, dim, index, 0), "dim",
    "index")},
)  # fmt: skip
operation(
    "index_fill.Tensor", _index_fill, tensors=("self", "index", "value"), node="IndexFillBackward1",
    inplace=True,
    gradients={
        "self": vjp(lambda F, grad, dim, index: F.index_fill_Scalar(grad, dim, index, 0), "dim", "index"),
        "value": vjp(lambda F, grad, dim, index: F.sum(F.index_select(grad, dim, F.distinct(index))), "dim",
        "index"),
    },
)  # fmt: skip
operation("distinct", lambda self: numpy.unique(self), parameters="self", functions=(), methods=())


@composite()
def index_fill(F: Any, self: Any, dim: int, index: Any, value: Any) -> Any:
    """A copy in which the slices that `index` names hold one value."""
    return (F.index_fill_Scalar if is_number(value) else F.index_fill_Tensor)(self, dim, index, value)


@composite("index_fill_", functions=())
def _index_fill_(F: Any, self: Any, dim: int, index: Any, value: Any) -> Any:
    return (F.index_fill_Scalar_ if is_number(value) else F.index_fill_Tensor_)(self, dim, index, value)


def _wrapped(index: Array, count: int, name: str) -> Array:
    if index.dtype != numpy.int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {dtypes.of(index.dtype).scalar_name}"
        )
    if index.size and not (index.min() >= -count and index.max() < count):
        bad = index.max() if index.max() >= count else index.min()
        raise IndexError(f"out of range: tried to access index {int(bad)} on a tensor of {count} elements.")
    return index


def take(self: Array, index: Array) -> Array:
    """The entries at positions of the flattened tensor."""
    return self.reshape(-1)[_wrapped(index, self.size, "take")]


operation(
    "take", take, tensors=("self", "index"), node="TakeBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, shape, index: F.put(F.new_zeros(grad, tuple(shape)), index, grad, True),
            "self.shape", "index"
        )
    },
)  # fmt: skip


def put(self: Array, index: Array, source: Array, accumulate: bool = False) -> Array:
    """A copy with entries written at (or added to) positions of the flattened tensor."""
    flat = self.reshape(-1).copy()
    where, values = _wrapped(index, self.size, "put_").reshape(-1), source.reshape(-1)
    if accumulate:
        numpy.add.at(flat, where, values)
    else:
        flat[where] = values
    return flat.reshape(self.shape)


operation(
    "put", put, tensors=("self", "index", "source"), node="PutBackward0", inplace=True,
    gradients={
        "self": vjp(
            lambda F, grad, index, source, accumulate: grad if accumulate else F.put(
                grad, index, F.zeros_like(source), False
            ),
            "index", "source", "accumulate",
        ),
        "source": vjp(
            lambda F, grad, index, shape: F.reshape(F.take(grad, index), tuple(shape)), "index",
            "source.shape"
        ),
    },
)  # fmt: skip
