"""Sizes that can be read off a program: what would fill the memory is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from conformance.operations import Operation
from conformance.programs import limits
from conformance.programs.names import fail
from conformance.programs.tree import Path


def _integers(value: Any) -> list[int]:
    """The integers of an argument: itself, or those of a list or tuple."""
    if type(value) is int:
        return [value]
    if isinstance(value, list) and value and value[0] in ("list", "tuple"):
        return [item for item in value[1] if type(item) is int]
    return []


def check_sizes(rows: Iterable[Operation], args: list[Any], kwargs: dict[str, Any], at: Path) -> None:
    """Refuses an allocation of more than the limit, as far as its sizes are literals. Raises Problem."""
    for row in rows:
        if not row.sizes:
            continue
        count = _elements(row.name, args, kwargs)
        if count > limits.ELEMENTS:
            fail(at, f"{count} elements; the limit is {limits.ELEMENTS}")


def _elements(name: str, args: list[Any], kwargs: dict[str, Any]) -> int:
    if name in ("arange", "python.range"):
        numbers = [_integers(arg) for arg in args]
        if not numbers or not all(numbers):
            return 0
        start, stop, step = {1: (0, numbers[0][0], 1)}.get(
            len(numbers),
            (numbers[0][0], numbers[1 % len(numbers)][0], numbers[2][0] if len(numbers) > 2 else 1),
        )
        return 0 if step == 0 else max(0, (stop - start) // step)
    if name == "linspace":
        return max(_integers(args[2] if len(args) > 2 else kwargs.get("steps")), default=0)
    if name == "one_hot":
        return max(_integers(args[1] if len(args) > 1 else kwargs.get("num_classes")), default=0)
    if name in ("full", "new_full"):
        args = args[:1]
    sizes = [size for arg in args for size in _integers(arg)]
    sizes += [size for key in ("size", "repeats", "dims", "n", "m") for size in _integers(kwargs.get(key))]
    if name == "eye" and len(sizes) == 1:
        sizes *= 2
    return math.prod(size for size in sizes if size > 0) if all(sizes) else 0


def check_power(base: Any, exponent: Any, at: Path) -> None:
    """Refuses a tower of literals, ``10 ** 10 ** 10``: it has no end. Raises Problem."""
    if (
        _is_constant(base)
        and _is_constant(exponent)
        and not ((type(exponent) is int and exponent <= limits.EXPONENT) or _is_float(exponent))
    ):
        fail(at, f"a power of literals beyond {limits.EXPONENT}", "write the value")


def check_repeated_literal(left: Any, right: Any, at: Path) -> None:
    """Refuses ``[0] * 10000000``. Raises Problem."""
    for literal, times in ((left, right), (right, left)):
        is_sequence = isinstance(literal, str) or (
            isinstance(literal, list) and literal[0] in ("list", "tuple")
        )
        if is_sequence and type(times) is int:
            length = len(literal) if isinstance(literal, str) else len(literal[1])
            if length * times > limits.ELEMENTS:
                fail(at, f"a literal of {length * times} elements; the limit is {limits.ELEMENTS}")


def _is_float(value: Any) -> bool:
    return isinstance(value, list) and value[0] == "float"


def _is_constant(value: Any) -> bool:
    if isinstance(value, list) and value[0] in ("binary", "unary"):
        return all(_is_constant(part) for part in value[2:])
    return type(value) is int or _is_float(value)
