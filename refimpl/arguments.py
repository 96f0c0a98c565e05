"""Arguments: from what a user passes to one value for each parameter of an operation."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy

from .operations.table import Operation
from .tensor import Tensor, wrap

__all__ = ["NUMBERS", "arrays_of", "bind", "coerce"]

NUMBERS = frozenset({bool, int, float, complex})


def bind(op: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """One value for each parameter. Raises TypeError as a Python call would."""
    names = op.parameters
    count = len(names)
    positional = count - op.keyword_only
    if len(args) > positional:
        raise TypeError(f"{op.key}() takes {positional} positional arguments but {len(args)} were given")
    if not kwargs and len(args) == count:
        return list(args)
    values = list(args)
    first_default = count - len(op.defaults)
    for i in range(len(args), count):
        name = names[i]
        if name in kwargs:
            values.append(kwargs[name])
        elif name == "self" and "input" in kwargs:
            values.append(kwargs["input"])
        elif i >= first_default:
            values.append(op.defaults[i - first_default])
        else:
            raise TypeError(f'{op.key}() missing 1 required positional arguments: "{name}"')
    for name in kwargs:
        if name not in names and not (name == "input" and "self" in names):
            raise TypeError(f"{op.key}() got an unexpected keyword argument '{name}'")
        if name in names[: len(args)]:
            raise TypeError(f"{op.key}() got multiple values for argument '{name}'")
    return values


def coerce(op: Operation, values: list[Any], tensors: tuple[int, ...]) -> None:
    """Make tensors of numpy arrays, and numbers of numpy scalars; raise TypeError for what is neither."""
    for i in tensors:
        value = values[i]
        name = op.parameters[i]
        if value is None or (isinstance(value, Tensor) and name not in op.lists):
            continue
        if name in op.lists:
            if not isinstance(value, (list, tuple)):
                _refuse(op, name, i, "tuple of Tensors", value)
            values[i] = [
                each if each is None or isinstance(each, Tensor) else _strange(op, name, i, each)
                for each in value
            ]
        elif value.__class__ in NUMBERS and name in op.scalars:
            continue
        else:
            values[i] = _strange(op, name, i, value)


def _strange(op: Operation, name: str, i: int, value: Any) -> Any:
    if isinstance(value, numpy.generic) and name in op.scalars:
        return value.item()
    if isinstance(value, numpy.ndarray) and name in op.scalars:
        return wrap(value)
    _refuse(op, name, i, "Tensor", value)


def _refuse(op: Operation, name: str, i: int, wanted: str, value: Any) -> NoReturn:
    shown = "input" if name == "self" else name
    raise TypeError(
        f"{op.key.partition('.')[0]}(): argument '{shown}' (position {i + 1}) must be {wanted}, "
        f"not {type(value).__name__}"
    )


def arrays_of(values: list[Any], tensors: tuple[int, ...], lists: frozenset[int]) -> list[Any]:
    """The parameters with arrays in place of tensors."""
    raw = list(values)
    for i in tensors:
        value = raw[i]
        if i in lists:
            if value is not None:
                raw[i] = [None if each is None else each._data for each in value]
        elif isinstance(value, Tensor):
            raw[i] = value._data
    return raw
