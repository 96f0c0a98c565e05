"""One elementwise call: computing the value as numpy does, finding the rule, and settling what is not
finite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from conformance.shadow import state
from conformance.shadow.array import (
    FUNCTIONS,
    UFUNCS,
    BoundedArray,
    BoundedScalar,
    NoRule,
    Plain,
    bound_dtype,
)
from conformance.shadow.rounding import Mask, Numbers, Reals, format_of, is_whole, one_rounding, wide

# Ufuncs over whole arrays, such as matmul: implementations over bounded arrays.
WHOLE_ARRAYS: dict[str, Callable[..., BoundedArray]] = {}

_ZERO = np.zeros((), np.float64)


def size_of(bound: Plain) -> Reals:
    """Bounds of complex parts as one bound of the distance in the plane."""
    return np.hypot(bound.real, bound.imag) if bound.dtype.kind == "c" else bound


def operand_bound(operand: Any) -> Reals:
    """The bound of any operand: python numbers have one only if they were read out of an array."""
    if isinstance(operand, BoundedArray):
        return size_of(operand.bound)
    escaped = state.current().escaped
    if escaped and isinstance(operand, (float, complex, np.inexact)):
        number = operand.item() if isinstance(operand, np.inexact) else operand
        return np.asarray(escaped.get(number, 0.0))
    return _ZERO


def make(value: Any, bound: Any, scalar: bool = False) -> BoundedArray:
    """A new bounded array; the bound is laid out in memory as the value is. `bound`: distances, or parts.

    `scalar`: without dimensions it is a scalar, as numpy's ufuncs and reductions give.
    """
    value = np.asarray(value)
    laid_out = np.empty_like(value, dtype=bound_dtype(value.dtype))
    if laid_out.dtype.kind == "c" and np.asarray(bound).dtype.kind != "c":
        laid_out.real[...] = bound
        laid_out.imag[...] = bound
    else:
        laid_out[...] = bound
    return (BoundedScalar if scalar and not value.ndim else BoundedArray)(value, laid_out)


@dataclass
class Call:
    """A call of a ufunc, as rules see it."""

    ufunc: Any
    operands: tuple[Plain, ...]  # in the dtype that was computed in
    bounds: tuple[Reals, ...]  # of the operands, as distances
    result: Plain

    def __post_init__(self) -> None:
        self.wide = tuple(wide(operand) for operand in self.operands)

    @property
    def touched(self) -> Mask:
        """Where an operand is inexact."""
        mask = np.zeros(self.result.shape, np.bool_)
        for bound in self.bounds:
            mask = mask | (bound != 0)
        return mask

    def rounded(
        self,
        bound: Reals,
        exact: Callable[[], Mask] | None = None,
        units: float = 1.0,
        free: Callable[[], Mask] | None = None,
    ) -> Reals:
        """`bound` and the rounding of the result.

        `exact`: where the result is exact if the operands are; `free`: where nothing is rounded in any case.
        """
        result = self.result
        if is_whole(result.dtype):
            return bound
        added = bound + units * one_rounding(result)
        touched = self.touched
        if exact is not None and not touched.all():
            added = np.where(exact() & ~touched, bound, added)
        if free is not None and touched.any():
            form = format_of(result.dtype)
            normal = np.abs(wide(result)) >= form.smallest * 2.0**form.bits
            added = np.where(free() & normal, bound, added)
        return np.asarray(added, np.float64)

    def holds(self, index: int, condition: Callable[[Numbers], Mask]) -> Mask:
        """Where an operand is exact and meets a condition."""
        return np.asarray(condition(self.wide[index]) & (self.bounds[index] == 0), np.bool_)


def call(ufunc: Any, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """Call a ufunc on bounded arrays. Raises NoRule."""
    if ufunc.__name__ in WHOLE_ARRAYS:
        made = WHOLE_ARRAYS[ufunc.__name__](*inputs)
        return _into(options.get("out"), made)
    rule = UFUNCS.get("by entry" if is_by_entry(ufunc.__name__) else ufunc.__name__)
    options = dict(options)
    out = options.pop("out", None)
    if rule is None or options.get("where", True) is not True:
        raise NoRule(f"numpy.{ufunc.__name__}")
    plain = [each.value if isinstance(each, BoundedArray) else each for each in inputs]
    with np.errstate(all="ignore"):
        result = np.asarray(ufunc(*plain, **options))
        if result.dtype == object:
            result = result.astype(np.float64)
        bound = _bound(rule, ufunc, plain, inputs, result)
    return _into(out, make(result, bound, scalar=True))


def _into(out: Any, made: BoundedArray) -> BoundedArray:
    if out is None:
        return made
    target = out[0]
    if not isinstance(target, BoundedArray):
        raise NoRule("writing a bounded array into a plain one")
    FUNCTIONS["setitem"](target, ..., made)
    return target


def _bound(rule: Any, ufunc: Any, plain: list[Any], inputs: Sequence[Any], result: Plain) -> Any:
    bounds = tuple(operand_bound(each) for each in inputs)
    if result.dtype.kind == "b":
        dtype = np.result_type(*plain)
    else:
        keep = ufunc.__name__ in _KEEP_OPERANDS or is_by_entry(ufunc.__name__)
        dtype = np.asarray(plain[0]).dtype if keep else result.dtype
    operands = tuple(_as(each, dtype) for each in plain)
    made = Call(ufunc, operands, bounds, result)
    bound = rule(made)
    return bound if np.asarray(bound).dtype.kind == "c" else settle(made, bound)


_KEEP_OPERANDS = frozenset({"absolute"})  # complex operands, real results


def is_by_entry(name: str) -> bool:
    """True for the name of a ufunc that `numpy.frompyfunc` made."""
    return name.endswith(" (vectorized)")


def _as(operand: Any, dtype: np.dtype[Any]) -> Plain:
    array = np.asarray(operand)
    if array.dtype == dtype or array.dtype == object:
        return array
    return array.astype(dtype)


def settle(made: Call, bound: Reals) -> Reals:
    """Bounds of what is not finite, or may not be on another engine.

    An infinity or a NaN is exact if it stays for all operands within their bounds, else nothing is known of
    it.
    """
    result = made.result
    size = np.abs(wide(result))
    finite = np.isfinite(size)
    if is_whole(result.dtype):
        return np.asarray(np.where(np.isnan(bound), np.inf, bound), np.float64)
    reach = np.where(np.isnan(bound), np.inf, bound)
    reach = np.where((size + reach > format_of(result.dtype).largest) & (reach > 0), np.inf, reach)
    if finite.all():
        return np.asarray(reach, np.float64)
    open_ = ~finite & made.touched
    stays = np.ones(result.shape, np.bool_)
    if open_.any():
        stays[open_] = _stays(made, open_)
    return np.asarray(np.where(finite, reach, np.where(stays, 0.0, np.inf)), np.float64)


def _stays(made: Call, where: Mask) -> Mask:
    """For the selected entries: whether the result is the same at all corners of the operands' bounds."""
    expected = made.result[where]
    if expected.dtype.kind == "c" or any(operand.dtype.kind == "c" for operand in made.operands):
        return np.zeros(expected.shape, np.bool_)
    corners = []
    for operand, bound in zip(made.operands, made.bounds, strict=True):
        value = np.broadcast_to(operand, where.shape)[where]
        reach = state.MARGIN * np.broadcast_to(bound, where.shape)[where]
        at = wide(value)
        corners.append(
            [np.where(reach == 0, value, (at + sign * reach).astype(operand.dtype)) for sign in (-1, 1)]
        )
    same = np.ones(expected.shape, np.bool_)
    for corner in product(*corners):
        found = np.asarray(made.ufunc(*corner)).astype(expected.dtype)
        same &= (found == expected) | (np.isnan(found) & np.isnan(expected))
    return same


def undecided_truth(value: Numbers, bound: Reals) -> Mask:
    """Where an engine within the bounds may see another truth value."""
    if value.dtype.kind == "b":
        return np.asarray(bound != 0, np.bool_)
    return np.asarray((bound != 0) & ~(np.abs(wide(value)) > state.MARGIN * bound), np.bool_)


FUNCTIONS["call"] = call
