"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from . import special
from .arithmetic import is_number
from .pointwise import binary, nary, unary
from .table import FLOAT, PROMOTE, Vjp, composite, operation, vjp

Array = Any


def elementwise(
    name: str, function: Callable[[Array], Array], node: str, gradient: Vjp, *aliases: str
) -> None:
    """Declare one differentiable function of one floating tensor."""
    names = (name, *aliases)
    operation(
        name, unary(function), parameters="self", node=node, promotion=FLOAT, inplace=True, out=True,
        functions=names,
        methods=names, gradients={"self": gradient},
    )  # fmt: skip


def _rsqrt(x: Array) -> Array:
    return 1 / numpy.sqrt(x)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + numpy.exp(-x))


def _log_to(base: float, real: Any) -> Any:
    """The logarithm to a base; a complex number is scaled part by part, so that -inf stays -inf."""

    def log(x: Array) -> Array:
        if x.dtype.kind != "c":
            return real(x)
        found = numpy.log(x)
        return (found.real / math.log(base) + 1j * (found.imag / math.log(base))).astype(x.dtype)

    return log


elementwise(
    "exp", numpy.exp, "ExpBackward0", vjp(lambda F, grad, result: F.mul(grad, F.conj(result)), "result")
)
elementwise(
    "exp2", numpy.exp2, "Exp2Backward0",
    vjp(lambda F, grad, result: F.mul_Scalar(F.mul(grad, F.conj(result)), math.log(2)), "result"),
)  # fmt: skip
elementwise(
    "expm1", numpy.expm1, "Expm1Backward0",
    vjp(lambda F, grad, result: F.mul(grad, F.add_Scalar(F.conj(result), 1)), "result"),
)  # fmt: skip
elementwise("log", numpy.log, "LogBackward0", vjp(lambda F, grad, self: F.div(grad, F.conj(self)), "self"))
elementwise(
    "log10", _log_to(10, numpy.log10), "Log10Backward0",
    vjp(lambda F, grad, self: F.div(grad, F.mul_Scalar(F.conj(self), 2.3025850929940456)), "self"),
)  # fmt: skip
elementwise(
    "log1p",
    numpy.log1p,
    "Log1PBackward0",
    vjp(lambda F, grad, self: F.div(grad, F.conj(F.add_Scalar(self, 1))), "self"),
)
elementwise(
    "log2", _log_to(2, numpy.log2), "Log2Backward0",
    vjp(lambda F, grad, self: F.div(grad, F.mul_Scalar(F.conj(self), 0.6931471805599453)), "self"),
)  # fmt: skip
elementwise(
    "sqrt",
    numpy.sqrt,
    "SqrtBackward0",
    vjp(lambda F, grad, result: F.div(grad, F.mul_Scalar(F.conj(result), 2)), "result"),
)
elementwise(
    "rsqrt", _rsqrt, "RsqrtBackward0",
    vjp(lambda F, grad, result: F.mul(F.mul_Scalar(grad, -0.5), F.conj(F.pow(result, 3))), "result"),
)  # fmt: skip

elementwise(
    "sin", numpy.sin, "SinBackward0", vjp(lambda F, grad, self: F.mul(grad, F.conj(F.cos(self))), "self")
)
elementwise(
    "cos",
    numpy.cos,
    "CosBackward0",
    vjp(lambda F, grad, self: F.mul(grad, F.conj(F.neg(F.sin(self)))), "self"),
)
elementwise(
    "tan", numpy.tan, "TanBackward0",
    vjp(lambda F, grad, result: F.mul(grad, F.conj(F.add_Scalar(F.pow(result, 2), 1))), "result"),
)  # fmt: skip
elementwise(
    "asin", numpy.arcsin, "AsinBackward0",
    vjp(lambda F, grad, self: F.mul(grad, F.conj(F.rsqrt(F.add_Scalar(F.mul(F.neg(self), self), 1)))),
    "self"), "arcsin",
)  # fmt: skip
elementwise(
    "acos", numpy.arccos, "AcosBackward0",
    vjp(lambda F, grad, self: F.mul(grad, F.conj(F.neg(F.rsqrt(F.add_Scalar(F.mul(F.neg(self), self), 1))))),
    "self"), "arccos",
)  # fmt: skip
elementwise(
    "atan", numpy.arctan, "AtanBackward0",
    vjp(lambda F, grad, self: F.div(grad, F.conj(F.add_Scalar(F.mul(self, self), 1))), "self"), "arctan",
)  # fmt: skip
elementwise(
    "sinh", numpy.sinh, "SinhBackward0", vjp(lambda F, grad, self: F.mul(grad, F.conj(F.cosh(self))), "self")
)
elementwise(
    "cosh", numpy.cosh, "CoshBackward0", vjp(lambda F, grad, self: F.mul(grad, F.conj(F.sinh(self))), "self")
)


