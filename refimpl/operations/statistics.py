"""Variance, standard deviation, norms, and what is built on them (SUBGRAD-08, SUBGRAD-13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod as product
from typing import Any

import numpy

from .. import dtypes
from .dimensions import axes_of, unsqueeze_all
from .pointwise import widen
from .reductions import accumulate_type, sum_over
from .table import composite, operation, vjp

Array = Any


def _check_float(self: Array) -> None:
    if self.dtype.kind in "biu":
        raise RuntimeError("std and var only support floating point and complex dtypes")


def _moments(self: Array, dim: Any, correction: float, keepdim: bool) -> tuple[Array, Array]:
    """Variance and mean, in float64 (or the type sums run in) and rounded once."""
    axes = axes_of(dim, self.ndim)
    count = product(self.shape[axis] for axis in axes)
    wide = self.astype({"c": numpy.complex128}.get(self.dtype.kind, numpy.float64))
    mean = sum_over(wide, axes, True) / count if count else sum_over(wide, axes, True) * numpy.nan
    away = wide - mean
    squares = (away * numpy.conjugate(away)).real
    divisor = max(count - correction, 0)
    total = sum_over(squares, axes, True)
    variance = numpy.true_divide(total, divisor)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(self.shape))
    shape = kept if keepdim else tuple(size for axis, size in enumerate(self.shape) if axis not in axes)
    real = dtypes.of(self.dtype).to_real().numpy
    return variance.astype(real).reshape(shape), mean.astype(self.dtype).reshape(shape)


def _var(self: Array, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Array:
    _check_float(self)
    return _moments(self, dim, correction, keepdim)[0]


def _std(self: Array, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> Array:
    _check_float(self)
    wide = _moments(self.astype(numpy.float64) if self.dtype.kind != "c" else self, dim, correction, keepdim)[
        0
    ]
    return numpy.sqrt(wide).astype(dtypes.of(self.dtype).to_real().numpy)


def _var_backward(
    F: Any, grad: Any, self: Any, shape: Sequence[int], dim: Any, correction: float, keepdim: bool
) -> Any:
    axes = axes_of(dim, len(shape))
    if not keepdim and len(shape) > 1:
        grad = unsqueeze_all(F, grad, axes)
    freedom = product(shape[axis] for axis in axes) - correction
    if freedom <= 0:
        scale = math.inf if freedom == 0 else math.nan
        return F.mul(F.mul_Scalar(grad, scale), F.sub(self, F.mean(self, axes, True)))
    return F.mul(F.mul_Scalar(grad, 2.0 / freedom), F.sub(self, F.mean(self, axes, True)))


def _std_backward(
    F: Any,
    grad: Any,
    self: Any,
    result: Any,
    shape: Sequence[int],
    dim: Any,
    correction: float,
    keepdim: bool,
) -> Any:
    slope = F.masked_fill(F.div(grad, F.mul_Scalar(result, 2)), F.eq(result, 0), 0)
    return _var_backward(F, slope, self, shape, dim, correction, keepdim)


def _mean_part(F: Any, grad: Any, shape: Sequence[int], dim: Any, keepdim: bool) -> Any:
    axes = axes_of(dim, len(shape))
    if not keepdim and len(shape):
        grad = unsqueeze_all(F, grad, axes)
    return F.div_Scalar(F.expand(grad, tuple(shape)), product(shape[axis] for axis in axes))


def _two(F: Any, first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return F.add(first, second)


def _var_mean_backward(
    F: Any, grads: Any, self: Any, shape: Sequence[int], dim: Any, correction: float, keepdim: bool
) -> Any:
    variance = None if grads[0] is None else _var_backward(F, grads[0], self, shape, dim, correction, keepdim)
    return _two(F, variance, None if grads[1] is None else _mean_part(F, grads[1], shape, dim, keepdim))


def _std_mean_backward(
    F: Any,
    grads: Any,
    self: Any,
    result: Any,
    shape: Sequence[int],
    dim: Any,
    correction: float,
    keepdim: bool,
) -> Any:
    spread = (
        None
        if grads[0] is None
        else _std_backward(F, grads[0], self, result, shape, dim, correction, keepdim)
    )
    return _two(F, spread, None if grads[1] is None else _mean_part(F, grads[1], shape, dim, keepdim))


_OVER = ("self.shape", "dim", "correction", "keepdim")
operation("var.correction", _var, node="VarBackward0", gradients={"self": vjp(_var_backward, "self", *_OVER)})
operation(
    "std.correction",
    _std,
    node="StdBackward0",
    gradients={"self": vjp(_std_backward, "self", "result", *_OVER)},
)
operation(
    "var_mean.correction",
    lambda self, dim=None, correction=1, keepdim=False: _moments(self, dim, correction, keepdim),
    node="VarMeanBackward0", outputs=2, gradients={"self": vjp(_var_mean_backward, "self", *_OVER)},
)  # fmt: skip
operation(
    "std_mean.correction",
    lambda self, dim=None, correction=1, keepdim=False: (
        _std(self, dim, correction, keepdim), _moments(self, dim, correction, keepdim)[1]),
    node="StdMeanBackward0", outputs=2, gradients={"self": vjp(_std_mean_backward, "self", "result0",
    *_OVER)},
)  # fmt: skip


def _statistic(name: str, method: bool) -> None:
    def function(
        F: Any,
        self: Any,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: Any = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        return getattr(F, name + "_correction")(self, dim, correction, keepdim)

    composite(name, methods=(name,) if method else ())(function)


for _name, _method in (("var", True), ("std", True), ("var_mean", False), ("std_mean", False)):
    _statistic(_name, _method)


# Norms
def vector_norm(
    self: Array, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Array:
    """The vector norm over `dim`. Raises RuntimeError for integers."""
    kind = self.dtype if dtype is None else dtype.numpy
    if kind.kind in "biu":
        name = {"int64": "Long", "int32": "Int", "bool": "Bool"}.get(
            dtypes.of(kind).name, dtypes.of(kind).scalar_name
        )
        raise RuntimeError(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {name}"
        )
    axes = axes_of(dim, self.ndim)
    size = numpy.abs(widen(self.astype(kind)))
    real = dtypes.of(kind).to_real().numpy
    if ord in (math.inf, -math.inf):
        function = numpy.max if ord > 0 else numpy.min
        result = function(size, axis=axes, keepdims=keepdim) if size.ndim else size
        return result.astype(real)
    wide = accumulate_type(size.dtype)
    if ord == 0:
        return sum_over((size != 0).astype(wide), axes, keepdim).astype(real)
    if ord == 1:
        return sum_over(size, axes, keepdim).astype(real)
    if ord == 2:
        return numpy.sqrt(sum_over(size * size, axes, keepdim)).astype(real)
    powers = size * size * size if ord == 3 else numpy.power(size, size.dtype.type(ord))
    return numpy.power(sum_over(powers, axes, keepdim), size.dtype.type(1.0 / ord)).astype(real)


def norm_backward(
    F: Any, grad: Any, self: Any, p: Any, norm: Any, shape: Sequence[int], dim: Any, keepdim: bool
) -> Any:
    """The gradient of a p-norm; at the zero vector 0 for every p, and none at all for p = 0."""
    axes = axes_of(dim, len(shape))
    if not keepdim and len(shape):
        grad, norm = unsqueeze_all(F, grad, axes), unsqueeze_all(F, norm, axes)
    if p == 0:
        return None
    if p == 1:
        return F.mul(F.sgn(self), grad)
    if p == 2:
        return F.mul(grad, F.masked_fill(F.div(self, norm), F.eq(norm, 0), 0))
    if p in (math.inf, -math.inf):
        size = F.abs(self)
        mask = F.logical_or(F.eq(size, norm), F.isnan(size))
        ties = F.sum(mask, axes, True)
        return F.mul(F.sgn(self), F.mul(F.div(grad, ties), mask))
    if p < 1:
        scale = F.masked_fill(F.pow(F.abs(self), p - 1), F.eq(self, 0), 0)
        return F.mul(F.mul(F.mul(F.sgn(self), scale), grad), F.pow(norm, 1 - p))
    if p < 2:
        slope = F.mul(F.sgn(self), F.pow(F.abs(self), p - 1))
        return F.mul(slope, F.masked_fill(F.div(grad, F.pow(norm, p - 1)), F.eq(norm, 0), 0))
    slope = F.mul(self, F.pow(F.abs(self), p - 2))
    return F.mul(slope, F.masked_fill(F.div(grad, F.pow(norm, p - 1)), F.eq(norm, 0), 0))


operation(
    "linalg_vector_norm", vector_norm, node="LinalgVectorNormBackward0", functions=(), methods=(),
    gradients={"self": vjp(norm_backward, "self", "ord", "result", "self.shape", "dim", "keepdim")},
)  # fmt: skip


@composite()
def norm(F: Any, self: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The p-norm of all entries, or over `dim`."""
    if p == "nuc":
        raise RuntimeError("torch.norm: the nuclear norm is not supported")
    order = 2 if p in (None, "fro") else p
    return F.linalg_vector_norm(self, order, dim, keepdim, dtype=dtype)


def _dist(self: Array, other: Array, p: Any = 2) -> Array:
    return vector_norm(self - other, p)


operation(
    "dist", _dist, tensors=("self", "other"), node="DistBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, self, other, p, result: norm_backward(
                F, grad, F.sub(self, other), p, result, (), None, True
            ),
            "self", "other", "p", "result",
        ),
        "other": vjp(
            lambda F, grad, self, other, p, result: F.neg(
                norm_backward(F, grad, F.sub(self, other), p, result, (), None, True)
            ),
            "self", "other", "p", "result",
        ),
    },
)  # fmt: skip
