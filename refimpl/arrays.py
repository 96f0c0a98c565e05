"""Where arrays come from: the only place of the reference engine that makes them.

Everything else calls numpy's functions on arrays it was given, and those dispatch on the array's own type.
So another
array library, or arrays that carry more than values, take numpy's place by `use(namespace)`; nothing else
changes.

A namespace is any object with the functions of `NAMES`, named and called as in numpy, and `restride`. The
values of
these names in this module are the functions of the namespace in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy

Array = Any

NAMES = ("asarray", "empty", "zeros", "ones", "full", "arange", "frombuffer")


def _restride(array: Array, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Array:
    array = numpy.asarray(array)
    size = array.dtype.itemsize
    owner = array
    while isinstance(owner.base, numpy.ndarray):
        owner = owner.base
    start = 0
    if array is not owner:
        start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    if not owner.flags.c_contiguous:
        owner = owner.transpose(sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis]))
    return numpy.ndarray(shape, array.dtype, owner, start + offset * size, tuple(s * size for s in strides))


NUMPY = SimpleNamespace(**{name: getattr(numpy, name) for name in NAMES}, restride=_restride)

asarray: Any = numpy.asarray
empty: Any = numpy.empty
zeros: Any = numpy.zeros
ones: Any = numpy.ones
full: Any = numpy.full
arange: Any = numpy.arange
frombuffer: Any = numpy.frombuffer
restride: Any = _restride
"""`restride(array, shape, strides, offset=0)`: the same memory seen with another shape; strides and offset in
elements, the offset counted from the array's first element. Never copies, and may reach outside `array`, not
outside
the memory that it lies in."""


@contextmanager
def use(namespace: Any) -> Iterator[None]:
    """Make arrays by `namespace` inside the `with` block. Raises AttributeError if it lacks one of the
    functions."""
    functions = {name: getattr(namespace, name) for name in (*NAMES, "restride")}
    before = {name: globals()[name] for name in functions}
    globals().update(functions)
    try:
        yield
    finally:
        globals().update(before)


def storage_offset(array: Array) -> int:
    """How many elements lie before the array's first element in the memory it is part of."""
    owner = array
    while isinstance(owner.base, numpy.ndarray):
        owner = owner.base
    if owner is array:
        return 0
    start: int = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return start // int(array.dtype.itemsize)


def storage_size(array: Array) -> int:
    """How many elements the memory holds that the array is part of."""
    owner = array
    while isinstance(owner.base, numpy.ndarray):
        owner = owner.base
    return int(owner.nbytes) // int(array.dtype.itemsize)