def tanh_backward(grad: Array, output: Array) -> Array:
    """grad * conj(1 - output * output)."""
    return grad * numpy.conjugate(1 - output * output)


def sigmoid_backward(grad: Array, output: Array) -> Array:
    """grad * conj((1 - output) * output)."""
    if grad.dtype.kind == "c":
        return grad * numpy.conjugate((1 - output) * output)
    return grad * (1 - output) * output


def _tanh_twice(F: Any, grad: Any, grad_output: Any, output: Any) -> Any:
    return F.mul(F.conj(grad), F.mul(F.mul_Scalar(F.conj(output), -2), grad_output))


def _sigmoid_twice(F: Any, grad: Any, grad_output: Any, output: Any) -> Any:
    slope = F.add_Scalar(F.mul_Scalar(F.conj(output), -2), 1)
    return F.mul(F.mul(F.conj(grad), grad_output), slope)


for _name, _forward, _node, _twice in (
    ("tanh_backward", tanh_backward, "TanhBackwardBackward0", _tanh_twice),
    ("sigmoid_backward", sigmoid_backward, "SigmoidBackwardBackward0", _sigmoid_twice),
):
    operation(
        _name, nary(_forward, 2), parameters="grad_output, output", tensors=("grad_output", "output"),
        scalars=(),
        promotion=PROMOTE, node=_node, functions=(), methods=(),
        gradients={
            "grad_output": vjp(
                (lambda F, grad, output: F.tanh_backward(grad, F.conj(output)))
                if _name == "tanh_backward"
                else (lambda F, grad, output: F.sigmoid_backward(grad, F.conj(output))),
                "output",
            ),
            "output": vjp(_twice, "grad_output", "output"),
        },
    )  # fmt: skip

elementwise(
    "tanh", numpy.tanh, "TanhBackward0", vjp(lambda F, grad, result: F.tanh_backward(grad, result), "result")
)
elementwise(
    "sigmoid",
    _sigmoid,
    "SigmoidBackward0",
    vjp(lambda F, grad, result: F.sigmoid_backward(grad, result), "result"),
)
elementwise(
    "asinh", numpy.arcsinh, "AsinhBackward0",
    vjp(lambda F, grad, self: F.mul(grad, F.conj(F.rsqrt(F.add_Scalar(F.pow(self, 2), 1)))), "self"),
    "arcsinh",
)  # fmt: skip


def _acosh_backward(F: Any, grad: Any, self: Any, dtype: Any) -> Any:
    if dtype.is_complex:
        return F.mul(grad, F.conj(F.mul(F.rsqrt(F.add_Scalar(self, 1)), F.rsqrt(F.sub_Scalar(self, 1)))))
    return F.mul(grad, F.rsqrt(F.sub_Scalar(F.mul(self, self), 1)))


elementwise("acosh", numpy.arccosh, "AcoshBackward0", vjp(_acosh_backward, "self", "self.dtype"), "arccosh")
elementwise(
    "atanh", numpy.arctanh, "AtanhBackward0",
    vjp(lambda F, grad, self: F.div(grad, F.conj(F.rsub(F.pow(self, 2), 1))), "self"), "arctanh",
)  # fmt: skip

