"""Reductions, scans and products of arrays: sums of many terms, extremes, and what orders entries.

The error of a sum of n terms, in any order, is at most n - 1 roundings of the sum of the terms' sizes. It
is none at all if the terms are exact multiples of one power of two and their sizes add up within the
significand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.shadow import state
from conformance.shadow.array import METHODS, BoundedArray, NoRule
from conformance.shadow.call import make, operand_bound, size_of, undecided_truth
from conformance.shadow.entries import bound_of, plain
from conformance.shadow.rounding import (
    ULPS,
    UNSIGNED_ZERO,
    Mask,
    Numbers,
    any_order_is_exact,
    format_of,
    grain,
    is_whole,
    parts,
    significant_bits,
    wide,
)
from conformance.shadow.structure import function

_UNSET: Any = object()


def _refuse(name: str, **options: Any) -> None:
    """Raise NoRule for options that would need a rule of their own."""
    for option, value in options.items():
        if value is not _UNSET and value is not None and value is not True:
            raise NoRule(f"numpy.{name} with {option}")


def _prepared(array: BoundedArray, dtype: Any) -> BoundedArray:
    return array if dtype is None or np.dtype(dtype) == array.dtype else array.astype(dtype)


def _finish(value: Any, bound: Any, out: Any) -> Any:
    made = make(value, bound, scalar=True)
    if out is None:
        return made
    out[...] = made
    return out


def _settled(value: Numbers, bound: Any, touched: Mask) -> Any:
    """Infinities and NaNs of exact operands are exact; of inexact ones nothing is known."""
    if is_whole(value.dtype):
        return bound
    finite = np.isfinite(wide(value))
    return np.where(finite, np.where(np.isnan(bound), np.inf, bound), np.where(touched, np.inf, 0.0))


@function("sum")
def _sum(
    array: BoundedArray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = _UNSET, where: Any = _UNSET,
) -> Any:  # fmt: skip
    _refuse("sum", initial=initial, where=where)
    keep = keepdims is True
    with np.errstate(all="ignore"):
        value = np.asarray(np.sum(array.value, axis=axis, dtype=dtype, keepdims=keep))
        terms = _prepared(array, value.dtype)
        bound = sum_bound(terms.value, terms.bound, value, axis, keep)
    return _finish(value, bound, out)


def sum_bound(terms: Numbers, bounds: Any, value: Numbers, axis: Any, keep: bool) -> Any:
    """The bound of a sum over axes."""
    spread = np.asarray(np.sum(bounds, axis=axis, keepdims=keep))
    if is_whole(value.dtype):
        return spread
    form, count = format_of(value.dtype), _count(terms, value)
    added = np.zeros(value.shape, np.float64)
    sign_open = np.zeros(value.shape, np.bool_)
    exact = np.ones(value.shape, np.bool_)
    for part, result in zip(parts(wide(terms)), parts(wide(value)), strict=True):
        total = np.sum(np.abs(part), axis=axis, keepdims=keep)
        added = added + max(count - 1, 0) * form.unit * total
        smallest = np.min(grain(part), axis=axis, keepdims=keep, initial=np.inf)
        exact = exact & any_order_is_exact(total, smallest, form.bits)
        all_negative = np.all(np.signbit(part) & (part == 0), axis=axis, keepdims=keep) & (count > 0)
        sign_open = sign_open | ((result == 0) & all_negative)
    touched = np.sum(bounds != 0, axis=axis, keepdims=keep) > 0
    if count <= 1:
        exact = np.ones(value.shape, np.bool_)
    added = np.where(exact & ~touched, np.where(sign_open, UNSIGNED_ZERO, 0.0), added)
    total_bound = spread + (added * (1 + 1j) if np.iscomplexobj(spread) else added)
    if np.iscomplexobj(total_bound):
        finite = np.isfinite(wide(value))
        return np.where(finite, total_bound, np.where(touched, np.inf, 0.0))
    return _settled(value, total_bound, touched)


def _count(terms: Numbers, value: Numbers) -> int:
    return terms.size // max(value.size, 1)


@function("mean")
def _mean(
    array: BoundedArray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False
) -> Any:
    total = _sum(array, axis=axis, dtype=dtype, keepdims=keepdims is True)
    count = array.size // max(total.size, 1)
    made = total / total.dtype.type(count) if total.dtype.kind in "fcV" else total / count
    return made if out is None else _finish(made.value, made.bound, out)


@function("cumsum")
def _cumsum(array: BoundedArray, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    with np.errstate(all="ignore"):
        value = np.cumsum(array.value, axis=axis, dtype=dtype)
        terms = _prepared(array, value.dtype)
        bound = np.asarray(np.cumsum(terms.bound, axis=axis))
        if not is_whole(value.dtype):
            form = format_of(value.dtype)
            exact = np.ones(value.shape, np.bool_)
            added = np.zeros(value.shape, np.float64)
            for part in parts(wide(terms.value)):
                total = np.cumsum(np.abs(part), axis=axis)
                smallest = np.minimum.accumulate(
                    grain(part).ravel() if axis is None else grain(part), axis=axis or 0
                )
                exact = exact & any_order_is_exact(total, smallest, form.bits)
                added = added + np.cumsum(np.full(value.shape, form.unit), axis=axis or 0) * total
            exact = exact & (size_of(bound) == 0)
            bound = bound + np.where(exact, 0.0, added) * ((1 + 1j) if np.iscomplexobj(bound) else 1)
            bound = np.where(np.isnan(bound), np.inf, bound)
    return _finish(value, bound, out)


@function("prod")
def _prod(
    array: BoundedArray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = _UNSET, where: Any = _UNSET,
) -> Any:  # fmt: skip
    _refuse("prod", initial=initial, where=where)
    keep = keepdims is True
    with np.errstate(all="ignore"):
        value = np.asarray(np.prod(array.value, axis=axis, dtype=dtype, keepdims=keep))
        factors = _prepared(array, value.dtype)
        bound = _prod_bound(factors, value, axis, keep)
    return _finish(value, bound, out)


def _prod_bound(factors: BoundedArray, value: Numbers, axis: Any, keep: bool) -> Any:
    size, reach = np.abs(wide(factors.value)), size_of(factors.bound)
    spread = np.prod(size + reach, axis=axis, keepdims=keep) - np.prod(size, axis=axis, keepdims=keep)
    touched = np.asarray(np.any(reach != 0, axis=axis, keepdims=keep))
    spread = np.where(touched, spread * (1 + 2.0**-40), 0.0)
    if is_whole(value.dtype):
        return spread
    form = format_of(value.dtype)
    rounding = 2 * _count(factors.value, value) * form.unit * np.prod(size + reach, axis=axis, keepdims=keep)
    if value.dtype.kind == "c":
        return spread + 2 * rounding
    bits = np.sum(significant_bits(wide(factors.value)), axis=axis, keepdims=keep)
    exact = ((bits <= form.bits) | (wide(value) == 0)) & ~touched
    return _settled(value, spread + np.where(exact, 0.0, rounding), touched)


def _cumulative(name: str) -> Any:
    def scan(array: BoundedArray, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        value = getattr(np, name).accumulate(array.value, axis=axis)
        bound = np.maximum.accumulate(size_of(array.bound), axis=axis)
        return _finish(value, bound, out)

    return scan


def _cumprod(array: BoundedArray, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    if axis is None:
        raise NoRule("numpy.cumprod without axis")
    with np.errstate(all="ignore"):
        value = np.cumprod(array.value, axis=axis, dtype=dtype)
        factors = _prepared(array, value.dtype)
        size, reach = np.abs(wide(factors.value)), size_of(factors.bound)
        most = np.cumprod(size + reach, axis=axis)
        spread = np.where(np.cumsum(reach, axis=axis) > 0, most - np.cumprod(size, axis=axis), 0.0)
        if not is_whole(value.dtype):
            form = format_of(value.dtype)
            bits = np.cumsum(significant_bits(wide(factors.value).real), axis=axis)
            exact = (bits <= form.bits) & (np.cumsum(reach, axis=axis) == 0) & (value.dtype.kind != "c")
            steps = np.cumsum(np.full(value.shape, 2 * form.unit), axis=axis)
            spread = spread + np.where(exact, 0.0, steps * most)
        spread = np.where(np.isnan(spread), np.inf, spread)
    return _finish(value, spread, out)


function("cumprod")(_cumprod)


def _extreme(name: str, sign: float) -> Any:
    def extreme(
        array: BoundedArray, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = _UNSET,
        where: Any = _UNSET,
    ) -> Any:  # fmt: skip
        _refuse(name, initial=initial, where=where)
        value = np.asarray(getattr(np, name)(array.value, axis=axis, keepdims=keepdims is True))
        kept = value if keepdims is True or axis is not None else value.reshape((1,) * array.ndim)
        if axis is not None and keepdims is not True:
            kept = np.expand_dims(value, axis)
        # Only entries that may be the extreme on another engine count.
        reach = size_of(array.bound)
        with np.errstate(all="ignore"):
            behind = sign * (wide(kept) - wide(array.value)).real
            taken = np.where(behind == 0, reach, 0.0).max(axis=axis, keepdims=True)
            may = (behind == 0) | ~(behind > state.MARGIN * (reach + taken))
        bound = np.where(may, reach, 0.0).max(axis=axis, keepdims=True)
        zeros = (array.value == 0) & (kept == 0)
        below = np.signbit(wide(array.value).real)
        mixed = np.any(zeros & below, axis=axis, keepdims=True) & np.any(
            zeros & ~below, axis=axis, keepdims=True
        )
        bound = np.where(mixed, np.maximum(bound, UNSIGNED_ZERO), bound)
        return _finish(value, bound.reshape(value.shape), out)

    return extreme


for _names, _sign in ((("max", "amax"), 1.0), (("min", "amin"), -1.0)):
    for _name in _names:
        function(_name)(_extreme(_names[0], _sign))


def _position(name: str, sign: float) -> Any:
    def position(array: BoundedArray, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        value = np.asarray(getattr(np, name)(array.value, axis=axis, keepdims=True))
        flat = array.value.reshape(-1) if axis is None else array.value
        reach = size_of(array.bound).reshape(flat.shape)
        where = value.reshape((1,)) if axis is None else value
        best = np.take_along_axis(flat, where, 0 if axis is None else axis)
        own = np.take_along_axis(reach, where, 0 if axis is None else axis)
        with np.errstate(all="ignore"):
            behind = sign * (wide(best) - wide(flat))
        others = np.ones(flat.shape, np.bool_)
        np.put_along_axis(others, where, False, 0 if axis is None else axis)
        rivals = others & (reach + own > 0) & ~(behind > state.MARGIN * (reach + own))
        rivals &= ~((behind == 0) & (reach == own))  # ties of one computation are ties everywhere
        open_ = np.any(rivals, axis=0 if axis is None else axis, keepdims=True)
        shape = value.shape if keepdims is True else np.squeeze(value, axis).shape
        return _finish(value.reshape(shape), np.where(open_, np.inf, 0.0).reshape(shape), out)

    return position


function("argmax")(_position("argmax", 1.0))
function("argmin")(_position("argmin", -1.0))


def _truth(name: str) -> Any:
    def truth(
        array: Any, axis: Any = None, out: Any = None, keepdims: Any = False, where: Any = _UNSET
    ) -> Any:
        _refuse(name, where=where)
        value = np.asarray(getattr(np, name)(array.value, axis=axis, keepdims=keepdims is True))
        true = array.value.astype(np.bool_)
        open_ = undecided_truth(array.value, size_of(array.bound))
        join = getattr(np, name)
        least = join(true & ~open_, axis=axis, keepdims=keepdims is True)
        most = join(true | open_, axis=axis, keepdims=keepdims is True)
        return _finish(value, np.asarray(least != most, np.float64), out)

    return truth


function("any")(_truth("any"))
function("all")(_truth("all"))


@function("count_nonzero")
def _count_nonzero(array: BoundedArray, axis: Any = None, keepdims: bool = False) -> Any:
    open_ = undecided_truth(array.value, size_of(array.bound))
    if axis is None and not keepdims:  # a python number, on which python code decides
        if open_.any():
            state.current().leave_open("count_nonzero")
        return np.count_nonzero(array.value)
    value = np.asarray(np.count_nonzero(array.value, axis=axis, keepdims=keepdims))
    return make(value, np.count_nonzero(open_, axis=axis, keepdims=keepdims))


def _logaddexp_accumulate(array: BoundedArray, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    with np.errstate(all="ignore"):
        value = np.logaddexp.accumulate(array.value, axis=axis)
        largest = np.maximum.accumulate(np.maximum(np.abs(wide(array.value)), np.abs(wide(value))), axis=axis)
        unit = 2 * ULPS * format_of(value.dtype).unit
        steps = np.cumsum(np.full(value.shape, unit), axis=axis)
        bound = np.maximum.accumulate(array.bound, axis=axis) + steps * np.maximum(largest, 1.0)
        bound = np.where(
            np.isfinite(value), bound, np.where(np.maximum.accumulate(array.bound, axis=axis) > 0, np.inf, 0)
        )
    return _finish(value, bound, out)


@function("bincount")
def _bincount(array: BoundedArray, weights: Any = None, minlength: int = 0) -> Any:
    if weights is not None:
        raise NoRule("numpy.bincount with weights")
    return make(np.bincount(array.value, minlength=minlength), np.inf if array.bound.any() else 0.0)


def _add_at(array: BoundedArray, indices: Any, values: Any) -> None:
    """`numpy.add.at`: entries added where they belong, several to one place in any order."""
    index = plain(indices)
    before = np.abs(wide(array.value))
    np.add.at(array.value, index, plain(values))
    sizes, counts = before, np.zeros(array.shape, np.float64)
    np.add.at(sizes, index, np.abs(wide(np.asarray(plain(values)))))
    np.add.at(counts, index, 1.0)
    least = grain(np.abs(wide(array.value) if array.dtype.kind != "c" else wide(array.value.real)))
    np.minimum.at(least, index, grain(np.real(wide(np.asarray(plain(values))))))
    np.add.at(array.bound, index, np.asarray(bound_of(values)).astype(array.bound.dtype))
    if not is_whole(array.dtype):
        form = format_of(array.dtype)
        exact = (
            any_order_is_exact(sizes, least, form.bits)
            & (size_of(array.bound) == 0)
            & (array.dtype.kind != "c")
        )
        added = np.where(exact, 0.0, counts * form.unit * sizes)
        array.bound[...] = array.bound + added * ((1 + 1j) if np.iscomplexobj(array.bound) else 1)
    parts_ = indices if isinstance(indices, tuple) else (indices,)
    if any(operand_bound(part).any() for part in parts_ if isinstance(part, BoundedArray)):
        array.bound[...] = np.inf


METHODS.update(
    {
        ("add", "reduce"): lambda array, axis=0, dtype=None, out=None, keepdims=False: _sum(
            array, axis, dtype, out[0] if out else None, keepdims
        ),
        ("multiply", "reduce"): lambda array, axis=0, dtype=None, out=None, keepdims=False: _prod(
            array, axis, dtype, out[0] if out else None, keepdims
        ),
        ("maximum", "reduce"): lambda array, axis=0, **options: _extreme("max", 1.0)(array, axis, **options),
        ("minimum", "reduce"): lambda array, axis=0, **options: _extreme("min", -1.0)(array, axis, **options),
        ("logical_or", "reduce"): lambda array, axis=0, **options: _truth("any")(array, axis, **options),
        ("logical_and", "reduce"): lambda array, axis=0, **options: _truth("all")(array, axis, **options),
        ("add", "accumulate"): _cumsum,
        ("multiply", "accumulate"): _cumprod,
        ("maximum", "accumulate"): _cumulative("maximum"),
        ("minimum", "accumulate"): _cumulative("minimum"),
        ("add", "at"): _add_at,
        ("logaddexp", "accumulate"): _logaddexp_accumulate,
    }
)
