"""Arithmetic: add, sub, mul, div, powers and their kin.

The forwards use Python's operators: on a 0-d value, which travels as a numpy scalar, they are many times
faster than the
ufuncs and give the same bits. Formulas keep the order of evaluation of torch's derivatives, so that they
round alike.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..dtypes import REDUCED
from .layout import settle
from .pointwise import binary, on_pair, unary
from .table import FLOAT, PROMOTE, composite, operation, vjp

Array = Any

NUMBERS = frozenset({bool, int, float, complex})


def is_number(value: Any) -> bool:
    """True for a python number (numpy's scalars are 0-d values, not numbers)."""
    return type(value) in NUMBERS


def add(self: Array, other: Array, *, alpha: Any = 1) -> Array:
    """self + alpha * other."""
    if alpha != 1:
        return _scaled(numpy.add, self, other, alpha)
    if type(other) in NUMBERS and self.dtype in REDUCED:
        return _reduced(numpy.add, self, other)
    result = self + other
    if result.dtype.kind == "c":
        result = _complex_sum(self, other, 1)
    return result if result.ndim < 2 else settle(result, self, other)


def sub(self: Array, other: Array, *, alpha: Any = 1) -> Array:
    """self - alpha * other. Raises RuntimeError for bool operands."""
    if type(other) is bool or getattr(getattr(other, "dtype", None), "kind", "") == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` "
            "operator instead."
        )
    if alpha != 1:
        return _scaled(numpy.subtract, self, other, alpha)
    if type(other) in NUMBERS and self.dtype in REDUCED:
        return _reduced(numpy.subtract, self, other)
    result = self - other
    if result.dtype.kind == "c":
        result = _complex_sum(self, other, -1)
    return result if result.ndim < 2 else settle(result, self, other)


def _complex_sum(self: Array, other: Array, factor: int) -> Array:
    """self + factor * other, the product complex as in torch's kernel: it decides zeros' signs and makes inf
    NaN."""
    kind = (getattr(self, "dtype", None) or other.dtype).type
    return self + kind(factor) * (kind(other) if type(other) in NUMBERS else other)


def rsub(self: Array, other: Array, *, alpha: Any = 1) -> Array:
    """other - alpha * self."""
    if alpha != 1 or type(other) in NUMBERS:
        return binary(lambda a, b: b - a * a.dtype.type(alpha), exact=True)(self, other)
    return sub(other, self)


def mul(self: Array, other: Array) -> Array:
    """self * other."""
    if type(other) in NUMBERS and self.dtype in REDUCED:
        return _reduced(numpy.multiply, self, other)
    result = self * other
    return result if result.ndim < 2 else settle(result, self, other)


def div(self: Array, other: Array) -> Array:
    """self / other, IEEE also at zero."""
    if type(self) in NUMBERS or type(other) in NUMBERS:
        return binary(numpy.true_divide, exact=True)(self, other)
    result = self / other
    return result if result.ndim < 2 else settle(result, self, other)


def _reduced(function: Any, self: Array, other: Any) -> Array:
    result = on_pair(function, self, other, exact=True)
    return result if result.ndim < 2 else settle(result, self)


def _scaled(function: Any, self: Array, other: Array, alpha: Any) -> Array:
    dtype = getattr(self, "dtype", None) or other.dtype
    if dtype.kind in "iu" and isinstance(alpha, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if dtype.kind == "b":
        return numpy.logical_or(self, numpy.logical_and(other, alpha))
    return binary(lambda a, b: function(a, numpy.multiply(b, alpha)), exact=True)(self, other)


def neg(self: Array) -> Array:
    """-self. Raises RuntimeError for bool."""
    if self.dtype.kind == "b":
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
            "mask, use the "
            "`~` or `logical_not()` operator instead."
        )
    result = -self
    return result if result.ndim < 2 else settle(result, self)


def pow_number(self: Array, exponent: Any) -> Array:
    """self ** exponent, with torch's short cuts for small exponents."""
    if self.dtype.kind in "iub":
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        return numpy.power(self, exponent) if self.ndim < 2 else settle(numpy.power(self, exponent), self)
    short_cut = _SHORT_CUTS.get(exponent)
    if short_cut is not None:
        if self.dtype == numpy.float16:  # torch's kernel takes no square root: pow(-0.0, 0.5) is 0.0
            short_cut = _ROOTS_BY_POW.get(exponent, short_cut)
        return short_cut(self)
    return binary(numpy.power, exact=True)(self, exponent)


def _root_by_pow(x: Array) -> Array:
    """The square root with C's pow at -0.0 and -inf."""
    return numpy.sqrt(numpy.where((x == 0) | numpy.isinf(x), numpy.abs(x), x))


_ROOTS_BY_POW = {0.5: unary(_root_by_pow), -0.5: unary(lambda x: 1 / _root_by_pow(x))}
_SHORT_CUTS = {
    0.5: unary(numpy.sqrt),
    1: unary(numpy.positive),
    2: unary(lambda x: x * x),
    3: unary(lambda x: x * x * x),
    -0.5: unary(lambda x: 1 / numpy.sqrt(x)),
    -1: unary(lambda x: 1 / x),
    -2: unary(lambda x: 1 / (x * x)),
}


def _pow_tensors(self: Array, exponent: Array) -> Array:
    if getattr(self, "dtype", exponent.dtype).kind in "iu" and exponent.dtype.kind in "iu":
        power = numpy.power(self, numpy.maximum(exponent, 0))
        negative = numpy.where(
            self == 1, 1, numpy.where(self == -1, numpy.where(exponent % 2 == 0, 1, -1), 0)
        )
        return numpy.where(exponent < 0, negative, power).astype(exponent.dtype)
    return binary(numpy.power, exact=True)(self, exponent)


def _real_part(F: Any, dtype: Any, grad: Any) -> Any:
    if dtype.is_complex or grad.dtype.kind != "c":
        return grad
    return F.real(grad)


composite("handle_r_to_c", functions=(), methods=())(_real_part)


@composite(functions=(), methods=())
def maybe_multiply(F: Any, grad: Any, factor: Any) -> Any:
    """grad * factor, and grad itself where the factor is the number 1."""
    return grad if factor == 1 else F.mul_Scalar(grad, factor)


# The four operations below run for most nodes of most graphs, so their formulas take the short way for real
# gradients.
def _real_grad(F: Any, grad: Any, dtype: Any) -> Any:
    return F.handle_r_to_c(dtype, grad) if grad.dtype.kind == "c" else grad


def _scaled_grad(F: Any, grad: Any, alpha: Any, dtype: Any) -> Any:
    if alpha == 1 and grad.dtype.kind != "c":
        return grad
    return F.handle_r_to_c(dtype, F.maybe_multiply(grad, F.conj(alpha)))


def _product_grad(F: Any, grad: Any, factor: Any, dtype: Any) -> Any:
    if grad.dtype.kind != "c":
        return F.mul(grad, factor)
    return F.handle_r_to_c(dtype, F.mul(grad, F.conj(factor)))


def _quotient_grad(F: Any, grad: Any, divisor: Any, dtype: Any) -> Any:
    if grad.dtype.kind != "c":
        return F.div_true(grad, divisor)
    return F.handle_r_to_c(dtype, F.div(grad, F.conj(divisor)))


operation(
    "add", add, tensors=("self", "other"), promotion=PROMOTE, node="AddBackward0", inplace=True, out=True,
    gradients={
        "self": vjp(_real_grad, "self.dtype"),
        "other": vjp(_scaled_grad, "alpha", "other.dtype"),
    },
)  # fmt: skip
operation(
    "sub", sub, tensors=("self", "other"), promotion=PROMOTE, node="SubBackward0", inplace=True, out=True,
    functions=("sub", "subtract"), methods=("sub", "subtract"),
    gradients={
        "self": vjp(_real_grad, "self.dtype"),
        "other": vjp(
            lambda F, grad, alpha, dtype: F.handle_r_to_c(dtype, F.maybe_multiply(F.neg(grad),
            F.conj(alpha))),
            "alpha", "other.dtype",
        ),
    },
)  # fmt: skip
operation(
    "rsub.Tensor", rsub, tensors=("self", "other"), promotion=PROMOTE, node="RsubBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, alpha, dtype: F.handle_r_to_c(dtype, F.maybe_multiply(F.neg(grad),
            F.conj(alpha))),
            "alpha", "self.dtype",
        ),
        "other": vjp(lambda F, grad, dtype: F.handle_r_to_c(dtype, grad), "other.dtype"),
    },
)  # fmt: skip
operation(
    "rsub.Scalar", rsub, tensors=("self", "other"), promotion=PROMOTE, node="RsubBackward1",
    gradients={
        "self": vjp(
            lambda F, grad, alpha, dtype: F.handle_r_to_c(dtype, F.maybe_multiply(F.neg(grad),
            F.conj(alpha))),
            "alpha", "self.dtype",
        ),
    },
)  # fmt: skip


@composite("rsub")
def _rsub(F: Any, self: Any, other: Any, *, alpha: Any = 1) -> Any:
    return (F.rsub_Scalar if is_number(other) else F.rsub_Tensor)(self, other, alpha=alpha)


operation(
    "mul", mul, tensors=("self", "other"), promotion=PROMOTE, node="MulBackward0", inplace=True, out=True,
    functions=("mul", "multiply"), methods=("mul", "multiply"),
    gradients={
        "self": vjp(_product_grad, "other", "self.dtype"),
        "other": vjp(_product_grad, "self", "other.dtype"),
    },
)  # fmt: skip
# Overloads with a plain number: they keep no tensor, so their nodes can run twice (RETAIN-02).
operation(
    "add.Scalar", lambda self, other: add(self, other), node="AddBackward1", functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad: grad)},
)  # fmt: skip
operation(
    "sub.Scalar", lambda self, other: sub(self, other), node="SubBackward1", functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad: grad)},
)  # fmt: skip
operation(
    "mul.Scalar", lambda self, other: mul(self, other), node="MulBackward1", functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad, other: F.mul_Scalar(grad, F.conj(other)), "other")},
)  # fmt: skip
operation(
    "div.Scalar", lambda self, other: div(self, other), node="DivBackward1", functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad, other: F.div_Scalar(grad, F.conj(other)), "other")},
)  # fmt: skip
operation(
    "div.true", div, tensors=("self", "other"), promotion=FLOAT, node="DivBackward0", inplace=True, out=True,
    functions=("true_divide",), methods=("true_divide",),
    gradients={
        "self": vjp(_quotient_grad, "other", "self.dtype"),
        "other": vjp(
            lambda F, grad, self, other, dtype: F.handle_r_to_c(
                dtype, F.mul(F.neg(grad), F.conj(F.div(F.div(self, other), other)))
            ),
            "self", "other", "other.dtype",
        ),
    },
)  # fmt: skip
operation(
    "neg", neg, node="NegBackward0", inplace=True, out=True, functions=("neg", "negative"), methods=("neg",
    "negative"),
    gradients={"self": vjp(lambda F, grad: F.neg(grad))},
)  # fmt: skip
operation(
    "reciprocal", unary(lambda x: 1 / x), parameters="self", node="ReciprocalBackward0", promotion=FLOAT,
    inplace=True,
    out=True,
    gradients={"self": vjp(lambda F, grad, result: F.mul(F.neg(grad), F.conj(F.mul(result, result))),
    "result")},
)  # fmt: skip


@composite()
def positive(F: Any, self: Any) -> Any:
    """The tensor itself. Raises RuntimeError for bool."""
    if self.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@composite("rdiv", functions=(), methods=())
def _rdiv(F: Any, self: Any, other: Any) -> Any:
    return F.mul(F.reciprocal(self), other) if is_number(other) else F.div(other, self)


def _pow_backward(F: Any, grad: Any, self: Any, exponent: Any, dtype: Any) -> Any:
    if exponent == 0:
        return F.zeros_like(self)
    slope = F.mul_Scalar(F.pow(self, exponent - 1), exponent)
    return F.handle_r_to_c(dtype, F.mul(grad, F.conj(slope)))


def _pow_backward_self(F: Any, grad: Any, self: Any, exponent: Any, dtype: Any, result: Any) -> Any:
    slope = F.mul(exponent, F.pow(self, F.sub(exponent, 1)))
    product = F.mul(grad, F.conj(slope))
    return F.handle_r_to_c(dtype, F.where(F.eq(exponent, 0.0), F.scalar_like(0.0, product), product))


def _pow_backward_exponent(F: Any, grad: Any, self: Any, exponent: Any, result: Any, dtype: Any) -> Any:
    at_least_zero = F.ge(F.real(exponent) if dtype.is_complex else exponent, 0)
    if is_number(self):
        if self == 0:
            slope = F.mul_Scalar(result, -math.inf)
            condition = at_least_zero
        else:
            slope = F.mul_Scalar(result, _number_log(self))
            return F.handle_r_to_c(dtype, F.mul(grad, F.conj(slope)))
    else:
        slope = F.mul(result, F.log(self))
        condition = F.logical_and(F.eq(self, 0), at_least_zero)
    slope = F.where(condition, F.scalar_like(0.0, slope), slope)
    return F.handle_r_to_c(dtype, F.mul(grad, F.conj(slope)))


def _number_log(value: Any) -> Any:
    if isinstance(value, complex):
        return complex(numpy.log(value))
    return math.log(value) if value > 0 else math.nan


operation(
    "pow.Tensor_Scalar", pow_number, tensors=("self", "exponent"), promotion=PROMOTE, node="PowBackward0",
    inplace=True,
    gradients={"self": vjp(_pow_backward, "self", "exponent", "self.dtype")},
)  # fmt: skip
operation(
    "pow.Tensor_Tensor", _pow_tensors, tensors=("self", "exponent"), promotion=PROMOTE, node="PowBackward1",
    inplace=True,
    gradients={
        # the result is kept (and its version checked) whichever of the two needs a gradient
        "self": vjp(_pow_backward_self, "self", "exponent", "self.dtype", "result"),
        "exponent": vjp(_pow_backward_exponent, "self", "exponent", "result", "exponent.dtype"),
    },
)  # fmt: skip
operation(
    "pow.Scalar", _pow_tensors, tensors=("self", "exponent"), scalars=("self",), promotion=PROMOTE,
    node="PowBackward2",
    gradients={"exponent": vjp(_pow_backward_exponent, "self", "exponent", "result", "exponent.dtype")},
)  # fmt: skip


@composite()
def pow(F: Any, self: Any, exponent: Any) -> Any:
    """self ** exponent: the overload depends on which of the two are numbers."""
    if is_number(self):
        return F.pow_Scalar(self, exponent)
    return (F.pow_Tensor_Scalar if is_number(exponent) else F.pow_Tensor_Tensor)(self, exponent)


@composite("pow_", functions=())
def _pow_(F: Any, self: Any, exponent: Any) -> Any:
    return (F.pow_Tensor_Scalar_ if is_number(exponent) else F.pow_Tensor_Tensor_)(self, exponent)


@composite("rpow", functions=(), methods=())
def _rpow(F: Any, self: Any, other: Any) -> Any:
    return F.pow(other, self)


@composite()
def square(F: Any, self: Any) -> Any:
    """self ** 2."""
    return F.pow(self, 2)


@composite("square_", functions=("square_",))
def _square_(F: Any, self: Any) -> Any:
    return F.pow_(self, 2)


@composite()
def float_power(F: Any, self: Any, exponent: Any) -> Any:
    """Power in float64 (complex128 for complex operands)."""
    from .. import dtypes

    def double(value: Any) -> Any:
        if is_number(value):
            return value
        return F.to(value, dtypes.complex128 if value.dtype.kind == "c" else dtypes.float64)

    return F.pow(double(self), double(exponent))
