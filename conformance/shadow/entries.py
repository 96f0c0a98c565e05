"""Casting, reading and writing entries: the value and the bound, together."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.shadow import state
from conformance.shadow.array import FUNCTIONS, BoundedArray, BoundedScalar, Literal, bound_dtype
from conformance.shadow.call import make, operand_bound, size_of, undecided_truth
from conformance.shadow.rounding import Numbers, Reals, cast_error, format_of, is_whole, wide


def plain(operand: Any) -> Any:
    """The value alone, also inside sequences: for arguments whose bounds have been looked at."""
    if isinstance(operand, BoundedArray):
        return operand.value
    if isinstance(operand, (tuple, list)) and any(
        isinstance(each, (BoundedArray, tuple, list)) for each in operand
    ):
        return type(operand)(plain(each) for each in operand)
    return operand


def bound_of(operand: Any) -> Any:
    """The bound of an operand in the layout of its value: complex for complex."""
    return operand.bound if isinstance(operand, BoundedArray) else operand_bound(operand)


def is_scalar(array: Any) -> bool:
    """True for a bounded scalar, which claims another class."""
    return type(array) is BoundedScalar


def cast(array: BoundedArray, dtype: np.dtype[Any], order: Any = "K", copy: bool = True) -> BoundedArray:
    """`ndarray.astype`."""
    if dtype == array.dtype:
        if not copy:
            return array
        return BoundedArray(
            array.value.astype(dtype, order=order), array.bound.astype(array.bound.dtype, order=order)
        )
    with np.errstate(all="ignore"):
        value = array.value.astype(dtype, order=order)
        bound = cast_bound(array.value, array.bound, value)
        if type(array) is Literal:
            bound = np.where(size_of(array.bound) == 0, 0.0, bound)
        return make(value, bound, scalar=is_scalar(array))


def cast_bound(before: Any, bound: Any, after: Any) -> Any:
    """The bound of values that were cast."""
    if after.dtype.kind == "b":
        return np.asarray(undecided_truth(before, size_of(bound)), np.float64)
    if after.dtype.kind == "c" and bound.dtype.kind != "c":
        return _rounded(before, bound, after).astype(np.complex128)
    if after.dtype.kind == "c":
        real = _rounded(before.real, bound.real, after.real)
        return real + 1j * _rounded(before.imag, bound.imag, after.imag)
    if before.dtype.kind == "c":
        return _rounded(before.real, bound.real, after)
    if is_whole(after.dtype):
        return _truncated(before, bound, after)
    return _rounded(before, bound, after)


def _rounded(before: Numbers, bound: Reals, after: Numbers) -> Reals:
    form = format_of(np.dtype(after.dtype))
    lost = cast_error(before, after if after.dtype.kind != "c" else after.real)
    size = np.abs(wide(after))
    narrower = form.unit > format_of(before.dtype).unit or (is_whole(before.dtype) and bool(lost.any()))
    if not narrower:
        return np.asarray(bound, np.float64)
    if is_whole(before.dtype):
        return np.asarray(
            bound + np.where(np.isfinite(size), lost, 0.0), np.float64
        )  # an overflow is certain
    rounding = np.where(np.isfinite(size), np.maximum(form.unit * size, form.smallest), 0.0)
    total = np.where((bound == 0) & (lost == 0), 0.0, bound + rounding)
    near_end = (total > 0) & (np.abs(wide(before)) + bound > form.largest) & np.isfinite(wide(before))
    return np.asarray(np.where(near_end & ((bound > 0) | np.isfinite(size)), np.inf, total), np.float64)


def _truncated(before: Numbers, bound: Reals, after: Numbers) -> Reals:
    if is_whole(before.dtype):
        return np.asarray(bound, np.float64)
    reach = state.MARGIN * bound
    ends = [np.abs(np.trunc(wide(before) + side * reach) - wide(after)) for side in (-1, 1)]
    return np.asarray(np.where(bound == 0, 0.0, np.maximum(*ends)), np.float64)


def _key(key: Any) -> tuple[Any, bool]:
    """An index without bounds, and whether all of it is certain."""
    parts = key if isinstance(key, tuple) else (key,)
    bounded = [part for part in parts if isinstance(part, BoundedArray)]
    return plain(key), not any(part.bound.any() for part in bounded)


def getitem(array: BoundedArray, key: Any) -> BoundedArray:
    """`array[key]`. By an uncertain index nothing is known of what is read; by an uncertain mask not even
    how much."""
    index, certain = _key(key)
    value, bound = array.value[index], array.bound[index]
    scalar = not isinstance(value, np.ndarray)
    value, bound = np.asarray(value), np.asarray(bound)
    if not certain:
        _leave_open_if_mask(key)
        bound = np.full(value.shape, np.inf).astype(bound_dtype(value.dtype))
    return BoundedScalar(value, bound) if scalar else BoundedArray(value, bound)


def _leave_open_if_mask(key: Any) -> None:
    parts = key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, BoundedArray) and part.dtype.kind == "b" and part.bound.any() for part in parts):
        state.current().leave_open("an index by a mask")


def setitem(array: BoundedArray, key: Any, value: Any) -> None:
    """`array[key] = value`."""
    index, certain = _key(key)
    if not certain:
        _leave_open_if_mask(key)
    source, bound = np.asarray(plain(value)), np.asarray(bound_of(value))
    with np.errstate(all="ignore"):
        array.value[index] = source
        if source.dtype != array.dtype and isinstance(value, BoundedArray):
            bound = cast_bound(source, bound, source.astype(array.dtype))
        elif array.dtype.kind == "c" and bound.dtype.kind != "c":
            bound = bound * (1 + 1j) if bound.any() else bound
    array.bound[index] = bound
    if not certain:
        array.bound[...] = np.inf


FUNCTIONS.update({"cast": cast, "getitem": getitem, "setitem": setitem})
