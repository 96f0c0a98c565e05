"""Joining and repeating: cat, stack, repeat, flip, roll, pad."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays, dtypes
from . import layout
from .dimensions import axis_of
from .sizes import sizes_of
from .table import composite, operation, vjp

Array = Any


def _is_legacy_empty(array: Any) -> bool:
    return tuple(array.shape) == (0,)


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """One after the other along `dim`. Raises RuntimeError for an empty list or shapes that do not fit."""
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for index, each in enumerate(tensors):
        if each.ndim == 0:
            raise RuntimeError(f"zero-dimensional tensor (at position {index}) cannot be concatenated")
    used = [each for each in tensors if not _is_legacy_empty(each)]
    kind = dtypes.result_type(*tensors).numpy
    if not used:
        return creation_empty(kind)
    axis = axis_of(dim, used[0].ndim)
    first = used[0]
    for index, each in enumerate(tensors):
        if _is_legacy_empty(each):
            continue
        if each.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {each.ndim}"
            )
        for other in range(first.ndim):
            if other != axis and each.shape[other] != first.shape[other]:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size "
                    f"{first.shape[other]} but got "
                    f"size {each.shape[other]} for tensor number {index} in the list."
                )
    joined = numpy.concatenate([each.astype(kind) for each in used], axis=axis)
    if joined.ndim in (4, 5) and all(_format(each) == "channels_last" for each in used):
        return layout.with_strides(joined, layout.channels_last_strides(joined.shape))
    return layout.contiguous(joined)


def _format(array: Array) -> str:
    strides = layout.element_strides(array)
    if layout.is_contiguous(array.shape, strides):
        return "contiguous"
    return "channels_last" if layout.is_channels_last(array.shape, strides) else "other"


def creation_empty(kind: Any) -> Array:
    """An empty 1-d array."""
    return arrays.empty((0,), dtype=kind)


def _cat_backward(F: Any, grad: Any, shapes: Sequence[Any], types: Sequence[Any], dim: int) -> Any:
    axis = axis_of(dim, grad.ndim)
    start, found = 0, []
    for shape, dtype in zip(shapes, types, strict=True):
        if tuple(shape) == (0,):
            found.append(F.new_zeros(grad, (0,)))
            continue
        part = F.handle_r_to_c(dtype, F.narrow(grad, axis, start, shape[axis]))
        found.append(part)
        start += shape[axis]
    return found


operation(
    "cat", cat, tensors=("*tensors",), node="CatBackward0", methods=(), functions=("cat", "concat",
    "concatenate"),
    gradients={"tensors": vjp(_cat_backward, "tensors.shape", "tensors.dtype", "dim")},
)  # fmt: skip


def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Along a new dimension. Raises RuntimeError for an empty list or unequal shapes."""
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    first = tensors[0]
    axis = axis_of(dim, first.ndim + 1)
    for index, each in enumerate(tensors):
        if each.shape != first.shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first.shape)} at entry 0 and "
                f"{list(each.shape)} at entry {index}"
            )
    kind = dtypes.result_type(*tensors).numpy
    return layout.contiguous(numpy.stack([each.astype(kind) for each in tensors], axis=axis))


def _stack_backward(F: Any, grad: Any, types: Sequence[Any], dim: int) -> Any:
    axis = axis_of(dim, grad.ndim)
    return [F.handle_r_to_c(dtype, F.select(grad, axis, index)) for index, dtype in enumerate(types)]


operation(
    "stack", stack, tensors=("*tensors",), node="StackBackward0", methods=(),
    gradients={"tensors": vjp(_stack_backward, "tensors.dtype", "dim")},
)  # fmt: skip


def _at_least(F: Any, tensor: Any, ndim: int) -> Any:
    if ndim >= 1 and tensor.ndim == 0:
        tensor = F.reshape(tensor, (1,))
    if ndim >= 2 and tensor.ndim == 1:
        tensor = F.unsqueeze(tensor, 0)
    if ndim >= 3 and tensor.ndim == 2:
        tensor = F.unsqueeze(tensor, -1)
    return tensor


