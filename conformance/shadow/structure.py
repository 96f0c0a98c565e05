"""Functions that move, repeat, join or select entries: done to the value and to the bound alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conformance.shadow import state
from conformance.shadow.array import FUNCTIONS, BoundedArray, NoRule, bound_dtype
from conformance.shadow.call import make, operand_bound, size_of, undecided_truth
from conformance.shadow.entries import bound_of, cast_bound, plain
from conformance.shadow.rounding import wide


def function(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register an implementation of functions of numpy."""

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update({f"numpy.{name}": implementation for name in names})
        return implementation

    return register


# First argument an array, the result its entries elsewhere (a view wherever numpy gives one).
_MOVING = (
    "reshape", "transpose", "permute_dims", "swapaxes", "moveaxis", "rollaxis", "expand_dims", "squeeze",
    "broadcast_to", "ravel", "flip", "flipud", "fliplr", "rot90", "roll", "tile", "repeat", "diagonal",
    "diag", "diagflat", "tril", "triu", "copy", "atleast_1d", "atleast_2d", "atleast_3d", "resize",
    "ascontiguousarray", "matrix_transpose", "linalg.matrix_transpose", "linalg.diagonal",
)  # fmt: skip


def _moving(name: str) -> Callable[..., Any]:
    def move(array: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(array, BoundedArray):
            raise NoRule(f"numpy.{name} of a plain array with bounded arguments")
        args, kwargs = plain(args), {key: plain(value) for key, value in kwargs.items()}
        target: Any = np
        for part in name.split("."):
            target = getattr(target, part)
        return BoundedArray(
            np.asarray(target(array.value, *args, **kwargs)), np.asarray(target(array.bound, *args, **kwargs))
        )

    return move


for _name in _MOVING:
    FUNCTIONS[f"numpy.{_name}"] = _moving(_name)


def _joining(name: str) -> Callable[..., Any]:
    def join(arrays: Sequence[Any], axis: Any = 0, **kwargs: Any) -> Any:
        if kwargs.pop("out", None) is not None or kwargs.pop("dtype", None) is not None:
            raise NoRule(f"numpy.{name} with out or dtype")
        value = getattr(np, name)([plain(each) for each in arrays], axis, **kwargs)
        bounds = []
        for each in arrays:
            source, bound = np.asarray(plain(each)), np.asarray(bound_of(each))
            if source.dtype != value.dtype:
                bound = np.asarray(cast_bound(source, bound, source.astype(value.dtype)))
            bounds.append(np.broadcast_to(bound, source.shape).astype(bound_dtype(value.dtype)))
        return BoundedArray(value, getattr(np, name)(bounds, axis, **kwargs))

    return join


FUNCTIONS.update({"numpy.concatenate": _joining("concatenate"), "numpy.stack": _joining("stack")})


def _splitting(name: str) -> Callable[..., Any]:
    def split(array: BoundedArray, *args: Any, **kwargs: Any) -> Any:
        values, bounds = (getattr(np, name)(each, *args, **kwargs) for each in (array.value, array.bound))
        return [BoundedArray(value, bound) for value, bound in zip(values, bounds, strict=True)]

    return split


for _name in ("split", "array_split", "hsplit", "vsplit", "dsplit"):
    FUNCTIONS[f"numpy.{_name}"] = _splitting(_name)


@function("broadcast_arrays")
def _broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    values = np.broadcast_arrays(*(plain(each) for each in arrays))
    bounds = [np.broadcast_to(np.asarray(bound_of(each)), values[0].shape) for each in arrays]
    return tuple(BoundedArray(value, bound) for value, bound in zip(values, bounds, strict=True))


def _filled(name: str) -> Callable[..., Any]:
    def like(array: Any, *args: Any, **kwargs: Any) -> Any:
        value = getattr(np, name)(plain(array), *plain(args), **kwargs)
        fill = args[0] if name == "full_like" else kwargs.get("fill_value", 0)
        return make(value, bound_of(fill) if name == "full_like" else 0.0)

    return like


for _name in ("zeros_like", "ones_like", "empty_like", "full_like"):
    FUNCTIONS[f"numpy.{_name}"] = _filled(_name)


@function("real", "imag")
def _unused(array: BoundedArray) -> Any:
    raise NoRule("numpy.real and numpy.imag: use the attributes")


FUNCTIONS["numpy.real"] = lambda array: array.real
FUNCTIONS["numpy.imag"] = lambda array: array.imag


@function("copyto")
def _copyto(target: BoundedArray, source: Any, casting: str = "same_kind", where: Any = True) -> None:
    if where is True:
        target[...] = source
    else:
        target[where] = np.broadcast_to(source, target.shape)[where]


@function("where")
def _where(condition: Any, *choices: Any) -> Any:
    """By an undecided condition the entry may be either choice."""
    if len(choices) != 2:
        return _nonzero(condition)
    value = np.where(plain(condition), *(plain(each) for each in choices))
    truth = np.asarray(plain(condition))
    sizes, numbers = [], []
    for each in choices:
        source, bound = np.asarray(plain(each)), np.asarray(bound_of(each))
        if source.dtype != value.dtype and isinstance(each, BoundedArray):
            bound = np.asarray(cast_bound(source, bound, source.astype(value.dtype)))
        sizes.append(bound.astype(bound_dtype(value.dtype)))
        numbers.append(wide(source))
    bound = np.where(truth, *sizes)
    open_ = undecided_truth(truth, operand_bound(condition))
    if open_.any():
        with np.errstate(all="ignore"):
            either = np.abs(numbers[0] - numbers[1]) + np.maximum(size_of(sizes[0]), size_of(sizes[1]))
        either = np.where(np.isnan(either), np.inf, either)
        bound = np.where(open_, either, bound)
    return make(value, bound)


@function("take")
def _take(array: Any, indices: Any, axis: int | None = None, mode: str = "raise") -> Any:
    return _selected(np.take, array, indices, axis, mode=mode)


@function("take_along_axis")
def _take_along_axis(array: Any, indices: Any, axis: int | None = -1) -> Any:
    return _selected(np.take_along_axis, array, indices, axis)


def _selected(select: Any, array: Any, indices: Any, axis: Any, **kwargs: Any) -> BoundedArray:
    value = np.asarray(select(plain(array), plain(indices), axis, **kwargs))
    bound = np.asarray(
        select(np.broadcast_to(bound_of(array), np.shape(plain(array))), plain(indices), axis, **kwargs)
    )
    if operand_bound(indices).any():
        bound = np.full(value.shape, np.inf)
    return make(value, bound)


@function("put_along_axis")
def _put_along_axis(array: BoundedArray, indices: Any, values: Any, axis: int | None) -> None:
    np.put_along_axis(array.value, plain(indices), plain(values), axis)
    bound = np.asarray(bound_of(values)).astype(array.bound.dtype)
    np.put_along_axis(array.bound, plain(indices), bound, axis)
    if operand_bound(indices).any():
        array.bound[...] = np.inf


@function("nonzero", "argwhere", "flatnonzero")
def _nonzero(array: BoundedArray) -> Any:
    """Which entries there are depends on their truth."""
    if undecided_truth(array.value, size_of(array.bound)).any():
        state.current().leave_open("which entries are not zero")
    return tuple(make(index, 0.0) for index in np.nonzero(array.value))


@function("extract")
def _extract(condition: Any, array: Any) -> Any:
    return array.ravel()[condition.ravel()]


@function("pad")
def _pad(array: BoundedArray, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    filling = plain(options.get("constant_values", 0))
    if mode == "constant":
        value = np.pad(array.value, pad_width, constant_values=filling)
        return make(value, np.pad(array.bound, pad_width))
    return BoundedArray(np.pad(array.value, pad_width, mode), np.pad(array.bound, pad_width, mode))  # type: ignore[call-overload]


@function("unique")
def _unique(array: BoundedArray) -> Any:
    """Which values are the same depends on their bounds."""
    if array.bound.any():
        state.current().leave_open("which values are the same")
    return make(np.unique(array.value), 0.0)


@function("shape")
def _shape(array: BoundedArray) -> Any:
    return array.shape


@function("ndim")
def _ndim(array: BoundedArray) -> Any:
    return array.ndim


@function("size")
def _size(array: BoundedArray, axis: int | None = None) -> Any:
    return array.size if axis is None else array.shape[axis]


@function("result_type")
def _result_type(*arrays: Any) -> Any:
    return np.result_type(*(plain(each) for each in arrays))


@function("can_cast", "iscomplexobj", "isrealobj")
def _no_entries(*args: Any, **kwargs: Any) -> Any:
    raise NoRule("numpy.can_cast, iscomplexobj, isrealobj: use the dtype")


@function("shares_memory", "may_share_memory")
def _shares_memory(one: Any, two: Any, **kwargs: Any) -> bool:
    return bool(np.shares_memory(plain(one), plain(two)))


@function("array_equal")
def _array_equal(one: Any, two: Any, equal_nan: bool = False) -> Any:
    if np.shape(plain(one)) != np.shape(plain(two)):
        return False
    same = np.equal(one, two)
    return bool(same.all())
