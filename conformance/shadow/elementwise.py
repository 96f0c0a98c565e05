"""Rules of the elementwise functions: how operands' bounds pass on, and what rounding adds.

A rule takes a `Call` and returns the bound of the result, as distances. `Call.rounded` adds the rounding
unless the operands are exact and the result provably is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.shadow import state
from conformance.shadow.array import UFUNCS
from conformance.shadow.call import Call, undecided_truth
from conformance.shadow.rounding import (
    ULPS,
    UNSIGNED_ZERO,
    Mask,
    Numbers,
    Reals,
    format_of,
    is_power_of_two,
    is_whole,
    one_rounding,
    parts,
    product_is_exact,
    sum_is_exact,
    wide,
)

Rule = Callable[[Call], Reals]


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for ufuncs."""

    def register(function: Rule) -> Rule:
        UFUNCS.update(dict.fromkeys(names, function))
        return function

    return register


def _sum_exact(a: Numbers, b: Numbers, result: Numbers) -> Mask:
    mask = np.ones(result.shape, np.bool_)
    for x, y, z in zip(parts(a), parts(b), parts(result), strict=True):
        mask = mask & sum_is_exact(x, y, z)
    return mask


@rule("add")
def _add(c: Call) -> Reals:
    a, b = c.wide
    return c.rounded(
        c.bounds[0] + c.bounds[1], lambda: _sum_exact(a, b, wide(c.result)), 1.0, lambda: _adds_zero(c)
    )


def _adds_zero(c: Call) -> Mask:
    return c.holds(0, _is_zero) | c.holds(1, _is_zero)


def _is_zero(values: Numbers) -> Mask:
    return np.asarray(values == 0, np.bool_)


@rule("subtract")
def _subtract(c: Call) -> Reals:
    a, b = c.wide
    return c.rounded(
        c.bounds[0] + c.bounds[1], lambda: _sum_exact(a, -b, wide(c.result)), 1.0, lambda: _adds_zero(c)
    )


@rule("multiply")
def _multiply(c: Call) -> Reals:
    (a, b), (da, db) = c.wide, c.bounds
    bound = _times(np.abs(a), db) + _times(np.abs(b), da) + _times(da, db)
    if c.result.dtype.kind == "c":
        added = 3 * format_of(c.result.dtype).unit * np.abs(a) * np.abs(b)
        exact = _complex_product_exact(a, b, wide(c.result)) & ~c.touched
        # A part that is zero is a sum of two zeros or of two that cancel: instructions differ in its sign.
        open_ = (c.result.real == 0) | (c.result.imag == 0)
        return np.asarray(np.where(exact, np.where(open_, UNSIGNED_ZERO, 0.0), bound + added), np.float64)
    scales = c.holds(0, is_power_of_two) | c.holds(1, is_power_of_two)
    bound = c.rounded(bound, lambda: product_is_exact(a, b, wide(c.result)), 1.0, lambda: scales)
    by_zero = c.touched & (c.holds(0, _is_zero) | c.holds(1, _is_zero)) & np.isfinite(da + db)
    if by_zero.any():  # a zero times anything finite; only its sign may be open
        open_ = undecided_truth(a, da) | undecided_truth(b, db)
        bound = np.where(by_zero, np.where(open_, UNSIGNED_ZERO, 0.0), bound)
    return bound


def _times(size: Reals, bound: Reals) -> Reals:
    """size * bound, with 0 * infinity = 0: an exact operand spreads nothing, an exact zero takes nothing
    up."""
    return np.asarray(np.where((bound == 0) | (size == 0), 0.0, size * bound), np.float64)


def _complex_product_exact(a: Numbers, b: Numbers, result: Numbers) -> Mask:
    products = [x * y for x, y in ((a.real, b.real), (a.imag, b.imag), (a.real, b.imag), (a.imag, b.real))]
    exact = product_is_exact(a.real, b.real, products[0]) & product_is_exact(a.imag, b.imag, products[1])
    exact = (
        exact & product_is_exact(a.real, b.imag, products[2]) & product_is_exact(a.imag, b.real, products[3])
    )
    exact = exact & sum_is_exact(products[0], -products[1], result.real)
    return np.asarray(exact & sum_is_exact(products[2], products[3], result.imag), np.bool_)