for _ndim in (1, 2, 3):

    def _at_least_n(F: Any, *tensors: Any, ndim: int = _ndim) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            tensors = tuple(tensors[0])
        found = tuple(_at_least(F, each, ndim) for each in tensors)
        return found[0] if len(found) == 1 else found

    composite(f"atleast_{_ndim}d", methods=())(_at_least_n)


@composite(methods=())
def hstack(F: Any, tensors: Any) -> Any:
    """Side by side."""
    parts = [_at_least(F, each, 1) for each in tensors]
    return F.cat(parts, 0 if parts[0].ndim == 1 else 1)


@composite(methods=())
def vstack(F: Any, tensors: Any) -> Any:
    """One below the other."""
    return F.cat([_at_least(F, each, 2) for each in tensors], 0)


@composite(methods=())
def dstack(F: Any, tensors: Any) -> Any:
    """One behind the other."""
    return F.cat([_at_least(F, each, 3) for each in tensors], 2)


@composite(methods=())
def column_stack(F: Any, tensors: Any) -> Any:
    """Vectors as columns, side by side."""
    parts = [
        F.reshape(each, (each.shape[0] if each.ndim else 1, 1)) if each.ndim < 2 else each for each in tensors
    ]
    return F.cat(parts, 1)


def _repeat(self: Array, repeats: Sequence[int]) -> Array:
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    if any(each < 0 for each in repeats):
        raise RuntimeError("Trying to create tensor with negative dimension")
    return layout.contiguous(numpy.tile(self, tuple(repeats)))


def _repeat_backward(F: Any, grad: Any, shape: Sequence[int], repeats: Sequence[int]) -> Any:
    shape = tuple(shape)
    lead = len(repeats) - len(shape)
    if 0 in repeats:
        return F.new_zeros(grad, shape)
    if lead:
        grad = F.sum(grad, tuple(range(lead)))
    inner: list[int] = []
    axes: list[int] = []
    for size, times in zip(shape, repeats[lead:], strict=True):
        if times != 1:
            axes.append(len(inner))
            inner.append(times)
        inner.append(size)
    return F.sum(F.reshape(grad, tuple(inner)), tuple(axes)) if axes else grad


operation(
    "repeat.sizes", _repeat, node="RepeatBackward0",
    gradients={"self": vjp(_repeat_backward, "self.shape", "repeats")},
)  # fmt: skip


@composite("repeat", functions=())
def _repeat_sizes(F: Any, self: Any, *repeats: Any) -> Any:
    return F.repeat_sizes(self, sizes_of(repeats, "repeat"))


@composite()
def tile(F: Any, self: Any, *dims: Any) -> Any:
    """Repeat, with ones put before too few repeats."""
    repeats = sizes_of(dims, "tile")
    return F.repeat_sizes(self, (1,) * (self.ndim - len(repeats)) + repeats)


@composite()
def repeat_interleave(F: Any, self: Any, repeats: Any, dim: int | None = None) -> Any:
    """Each entry as often as `repeats` says."""
    if dim is None:
        self, dim = F.reshape(self, (-1,)), 0
    axis = axis_of(dim, self.ndim)
    size = self.shape[axis]
    if isinstance(repeats, int):
        wide = F.expand(
            F.unsqueeze(self, axis + 1), (*self.shape[: axis + 1], repeats, *self.shape[axis + 1 :])
        )
        return F.view_shape(
            F.contiguous_clone(wide), (*self.shape[:axis], size * repeats, *self.shape[axis + 1 :])
        )
    counts = repeats.tolist()
    counts = counts * size if len(counts) == 1 else counts
    if len(counts) != size:
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {len(counts)} "
            f"and "
            f"input.size({axis}) = {size}"
        )
    from ..tensor import wrap

    index = [position for position, count in enumerate(counts) for _ in range(count)]
    return F.index_select(self, axis, wrap(arrays.asarray(index, dtype=numpy.int64)))


