"""Dimension arguments: wrapping of negative ones and the texts of torch's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def axis_of(dim: int, ndim: int) -> int:
    """The dimension counted from the front. Raises IndexError if it is out of range."""
    if not isinstance(dim, int) or isinstance(dim, bool):
        dim = dim.__index__()
    bound = max(ndim, 1)
    if not -bound <= dim < bound:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], but got {dim})"
        )
    return dim + bound if dim < 0 else dim


def axes_of(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions of a reduction, sorted; all of them for None or an empty list.

    Raises IndexError if one is out of range, RuntimeError if one is named twice.
    """
    if dim is None:
        return tuple(range(ndim))
    axes: tuple[int, ...]
    if isinstance(dim, int):
        axes = (axis_of(dim, ndim),)
    else:
        axes = tuple(axis_of(each, ndim) for each in dim)
        if len(set(axes)) < len(axes):
            twice = next(axis for axis in axes if axes.count(axis) > 1)
            raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
        if not axes:
            return tuple(range(ndim))
    return tuple(sorted(axes)) if ndim else ()


def unsqueeze_all(F: Any, value: Any, axes: Sequence[int]) -> Any:
    """Put back dimensions of size 1 at `axes` (sorted)."""
    for axis in axes:
        value = F.unsqueeze(value, axis)
    return value
