"""Views that pick a part: select, slice, narrow, split, chunk, unbind, diagonal, unfold (VIEW-06,
VIEW-13)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .. import arrays
from .dimensions import axis_of
from .layout import contiguous, element_strides
from .sizes import shape_text
from .table import composite, operation, vjp

Array = Any


def select(self: Array, dim: int, index: int) -> Array:
    """The view at one position of a dimension. Raises IndexError out of range."""
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    axis = axis_of(dim, self.ndim)
    index = index.__index__()
    size = self.shape[axis]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {shape_text(self.shape)} at dimension "
            f"{axis}"
        )
    return self[(slice(None),) * axis + (index, ...)]


def _scattered(grad: Array, shape: Sequence[int], place: Any) -> Array:
    whole = contiguous(arrays.zeros(tuple(shape), dtype=grad.dtype))
    whole[place] = grad
    return whole


operation(
    "select_backward",
    lambda grad, input_sizes, dim, index: _scattered(
        grad, input_sizes, (slice(None),) * axis_of(dim, len(input_sizes)) + (index, ...)
    ),
    tensors=("grad",), node="SelectBackwardBackward0", functions=(), methods=(),
    gradients={"grad": vjp(lambda F, grad, dim, index: F.select(grad, dim, index), "dim", "index")},
)  # fmt: skip
operation(
    "select", select, node="SelectBackward0", view=True,
    gradients={
        "self": vjp(
            lambda F, grad, shape, dim, index: F.select_backward(grad, shape, dim, index), "self.shape",
            "dim", "index"
        )
    },
)  # fmt: skip


def clamp_slice(start: int | None, end: int | None, size: int) -> tuple[int, int]:
    """Start and end of a slice inside a dimension of the given size."""
    first = 0 if start is None else start
    last = size if end is None else end
    first = max(first + size if first < 0 else first, 0)
    last = max(last + size if last < 0 else last, 0)
    first = min(first, size)
    return first, max(min(last, size), first)


def slice_(
    self: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """The view from start to end, every step-th position. Raises RuntimeError for a step below 1."""
    if self.ndim == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    axis = axis_of(dim, self.ndim)
    first, last = clamp_slice(start, end, self.shape[axis])
    shape, strides = list(self.shape), list(element_strides(self))
    shape[axis] = (last - first + step - 1) // step
    offset = first * strides[axis]
    strides[axis] *= step
    if 0 in shape:
        offset = 0
    return arrays.restride(self, tuple(shape), tuple(strides), offset)


def _place(shape: Sequence[int], dim: int, start: int | None, end: int | None, step: int) -> Any:
    axis = axis_of(dim, len(shape))
    first, last = clamp_slice(start, end, shape[axis])
    return (slice(None),) * axis + (slice(first, last, step), ...)


_SLICE = ("dim", "start", "end", "step")
operation(
    "slice_backward",
    lambda grad, input_sizes, dim, start, end, step: _scattered(
        grad, input_sizes, _place(input_sizes, dim, start, end, step)
    ),
    tensors=("grad",), node="SliceBackwardBackward0", functions=(), methods=(),
    gradients={"grad": vjp(lambda F, grad, *where: F.slice_view(grad, *where), *_SLICE)},
)  # fmt: skip
operation(
    "slice.view", slice_, node="SliceBackward0", view=True,
    gradients={"self": vjp(lambda F, grad, shape, *where: F.slice_backward(grad, shape, *where),
    "self.shape", *_SLICE)},
)  # fmt: skip


@composite()
def narrow(F: Any, self: Any, dim: int, start: Any, length: int) -> Any:
    """The view of `length` positions from `start` on. Raises RuntimeError if they exceed the dimension."""
    if self.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    axis = axis_of(dim, self.ndim)
    size = self.shape[axis]
    start = start.__index__()
    if not -size <= start <= size:
        raise IndexError(
            f"start out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    start = start + size if start < 0 else start
    if start > size - length:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return F.slice_view(self, axis, start, start + length, 1)


# Several views at once
def _pieces(self: Array, sizes: Sequence[int], dim: int) -> tuple[Array, ...]:
    start, found = 0, []
    for size in sizes:
        found.append(slice_(self, dim, start, start + size))
        start += size
    return tuple(found)


def _split_sizes(size: int, split_size: int) -> list[int]:
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if split_size == 0:
        if size:
            raise RuntimeError(
                f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
            )
        return [0]
    count = max((size + split_size - 1) // split_size, 1)
    return [split_size] * (count - 1) + [size - split_size * (count - 1)]


def split(self: Array, split_size: int, dim: int = 0) -> tuple[Array, ...]:
    """Views of `split_size` positions each, the last one smaller."""
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of(dim, self.ndim)
    return _pieces(self, _split_sizes(self.shape[axis], split_size), axis)


def split_with_sizes(self: Array, split_sizes: Sequence[int], dim: int = 0) -> tuple[Array, ...]:
    """Views of the given sizes. Raises RuntimeError unless they add up to the dimension's size."""
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    axis = axis_of(dim, self.ndim)
    if any(size < 0 for size in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes="
            f"{shape_text(split_sizes)}"
        )
    if sum(split_sizes) != self.shape[axis]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {self.shape[axis]} (input tensor's size "
            f"at dimension "
            f"{axis}), but got split_sizes={shape_text(split_sizes)}"
        )
    return _pieces(self, split_sizes, axis)


