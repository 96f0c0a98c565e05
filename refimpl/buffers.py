"""Input buffers: what happens when gradients wait at a node and meet there (ACC-21, ACC-37, DTYPE-06)."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy

from .accumulate import SOLE_OWNER
from .graph import Node
from .operations import layout
from .tensor import strides_of

__all__ = ["add_gradients", "mark", "mark_recorded", "moved"]


def mark(task: Any, node: Node, below: Node, grad: Any, passed: Any, given: Any) -> None:
    """Note the version of a gradient: the one it came with, if the node hands it on, or that of the node's
    formula.

    ``given`` is what the node returned; what validation made of it starts anew.
    """
    version = passed[1] if passed is not None and grad is passed[0] else node.writes if grad is given else 0
    if version:
        task.bumps[below] = version


def mark_recorded(node: Node, grads: Sequence[Any]) -> None:
    """As `mark`, for the tensors of a pass that is recorded."""
    for grad in grads:
        if grad is not None and grad._counter is None:
            grad._counter = [node.writes]


def add_gradients(task: Any, below: Any, box: list[Any], second: Any) -> Any:
    """The sum of two gradients that meet before ``below``, in their own dtype (ACC-21, DTYPE-06).

    The first is in ``box``, with the number of references to it that do not count. If nobody else holds it
    the sum is written into it, which counts as a version of its own (ACC-37)."""
    uncounted = box.pop()
    first = box.pop()
    if task.recorded:
        return task.F.add(first, second)
    bumps = task.bumps
    if getrefcount(first) <= SOLE_OWNER + uncounted and owns_memory(first):
        bumps[below] = bumps.get(below, 0) + 1
        alike = first.shape == second.shape and first.dtype == second.dtype
        if first.shape and alike and first.dtype.kind != "c":
            return numpy.add(first, second, out=first)
    elif below in bumps:
        del bumps[below]
    if first.shape or first.dtype.kind == "c":  # a complex sum multiplies by 1 first, as torch's kernel does
        return task.F.add(first, second)
    return first + second


def moved(outs: Sequence[Any], place: int, grad: Any) -> int:
    """How often a node returned ``grad`` at places that were delivered already."""
    if place == 1:
        return 1 if outs[0] is grad else 0
    return sum(each is grad for each in outs[:place])


def owns_memory(array: Any) -> bool:
    """True if nothing else sees the array's memory, and it is dense."""
    if isinstance(array, numpy.generic):
        return True
    return (array.base is None or array.size == 0) and layout.is_dense(array.shape, strides_of(array))
