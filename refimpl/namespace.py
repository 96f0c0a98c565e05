"""The two namespaces that formulas are written over: RAW (arrays in, arrays out) and TENSOR (tensors,
recorded).

Both have the same names: every operation of the table and every composite, under its key with ``.`` as ``_``.
TENSOR also has the in-place forms. The public functions and methods are TENSOR's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import arrays, operations
from .operations import layout
from .operations.table import (
    BINARY_OPERATORS,
    COMPOSITES,
    INPLACE_OPERATORS,
    REFLECTED_OPERATORS,
    TABLE,
    UNARY_OPERATORS,
)
from .raw import make_raw
from .record import make_inplace, make_operator, make_public, operator_of
from .tensor import Tensor, wrap

__all__ = ["RAW", "TENSOR", "Namespace", "install"]


class Namespace:
    """Functions by name. ``recorded`` tells which of the two it is."""

    def __init__(self, recorded: bool) -> None:
        self.recorded = recorded

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no operation is called {name!r}")


RAW = Namespace(False)
TENSOR = Namespace(True)


def _bound(function: Callable[..., Any], space: Namespace) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(space, *args, **kwargs)

    return call


# What CopySlices needs, in both forms (INPLACE-07).


def _copied_strided_raw(grad: Any, shape: Any, strides: Any) -> Any:
    made = layout.empty_strided(shape, strides, grad.dtype)
    made[...] = grad
    return made


def _overwritten_part_raw(whole: Any, shape: Any, strides: Any, offset: int, part: Any) -> Any:
    window = arrays.restride(whole, shape, strides, offset)
    window[...] = 0 if part is None else part
    return whole


def _as_strided_raw(whole: Any, shape: Any, strides: Any, offset: int) -> Any:
    return arrays.restride(whole, shape, strides, offset)


def _copied_strided_tensor(grad: Any, shape: Any, strides: Any) -> Any:
    return wrap(layout.empty_strided(shape, strides, grad._data.dtype)).copy_(grad)


def _overwritten_part_tensor(whole: Any, shape: Any, strides: Any, offset: int, part: Any) -> Any:
    window = whole.as_strided(shape, strides, offset)
    if part is None:
        window.zero_()
    else:
        window.copy_(part)
    return whole


def _fill(space: Namespace) -> None:
    names = space.__dict__
    for key, op in TABLE.items():
        name = key.replace(".", "_")
        if not op.inplace_only:
            names[name] = make_public(op) if space.recorded else make_raw(op)
        if op.inplace and space.recorded:
            names[name if name.endswith("_") else name + "_"] = make_inplace(op)
    for key, entry in COMPOSITES.items():
        bound = _bound(entry.function, space) if space.recorded else functools.partial(entry.function, space)
        names[key.replace(".", "_")] = bound
    if space.recorded:
        names["copied_strided"] = _copied_strided_tensor
        names["overwritten_part"] = _overwritten_part_tensor
    else:
        names["copied_strided"] = _copied_strided_raw
        names["overwritten_part"] = _overwritten_part_raw
        names["as_strided"] = _as_strided_raw


def _method(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    if isinstance(function, type(_method)):
        return function

    def method(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    method.__name__ = name
    return method


_PROPERTIES = ("T", "mT", "H", "mH", "real", "imag")


def install(public: dict[str, Any]) -> None:
    """Fill both namespaces, put the public functions into ``public`` (the package) and the methods on
    `Tensor`.
    """
    operations.load()
    _fill(RAW)
    _fill(TENSOR)
    tensor = TENSOR.__dict__
    for key, op in TABLE.items():
        name = key.replace(".", "_")
        if not op.inplace_only:
            for each in op.functions:
                public.setdefault(each, tensor[name])
            for each in op.methods:
                setattr(Tensor, each, _method(tensor[name], each))
        if op.inplace:
            for each in op.methods if op.methods else ():
                label = each if each.endswith("_") else each + "_"
                setattr(Tensor, label, tensor[name if name.endswith("_") else name + "_"])
                public.setdefault(label, getattr(Tensor, label))
    for key, entry in COMPOSITES.items():
        function = tensor[key.replace(".", "_")]
        for each in entry.functions:
            public[each] = function
        for each in entry.methods:
            if each in _PROPERTIES:
                setattr(Tensor, each, property(function))
            else:
                setattr(Tensor, each, function)
    for dunder, name in BINARY_OPERATORS.items():
        if name in TABLE:
            setattr(Tensor, dunder, make_operator(TABLE[name]))
        elif name in tensor:
            setattr(Tensor, dunder, operator_of(tensor[name]))
    for dunder, name in REFLECTED_OPERATORS.items():
        if name in tensor:
            setattr(Tensor, dunder, operator_of(tensor[name]))
    for dunder, name in UNARY_OPERATORS.items():
        if name in tensor:
            setattr(Tensor, dunder, tensor[name])
    for dunder, name in INPLACE_OPERATORS.items():
        if name in tensor:
            setattr(Tensor, dunder, operator_of(tensor[name]))
    for dunder, name in (("__getitem__", "getitem"), ("__setitem__", "setitem")):
        if name in tensor:
            setattr(Tensor, dunder, tensor[name])
