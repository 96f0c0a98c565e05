"""Sums in torch's order of addition, so that they round alike.

torch adds in a cascade: runs of 16 (or more) terms are summed one by one, 16 such sums again, and so on over
four
levels; several of these run side by side, in the lanes of a vector register and in four interleaved rows,
and are added
up at the end. Which of these apply depends on strides and sizes alone. Vectors are taken to be 32 bytes
wide, as in
torch's default and AVX2 kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .. import arrays
from .layout import contiguous, contiguous_strides, element_strides

Array = Any

VECTOR_BYTES = 32
ROWS = 4
LEVELS = 4


@dataclass(frozen=True)
class _Loop:
    size: int
    stride: int
    result_stride: int

    @property
    def reduced(self) -> bool:
        return self.result_stride == 0


def _in_turn(terms: Array) -> Array:
    """The terms along axis 0, added one by one to 0."""
    total = arrays.zeros(terms.shape[1:], dtype=terms.dtype)
    for term in terms:
        total = total + term
    return total


def _cascade(terms: Array) -> Array:
    count = terms.shape[0]
    power = max(4, (count - 1).bit_length() // LEVELS if count > 1 else 0)
    step = 1 << power
    parts = []
    for _ in range(LEVELS - 1):
        blocks = terms.shape[0] // step
        parts.append(_in_turn(terms[blocks * step :]))
        grouped = terms[: blocks * step].reshape((blocks, step, *terms.shape[1:]))
        if blocks == 0:
            break
        terms = _in_turn(grouped.swapaxes(0, 1))
    else:
        parts.append(_in_turn(terms))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _row(terms: Array) -> Array:
    """Four interleaved cascades along axis 0, added up."""
    groups = terms.shape[0] // ROWS
    grouped = terms[: groups * ROWS].reshape((groups, ROWS, *terms.shape[1:]))
    partial = _cascade(grouped)
    total = partial[0]
    for index in range(groups * ROWS, terms.shape[0]):
        total = total + terms[index]
    for index in range(1, ROWS):
        total = total + partial[index]
    return total


def _inner(terms: Array, lanes: int, wide: int) -> Array:
    """A vector of `lanes` sums along axis 0; each load adds `wide` vectors at once (reduced types)."""
    width = lanes * wide
    vectors = terms.shape[0] // width
    loaded = terms[: vectors * width].reshape((vectors, wide, lanes, *terms.shape[1:]))
    together = loaded[:, 0]
    for index in range(1, wide):
        together = together + loaded[:, index]
    partial = _row(together)
    total = _in_turn(terms[vectors * width :])
    for lane in range(lanes):
        total = total + partial[lane]
    return total


def _outer(terms: Array, lanes: int) -> Array:
    """Along axis 0, for columns side by side on axis 1: whole blocks cascade, the rest interleaves four
    rows."""
    columns = terms.shape[1]
    block = ROWS * lanes
    whole = columns // block * block
    if whole == 0:
        return _row(terms)
    head = _cascade(terms[:, :whole])
    return numpy.concatenate([head, _row(terms[:, whole:])]) if whole < columns else head


def _loops(shape: Sequence[int], strides: Sequence[int], axes: Sequence[int]) -> list[_Loop]:
    """The loops from the innermost out: reduced ones first, neighbours merged where memory allows."""
    kept = [0 if axis in axes else size for axis, size in enumerate(shape)]
    result_strides = contiguous_strides([size for size in kept if size])
    positions = iter(result_strides)
    loops = [
        _Loop(size, stride, 0 if axis in axes else next(positions))
        for axis, (size, stride) in enumerate(zip(shape, strides, strict=True))
    ]
    loops = [loop for loop in reversed(loops) if loop.size != 1]
    reduced = sorted((loop for loop in loops if loop.reduced), key=lambda loop: loop.stride)
    ordered = reduced + [loop for loop in loops if not loop.reduced]
    merged: list[_Loop] = []
    for loop in ordered:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.reduced == loop.reduced
            and last.size * last.stride == loop.stride
            and last.size * last.result_stride == loop.result_stride
        ):
            merged[-1] = _Loop(last.size * loop.size, last.stride, last.result_stride)
        else:
            merged.append(loop)
    return merged


def total(terms: Array, axes: Sequence[int], accumulate: Any) -> Array:
    """The sum over `axes` (all distinct and not negative), dimensions dropped, in the type `accumulate`."""
    shape = tuple(size for axis, size in enumerate(terms.shape) if axis not in axes)
    if accumulate.kind in "biu":
        return numpy.sum(terms, axis=tuple(axes), dtype=accumulate)
    if terms.size == 0:
        return arrays.zeros(shape, dtype=accumulate)
    loops = _loops(terms.shape, element_strides(terms), axes)
    if not loops or not loops[0].reduced:
        return contiguous((terms.astype(accumulate) + accumulate.type(0)).reshape(shape))
    loops += [_Loop(1, 0, 0)] * (2 - len(loops))
    view = arrays.restride(terms, [loop.size for loop in loops], [loop.stride for loop in loops])
    size = terms.dtype.itemsize
    lanes = VECTOR_BYTES // accumulate.itemsize
    wide = accumulate.itemsize // size if terms.dtype.kind != "c" else 1
    first, second = loops[:2]
    view = view.astype(accumulate)
    if first.stride == 1 and first.size >= VECTOR_BYTES // size:
        partial = _inner(view, lanes, max(wide, 1))
    elif second.stride == 1 and second.size >= VECTOR_BYTES // size:
        partial = _outer(view, lanes)
    elif first.stride < second.stride or second.size < ROWS:
        partial = _row(view)
    else:
        partial = _outer(view, 1)
    partial = _over_outer_loops(partial, loops)
    kept_sizes = [loop.size for loop in reversed(loops) if not loop.reduced]
    return contiguous(partial.transpose(range(partial.ndim - 1, -1, -1)).reshape(kept_sizes).reshape(shape))


def _over_outer_loops(partial: Array, loops: Sequence[_Loop]) -> Array:
    """Add up what the outer reduced loops left apart, the inner of them first."""
    axes = [axis for axis, loop in enumerate(loops[1:]) if loop.reduced and (loop.size > 1 or axis == 0)]
    if not axes:
        return partial
    kept = [axis for axis in range(partial.ndim) if axis not in axes]
    moved = partial.transpose([*reversed(axes), *kept])
    return _in_turn(moved.reshape((-1, *moved.shape[len(axes) :])))
