"""x[index] and x[index] = value, basic, advanced and boolean; index, index_put (INPLACE-07, INPLACE-08,
INPLACE-15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays, dtypes
from ..tensor import Tensor, wrap
from . import creation, layout
from .arithmetic import is_number
from .sizes import shape_text
from .slicing import END
from .table import composite, operation, vjp
from .views import sum_to

Array = Any

_NO_DIMENSION = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert "
    "a 0-dim tensor to a number"
)


# Advanced indexing over arrays
def _positions(self: Array, indices: Sequence[Array | None]) -> list[Array | None]:
    """Integer indices only: masks become positions. Raises IndexError for masks or positions that do not
    fit."""
    found: list[Array | None] = []
    for index in indices:
        if index is None:
            found.append(None)
            continue
        if index.dtype.kind == "b" or index.dtype == numpy.uint8:
            axis = len(found)
            for offset, size in enumerate(index.shape):
                if axis + offset >= self.ndim or size != self.shape[axis + offset]:
                    raise IndexError(
                        f"The shape of the mask {shape_text(index.shape)} at index {offset} does not match "
                        f"the shape of the "
                        f"indexed tensor {shape_text(self.shape)} at index {axis + offset}"
                    )
            found.extend(numpy.nonzero(index) if index.ndim else numpy.nonzero(index.reshape(1)))
            continue
        if index.dtype.kind not in "iu":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        found.append(index)
    if len(found) > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim} (got {len(found)})")
    for axis, index in enumerate(found):
        if index is not None and index.size:
            size = self.shape[axis]
            for bad in (index.max(), index.min()):
                if not -size <= bad < size:
                    raise IndexError(
                        f"index {int(bad)} is out of bounds for dimension {axis} with size {size}"
                    )
    shapes = [index.shape for index in found if index is not None]
    try:
        numpy.broadcast_shapes(*shapes)
    except ValueError:
        text = ", ".join(shape_text(shape) for shape in shapes)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {text}"
        ) from None
    return found


def _key(self: Array, indices: Sequence[Array | None]) -> tuple[Any, ...]:
    return tuple(slice(None) if index is None else index for index in _positions(self, indices))


def index(self: Array, indices: Sequence[Array | None]) -> Array:
    """The entries at the positions that the indices name, with numpy's placing of dimensions."""
    return layout.contiguous(arrays.asarray(self)[_key(self, indices)])


def index_put(self: Array, indices: Sequence[Array | None], values: Array, accumulate: bool = False) -> Array:
    """A copy with `values` written at (or added to) the positions. Raises RuntimeError for another type or
    shape."""
    if values.dtype != self.dtype:
        source, target = dtypes.of(values.dtype).scalar_name, dtypes.of(self.dtype).scalar_name
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, "
            f"got {target} for the destination and {source} for the source."
        )
    key = _key(self, indices)
    shape = self[key].shape
    try:
        numpy.broadcast_to(values, shape)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {shape_text(values.shape)} cannot be broadcast to "
            f"indexing result of "
            f"shape {shape_text(shape)}"
        ) from None
    made = layout.empty_strided(self.shape, layout.preserved_strides(self), self.dtype)
    made[...] = self
    if accumulate:
        numpy.add.at(made, key, values)
    else:
        made[key] = values
    return made


def _index_backward(F: Any, grad: Any, shape: Sequence[int], indices: Sequence[Any]) -> Any:
    return F._index_put_impl(F.new_zeros(grad, tuple(shape)), indices, grad, True)


def _put_gradients(node: str, key: str) -> None:
    operation(
        key, index_put, tensors=("self", "*indices", "values"), scalars=(), node=node, inplace=True,
        functions=(key,) if key == "index_put" else (), methods=(key,) if key == "index_put" else (),
        gradients={
            "self": vjp(
                lambda F, grad, indices, values, accumulate: grad if accumulate else F.index_put(
                    grad, indices, F.scalar_like(0, grad)
                ),
                "indices", "values.shape", "accumulate",
            ),
            "values": vjp(
                lambda F, grad, indices, shape: sum_to(F, F.index(grad, indices), shape), "indices",
                "values.shape"
            ),
        },
    )  # fmt: skip


_put_gradients("IndexPutBackward0", "index_put")
_put_gradients("IndexPutImplBackward0", "_index_put_impl")
operation(
    "index", index, tensors=("self", "*indices"), node="IndexBackward0", functions=(), methods=(),
    gradients={"self": vjp(_index_backward, "self.shape", "indices")},
)  # fmt: skip


# Reading an index expression
def _specified(entries: Sequence[Any]) -> int:
    count = 0
    for entry in entries:
        if entry is None or entry is Ellipsis or isinstance(entry, bool):
            continue
        count += (
            entry.ndim if isinstance(entry, Tensor) and entry.dtype in (dtypes.bool_, dtypes.uint8) else 1
        )
    return count


def _as_entry(entry: Any) -> Any:
    if entry is None or entry is Ellipsis or isinstance(entry, (bool, int, slice, Tensor)):
        return entry
    if isinstance(entry, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(entry, (list, tuple)):
        return creation.tensor(entry) if len(entry) else creation.tensor([], dtype=dtypes.int64)
    if hasattr(entry, "dtype") and hasattr(entry, "shape"):
        return creation.tensor(entry) if entry.shape else entry.item()
    if hasattr(entry, "__index__"):
        return entry.__index__()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        "(got "
        f"{type(entry).__name__})"
    )


def _bound(value: Any) -> int | None:
    return None if value is None else value.__index__()


