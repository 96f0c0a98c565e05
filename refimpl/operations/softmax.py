"""softmax and log_softmax, with their backward operations."""

from __future__ import annotations

from typing import Any

import numpy

from ..dtypes import REDUCED
from .dimensions import axis_of
from .layout import contiguous
from .pointwise import widen
from .reductions import sum_over
from .table import composite, operation, vjp

Array = Any


def _shifted(self: Array, axis: int) -> tuple[Array, Array]:
    wide = widen(self)
    away = wide - numpy.max(wide, axis=axis, keepdims=True)
    return away, numpy.exp(away)


def _total(values: Array, axis: int) -> Array:
    return sum_over(values, (axis,), True)


def _softmax(self: Array, dim: int) -> Array:
    axis = axis_of(dim, self.ndim)
    if self.size == 0:
        return contiguous(self.copy())
    if self.ndim == 0:
        return self.dtype.type(1) if not numpy.isnan(self - self) else self - self
    _, powers = _shifted(self, axis)
    return (powers / _total(powers, axis)).astype(self.dtype)


def _log_softmax(self: Array, dim: int) -> Array:
    axis = axis_of(dim, self.ndim)
    if self.size == 0:
        return contiguous(self.copy())
    if self.ndim == 0:
        return self - self
    away, powers = _shifted(self, axis)
    total = _total(powers, axis)
    if self.dtype in REDUCED and axis == self.ndim - 1:
        # along the last dimension the kernel keeps the sum and its logarithm in the reduced type
        total = total.astype(self.dtype).astype(total.dtype)
        return (away - numpy.log(total).astype(self.dtype).astype(total.dtype)).astype(self.dtype)
    return (away - numpy.log(total)).astype(self.dtype)


def _softmax_grad(grad_output: Array, output: Array, dim: int) -> Array:
    axis = axis_of(dim, output.ndim)
    grad, out = widen(grad_output), widen(output)
    if out.ndim == 0:
        return ((grad - grad * out) * out).astype(output.dtype)
    return ((grad - _total(grad * out, axis)) * out).astype(output.dtype)


def _log_softmax_grad(grad_output: Array, output: Array, dim: int) -> Array:
    axis = axis_of(dim, output.ndim)
    grad, out = widen(grad_output), widen(output)
    total = grad if out.ndim == 0 else _total(grad, axis)
    return (grad - numpy.exp(out) * total).astype(output.dtype)


def _softmax_twice(F: Any, grad: Any, grad_output: Any, output: Any, dim: int) -> Any:
    inner = F.sub(F.mul(grad, F.sub(grad_output, F.sum(F.mul(output, grad_output), dim, True))),
                  F.mul(grad_output, F.sum(F.mul(output, grad), dim, True)))  # fmt: skip
    return inner


def _log_softmax_twice(F: Any, grad: Any, grad_output: Any, output: Any, dim: int) -> Any:
    return F.neg(F.mul(F.mul(grad, F.exp(output)), F.sum(grad_output, dim, True)))


operation(
    "_softmax_backward_data", _softmax_grad, tensors=("grad_output", "output"),
    node="SoftmaxBackwardDataBackward0",
    functions=(), methods=(),
    gradients={
        "grad_output": vjp(lambda F, grad, output, dim: F._softmax_backward_data(grad, output, dim),
        "output", "dim"),
        "output": vjp(_softmax_twice, "grad_output", "output", "dim"),
    },
)  # fmt: skip
operation(
    "_log_softmax_backward_data", _log_softmax_grad, tensors=("grad_output", "output"),
    node="LogSoftmaxBackwardDataBackward0", functions=(), methods=(),
    gradients={
        "grad_output": vjp(
            lambda F, grad, output, dim: F.sub(grad, F.sum(F.mul(grad, F.exp(output)), dim, True)), "output",
            "dim"
        ),
        "output": vjp(_log_softmax_twice, "grad_output", "output", "dim"),
    },
)  # fmt: skip
operation(
    "_softmax", _softmax, node="SoftmaxBackward0", functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad, result, dim: F._softmax_backward_data(grad, result, dim),
    "result", "dim")},
)  # fmt: skip
operation(
    "_log_softmax", _log_softmax, node="LogSoftmaxBackward0", functions=(), methods=(),
    gradients={
        "self": vjp(lambda F, grad, result, dim: F._log_softmax_backward_data(grad, result, dim), "result",
        "dim")
    },
)  # fmt: skip


def _checked(F: Any, self: Any, dtype: Any, name: str) -> Any:
    if dtype is not None:
        return F.to(self, dtype)
    if self.dtype.kind in "biu":
        raise NotImplementedError(
            f"\"{name}_lastdim_kernel_impl\" not implemented for '{self.dtype.scalar_name}'"
        )
    return self


@composite()
def softmax(F: Any, self: Any, dim: int, dtype: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along `dim`."""
    return F._softmax(_checked(F, self, dtype, "softmax"), dim)


@composite()
def log_softmax(F: Any, self: Any, dim: int, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    return F._log_softmax(_checked(F, self, dtype, "log_softmax"), dim)
