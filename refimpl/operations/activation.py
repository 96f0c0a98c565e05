"""Activations: relu and its kin, gelu, softplus, silu and others (SUBGRAD-01, SUBGRAD-02).

The backward of most is an operation of its own in torch, with its own node and derivative; so it is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from . import special
from .pointwise import nary, unary
from .table import PROMOTE, Vjp, composite, operation, vjp

Array = Any


def _backward(
    name: str, function: Callable[..., Array], parameters: str, node: str, gradients: dict[str, Vjp]
) -> None:
    """Declare a backward operation over (grad_output, self-or-result, plain parameters)."""
    names = [each.strip() for each in parameters.split(",")]
    operation(
        name, nary(function, 2), parameters=parameters, tensors=tuple(names[:2]), scalars=(),
        promotion=PROMOTE, node=node,
        functions=(), methods=(), gradients=gradients,
    )  # fmt: skip


def _no_curvature(F: Any, grad: Any, self: Any) -> Any:
    return F.zeros_like(grad)


# relu, threshold
_backward(
    "threshold_backward", lambda g, x, t: numpy.where(x <= t, 0, g).astype(g.dtype),
    "grad_output, self, threshold",
    "ThresholdBackwardBackward0",
    {
        "grad_output": vjp(lambda F, grad, self, t: F.threshold_backward(grad, self, t), "self", "threshold"),
        "self": vjp(_no_curvature, "self"),
    },
)  # fmt: skip
operation(
    "relu", unary(lambda x: numpy.where(x < 0, 0, x).astype(x.dtype)), parameters="self",
    node="ReluBackward0",
    inplace=True, gradients={"self": vjp(lambda F, grad, result: F.threshold_backward(grad, result, 0),
    "result")},
)  # fmt: skip


def _threshold(self: Array, threshold: Any, value: Any) -> Array:
    return unary(lambda x: numpy.where(x <= threshold, x.dtype.type(value), x))(self)


operation(
    "threshold", _threshold, node="ThresholdBackward0", inplace=True, methods=(),
    gradients={
        "self": vjp(lambda F, grad, self, t: F.threshold_backward(grad, self, t), "self", "threshold"),
    },
)  # fmt: skip

# hardtanh, relu6
_backward(
    "hardtanh_backward", lambda g, x, lo, hi: numpy.where((x <= lo) | (x >= hi), 0, g).astype(g.dtype),
    "grad_output, self, min_val, max_val", "HardtanhBackwardBackward0",
    {
        "grad_output": vjp(
            lambda F, grad, self, lo, hi: F.hardtanh_backward(grad, self, lo, hi), "self", "min_val",
            "max_val"
        ),
        "self": vjp(_no_curvature, "self"),
    },
)  # fmt: skip
operation(
    "hardtanh", lambda self, min_val=-1.0, max_val=1.0: unary(
        lambda x: numpy.minimum(numpy.maximum(x, min_val), max_val).astype(x.dtype))(self),
    node="HardtanhBackward0", inplace=True, functions=(), methods=(),
    gradients={
        "self": vjp(
            lambda F, grad, self, lo, hi: F.hardtanh_backward(grad, self, lo, hi), "self", "min_val",
            "max_val"
        )
    },
)  # fmt: skip

# leaky_relu
_backward(
    "leaky_relu_backward", lambda g, x, slope: numpy.where(x > 0, g, g * g.dtype.type(slope)),
    "grad_output, self, negative_slope", "LeakyReluBackwardBackward0",
    {
        "grad_output": vjp(
            lambda F, grad, self, slope: F.leaky_relu_backward(grad, self, slope), "self", "negative_slope"
        ),
        "self": vjp(_no_curvature, "self"),
    },
)  # fmt: skip
operation(
    "leaky_relu", lambda self, negative_slope=0.01: unary(
        lambda x: numpy.where(x > 0, x, x * x.dtype.type(negative_slope)))(self),
    node="LeakyReluBackward0", inplace=True, functions=(), methods=(),
    gradients={
        "self": vjp(lambda F, grad, self, slope: F.leaky_relu_backward(grad, self, slope), "self",
        "negative_slope")
    },
)  # fmt: skip


# elu, selu, celu
def _elu(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    kind = x.dtype.type
    below = numpy.expm1(x * kind(input_scale)) * kind(alpha * scale)
    return numpy.where(x < 0, below, x * kind(scale))


def _elu_backward(g: Array, x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    kind = x.dtype.type
    below = g * kind(input_scale) * kind(alpha * scale) * numpy.exp(x * kind(input_scale))
    return numpy.where(x <= 0, below, g * kind(scale))


def _elu_grad(F: Any, grad: Any, self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    return F.elu_backward(grad, self, alpha, scale, input_scale)


def _elu_twice(
    F: Any, grad: Any, grad_output: Any, self: Any, alpha: float, scale: float, input_scale: float
) -> Any:
    both = F.mul_Scalar(F.mul(grad, grad_output), input_scale)
    return F.mul(F.elu_backward(both, self, alpha, scale, input_scale), F.lt(self, 0))


_ELU = ("self", "alpha", "scale", "input_scale")
_backward(
    "elu_backward", _elu_backward, "grad_output, self, alpha, scale, input_scale", "EluBackwardBackward0",
    {"grad_output": vjp(_elu_grad, *_ELU), "self": vjp(_elu_twice, "grad_output", *_ELU)},
)  # fmt: skip
operation(
    "elu", lambda self, alpha=1.0, scale=1.0, input_scale=1.0: unary(lambda x: _elu(x, alpha, scale,
    input_scale))(self),
    node="EluBackward0", inplace=True, functions=(), methods=(), gradients={"self": vjp(_elu_grad, *_ELU)},
)  # fmt: skip
operation(
    "celu", lambda self, alpha=1.0: unary(lambda x: _elu(x, alpha, 1.0, 1.0 / alpha))(self),
    node="CeluBackward0",
    inplace=True, methods=(),
    gradients={
        "self": vjp(lambda F, grad, self, alpha: F.elu_backward(grad, self, alpha, 1.0, 1.0 / alpha), "self",
        "alpha")
    },
)  # fmt: skip

SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@composite(methods=())
def selu(F: Any, self: Any) -> Any:
    """The self-normalizing exponential unit."""
    return F.elu(self, SELU_ALPHA, SELU_SCALE, 1.0)


# gelu
_TANH_SLOPE, _TANH_CUBE = math.sqrt(2) * (2 / math.sqrt(math.pi)) * 0.5, 0.044715


def _gelu(x: Array, approximate: str) -> Array:
    kind = x.dtype.type
    if approximate == "tanh":
        return kind(0.5) * x * (kind(1) + numpy.tanh(kind(_TANH_SLOPE) * (x + kind(_TANH_CUBE) * x * x * x)))
    return x * kind(0.5) * (kind(1) + special.erf(x * kind(math.sqrt(0.5))))


def _gelu_slope(x: Array, approximate: str) -> Array:
    kind = x.dtype.type
    if approximate == "tanh":
        tanh = numpy.tanh(kind(_TANH_SLOPE) * (x + kind(_TANH_CUBE) * x * x * x))
        bend = kind(_TANH_SLOPE) * (kind(1) + kind(3 * _TANH_CUBE) * x * x)
        return kind(0.5) * (kind(1) + tanh) + kind(0.5) * x * (kind(1) - tanh * tanh) * bend
    cdf = kind(0.5) * (kind(1) + special.erf(x * kind(math.sqrt(0.5))))
    return cdf + x * (numpy.exp(x * x * kind(-0.5)) * kind(2 / math.sqrt(math.pi) * math.sqrt(0.5) * 0.5))


_gelu_backward = nary(lambda g, x, approximate: g * _gelu_slope(x, approximate), 2)


def _check_gelu(approximate: str) -> None:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")


def _gelu_forward(self: Array, *, approximate: str = "none") -> Array:
    _check_gelu(approximate)
    return unary(lambda x: _gelu(x, approximate))(self)


def _gelu_grad(F: Any, grad: Any, self: Any, approximate: str) -> Any:
    return F.gelu_backward(grad, self, approximate)


def _gelu_twice(F: Any, grad: Any, grad_output: Any, self: Any, approximate: str) -> Any:
    """The second derivative, written out for the error function and for its approximation."""
    both = F.mul(grad, grad_output)
    if approximate != "tanh":
        pdf = F.mul_Scalar(F.exp(F.mul_Scalar(F.mul(self, self), -0.5)), 1 / math.sqrt(2 * math.pi))
        return F.mul(both, F.mul(pdf, F.rsub(F.mul(self, self), 2)))
    square = F.mul(self, self)
    tanh = F.tanh(F.mul_Scalar(F.add(self, F.mul_Scalar(F.mul(square, self), _TANH_CUBE)), _TANH_SLOPE))
    slope = F.mul_Scalar(F.add_Scalar(F.mul_Scalar(square, 3 * _TANH_CUBE), 1), _TANH_SLOPE)
    bend = F.mul_Scalar(self, 6 * _TANH_CUBE * _TANH_SLOPE)
    rest = F.rsub(F.mul(tanh, tanh), 1)
    inner = F.sub(bend, F.mul_Scalar(F.mul(F.mul(tanh, slope), slope), 2))
    return F.mul(F.mul(both, rest), F.add(slope, F.mul(F.mul_Scalar(self, 0.5), inner)))


operation(
    "gelu_backward", lambda grad_output, self, approximate: _gelu_backward(grad_output, self, approximate),
    tensors=("grad_output", "self"), node="GeluBackwardBackward0", functions=(), methods=(),
    gradients={
        "grad_output": vjp(_gelu_grad, "self", "approximate"),
        "self": vjp(_gelu_twice, "grad_output", "self", "approximate"),
    },
)  # fmt: skip
operation(
    "gelu", _gelu_forward, node="GeluBackward0", functions=(), methods=(),
    gradients={"self": vjp(_gelu_grad, "self", "approximate")},
)  # fmt: skip


# softplus
def _softplus(x: Array, beta: float, threshold: float) -> Array:
    scaled = x * x.dtype.type(beta)
    return numpy.where(scaled > threshold, x, numpy.log1p(numpy.exp(scaled)) / x.dtype.type(beta))


def _softplus_backward(g: Array, x: Array, beta: float, threshold: float) -> Array:
    z = numpy.exp(x * x.dtype.type(beta))
    return numpy.where(x * x.dtype.type(beta) > threshold, g, g * z / (z + 1))


def _softplus_twice(F: Any, grad: Any, grad_output: Any, self: Any, beta: float, threshold: float) -> Any:
    scaled = F.mul_Scalar(self, beta)
    sigmoid = F.sigmoid(scaled)
    slope = F.mul_Scalar(F.mul(sigmoid, F.rsub(sigmoid, 1)), beta)
    return F.mul(F.mul(grad, grad_output), F.masked_fill(slope, F.gt(scaled, threshold), 0.0))


_backward(
    "softplus_backward", _softplus_backward, "grad_output, self, beta, threshold",
    "SoftplusBackwardBackward0",
    {
        "grad_output": vjp(
            lambda F, grad, self, beta, t: F.softplus_backward(grad, self, beta, t), "self", "beta",
            "threshold"
        ),
        "self": vjp(_softplus_twice, "grad_output", "self", "beta", "threshold"),
    },
)  # fmt: skip
operation(
    "softplus", lambda self, beta=1, threshold=20: unary(lambda x: _softplus(x, beta, threshold))(self),
    node="SoftplusBackward0", functions=(), methods=(),
    gradients={
        "self": vjp(lambda F, grad, self, beta, t: F.softplus_backward(grad, self, beta, t), "self", "beta",
        "threshold")
    },
)  # fmt: skip


# silu, mish
def _silu_backward(F: Any, grad: Any, self: Any) -> Any:
    sigmoid = F.sigmoid(self)
    return F.mul(F.mul(grad, sigmoid), F.add_Scalar(F.mul(self, F.rsub(sigmoid, 1)), 1))


operation(
    "silu", unary(lambda x: x / (1 + numpy.exp(-x))), parameters="self", node="SiluBackward0", inplace=True,
    functions=(), methods=(), gradients={"self": vjp(_silu_backward, "self")},
)  # fmt: skip


def _mish_backward(F: Any, grad: Any, self: Any) -> Any:
    sigmoid = F.sigmoid(self)
    tanh = F.tanh(F.softplus(self))
    return F.mul(grad, F.add(tanh, F.mul(F.mul(self, sigmoid), F.rsub(F.mul(tanh, tanh), 1))))


operation(
    "mish", unary(lambda x: x * numpy.tanh(numpy.log1p(numpy.exp(x)))), parameters="self",
    node="MishBackward0",
    inplace=True, functions=(), methods=(), gradients={"self": vjp(_mish_backward, "self")},
)  # fmt: skip


# hardsigmoid, hardswish
def _undefined(F: Any, grad: Any, *values: Any) -> Any:
    raise RuntimeError("derivative for aten::hardsigmoid_backward is not implemented")


_backward(
    "hardsigmoid_backward", lambda g, x: numpy.where((x > -3) & (x < 3), g / 6, 0).astype(g.dtype),
    "grad_output, self",
    "NotImplemented", {"grad_output": vjp(_undefined), "self": vjp(_undefined)},
)  # fmt: skip
operation(
    "hardsigmoid", unary(lambda x: (numpy.minimum(numpy.maximum(x + 3, 0), 6) / 6).astype(x.dtype)),
    parameters="self",
    node="HardsigmoidBackward0", inplace=True, functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad, self: F.hardsigmoid_backward(grad, self), "self")},
)  # fmt: skip


def _hardswish_slope(g: Array, x: Array) -> Array:
    return numpy.where(x <= -3, 0, numpy.where(x < 3, g * (x / 3 + g.dtype.type(0.5)), g)).astype(g.dtype)


def _hardswish_grad(F: Any, grad: Any, self: Any) -> Any:
    return F.hardswish_backward(grad, self)


def _hardswish_twice(F: Any, grad: Any, grad_output: Any, self: Any) -> Any:
    inside = F.logical_and(F.gt(self, -3.0), F.lt(self, 3.0))
    return F.where(inside, F.div_Scalar(F.mul(grad, grad_output), 3.0), F.scalar_like(0.0, grad))


_backward(
    "hardswish_backward", _hardswish_slope, "grad_output, self", "HardswishBackwardBackward0",
    {"grad_output": vjp(_hardswish_grad, "self"), "self": vjp(_hardswish_twice, "grad_output", "self")},
)  # fmt: skip
operation(
    "hardswish", unary(lambda x: (x * numpy.minimum(numpy.maximum(x + 3, 0), 6) / 6).astype(x.dtype)),
    parameters="self",
    node="HardswishBackward0", inplace=True, functions=(), methods=(),
    gradients={"self": vjp(_hardswish_grad, "self")},
)  # fmt: skip


# logsigmoid
def _log_sigmoid_slope(g: Array, x: Array) -> Array:
    powers = numpy.exp(-numpy.abs(x))
    below = x < 0
    return (numpy.where(below, 1, 0) - numpy.where(below, 1, -1) * (powers / (1 + powers))).astype(
        g.dtype
    ) * g


def _log_sigmoid_grad(F: Any, grad: Any, self: Any) -> Any:
    return F.log_sigmoid_backward(grad, self)


def _log_sigmoid_twice(F: Any, grad: Any, grad_output: Any, self: Any) -> Any:
    sigmoid = F.sigmoid(self)
    return F.mul(F.mul(F.mul(grad, grad_output), F.sub_Scalar(sigmoid, 1)), sigmoid)


_backward(
    "log_sigmoid_backward", _log_sigmoid_slope, "grad_output, self", "LogSigmoidBackwardBackward0",
    {"grad_output": vjp(_log_sigmoid_grad, "self"), "self": vjp(_log_sigmoid_twice, "grad_output", "self")},
)  # fmt: skip
operation(
    "logsigmoid", unary(lambda x: numpy.minimum(x, 0) - numpy.log1p(numpy.exp(-numpy.abs(x)))),
    parameters="self",
    node="LogSigmoidBackward0", functions=(), methods=(), gradients={"self": vjp(_log_sigmoid_grad, "self")},
)  # fmt: skip


# shrinks
def _shrink(name: str, function: Any, title: str, public: tuple[str, ...]) -> None:
    def forward(self: Array, lambd: float = 0.5) -> Array:
        return unary(lambda x: function(x, lambd).astype(x.dtype))(self)

    def gradient(F: Any, grad: Any, self: Any, lambd: float) -> Any:
        return getattr(F, name + "_backward")(grad, self, lambd)

    _backward(
        name + "_backward", lambda g, x, lambd: numpy.where((x >= -lambd) & (x <= lambd), 0,
        g).astype(g.dtype),
        "grad_output, self, lambd", f"{title}BackwardBackward0",
        {"grad_output": vjp(gradient, "self", "lambd"), "self": vjp(_no_curvature, "self")},
    )  # fmt: skip
    operation(
        name, forward, node=f"{title}Backward0", functions=public, methods=public,
        gradients={"self": vjp(gradient, "self", "lambd")},
    )  # fmt: skip


_shrink(
    "hardshrink",
    lambda x, lambd: numpy.where((x >= -lambd) & (x <= lambd), 0, x),
    "Hardshrink",
    ("hardshrink",),
)
_shrink(
    "softshrink", lambda x, lambd: numpy.where(x > lambd, x - lambd, numpy.where(x < -lambd, x + lambd,
    x * 0)),
    "Softshrink", (),
)  # fmt: skip


def _glu(F: Any, self: Any, dim: int = -1) -> Any:
    size = self.shape[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % self.ndim} is size {size}")
    return F.mul(F.narrow(self, dim, 0, size // 2), F.sigmoid(F.narrow(self, dim, size // 2, size // 2)))


composite("glu", functions=(), methods=())(_glu)