def _read(F: Any, self: Any, item: Any) -> tuple[Any, list[Any]]:
    """The basic part applied as views, and the tensors that are left (None where a dimension is
    untouched)."""
    entries = [_as_entry(each) for each in (item if isinstance(item, tuple) else (item,))]
    specified = _specified(entries)
    if specified > self.ndim:
        if len(entries) == 1 and isinstance(entries[0], int) and not isinstance(entries[0], bool):
            raise IndexError(_NO_DIMENSION)
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    result, dim = self, 0
    left: list[Any] = []
    real = 0  # the dimension of `self` that `dim` stands for

    def keep(tensor: Any) -> None:
        left.extend([None] * (dim - len(left)))
        left.append(tensor)

    for entry in entries:
        if entry is Ellipsis:
            dim += self.ndim - specified
            real += self.ndim - specified
        elif entry is None:
            result = F.unsqueeze(result, dim)
            dim += 1
        elif isinstance(entry, bool):
            result = F.unsqueeze(result, dim)
            keep(creation.tensor([0] if entry else [], dtype=dtypes.int64))
            dim += 1
        elif isinstance(entry, int):
            result = _at(F, result, dim, entry, real)
            real += 1
        elif isinstance(entry, slice):
            result = _range(F, result, dim, entry)
            dim += 1
            real += 1
        elif entry.ndim == 0 and entry.dtype.category <= dtypes.INTEGER:
            if entry.dtype in (dtypes.bool_, dtypes.uint8):
                result = F.unsqueeze(result, dim)
                keep(creation.tensor([0] if bool(entry) else [], dtype=dtypes.int64))
                dim += 1
            else:
                result = _at(F, result, dim, int(entry.item()), real)
                real += 1
        else:
            keep(entry)
            width = entry.ndim if entry.dtype in (dtypes.bool_, dtypes.uint8) else 1
            dim += width
            real += width
    return result, left


def _at(F: Any, self: Any, dim: int, position: int, real: int) -> Any:
    if self.ndim == 0:
        raise IndexError(_NO_DIMENSION)
    size = self.shape[dim]
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of bounds for dimension {real} with size {size}")
    return F.select(self, dim, position)


def _range(F: Any, self: Any, dim: int, entry: slice, alone: bool = False) -> Any:
    step = 1 if entry.step is None else entry.step.__index__()
    if step <= 0:
        raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    start, end = _bound(entry.start), _bound(entry.stop)
    if self.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if start in (None, 0) and end is None and step == 1 and not alone:
        return self
    return F.slice_view(self, dim, 0 if start is None else start, END if end is None else end, step)


@composite(functions=(), methods=())
def getitem(F: Any, self: Any, item: Any) -> Any:
    """x[item]."""
    if item.__class__ is int:
        return _at(F, self, 0, item, 0)
    if item.__class__ is slice:
        return _range(F, self, 0, item, alone=True)
    result, left = _read(F, self, item)
    if left:
        return F.index(result, left)
    return F.alias(result) if result is self else result


def _without_leading_ones(shape: Sequence[int]) -> tuple[int, ...]:
    start = 0
    while start < len(shape) and shape[start] == 1:
        start += 1
    return tuple(shape[start:])


def _value(self: Any, value: Any) -> Any:
    if isinstance(value, Tensor):
        return value
    if is_number(value):
        return wrap(arrays.asarray(self.dtype.numpy.type(_cast_number(value, self.dtype))))
    if hasattr(value, "dtype"):
        return creation.tensor(value)
    raise TypeError(f"can't assign a {type(value).__name__} to a torch.{self.dtype.scalar_name}Tensor")


def _cast_number(value: Any, dtype: Any) -> Any:
    if isinstance(value, complex) and not dtype.is_complex:
        raise RuntimeError("value cannot be converted to type float without overflow")
    return value


@composite(functions=(), methods=())
def setitem(F: Any, self: Any, item: Any, value: Any) -> None:
    """x[item] = value: a copy into the view, or index_put_ where tensors index."""
    value = _value(self, value)
    target, left = _read(F, self, item)
    if not left:
        _copy_to(F, target, value)
        return
    wanted = _without_leading_ones(value.shape)
    if wanted != tuple(value.shape) and value.ndim:
        value = F.view_shape(value, wanted) if F.is_viewable(value, wanted) else F.reshape(value, wanted)
    if value.dtype is not self.dtype:
        value = F.to(value, self.dtype)
    F.index_put_(target, left, value)


def _copy_to(F: Any, target: Any, value: Any) -> None:
    if tuple(target.shape) == tuple(value.shape):
        F.copy_(target, value)
    elif value.ndim == 0:
        F.fill_Tensor_(target, value)
    else:
        wanted = _without_leading_ones(value.shape)
        if wanted != tuple(value.shape):
            value = F.view_shape(value, wanted)
        try:
            value = F.expand(value, tuple(target.shape))
        except RuntimeError:
            raise _mismatch(target, value) from None
        F.copy_(target, value)


def _mismatch(target: Any, value: Any) -> RuntimeError:
    shape, wanted = tuple(value.shape), tuple(target.shape)
    if len(shape) > len(wanted):
        return RuntimeError(
            f"expand(torch.{value.dtype.scalar_name}Tensor{{{shape_text(shape)}}}, "
            f"size={shape_text(wanted)}): the number of "
            f"sizes provided ({len(wanted)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(shape)})"
        )
    lead = len(wanted) - len(shape)
    axis = max(lead + own for own, size in enumerate(shape) if size not in (1, wanted[lead + own]))
    return RuntimeError(
        f"The expanded size of the tensor ({wanted[axis]}) must match the existing size "
        f"({shape[axis - lead]}) at "
        f"non-singleton dimension {axis}.  Target sizes: {shape_text(wanted)}.  Tensor sizes: "
        f"{shape_text(shape)}"
    )
