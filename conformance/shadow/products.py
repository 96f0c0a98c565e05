"""Products of matrices and other bilinear forms, and what orders or shapes entries by their values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conformance.shadow import state
from conformance.shadow.array import METHODS, BoundedArray, NoRule
from conformance.shadow.call import WHOLE_ARRAYS, make, operand_bound, size_of
from conformance.shadow.entries import plain
from conformance.shadow.rounding import (
    UNSIGNED_ZERO,
    Numbers,
    Reals,
    any_order_is_exact,
    format_of,
    grain,
    is_whole,
    parts,
    wide,
)
from conformance.shadow.structure import function


def product_bound(
    one: BoundedArray | Any, two: BoundedArray | Any, value: Numbers, multiply: Any, count: int
) -> Reals:
    """The bound of a bilinear form: `multiply` applied to sizes and bounds; `count` terms make one entry."""
    a, b = wide(np.asarray(plain(one))), wide(np.asarray(plain(two)))
    da, db = (np.broadcast_to(operand_bound(each), x.shape) for each, x in ((one, a), (two, b)))
    sizes = np.asarray(multiply(np.abs(a), np.abs(b)), np.float64)
    spread = np.zeros(value.shape, np.float64)
    if da.any() or db.any():
        spread = np.asarray(multiply(np.abs(a), db) + multiply(da, np.abs(b)) + multiply(da, db), np.float64)
        spread = np.where(np.isnan(spread), np.inf, spread)
    if is_whole(value.dtype):
        return spread
    form = format_of(value.dtype)
    touched = bool(da.any() or db.any())
    exact = np.zeros(value.shape, np.bool_)
    if not touched:
        grains = [min(np.min(grain(part), initial=np.inf) for part in parts(x)) for x in (a, b)]
        exact = any_order_is_exact(
            2 * sizes if a.dtype.kind == "c" else sizes, np.asarray(grains[0] * grains[1]), form.bits
        )
    bound = spread + np.where(
        exact, 0.0, (2 if value.dtype.kind == "c" else 1) * (count + 1) * form.unit * sizes
    )
    negative_zero = (wide(value).real == 0) & (sizes == 0)
    bound = np.where(negative_zero & (bound == 0), UNSIGNED_ZERO, bound)
    finite = np.isfinite(wide(value))
    return np.asarray(
        np.where(finite, np.where(np.isnan(bound), np.inf, bound), np.inf if touched else 0.0), np.float64
    )


def _bilinear(name: str, count: Any) -> Any:
    def form(one: Any, two: Any, *args: Any, **kwargs: Any) -> Any:
        a, b = np.asarray(plain(one)), np.asarray(plain(two))

        def multiply(x: Any, y: Any) -> Any:
            return getattr(np, name)(x, y, *args, **kwargs)

        with np.errstate(all="ignore"):
            value = np.asarray(multiply(a, b))
            return make(value, product_bound(one, two, value, multiply, count(a, b, value)), scalar=True)

    return form


def _terms(a: Numbers, b: Numbers, value: Numbers) -> int:
    """How many terms make one entry of a product over shared axes."""
    return max(round(math.sqrt(a.size * b.size / max(value.size, 1))), 1)


for _name in ("dot", "inner", "tensordot", "vdot"):
    function(_name)(_bilinear(_name, _terms))
for _name in ("outer", "kron"):
    function(_name)(_bilinear(_name, lambda a, b, value: 1))


def _outer(one: Any, two: Any) -> Any:
    a, b = np.asarray(plain(one)), np.asarray(plain(two))
    with np.errstate(all="ignore"):
        value = np.multiply.outer(a, b)
        return make(value, product_bound(one, two, value, np.multiply.outer, 1), scalar=True)


METHODS["multiply", "outer"] = _outer


def matmul(one: Any, two: Any) -> BoundedArray:
    """`numpy.matmul`: a ufunc, but not an elementwise one."""
    a, b = np.asarray(plain(one)), np.asarray(plain(two))
    with np.errstate(all="ignore"):
        value = np.asarray(np.matmul(a, b))
        return make(value, product_bound(one, two, value, np.matmul, a.shape[-1]), scalar=True)


WHOLE_ARRAYS["matmul"] = matmul


@function("einsum")
def _einsum(subscripts: str, *operands: Any, optimize: Any = False) -> Any:
    if len(operands) == 1:
        (only,) = operands
        if "->" in subscripts and len(set(subscripts.split("->")[0])) == len(subscripts.split("->")[1]):
            value = np.einsum(subscripts, only.value)
            return BoundedArray(value, np.einsum(subscripts, only.bound))
        operands = (only, np.ones((), only.dtype))
        subscripts = subscripts.replace("->", ",->") if "->" in subscripts else subscripts + ","
    if len(operands) != 2:
        raise NoRule(f"numpy.einsum of {len(operands)} arrays")
    a, b = (np.asarray(plain(each)) for each in operands)
    with np.errstate(all="ignore"):
        value = np.asarray(np.einsum(subscripts, a, b))
        count = max(a.size * max(b.size, 1) // max(value.size, 1), 1)
        bound = product_bound(*operands, value, lambda x, y: np.einsum(subscripts, x, y), count)
    return make(value, bound, scalar=True)


@function("sort")
def _sort(array: BoundedArray, axis: int | None = -1, **options: Any) -> Any:
    """Sorting moves no entry further than the largest bound on its line."""
    value = np.sort(array.value, axis=axis, **options)
    reach = size_of(array.bound)
    reach = reach.ravel() if axis is None else reach
    bound = np.broadcast_to(reach.max(axis=axis, keepdims=True, initial=0.0), value.shape)
    return make(value, bound)


@function("argsort")
def _argsort(array: BoundedArray, axis: int = -1, **options: Any) -> Any:
    """An order is open where neighbours are closer than their bounds."""
    value = np.argsort(array.value, axis=axis, **options)
    ordered = np.take_along_axis(wide(array.value), value, axis)
    reach = np.take_along_axis(size_of(array.bound), value, axis)
    with np.errstate(all="ignore"):
        gaps = np.abs(np.diff(ordered, axis=axis))
    lower, upper = (np.take(reach, range(*span), axis=axis) for span in _spans(value.shape[axis]))
    close = (lower + upper > 0) & ~(gaps > state.MARGIN * (lower + upper)) & ~((gaps == 0) & (lower == upper))
    before = np.insert(close, 0, False, axis=axis) if close.size else np.zeros(value.shape, np.bool_)
    after = np.insert(close, close.shape[axis], False, axis=axis) if close.size else before
    return make(value, np.where(before | after, np.inf, 0.0))


def _spans(size: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (0, max(size - 1, 0)), (min(1, size), size)


@function("clip")
def _clip(array: Any, low: Any = None, high: Any = None, out: Any = None, **options: Any) -> Any:
    made = array
    if low is not None:
        made = np.maximum(made, low)
    if high is not None:
        made = np.minimum(made, high)
    if out is not None:
        out[...] = made
        return out
    return made


@function("round", "around")
def _round(array: BoundedArray, decimals: int = 0, out: Any = None) -> Any:
    if decimals or out is not None:
        raise NoRule("numpy.round with decimals or out")
    return array if is_whole(array.dtype) else np.rint(array)


@function("nan_to_num")
def _nan_to_num(
    array: BoundedArray, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    value = np.nan_to_num(array.value, nan=nan, posinf=posinf, neginf=neginf)
    return make(value, array.bound)


@function("angle")
def _angle(array: BoundedArray, deg: bool = False) -> Any:
    if deg:
        raise NoRule("numpy.angle in degrees")
    return np.arctan2(array.imag, array.real)


@function("diff")
def _diff(array: BoundedArray, n: int = 1, axis: int = -1) -> Any:
    for _ in range(n):
        after = [slice(None)] * array.ndim
        before = list(after)
        after[axis], before[axis] = slice(1, None), slice(None, -1)
        array = array[tuple(after)] - array[tuple(before)]
    return array


@function("trace")
def _trace(array: BoundedArray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return np.sum(np.diagonal(array, offset, axis1, axis2), axis=-1)


@function("isclose", "allclose")
def _isclose(*args: Any, **kwargs: Any) -> Any:
    raise NoRule("numpy.isclose: compose it of comparisons")
