"""Sums with weights: addcmul, addcdiv, lerp."""

from __future__ import annotations

from typing import Any

import numpy

from .arithmetic import is_number
from .pointwise import nary
from .table import PROMOTE, composite, operation, vjp

Array = Any


def _value(self: Array, tensor1: Array, tensor2: Array, value: Any, function: Any) -> Array:
    return nary(lambda s, a, b: s + function(a, b, value), 3)(self, tensor1, tensor2)


def addcmul(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    """self + value * tensor1 * tensor2."""
    return _value(self, tensor1, tensor2, value, lambda a, b, v: (a if v == 1 else a * v) * b)


def addcdiv(self: Array, tensor1: Array, tensor2: Array, *, value: Any = 1) -> Array:
    """self + value * tensor1 / tensor2. Raises RuntimeError for integers."""
    if tensor1.dtype.kind in "iub" and tensor2.dtype.kind in "iub":
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
            "perform a true "
            "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + "
            "value * "
            "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * "
            "tensor1 / tensor2) "
            "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / "
            "tensor2), for all dtypes."
        )
    return _value(self, tensor1, tensor2, value, lambda a, b, v: (a if v == 1 else a * v) / b)


operation(
    "addcmul", addcmul, tensors=("self", "tensor1", "tensor2"), scalars=(), promotion=PROMOTE,
    node="AddcmulBackward0",
    inplace=True,
    gradients={
        "self": vjp(lambda F, grad, dtype: F.handle_r_to_c(dtype, grad), "self.dtype"),
        "tensor1": vjp(
            lambda F, grad, tensor2, value, dtype: F.handle_r_to_c(dtype, F.mul(grad,
            F.conj(F.mul_Scalar(tensor2, value)))),
            "tensor2", "value", "tensor1.dtype",
        ),
        "tensor2": vjp(
            lambda F, grad, tensor1, value, dtype: F.handle_r_to_c(dtype, F.mul(grad,
            F.conj(F.mul_Scalar(tensor1, value)))),
            "tensor1", "value", "tensor2.dtype",
        ),
    },
)  # fmt: skip
operation(
    "addcdiv", addcdiv, tensors=("self", "tensor1", "tensor2"), scalars=(), promotion=PROMOTE,
    node="AddcdivBackward0",
    inplace=True,
    gradients={
        "self": vjp(lambda F, grad, dtype, tensor2: F.handle_r_to_c(dtype, grad), "self.dtype", "tensor2"),
        "tensor1": vjp(
            lambda F, grad, tensor2, value, dtype: F.handle_r_to_c(dtype, F.mul(grad, F.conj(F.rdiv(tensor2,
            value)))),
            "tensor2", "value", "tensor1.dtype",
        ),
        "tensor2": vjp(
            lambda F, grad, tensor1, tensor2, value, dtype: F.handle_r_to_c(
                dtype, F.mul(F.neg(grad), F.conj(F.div(F.mul_Scalar(tensor1, value), F.mul(tensor2,
                tensor2))))
            ),
            "tensor1", "tensor2", "value", "tensor2.dtype",
        ),
    },
)  # fmt: skip


def _lerp(start: Array, end: Array, weight: Array) -> Array:
    small = numpy.abs(weight) < 0.5
    return numpy.where(small, start + weight * (end - start), end - (end - start) * (1 - weight))


operation(
    "lerp.Scalar", nary(lambda s, e, w: _lerp(s, e, s.dtype.type(w)).astype(s.dtype), 2), parameters="self, "
    "end, weight",
    tensors=("self", "end"), scalars=(), node="LerpBackward0", inplace=True,
    gradients={
        "self": vjp(lambda F, grad, weight: F.mul_Scalar(grad, 1 - weight), "weight"),
        "end": vjp(lambda F, grad, weight: F.mul_Scalar(grad, F.conj(weight)), "weight"),
    },
)  # fmt: skip
operation(
    "lerp.Tensor", nary(lambda s, e, w: _lerp(s, e, w).astype(s.dtype), 3), parameters="self, end, weight",
    tensors=("self", "end", "weight"), scalars=(), node="LerpBackward1", inplace=True,
    gradients={
        "self": vjp(lambda F, grad, weight: F.mul(grad, F.conj(F.rsub(weight, 1))), "weight"),
        "end": vjp(lambda F, grad, weight: F.mul(grad, F.conj(weight)), "weight"),
        "weight": vjp(lambda F, grad, self, end, weight: F.mul(grad, F.conj(F.sub(end, self))), "self",
        "end", "weight"),
    },
)  # fmt: skip


def _check_lerp(self: Any, end: Any, weight: Any) -> None:
    """Raises RuntimeError: lerp does not promote (a 0-d weight apart)."""
    for name, other in (("end", end), ("weight", weight)):
        if not is_number(other) and other.dtype is not self.dtype and (name == "end" or other.ndim):
            raise RuntimeError(
                f"expected dtype {self.dtype.cpp_name} for `{name}` but got dtype {other.dtype.cpp_name}"
            )


@composite()
def lerp(F: Any, self: Any, end: Any, weight: Any) -> Any:
    """self + weight * (end - self)."""
    _check_lerp(self, end, weight)
    return (F.lerp_Scalar if is_number(weight) else F.lerp_Tensor)(self, end, weight)


@composite("lerp_", functions=())
def _lerp_(F: Any, self: Any, end: Any, weight: Any) -> Any:
    _check_lerp(self, end, weight)
    return (F.lerp_Scalar_ if is_number(weight) else F.lerp_Tensor_)(self, end, weight)
