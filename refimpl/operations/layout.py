"""Memory layout: the strides that torch gives to results, in elements (LAYOUT-01 to LAYOUT-06).

numpy keeps the order of its operands' axes too, but decides conflicts otherwise (row-major wins there, the
first operand
here), so results of two and more dimensions are settled after the computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .. import arrays

Array = Any


def element_strides(array: Array) -> tuple[int, ...]:
    """The array's strides in elements, as torch has them.

    numpy gives an empty array of its own strides of 0, torch those of a contiguous one."""
    if array.size == 0 and array.base is None:
        return contiguous_strides(array.shape)
    size = array.dtype.itemsize
    return tuple(stride // size for stride in array.strides)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides; a dimension of size 0 counts as 1."""
    strides = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Row-major without gaps; strides of dimensions of size 1 do not count, and an empty tensor always is."""
    expected = 1
    if 0 in shape:
        return True
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Non-overlapping and dense: some permutation of the dimensions is contiguous."""
    expected = 1
    for stride, size in sorted(zip(strides, shape, strict=True), key=lambda pair: (pair[1] < 2, pair[0])):
        if size < 2:
            return True
        if stride != expected:
            return False
        expected *= size
    return True


def may_overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """True unless each dimension steps over all that the faster ones reach."""
    reach = 1
    if 0 in shape:
        return False
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size == 1:
            continue
        if stride < reach:
            return True
        reach += (size - 1) * stride
    return False