elementwise(
    "erf", special.erf, "ErfBackward0",
    vjp(lambda F, grad, self: F.mul(F.mul_Scalar(F.exp(F.neg(F.pow(self, 2))), 2 / math.sqrt(math.pi)),
    grad), "self"),
)  # fmt: skip
elementwise(
    "erfc", special.erfc, "ErfcBackward0",
    vjp(lambda F, grad, self: F.mul(F.mul_Scalar(F.exp(F.neg(F.pow(self, 2))), -2 / math.sqrt(math.pi)),
    grad), "self"),
)  # fmt: skip
elementwise(
    "lgamma",
    special.lgamma,
    "LgammaBackward0",
    vjp(lambda F, grad, self: F.mul(grad, F.digamma(self)), "self"),
)
elementwise(
    "digamma",
    special.digamma,
    "DigammaBackward0",
    vjp(lambda F, grad, self: F.mul(grad, F.polygamma(1, self)), "self"),
)
operation(
    "polygamma.n", lambda self, n: unary(lambda x: special.polygamma(n, x))(self), promotion=FLOAT,
    node="PolygammaBackward0",
    gradients={"self": vjp(lambda F, grad, self, n: F.mul(grad, F.polygamma(n + 1, self)), "self", "n")},
)  # fmt: skip


@composite(methods=())
def polygamma(F: Any, n: int, self: Any) -> Any:
    """The n-th derivative of digamma."""
    return F.polygamma_n(self, n)


def _atan2_backward(F: Any, grad: Any, self: Any, other: Any, needs: tuple[bool, ...]) -> tuple[Any, Any]:
    square = F.add(F.mul(self, self), F.mul(other, other))
    recip = F.masked_fill(F.reciprocal(square), F.eq(square, 0), 0.0)
    return (
        F.mul(F.mul(grad, other), recip) if needs[0] else None,
        F.mul(F.mul(grad, F.neg(self)), recip) if needs[1] else None,
    )


operation(
    "atan2", binary(numpy.arctan2), parameters="self, other", tensors=("self", "other"), scalars=(),
    promotion=FLOAT,
    node="Atan2Backward0", inplace=True, functions=("atan2", "arctan2"), methods=("atan2", "arctan2"),
    joint=vjp(_atan2_backward, "self", "other", "needs"), differentiable=("self", "other"),
)  # fmt: skip
operation(
    "hypot", binary(numpy.hypot), parameters="self, other", tensors=("self", "other"), scalars=(),
    promotion=PROMOTE,
    node="HypotBackward0", inplace=True,
    gradients={
        "self": vjp(lambda F, grad, self, result: F.div(F.mul(grad, self), result), "self", "result"),
        "other": vjp(lambda F, grad, other, result: F.div(F.mul(grad, other), result), "other", "result"),
    },
)  # fmt: skip
operation(
    "logaddexp", binary(numpy.logaddexp), parameters="self, other", tensors=("self", "other"), scalars=(),
    promotion=PROMOTE, node="LogaddexpBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, self, other: F.div(grad, F.conj(F.add_Scalar(F.exp(F.sub(other, self)), 1))),
            "self", "other"
        ),
        "other": vjp(
            lambda F, grad, self, other: F.div(grad, F.conj(F.add_Scalar(F.exp(F.sub(self, other)), 1))),
            "self", "other"
        ),
    },
)  # fmt: skip
operation(
    "logaddexp2", binary(numpy.logaddexp2), parameters="self, other", tensors=("self", "other"), scalars=(),
    promotion=PROMOTE, node="Logaddexp2Backward0",
    gradients={
        "self": vjp(lambda F, grad, self, other: F.div(grad, F.add_Scalar(F.pow(2, F.sub(other, self)), 1)),
        "self", "other"),
        "other": vjp(lambda F, grad, self, other: F.div(grad, F.add_Scalar(F.pow(2, F.sub(self, other)), 1)),
        "self", "other"),
    },
)  # fmt: skip


def _xlogy(x: Array, y: Array) -> Array:
    product = numpy.where(x == 0, 0, x * numpy.log(y))
    return numpy.where(numpy.isnan(y), numpy.nan, product).astype((x + y).dtype)


def _xlogy_self(F: Any, grad: Any, self: Any, other: Any) -> Any:
    slope = F.xlogy(grad, other)
    if is_number(other):
        return slope if other > 0 else F.masked_fill(slope, F.eq(self, 0.0), 0.0)
    return F.masked_fill(slope, F.logical_and(F.eq(self, 0.0), F.le(other, 0.0)), 0.0)


operation(
    "xlogy", nary(_xlogy, 2), parameters="self, other", tensors=("self", "other"), promotion=FLOAT,
    node="XlogyBackward0",
    inplace=True,
    gradients={
        "self": vjp(_xlogy_self, "self", "other"),
        "other": vjp(lambda F, grad, self, other: F.div(F.mul(grad, self), other), "self", "other"),
    },
)  # fmt: skip
