"""torch.linalg: the functions of matrices under their own names."""

from __future__ import annotations

from typing import Any

from .namespace import TENSOR as F
from .operations.matrices import LinAlgError

__all__ = ["LinAlgError", "det", "inv", "matrix_norm", "norm", "solve", "vecdot", "vector_norm"]


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The vector norm over `dim`."""
    return F.linalg_vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """The Frobenius norm, or one of the sums of rows or columns."""
    if ord == "fro":
        return F.linalg_vector_norm(A, 2, dim, keepdim, dtype=dtype)
    rows = ord in (float("inf"), float("-inf"))
    if not rows and ord not in (1, -1):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    first, second = (dim[1], dim[0]) if rows else (dim[0], dim[1])
    sums = F.linalg_vector_norm(A, 1, first, True, dtype=dtype)
    best = (F.amax if ord > 0 else F.amin)(sums, second, True)
    return best if keepdim else F.squeeze(best, (first, second))


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of a vector or matrix."""
    if ord is not None and (
        isinstance(ord, str) or (dim is None and A.dim() == 2) or (hasattr(dim, "__len__") and len(dim) == 2)
    ):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return F.linalg_vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def inv(A: Any) -> Any:
    """The inverse."""
    return F.linalg_inv(A)


def det(A: Any) -> Any:
    """The determinant."""
    return F.linalg_det(A)


def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """The X of A @ X = B (of X @ A = B if not left)."""
    return F.linalg_solve(A, B) if left else F.mT(F.linalg_solve(F.mT(A), F.mT(B)))


def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """The product of vectors along a dimension."""
    if x.dim() == y.dim() == 1:
        return F.vdot(x, y)
    return F.sum(F.mul(F.conj(x), y), dim)