def is_channels_last(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """The strides of `torch.channels_last` (4-d) or `torch.channels_last_3d` (5-d)."""
    if len(shape) not in (4, 5):
        return False
    least = 0
    if strides[1] == 0:
        return False
    for axis in (1, *range(len(shape) - 1, 1, -1), 0):
        if shape[axis] == 0 or strides[axis] < least:
            return False
        if axis == 0 and least == strides[1]:
            return False
        least = strides[axis] * max(shape[axis], 1)
    return True


def channels_last_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Dense strides with the channel dimension (1) fastest."""
    strides = [0] * len(shape)
    stride = 1
    for axis in (1, *range(len(shape) - 1, 1, -1), 0):
        strides[axis] = stride
        stride *= max(shape[axis], 1)
    return tuple(strides)


def _order(shape: Sequence[int], operands: Sequence[Sequence[int]]) -> list[int]:
    """The dimensions from fastest to slowest: a stable insertion sort in which the first operand that knows
    decides."""

    def compare(first: int, second: int) -> int:
        for strides in operands:
            one, two = strides[first], strides[second]
            if one == 0 or two == 0:
                continue
            if one != two:
                return -1 if one < two else 1
            if shape[first] > shape[second]:
                return 1
        return 0

    order = list(range(len(shape) - 1, -1, -1))
    for index in range(1, len(order)):
        here = index
        for there in range(index - 1, -1, -1):
            decision = compare(order[there], order[here])
            if decision > 0:
                order[there], order[here] = order[here], order[there]
                here = there
            elif decision < 0:
                break
    return order


def broadcast_strides(array: Array, shape: Sequence[int]) -> tuple[int, ...]:
    """The array's strides seen in the larger `shape`: 0 wherever it is repeated."""
    lead = len(shape) - len(array.shape)
    own = element_strides(array)
    return (0,) * lead + tuple(
        0 if size == 1 and shape[lead + axis] != 1 else own[axis] for axis, size in enumerate(array.shape)
    )


def result_strides(
    shape: Sequence[int], operands: Sequence[Array], alike: bool = True
) -> tuple[int, ...]:
    """The strides of a new elementwise result over these operands; not ``alike`` if a number is among them:
    then torch does not take its short way, which shows in the strides of dimensions of size 1."""
    shape = tuple(shape)
    if 0 in shape:
        return contiguous_strides(shape)
    if alike and all(operand.shape == shape for operand in operands):
        known = [element_strides(operand) for operand in operands]
        if all(is_contiguous(shape, strides) for strides in known):
            return contiguous_strides(shape)
        if all(is_channels_last(shape, strides) for strides in known):
            return channels_last_strides(shape)
        if all(strides == known[0] for strides in known) and is_dense(shape, known[0]):
            return known[0]
    order = _order(shape, [broadcast_strides(operand, shape) for operand in operands])
    strides = [0] * len(shape)
    stride = 1
    for axis in order:
        strides[axis] = stride
        stride *= shape[axis]
    return tuple(strides)


def showable(array: Array) -> Array:
    """The array with strides of its own if it is empty, so that its views have torch's strides."""
    if array.size == 0 and array.base is None:
        return arrays.restride(array, array.shape, contiguous_strides(array.shape))
    return array


def settle(result: Array, *operands: Array) -> Array:
    """The result with torch's layout for an elementwise operation over `operands` (copied only if it
    differs)."""
    with_dimensions = [operand for operand in operands if getattr(operand, "ndim", 0)]
    if (
        all(operand.flags.c_contiguous for operand in with_dimensions)
        and result.flags.c_contiguous
        and result.size
        and 1 not in result.shape
    ):
        return result
    alike = len(with_dimensions) == len(operands)
    return with_strides(result, result_strides(result.shape, with_dimensions, alike))


def with_strides(array: Array, strides: Sequence[int]) -> Array:
    """The same values in memory laid out by `strides` (which are dense); the array itself if it is so
    already."""
    if element_strides(array) == tuple(strides):
        return array
    memory = arrays.empty(prod(array.shape), dtype=array.dtype)
    copy = arrays.restride(memory, array.shape, strides)
    copy[...] = array
    return copy


def empty_strided(shape: Sequence[int], strides: Sequence[int], dtype: Any) -> Array:
    """New uninitialised memory seen through `shape` and `strides`."""
    reach = (
        0 if 0 in shape else 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    )
    return arrays.restride(arrays.empty(reach, dtype=dtype), tuple(shape), tuple(strides))


def contiguous(array: Array) -> Array:
    """A new array in row-major memory: itself if it is so already, with the strides of size-1 dimensions set
    right."""
    own, wanted = element_strides(array), contiguous_strides(array.shape)
    if own == wanted:
        return array
    if is_contiguous(array.shape, own):
        return arrays.restride(array, array.shape, wanted)
    return array.copy(order="C")


def preserved_strides(array: Array) -> tuple[int, ...]:
    """The strides of `empty_like`: the array's own if dense, else those of an elementwise result
    (preserve_format)."""
    own = element_strides(array)
    if is_dense(array.shape, own):
        return own
    return result_strides(array.shape, [array])


def view_strides(shape: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | None:
    """The strides that show the same memory in shape `new`, or None if a copy would be needed (VIEW-12)."""
    if 0 in shape:
        return tuple(strides) if tuple(shape) == tuple(new) else contiguous_strides(new)
    result = [0] * len(new)
    view_axis = len(new) - 1
    chunk_stride = strides[-1] if strides else 1
    tensor_size, view_size = 1, 1
    for axis in range(len(shape) - 1, -1, -1):
        tensor_size *= shape[axis]
        if axis == 0 or (shape[axis - 1] != 1 and strides[axis - 1] != tensor_size * chunk_stride):
            while view_axis >= 0 and (view_size < tensor_size or new[view_axis] == 1):
                result[view_axis] = view_size * chunk_stride
                view_size *= new[view_axis]
                view_axis -= 1
            if view_size != tensor_size:
                return None
            if axis > 0:
                chunk_stride = strides[axis - 1]
                tensor_size, view_size = 1, 1
    if not shape:
        return (1,) * len(new)
    return tuple(result) if view_axis < 0 else None


CHANNELS_LAST = {"channels_last": 4, "channels_last_3d": 5}


def format_name(memory_format: Any) -> str:
    """The name of a memory format; preserve_format for None."""
    return "preserve_format" if memory_format is None else str(memory_format.name)


def with_format(array: Array, memory_format: Any) -> Array:
    """The values in the given memory format. Raises RuntimeError for a rank that it does not fit."""
    wanted = format_name(memory_format)
    if wanted in CHANNELS_LAST:
        ndim = CHANNELS_LAST[wanted]
        if array.ndim != ndim:
            raise RuntimeError(f"required rank {ndim} tensor to use {wanted} format")
        return with_strides(array, channels_last_strides(array.shape))
    if wanted == "contiguous_format":
        return contiguous(array)
    return array
