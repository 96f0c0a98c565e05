"""Rounding, signs and remainders. Their derivatives are 0 or 1 almost everywhere, and defined at the steps
(SUBGRAD-10)."""

from __future__ import annotations

from typing import Any

import numpy

from .arithmetic import is_number
from .pointwise import binary, nary, unary
from .table import FLOAT, PROMOTE, composite, operation, vjp

Array = Any


def _on_floats(function: Any) -> Any:
    return unary(lambda x: x if x.dtype.kind in "iub" else function(x))


def _zero(F: Any, grad: Any) -> Any:
    return F.zeros_like(grad)


def _pass(F: Any, grad: Any) -> Any:
    return grad


def _sign(x: Array) -> Array:
    """-1, 0 or 1; 0 also for NaN (SUBGRAD-01)."""
    return numpy.subtract(x > 0, x < 0, dtype=numpy.int8).astype(x.dtype) if x.dtype.kind != "b" else x


operation(
    "sign", unary(_sign), parameters="self", node="SignBackward0", inplace=True, out=True,
    gradients={"self": vjp(_zero)},
)  # fmt: skip
_STEPS: tuple[tuple[str, Any, str], ...] = (
    ("floor", numpy.floor, "FloorBackward0"),
    ("ceil", numpy.ceil, "CeilBackward0"),
    ("trunc", numpy.trunc, "TruncBackward0"),
    ("round.plain", numpy.round, "RoundBackward0"),
)
for _name, _function, _node in _STEPS:
    operation(
        _name, _on_floats(_function), parameters="self", node=_node,
        inplace=True, out=True, gradients={"self": vjp(_zero)},
    )  # fmt: skip


def _round_decimals(self: Array, decimals: int) -> Array:
    def rounded(x: Array) -> Array:
        scale = x.dtype.type(10.0 ** abs(decimals))
        return numpy.round(x * scale) / scale if decimals > 0 else numpy.round(x / scale) * scale

    return unary(rounded)(self)


operation(
    "round.decimals", _round_decimals, node="RoundBackward1", inplace=True, gradients={"self": vjp(_zero)}
)


@composite()
def round(F: Any, self: Any, *, decimals: int = 0) -> Any:
    """Round half to even, to `decimals` places."""
    return F.round_plain(self) if decimals == 0 else F.round_decimals(self, decimals)


@composite("round_", functions=("round_",))
def _round_(F: Any, self: Any, *, decimals: int = 0) -> Any:
    return F.round_plain_(self) if decimals == 0 else F.round_decimals_(self, decimals)


@composite()
def fix(F: Any, self: Any) -> Any:
    """Another name of trunc."""
    return F.trunc(self)


operation(
    "frac", unary(lambda x: x - numpy.trunc(x)), parameters="self", node="FracBackward0", inplace=True,
    gradients={"self": vjp(_pass)},
)  # fmt: skip


def _sgn(x: Array) -> Array:
    if x.dtype.kind != "c":
        return _sign(x)
    size = numpy.abs(x)
    return numpy.where(size == 0, 0, x / numpy.where(size == 0, 1, size)).astype(x.dtype)


def _sgn_backward(F: Any, grad: Any, self: Any, result: Any, dtype: Any) -> Any:
    if not dtype.is_complex:
        return F.zeros_like(grad)
    size = F.abs(self)
    along = F.real(F.mul(F.conj(result), grad))
    slope = F.div(F.sub(grad, F.mul(along, result)), size)
    return F.masked_fill(slope, F.eq(size, 0.0), 0.0)


operation(
    "sgn", unary(_sgn), parameters="self", node="SgnBackward0", inplace=True,
    gradients={"self": vjp(_sgn_backward, "self", "result", "self.dtype")},
)  # fmt: skip


def _check_divisor(other: Array, kind: Any) -> None:
    if kind.kind in "biu" and not numpy.all(other):
        raise RuntimeError("ZeroDivisionError")


def _remainder(self: Array, other: Array) -> Array:
    kind = getattr(self, "dtype", None) or other.dtype
    _check_divisor(other, kind)
    if kind.kind in "biu":
        return numpy.remainder(self, other)
    rest = numpy.fmod(self, other)
    return numpy.where((rest != 0) & (numpy.less(other, 0) != (rest < 0)), rest + other, rest).astype(kind)


def _fmod(self: Array, other: Array) -> Array:
    _check_divisor(other, getattr(self, "dtype", None) or other.dtype)
    return numpy.fmod(self, other)


def _floor_divide(a: Array, b: Array) -> Array:
    kind = getattr(a, "dtype", None) or b.dtype
    _check_divisor(b, kind)
    if kind.kind in "iub":
        return numpy.floor_divide(a, b)
    # floor((a - fmod(a, b)) / b), so that the quotient of inexact operands rounds as the remainder does
    mod = numpy.fmod(a, b)
    quotient = (a - mod) / b
    quotient = numpy.where((mod != 0) & ((b < 0) != (mod < 0)), quotient - 1, quotient)
    whole = numpy.floor(quotient)
    whole = numpy.where(quotient - whole > 0.5, whole + 1, whole)
    exact = a / b
    whole = numpy.where(quotient != 0, whole, numpy.copysign(numpy.zeros_like(exact), exact))
    return numpy.where(numpy.equal(b, 0), exact, whole).astype(kind)