def _flip(self: Array, dims: Sequence[int]) -> Array:
    axes = tuple(axis_of(dim, self.ndim) for dim in dims)
    if len(set(axes)) < len(axes):
        twice = next(axis for axis in axes if axes.count(axis) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    made = layout.empty_strided(self.shape, layout.preserved_strides(self), self.dtype)
    made[...] = numpy.flip(self, axes)
    return made


operation(
    "flip.dims", _flip, node="FlipBackward0",
    gradients={"self": vjp(lambda F, grad, dims: F.flip(grad, dims), "dims")},
)  # fmt: skip


@composite()
def flip(F: Any, self: Any, *dims: Any) -> Any:
    """The entries in reverse order along `dims`."""
    return F.flip_dims(self, sizes_of(dims, "flip"))


@composite()
def fliplr(F: Any, self: Any) -> Any:
    """Columns reversed."""
    return F.flip_dims(self, (1,))


@composite()
def flipud(F: Any, self: Any) -> Any:
    """Rows reversed."""
    return F.flip_dims(self, (0,))


def _listed(value: Any) -> tuple[int, ...]:
    return (value,) if isinstance(value, int) else tuple(value)


def _roll(self: Array, shifts: Any, dims: Any = ()) -> Array:
    moves, axes = _listed(shifts), _listed(dims)
    if not axes:
        if len(moves) != 1:
            raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:0")
        return layout.contiguous(numpy.roll(self, moves[0]))
    if len(moves) != len(axes):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(axes)}")
    return layout.contiguous(numpy.roll(self, moves, tuple(axis_of(axis, self.ndim) for axis in axes)))


operation(
    "roll", _roll, node="RollBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, shifts, dims: F.roll(
                grad, tuple(-shift for shift in reversed(_listed(shifts))), tuple(reversed(_listed(dims)))
            ),
            "shifts", "dims",
        )
    },
)  # fmt: skip


def _pad(self: Array, pad: Sequence[int], value: Any = 0) -> Array:
    if len(pad) % 2 or len(pad) // 2 > self.ndim:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    before = [0] * self.ndim
    after = [0] * self.ndim
    for position in range(len(pad) // 2):
        axis = self.ndim - 1 - position
        before[axis], after[axis] = pad[2 * position], pad[2 * position + 1]
    cut = tuple(
        slice(max(-low, 0), size - max(-high, 0))
        for low, high, size in zip(before, after, self.shape, strict=True)
    )
    widths = [(max(low, 0), max(high, 0)) for low, high in zip(before, after, strict=True)]
    return layout.contiguous(numpy.pad(self[cut], widths, constant_values=self.dtype.type(value or 0)))


operation(
    "constant_pad_nd", _pad, node="ConstantPadNdBackward0", methods=(),
    gradients={
        "self": vjp(lambda F, grad, pad: F.constant_pad_nd(grad, tuple(-each for each in pad), 0), "pad")
    },
)  # fmt: skip


@composite(methods=())
def meshgrid(F: Any, *tensors: Any, indexing: str | None = None) -> Any:
    """Grids of coordinates."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    if indexing == "xy" and len(tensors) > 1:
        swapped = F.meshgrid(tensors[1], tensors[0], *tensors[2:], indexing="ij")
        return tuple(F.swapaxes(each, 0, 1) for each in (swapped[1], swapped[0], *swapped[2:]))
    shape = tuple(each.shape[0] if each.ndim else 1 for each in tensors)
    found = []
    for axis, each in enumerate(tensors):
        inner = [1] * len(shape)
        inner[axis] = -1
        found.append(F.expand(F.view_shape(each, tuple(inner)), shape))
    return tuple(found)


@composite(methods=())
def broadcast_tensors(F: Any, *tensors: Any) -> Any:
    """All tensors expanded to their common shape."""
    from .sizes import broadcast_shapes

    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shape = broadcast_shapes(*(tuple(each.shape) for each in tensors))
    return tuple(each if tuple(each.shape) == shape else F.expand(each, shape) for each in tensors)
