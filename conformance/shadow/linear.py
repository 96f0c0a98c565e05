"""Inverses, determinants and solutions: first-order error bounds through the computed inverse.

An LU factorization with pivoting of an n by n matrix works on a matrix changed by about n roundings; what
that, and the operands' bounds, do to the result is measured by the sizes in the inverse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.shadow.call import make, operand_bound
from conformance.shadow.entries import plain
from conformance.shadow.rounding import Numbers, Reals, format_of, wide
from conformance.shadow.structure import function

# Growth of the factors and the constant of the factorization's error, generously.
FACTOR = 4.0


def _changed(matrix: Any) -> Reals:
    """By how much a matrix may be changed: its own bound, and the factorization's error."""
    value = np.asarray(plain(matrix))
    size = np.abs(wide(value))
    column = size.max(axis=-2, keepdims=True, initial=0.0)
    rounding = FACTOR * value.shape[-1] * format_of(value.dtype).unit * np.maximum(size, column)
    return np.asarray(operand_bound(matrix) + rounding, np.float64)


def _inverse_size(matrix: Any) -> Reals:
    """Sizes of the inverse's entries; infinite where there is none."""
    value = wide(np.asarray(plain(matrix)))
    try:
        return np.abs(np.linalg.inv(value))
    except np.linalg.LinAlgError:
        return np.full(value.shape, np.inf)


def _finite(bound: Numbers) -> Reals:
    return np.asarray(np.where(np.isnan(bound), np.inf, bound), np.float64)


@function("linalg.inv")
def _inv(matrix: Any) -> Any:
    value = np.linalg.inv(plain(matrix))
    with np.errstate(all="ignore"):
        inverse = _inverse_size(matrix)
        return make(value, _finite(inverse @ _changed(matrix) @ inverse))


@function("linalg.solve")
def _solve(matrix: Any, right: Any) -> Any:
    value = np.linalg.solve(plain(matrix), plain(right))
    with np.errstate(all="ignore"):
        spread = _changed(matrix) @ np.abs(wide(value)) + operand_bound(right)
        return make(value, _finite(_inverse_size(matrix) @ spread))


@function("linalg.det")
def _det(matrix: Any) -> Any:
    """Through the inverse, or where there is none by Hadamard's bound on how rows multiply."""
    value = np.asarray(np.linalg.det(plain(matrix)))
    with np.errstate(all="ignore"):
        changed, size = _changed(matrix), np.abs(wide(np.asarray(plain(matrix))))
        through = np.abs(wide(value)) * np.sum(
            np.swapaxes(_inverse_size(matrix), -1, -2) * changed, axis=(-2, -1)
        )
        rows = np.linalg.norm(size, axis=-1)
        reach = np.linalg.norm(changed, axis=-1)
        hadamard = np.prod(rows + reach, axis=-1) - np.prod(rows, axis=-1)
        bound = np.where(np.isfinite(through) & (through > 0), np.minimum(through * 2, hadamard), hadamard)
        return make(value, _finite(bound), scalar=True)