@rule("divide")
def _divide(c: Call) -> Reals:
    (a, b), (da, db), q = c.wide, c.bounds, wide(c.result)
    room = np.abs(b) - db
    bound = np.where(db == 0, _over(da, np.abs(b)), np.where(room > 0, (da + np.abs(q) * db) / room, np.inf))
    if c.result.dtype.kind == "c":
        return c.rounded(bound, None, 8.0)
    bound = c.rounded(
        bound, lambda: product_is_exact(q, b, a) | (a == 0), 1.0, lambda: c.holds(1, is_power_of_two)
    )
    by_zero = c.holds(0, _is_zero) & (db != 0) & (room > 0)
    if by_zero.any():
        bound = np.where(by_zero, np.where(undecided_truth(b, db), UNSIGNED_ZERO, 0.0), bound)
    return bound


def _over(bound: Reals, size: Reals) -> Reals:
    return np.asarray(np.where(bound == 0, 0.0, bound / size), np.float64)


@rule("reciprocal")
def _reciprocal(c: Call) -> Reals:
    room = np.abs(c.wide[0]) - c.bounds[0]
    bound = np.where(
        c.bounds[0] == 0, 0.0, np.where(room > 0, np.abs(wide(c.result)) * c.bounds[0] / room, np.inf)
    )
    return c.rounded(bound, lambda: product_is_exact(wide(c.result), c.wide[0], np.ones(c.result.shape)))


@rule("square")
def _square(c: Call) -> Reals:
    a, da = np.abs(c.wide[0]), c.bounds[0]
    exact = None if c.result.dtype.kind == "c" else lambda: product_is_exact(a, a, wide(c.result))
    return c.rounded(2 * _times(a, da) + da * da, exact, 1.0 if exact else 3.0)


@rule("sqrt")
def _sqrt(c: Call) -> Reals:
    root = wide(c.result)
    bound = _smooth(c, lambda x: 0.5 / np.sqrt(np.abs(x)))
    if c.result.dtype.kind == "c":
        return c.rounded(bound, lambda: c.wide[0] == 0, 4.0)
    return c.rounded(bound, lambda: product_is_exact(root, root, c.wide[0]))


def _smooth(c: Call, slope: Callable[[Numbers], Any]) -> Reals:
    """What the operand's bound becomes: times the largest slope found at the ends and in the middle."""
    bound = c.bounds[0]
    if not bound.any():
        return np.zeros(c.result.shape, np.float64)
    x = c.wide[0]
    steepest = np.abs(slope(x))
    for end in (x - bound, x + bound):
        there = np.abs(slope(end))
        steepest = np.maximum(steepest, np.where(np.isnan(there), np.inf, there))
    return np.asarray(np.where(bound == 0, 0.0, steepest * bound), np.float64)


# Smooth functions: the slope, and the operand at which the value is exact.
_SMOOTH: dict[str, tuple[Callable[[Numbers], Any], float | None]] = {
    "exp": (np.exp, 0.0),
    "exp2": (lambda x: np.log(2) * np.exp2(x), 0.0),
    "expm1": (np.exp, 0.0),
    "log": (lambda x: 1 / x, 1.0),
    "log2": (lambda x: 1 / (x * np.log(2)), 1.0),
    "log10": (lambda x: 1 / (x * np.log(10)), 1.0),
    "log1p": (lambda x: 1 / (1 + x), 0.0),
    "cbrt": (lambda x: 1 / (3 * np.cbrt(x) ** 2), 0.0),
    "sin": (np.cos, 0.0),
    "cos": (np.sin, 0.0),
    "tan": (lambda x: 1 + np.tan(x) ** 2, 0.0),
    "sinh": (np.cosh, 0.0),
    "cosh": (np.sinh, 0.0),
    "tanh": (lambda x: 1 / np.cosh(x) ** 2, 0.0),
    "arcsin": (lambda x: 1 / np.sqrt(1 - x * x), 0.0),
    "arccos": (lambda x: 1 / np.sqrt(1 - x * x), 1.0),
    "arctan": (lambda x: 1 / (1 + x * x), 0.0),
    "arcsinh": (lambda x: 1 / np.sqrt(1 + x * x), 0.0),
    "arccosh": (lambda x: 1 / np.sqrt(x * x - 1), 1.0),
    "arctanh": (lambda x: 1 / (1 - x * x), 0.0),
}


def _smooth_rule(slope: Callable[[Numbers], Any], origin: float | None) -> Rule:
    def compute(c: Call) -> Reals:
        x, form = c.wide[0], format_of(c.result.dtype)
        units = 2 * ULPS * (2.0 if c.result.dtype.kind == "c" else 1.0)
        exact = (x == origin) if origin is not None else np.zeros(x.shape, np.bool_)
        size = np.abs(wide(c.result))
        exact = exact | ~np.isfinite(size) | (np.isinf(x) & ((size == 0) | (size == 1)))
        return c.rounded(_smooth(c, slope) + np.where(exact, 0.0, 2 * form.smallest), lambda: exact, units)

    return compute