def _trunc_divide(a: Array, b: Array) -> Array:
    kind = getattr(a, "dtype", None) or b.dtype
    _check_divisor(b, kind)
    if kind.kind in "iub":
        quotient = numpy.abs(a) // numpy.abs(b)
        return numpy.where((numpy.less(a, 0)) != (numpy.less(b, 0)), -quotient, quotient).astype(kind)
    return numpy.trunc(a / b)


for _name, _function, _mode, _nodes in (
    ("remainder", _remainder, "floor", ("RemainderBackward0", "RemainderBackward1")),
    ("fmod", _fmod, "trunc", ("FmodBackward0", "FmodBackward1")),
):

    def _divisor(F: Any, grad: Any, self: Any, other: Any, mode: str = _mode) -> Any:
        return F.mul(F.neg(grad), F.div(self, other, rounding_mode=mode))

    operation(
        f"{_name}.Scalar", binary(_function), parameters="self, other", tensors=("self", "other"),
        promotion=PROMOTE,
        node=_nodes[0], inplace=True, gradients={"self": vjp(_pass)},
    )  # fmt: skip
    operation(
        f"{_name}.Tensor", binary(_function), parameters="self, other", tensors=("self", "other"),
        promotion=PROMOTE,
        node=_nodes[1], inplace=True, gradients={"self": vjp(_pass), "other": vjp(_divisor, "self", "other")},
    )  # fmt: skip


@composite()
def remainder(F: Any, self: Any, other: Any) -> Any:
    """The remainder with the sign of the divisor."""
    if is_number(self):
        return F.remainder_Scalar_Tensor(self, other)
    return (F.remainder_Scalar if is_number(other) else F.remainder_Tensor)(self, other)


@composite("remainder_", functions=())
def _remainder_(F: Any, self: Any, other: Any) -> Any:
    return (F.remainder_Scalar_ if is_number(other) else F.remainder_Tensor_)(self, other)


@composite()
def fmod(F: Any, self: Any, other: Any) -> Any:
    """The remainder with the sign of the dividend."""
    return (F.fmod_Scalar if is_number(other) else F.fmod_Tensor)(self, other)


@composite("fmod_", functions=())
def _fmod_(F: Any, self: Any, other: Any) -> Any:
    return (F.fmod_Scalar_ if is_number(other) else F.fmod_Tensor_)(self, other)


def _undefined(name: str) -> Any:
    def formula(F: Any, grad: Any) -> Any:
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return formula


operation(
    "remainder.Scalar_Tensor", binary(_remainder), parameters="self, other", tensors=("self", "other"),
    scalars=("self",), promotion=PROMOTE, node="NotImplemented",
    gradients={"other": vjp(_undefined("remainder"))},
)  # fmt: skip
operation(
    "floor_divide", binary(_floor_divide), parameters="self, other", tensors=("self", "other"),
    scalars=("self", "other"), promotion=PROMOTE, node="NotImplemented", inplace=True,
    gradients={"self": vjp(_undefined("floor_divide")), "other": vjp(_undefined("floor_divide"))},
)  # fmt: skip


@composite("rfloor_divide", functions=(), methods=())
def _rfloor_divide(F: Any, self: Any, other: Any) -> Any:
    return F.floor_divide(other, self)


@composite("rremainder", functions=(), methods=())
def _rremainder(F: Any, self: Any, other: Any) -> Any:
    return F.remainder(other, self)


for _mode, _function in (("floor", _floor_divide), ("trunc", _trunc_divide)):
    operation(
        f"div.{_mode}", binary(_function), parameters="self, other", tensors=("self", "other"),
        promotion=PROMOTE,
        node="DivBackward2", inplace=True,
        gradients={"self": vjp(_zero), "other": vjp(lambda F, grad, other: F.zeros_like(other), "other")},
    )  # fmt: skip


def _check_mode(rounding_mode: str | None) -> str:
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return rounding_mode or "true"


@composite(functions=("div", "divide"), methods=("div", "divide"))
def div(F: Any, self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """self / other, rounded down or to zero if a mode is given."""
    return getattr(F, "div_" + _check_mode(rounding_mode))(self, other)


@composite("div_", functions=(), methods=("div_", "divide_"))
def _div_(F: Any, self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    return getattr(F, f"div_{_check_mode(rounding_mode)}_")(self, other)


def _copysign(self: Array, other: Array) -> Array:
    return numpy.copysign(self, other)


def _copysign_self(F: Any, grad: Any, self: Any, result: Any) -> Any:
    return F.mul(grad, F.masked_fill(F.div(result, self), F.eq(self, 0), 0.0))


operation(
    "copysign.Tensor", nary(_copysign, 2), parameters="self, other", tensors=("self", "other"), scalars=(),
    promotion=FLOAT, node="CopysignBackward0", inplace=True,
    gradients={
        "self": vjp(_copysign_self, "self", "result"),
        "other": vjp(lambda F, grad, other, result: F.zeros_like(other), "other", "result"),
    },
)  # fmt: skip
operation(
    "copysign.Scalar", nary(_copysign, 2), parameters="self, other", tensors=("self", "other"),
    promotion=FLOAT,
    node="CopysignBackward1", inplace=True, gradients={"self": vjp(_copysign_self, "self", "result")},
)  # fmt: skip


@composite()
def copysign(F: Any, self: Any, other: Any) -> Any:
    """The size of `self` with the sign of `other`."""
    return (F.copysign_Scalar if is_number(other) else F.copysign_Tensor)(self, other)


@composite("copysign_", functions=())
def _copysign_(F: Any, self: Any, other: Any) -> Any:
    return (F.copysign_Scalar_ if is_number(other) else F.copysign_Tensor_)(self, other)
