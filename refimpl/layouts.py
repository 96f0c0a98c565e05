"""Arrays of the shape and layout of another."""

from __future__ import annotations

from typing import Any

from .operations import layout

__all__ = ["ones_like", "zeros_like"]


def _like(array: Any, value: int) -> Any:
    made = layout.empty_strided(array.shape, layout.preserved_strides(array), array.dtype)
    made[...] = value
    return made


def ones_like(array: Any) -> Any:
    """Ones (LAYOUT-07)."""
    return _like(array, 1)


def zeros_like(array: Any) -> Any:
    """Zeros."""
    return _like(array, 0)
