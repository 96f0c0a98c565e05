"""Functions of the reference engine that bounds cannot follow step by step.

A sum has to be bounded for any order of its terms, not for the one order in which the reference engine
adds; and addresses are read off the values. So these functions get the plain values, and the bound a rule
of its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from conformance.shadow.array import BoundedArray
from conformance.shadow.call import make
from conformance.shadow.entries import plain
from conformance.shadow.reductions import sum_bound

Wrapper = Callable[[Callable[..., Any], Any], Callable[..., Any]]


def _on_values(function: Callable[..., Any], arrays: Any) -> Callable[..., Any]:
    """Only addresses and sizes are asked for."""
    return lambda *args, **kwargs: function(*plain(args), **kwargs)


def _sum(function: Callable[..., Any], arrays: Any) -> Callable[..., Any]:
    def total(array: Any, axes: Any, accumulate_type: Any) -> Any:
        if not isinstance(array, BoundedArray):
            return function(array, axes, accumulate_type)
        with arrays.use(arrays.NUMPY):
            result = function(array.value, axes, accumulate_type)
        value, scalar = np.asarray(result), not isinstance(result, np.ndarray)
        axis = tuple(axes)
        terms = array.astype(value.dtype, copy=False)
        with np.errstate(all="ignore"):
            bound = sum_bound(terms.value, terms.bound, value, axis, False)
        return make(value, bound, scalar=scalar)

    return total


SEAMS: dict[str, Wrapper] = {
    "refimpl.operations.summation:total": _sum,
    "refimpl.arrays:storage_offset": _on_values,
    "refimpl.arrays:storage_size": _on_values,
}


@contextmanager
def replaced(arrays: Any) -> Iterator[None]:
    """Replace the functions inside the `with` block. Raises AttributeError if the reference engine lacks
    one."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for place, wrap in SEAMS.items():
            module_name, name = place.split(":")
            module = importlib.import_module(module_name)
            function = getattr(module, name)
            before.append((module, name, function))
            setattr(module, name, wrap(function, arrays))
        yield
    finally:
        for module, name, function in reversed(before):
            setattr(module, name, function)