for _name, (_slope, _origin) in _SMOOTH.items():
    UFUNCS[_name] = _smooth_rule(_slope, _origin)


@rule("power", "float_power")
def _power(c: Call) -> Reals:
    (a, b), (da, db), r = c.wide, c.bounds, np.abs(wide(c.result))
    if is_whole(c.result.dtype):
        return np.asarray(np.where(c.touched, np.inf, 0.0), np.float64)
    base = np.where(da == 0, 0.0, np.abs(b) * np.maximum(_base_slope(a, b, -da), _base_slope(a, b, da)) * da)
    exponent = np.where(db == 0, 0.0, r * np.abs(np.log(np.abs(a))) * db)
    exact = (b == 0) | (b == 1) | (a == 1) | (a == 0)
    return c.rounded(base + exponent, lambda: np.asarray(exact, np.bool_), 2 * ULPS)


def _base_slope(a: Numbers, b: Numbers, step: Reals) -> Reals:
    return np.asarray(np.abs(np.power(np.abs(a + step), np.real(b) - 1)), np.float64)


@rule("arctan2")
def _arctan2(c: Call) -> Reals:
    (y, x), (dy, dx) = c.wide, c.bounds
    square = x * x + y * y
    bound = np.where(c.touched, (np.abs(x) * dy + np.abs(y) * dx) / square, 0.0)
    return c.rounded(bound, lambda: np.asarray(c.result == 0, np.bool_), 2 * ULPS)


@rule("hypot")
def _hypot(c: Call) -> Reals:
    zero = np.asarray((c.wide[0] == 0) | (c.wide[1] == 0), np.bool_)
    return c.rounded(c.bounds[0] + c.bounds[1], lambda: zero, 2 * ULPS)


@rule("logaddexp", "logaddexp2")
def _logaddexp(c: Call) -> Reals:
    largest = np.maximum(np.abs(c.wide[0]), np.abs(c.wide[1]))
    added = np.where(
        np.isfinite(largest), 2 * ULPS * format_of(c.result.dtype).unit * np.maximum(largest, 1.0), 0.0
    )
    return np.maximum(c.bounds[0], c.bounds[1]) + added


@rule("maximum", "minimum", "fmax", "fmin")
def _extreme(c: Call) -> Reals:
    bound = np.maximum(c.bounds[0], c.bounds[1])
    (a, b), (da, db) = c.wide, c.bounds
    apart = np.abs(a - b) > state.MARGIN * (da + db)
    takes_first = np.asarray(c.result == c.operands[0], np.bool_)
    bound = np.where(apart, np.where(takes_first, da, db), bound)
    zeros = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    return np.asarray(np.where(zeros, np.maximum(bound, UNSIGNED_ZERO), bound), np.float64)


@rule("positive", "negative", "invert")
def _same(c: Call) -> Reals:
    return np.asarray(np.broadcast_to(c.bounds[0], c.result.shape), np.float64)


@rule("conjugate")
def _conjugate(c: Call) -> Reals:
    return _same(c)


@rule("absolute", "fabs")
def _absolute(c: Call) -> Reals:
    if c.operands[0].dtype.kind != "c":
        return _same(c)
    real = np.asarray((c.wide[0].real == 0) | (c.wide[0].imag == 0), np.bool_)
    return c.rounded(c.bounds[0] + 0.0, lambda: real, 2 * ULPS)


