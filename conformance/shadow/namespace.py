"""Where bounded arrays come from: the namespace that takes numpy's place in the reference engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.shadow import state
from conformance.shadow.array import BoundedArray, Literal, Plain, bound_dtype
from conformance.shadow.call import make, operand_bound
from conformance.shadow.entries import bound_of, is_scalar, plain


def asarray(data: Any, dtype: Any = None, **options: Any) -> BoundedArray:
    """`numpy.asarray`; a bounded array stays itself."""
    if is_scalar(data):
        data = BoundedArray(data.value.copy(), data.bound.copy())
    if isinstance(data, BoundedArray):
        return data if dtype is None else data.astype(dtype, copy=False)
    if _holds_bounded(data):
        return _stacked(data, dtype)
    value = np.asarray(data, dtype=dtype, **options)
    if not isinstance(data, (bool, int, float, complex, list, tuple)):
        return make(value, operand_bound(data) if not value.ndim else 0.0)
    made = make(value, np.asarray(_bounds(data)) if state.current().escaped else 0.0)
    return made if dtype is not None else Literal(made.value, made.bound)


def _holds_bounded(data: Any) -> bool:
    return isinstance(data, (list, tuple)) and any(
        isinstance(each, BoundedArray) or _holds_bounded(each) for each in data
    )


def _stacked(data: Any, dtype: Any) -> BoundedArray:
    value = np.asarray(plain(data), dtype=dtype)
    bound = np.asarray(_bounds(data), dtype=bound_dtype(value.dtype))
    return make(value, bound)


def _bounds(data: Any) -> Any:
    return [_bounds(each) for each in data] if isinstance(data, (list, tuple)) else bound_of(data)


def _creating(name: str) -> Any:
    def create(*args: Any, **kwargs: Any) -> BoundedArray:
        bound = bound_of(args[1]) if name == "full" and len(args) > 1 else 0.0
        return make(getattr(np, name)(*plain(args), **kwargs), bound)

    create.__name__ = name
    return create


empty = _creating("empty")
zeros = _creating("zeros")
ones = _creating("ones")
full = _creating("full")
arange = _creating("arange")
frombuffer = _creating("frombuffer")


def restride(array: Any, shape: Any, strides: Any, offset: int = 0) -> BoundedArray:
    """The same memory, of the value and of the bound, seen with another shape."""
    bounded = asarray(array)
    return BoundedArray(
        *(_restride(each, tuple(shape), tuple(strides), offset) for each in (bounded.value, bounded.bound))
    )


def _restride(array: Plain, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Plain:
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    size = array.dtype.itemsize
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    if not owner.flags.c_contiguous:
        owner = owner.transpose(sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis]))
    made: Plain = np.ndarray(
        shape, array.dtype, owner, start + offset * size, tuple(each * size for each in strides)
    )
    return made
