"""How elementwise forwards are made from numpy's functions: rounding of the reduced types, and layout.

float16 and bfloat16 compute in float32 and round once for each operation, as torch's kernels do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import REDUCED
from .layout import settle

Array = Any
Forward = Callable[..., Any]

_float32 = numpy.dtype(numpy.float32)


def widen(array: Array) -> Array:
    """The array in the type that its computation runs in: float32 for the reduced types."""
    return array.astype(_float32) if getattr(array, "dtype", None) in REDUCED else array


def unary(function: Callable[[Array], Array]) -> Forward:
    """A forward over one array."""

    def forward(self: Array) -> Array:
        dtype = self.dtype
        result = function(self.astype(_float32)).astype(dtype) if dtype in REDUCED else function(self)
        return result if result.ndim < 2 else settle(result, self)

    forward.__name__ = function.__name__
    return forward


def binary(function: Callable[[Array, Array], Array], exact: bool = False) -> Forward:
    """A forward over two operands of one type, one of which may be a python number (`exact`: see
    `on_pair`)."""

    def forward(self: Array, other: Array) -> Array:
        result = on_pair(function, self, other, exact)
        return result if result.ndim < 2 else settle(result, self, other)

    forward.__name__ = function.__name__
    return forward


def on_pair(
    function: Callable[[Array, Array], Array], self: Array, other: Array, exact: bool = False
) -> Array:
    """`function(self, other)`, where a python number takes the other operand's type.

    The reduced types compute in float32; there a number is rounded to their type first, unless `exact` (the
    four
    arithmetic operations and powers).
    """
    dtype = getattr(self, "dtype", None) or other.dtype
    if dtype in REDUCED:
        if not exact:
            self, other = (each if hasattr(each, "dtype") else dtype.type(each) for each in (self, other))
        return function(_as_float32(self), _as_float32(other)).astype(dtype)
    return function(self, other)


def _as_float32(operand: Array) -> Array:
    return operand.astype(_float32) if hasattr(operand, "dtype") else numpy.float32(operand)


def compute_type(array: Array) -> dtypes.DType:
    """The refimpl type of an array."""
    return dtypes.of(array.dtype)


def nary(function: Callable[..., Array], count: int) -> Forward:
    """A forward over `count` operands of one type, followed by plain parameters."""

    def forward(*operands: Any) -> Array:
        dtype = operands[0].dtype
        if dtype in REDUCED:
            wide = [_as_float32(operand) for operand in operands[:count]]
            result = function(*wide, *operands[count:]).astype(dtype)
        else:
            result = function(*operands)
        return result if result.ndim < 2 else settle(result, *operands[:count])

    forward.__name__ = function.__name__
    return forward