@rule("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
def _comparison(c: Call) -> Reals:
    """Comparisons closer than the bounds are undecided; two results of one computation are equal
    everywhere."""
    (a, b), (da, db) = c.wide, c.bounds
    close = c.touched & (np.abs(a - b) <= state.MARGIN * (da + db))
    same = (a == b) & (da == db) & np.isfinite(da)
    return np.asarray(np.where(close & ~same, 1.0, 0.0), np.float64)


@rule("isnan", "isinf", "isfinite")
def _is_special(c: Call) -> Reals:
    return np.asarray(np.where(np.isinf(c.bounds[0]), 1.0, 0.0), np.float64)


@rule("signbit")
def _signbit(c: Call) -> Reals:
    return np.asarray(undecided_truth(c.operands[0], c.bounds[0]), np.float64)


@rule("sign")
def _sign(c: Call) -> Reals:
    return np.asarray(2.0 * undecided_truth(c.operands[0], c.bounds[0]), np.float64)


@rule("heaviside")
def _heaviside(c: Call) -> Reals:
    """0, the second operand or 1: by an open sign any of them."""
    open_ = undecided_truth(c.operands[0], c.bounds[0])
    own = np.where(c.wide[0] == 0, c.bounds[1], 0.0)
    return np.asarray(np.where(open_, 1.0 + np.abs(c.wide[1]) + c.bounds[1], own), np.float64)


@rule("left_shift", "right_shift", "gcd", "lcm")
def _whole(c: Call) -> Reals:
    return np.asarray(np.where(c.touched, np.inf, 0.0), np.float64)


@rule("copysign")
def _copysign(c: Call) -> Reals:
    flips = undecided_truth(c.operands[1], c.bounds[1])
    return np.asarray(c.bounds[0] + np.where(flips, 2 * np.abs(c.wide[0]), 0.0), np.float64)


@rule("floor", "ceil", "trunc", "rint")
def _step(c: Call) -> Reals:
    reach = state.MARGIN * c.bounds[0]
    ends = [np.abs(c.ufunc(c.wide[0] + side * reach) - wide(c.result)) for side in (-1, 1)]
    return np.asarray(np.where(c.bounds[0] == 0, 0.0, np.maximum(*ends)), np.float64)


@rule("fmod", "remainder", "floor_divide")
def _remainder(c: Call) -> Reals:
    (a, b), (da, db) = c.wide, c.bounds
    turn: Callable[[Numbers], Numbers] = np.trunc if c.ufunc.__name__ == "fmod" else np.floor
    quotient = a / b
    whole, reach = turn(quotient), state.MARGIN * (da + np.abs(quotient) * db) / np.abs(b)
    open_ = c.touched & ((turn(quotient - reach) != whole) | (turn(quotient + reach) != whole))
    if c.ufunc.__name__ == "floor_divide":
        bound, added = np.zeros(c.result.shape), np.zeros(c.result.shape)
    else:
        bound = da + _times(np.abs(whole), db)
        bends = c.ufunc.__name__ == "remainder" and not is_whole(c.result.dtype)
        added = one_rounding(c.result) if bends else np.zeros(c.result.shape)
        added = np.where(np.fmod(a, b) == wide(c.result), 0.0, added)
    return np.asarray(np.where(open_, np.inf, bound + added), np.float64)


_LOGICAL: dict[str, Callable[[Mask, Mask], Mask]] = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "bitwise_and": np.logical_and,
    "bitwise_or": np.logical_or,
}


@rule("logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor")
def _logical(c: Call) -> Reals:
    """Undecided where the undecided operands can turn the result."""
    if c.result.dtype.kind != "b":
        return np.asarray(np.where(c.touched, np.inf, 0.0), np.float64)
    truths = [operand.astype(np.bool_) for operand in c.operands]
    open_ = [undecided_truth(operand, bound) for operand, bound in zip(c.operands, c.bounds, strict=True)]
    join = _LOGICAL.get(c.ufunc.__name__)
    if join is None:
        return np.asarray(np.logical_or.reduce(np.broadcast_arrays(*open_)), np.float64)
    least = join(*(truth & ~each for truth, each in zip(truths, open_, strict=True)))
    most = join(*(truth | each for truth, each in zip(truths, open_, strict=True)))
    return np.asarray(least != most, np.float64)


# Functions that the reference engine computes entry by entry in python's floats: how many roundings of the
# operand's dtype other libraries may be off, and whether that is relative to the value or at least to one.
_BY_ENTRY = {"erf": (2 * ULPS, 0.0), "erfc": (2 * ULPS, 0.0)}
_SPECIAL = (4 * ULPS, 1.0)


@rule("by entry")
def _by_entry(c: Call) -> Reals:
    """Any function of one entry: the bound is how far it moves over the operand's bound."""
    value, bound = wide(c.result), c.bounds[0]
    moved = np.zeros(c.result.shape)
    if bound.any():
        for end in (c.wide[0] - bound, c.wide[0] + bound):
            there = np.asarray(c.ufunc(end)).astype(np.float64)
            moved = np.maximum(moved, np.abs(there - value))
        moved = np.where(bound == 0, 0.0, np.where(np.isnan(moved), np.inf, moved))
    name = c.ufunc.__name__.removesuffix(" (vectorized)")
    units, floor = _BY_ENTRY.get(name, _SPECIAL)
    size = np.where(np.isfinite(value), np.maximum(np.abs(value), floor), 0.0)
    exact = (c.wide[0] == 0) & (floor == 0)
    return np.asarray(
        moved + np.where(exact, 0.0, units * format_of(c.operands[0].dtype).unit * size), np.float64
    )