def _joined(
    F: Any, grads: Sequence[Any], shape: Sequence[int], sizes: Sequence[int], dim: int, like: Any
) -> Any:
    axis = axis_of(dim, len(shape))
    known = next(grad for grad in grads if grad is not None)
    parts = []
    for grad, size in zip(grads, sizes, strict=True):
        if grad is None:
            grad = F.new_zeros(known, (*shape[:axis], size, *shape[axis + 1 :]))
        parts.append(grad)
    return F.cat(parts, axis)


def _split_backward(F: Any, grads: Any, shape: Sequence[int], split_size: int, dim: int) -> Any:
    return _joined(F, grads, shape, _split_sizes(shape[axis_of(dim, len(shape))], split_size), dim, None)


def _split_with_sizes_backward(
    F: Any, grads: Any, shape: Sequence[int], split_sizes: Sequence[int], dim: int
) -> Any:
    return _joined(F, grads, shape, split_sizes, dim, None)


# unsafe_split shares the memory too, but autograd does not know its outputs as views (VIEW-06)
for _key, _node, _views in (
    ("split.size", "SplitBackward0", True), ("unsafe_split.size", "UnsafeSplitBackward0", False)
):  # fmt: skip
    operation(
        _key, split, node=_node, outputs="list", multi_view=_views,
        gradients={"self": vjp(_split_backward, "self.shape", "split_size", "dim")},
    )  # fmt: skip
operation(
    "split_with_sizes", split_with_sizes, node="SplitWithSizesBackward0", multi_view=True, outputs="list",
    gradients={"self": vjp(_split_with_sizes_backward, "self.shape", "split_sizes", "dim")},
)  # fmt: skip


@composite("split")
def _split(F: Any, self: Any, split_size: Any, dim: int = 0) -> Any:
    return (F.split_size if hasattr(split_size, "__index__") else F.split_with_sizes)(self, split_size, dim)


@composite("unsafe_split")
def _unsafe_split(F: Any, self: Any, split_size: int, dim: int = 0) -> Any:
    return F.unsafe_split_size(self, split_size, dim)


def _chunk_size(self: Any, chunks: int, dim: int) -> int:
    if self.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size: int = self.shape[axis_of(dim, self.ndim)]
    return (size + chunks - 1) // chunks


@composite()
def chunk(F: Any, self: Any, chunks: int, dim: int = 0) -> Any:
    """At most `chunks` views of equal size."""
    size = _chunk_size(self, chunks, dim)
    if size == 0:
        return F.split_with_sizes(self, [0] * chunks, dim)
    return F.split_size(self, size, dim)


@composite()
def unsafe_chunk(F: Any, self: Any, chunks: int, dim: int = 0) -> Any:
    """Chunks that autograd does not know as views (VIEW-06)."""
    return F.unsafe_split_size(self, _chunk_size(self, chunks, dim), dim)


@composite()
def tensor_split(F: Any, self: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Views split at the given indices, or into a number of nearly equal parts."""
    axis = axis_of(dim, self.ndim)
    size = self.shape[axis]
    if hasattr(indices_or_sections, "__index__"):
        sections = indices_or_sections.__index__()
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        small, extra = divmod(size, sections)
        bounds, start = [], 0
        for index in range(sections):
            bounds.append((start, start + small + (index < extra)))
            start = bounds[-1][1]
    else:
        cuts = [each.__index__() for each in indices_or_sections]
        bounds = list(zip([0, *cuts], [*cuts, size], strict=True))
    return tuple(F.slice_view(self, axis, start, end, 1) for start, end in bounds)


@composite()
def hsplit(F: Any, self: Any, indices_or_sections: Any) -> Any:
    """tensor_split along the columns."""
    return F.tensor_split(self, indices_or_sections, 0 if self.ndim == 1 else 1)


@composite()
def vsplit(F: Any, self: Any, indices_or_sections: Any) -> Any:
    """tensor_split along the rows."""
    return F.tensor_split(self, indices_or_sections, 0)


def unbind(self: Array, dim: int = 0) -> tuple[Array, ...]:
    """One view for each position of a dimension."""
    if self.ndim == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    axis = axis_of(dim, self.ndim)
    return tuple(self[(slice(None),) * axis + (index, ...)] for index in range(self.shape[axis]))


def _unbind_backward(F: Any, grads: Any, dim: int) -> Any:
    known = next(grad for grad in grads if grad is not None)
    return F.stack([F.new_zeros(known, tuple(known.shape)) if grad is None else grad for grad in grads], dim)


operation(
    "unbind", unbind, node="UnbindBackward0", multi_view=True, outputs="list",
    gradients={"self": vjp(_unbind_backward, "dim")},
)  # fmt: skip

operation(
    "alias", lambda self: self, parameters="self", node="AliasBackward0", view=True, methods=(),
    gradients={"self": vjp(lambda F, grad: grad)},
)  # fmt: skip

END = sys.maxsize
