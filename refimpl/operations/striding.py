"""as_strided: any window into a tensor's memory (VIEW-13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays
from .layout import may_overlap
from .sizes import shape_text
from .table import operation, vjp

Array = Any


def as_strided(
    self: Array, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Array:
    """Any window into the memory of `self`. Raises RuntimeError if it reaches outside."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: " + shape_text(stride)
        )
    here = arrays.storage_offset(self)
    offset = here if storage_offset is None else storage_offset
    reach = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    held = arrays.storage_size(self)
    if reach and offset + reach > held:
        item = self.dtype.itemsize
        raise RuntimeError(
            f"setStorage: sizes {shape_text(size)}, strides {shape_text(stride)}, storage offset {offset}, "
            f"and itemsize "
            f"{item} requiring a storage size of {(offset + reach) * item} are out of bounds for storage of "
            f"size "
            f"{held * item}"
        )
    return arrays.restride(self, tuple(size), tuple(stride), offset - here)


def as_strided_backward(
    grad: Array, input_size: Sequence[int], input_stride: Sequence[int], input_offset: int,
    size: Sequence[int], stride: Sequence[int], offset: int | None,
) -> Array:  # fmt: skip
    """Add the gradient into a window of zeroed memory, and read it where the input lies (overlaps sum:
    VIEW-13)."""
    offset = input_offset if offset is None else offset
    base = min(offset, input_offset)

    def reach(shape: Sequence[int], strides: Sequence[int], start: int) -> int:
        return (
            0
            if 0 in shape
            else start - base + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        )

    memory = arrays.zeros(
        max(reach(size, stride, offset), reach(input_size, input_stride, input_offset)), dtype=grad.dtype
    )
    window = arrays.restride(memory, tuple(size), tuple(stride), offset - base)
    if may_overlap(size, stride):
        places = arrays.restride(arrays.arange(len(memory)), tuple(size), tuple(stride), offset - base)
        numpy.add.at(memory, places, grad)
    else:
        window[...] = grad
    read = arrays.restride(memory, tuple(input_size), tuple(input_stride), input_offset - base)
    if may_overlap(input_size, input_stride):
        uses = arrays.zeros(len(memory), dtype=grad.dtype)
        where = arrays.restride(
            arrays.arange(len(memory)), tuple(input_size), tuple(input_stride), input_offset - base
        )
        numpy.add.at(uses, where, grad.dtype.type(1))
        memory[...] = memory / uses
    return read


operation(
    "as_strided_backward", as_strided_backward, tensors=("grad",), node="AsStridedBackwardBackward0",
    functions=(),
    methods=(),
    gradients={
        "grad": vjp(
            lambda F, grad, size, stride, offset, start: F.as_strided(
                F.contiguous_clone(grad), size, stride, 0 if offset is None else offset - start
            ),
            "size", "stride", "offset", "input_offset",
        )
    },
)  # fmt: skip


def _as_strided_gradient(
    F: Any, grad: Any, shape: Any, strides: Any, start: int, size: Any, stride: Any, offset: int | None
) -> Any:
    """As torch records it where nothing overlaps: the gradient copied into a window of zeros, and a view of
    these."""
    if not F.recorded or may_overlap(size, stride) or may_overlap(shape, strides):
        return F.as_strided_backward(grad, shape, strides, start, size, stride, offset)
    begin = start if offset is None else offset
    base = min(start, begin)
    reach = max(
        at - base + 1 + sum((n - 1) * s for n, s in zip(sizes, steps, strict=True))
        for at, sizes, steps in ((begin, size, stride), (start, shape, strides))
    )
    memory = F.new_zeros(grad, (reach,))
    F.copy_(F.as_strided(memory, size, stride, begin - base), grad)
    return F.as_strided(memory, shape, strides, start - base)


operation(
    "as_strided", as_strided, node="AsStridedBackward0", view=True,
    gradients={
        "self": vjp(
            _as_strided_gradient,
            "self.shape", "self.strides", "self.offset", "size", "stride", "storage_offset",
        )
    },
)  # fmt: skip
