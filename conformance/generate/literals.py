"""Shapes, dtypes and the tensor literals that programs create.

Expressions are JSON of the program form. They are shared between programs and never changed.
"""

from __future__ import annotations

from functools import cache
from typing import Any

Expr = Any
Shape = tuple[int, ...]

REAL = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")

_RANK = {"float16": 0, "bfloat16": 0, "float32": 1, "float64": 2, "complex64": 3, "complex128": 4}
_TO_COMPLEX = {
    "float16": "complex64",
    "bfloat16": "complex64",
    "float32": "complex64",
    "float64": "complex128",
}

DTYPE_EXPR: dict[str, Expr] = {name: ["dtype", name] for name in (*REAL, *COMPLEX, "int64", "bool")}

DYADIC = [
    "1.0", "2.0", "0.5", "-1.0", "3.0", "-2.0", "1.5", "0.25", "4.0", "-0.5", "2.5", "-3.0", "0.75",
    "-1.5", "1.25", "5.0",
]
ORDINARY = [
    "0.1", "0.7", "-1.3", "2.6", "0.3", "-0.9", "1.7", "0.4", "-2.1", "3.3", "0.6", "-0.2", "1.1",
    "0.8", "-1.9", "2.3",
]
KINKS = [
    "0.0", "1.0", "0.0", "1.0", "-1.0", "0.0", "2.0", "1.0", "0.0", "-1.0", "1.0", "0.0", "2.0", "-0.0",
    "1.0", "0.0",
]
SPECIAL = [
    "nan", "1.0", "inf", "2.0", "0.0", "-inf", "1.0", "nan", "-1.0", "inf", "0.5", "1e-40", "1.0",
    "-0.0", "3.0", "inf",
]

TABLES: tuple[tuple[Expr, ...], ...] = tuple(
    tuple(["float", text] for text in table) for table in (DYADIC, ORDINARY, KINKS, SPECIAL)
)
_PAIRS: tuple[tuple[Expr, ...], ...] = tuple(
    tuple(["complex", table[i], table[(i + 3) % 16]] for i in range(16))
    for table in (DYADIC, ORDINARY, KINKS, DYADIC)
)
"""No NaN and no infinity: what complex products make of these differs between kernels of one torch."""

_TABLE_OF_DIGIT = (0,) * 22 + (1,) * 5 + (2,) * 4 + (3,)
"""Mostly small dyadic numbers, on which gradients are exact on every processor."""


def promoted(left: str, left_rank: int, right: str, right_rank: int) -> str:
    """The dtype of an operation on two tensors: one of rank 0 decides only by its category (DTYPE-07)."""
    if left == right:
        return left
    if (left_rank == 0) != (right_rank == 0):
        strong, weak = (right, left) if left_rank == 0 else (left, right)
        if weak in COMPLEX and strong not in COMPLEX:
            return _TO_COMPLEX[strong]
        return strong
    if left in COMPLEX or right in COMPLEX:
        double = {left, right} & {"float64", "complex128"}
        return "complex128" if double else "complex64"
    if _RANK[left] == _RANK[right]:
        return "float32"
    return left if _RANK[left] > _RANK[right] else right


def broadcast(left: Shape, right: Shape) -> Shape | None:
    """The common shape of two shapes, or None where there is none."""
    if left == right:
        return left
    if len(left) < len(right):
        left, right = right, left
    head = left[: len(left) - len(right)]
    tail = []
    for a, b in zip(left[len(head) :], right, strict=False):
        if a != b and a != 1 and b != 1:
            return None
        tail.append(b if a == 1 else a)
    return head + tuple(tail)


@cache
def numel(shape: Shape) -> int:
    """How many entries a tensor of this shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


def _nested(shape: Shape, entries: tuple[Expr, ...], start: int, stride: int) -> Expr:
    if not shape:
        return entries[start % 16]
    below = numel(shape[1:]) * stride
    return ["list", [_nested(shape[1:], entries, start + i * below, stride) for i in range(shape[0])]]


def literal(shape: Shape, dtype: str, digit: int, requires_grad: bool = False) -> Expr:
    """The expression of a tensor with values from the tables; digit (0 to 1023) chooses which.

    Expressions are kept: the same arguments give the same object.
    """
    return _literal(shape, dtype, _TABLE_OF_DIGIT[(digit >> 5) & 31], digit & 31, requires_grad)


@cache
def _literal(shape: Shape, dtype: str, which: int, digit: int, requires_grad: bool) -> Expr:
    kwargs: dict[str, Expr] = {} if dtype == "float32" else {"dtype": DTYPE_EXPR[dtype]}
    if requires_grad:
        kwargs["requires_grad"] = True
    if 0 in shape and shape != (0,):
        return ["call", "torch.zeros", list(shape), kwargs]
    if dtype == "int64":
        return ["call", "torch.tensor", [_integers(shape, digit)], kwargs]
    entries = (_PAIRS if dtype in COMPLEX else TABLES)[which]
    stride = 1 + 2 * (digit >> 4)
    return ["call", "torch.tensor", [_nested(shape, entries, digit & 15, stride)], kwargs]


def _integers(shape: Shape, start: int) -> Expr:
    if not shape:
        return 1 + start % 3
    return ["list", [_integers(shape[1:], start + i) for i in range(shape[0])]]


def number(digit: int) -> Expr:
    """A Python float of the dyadic table."""
    return TABLES[0][digit & 15]
