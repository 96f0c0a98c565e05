"""Choosing between tensors and clamping: maximum, minimum, fmax, fmin, clamp; any and all (SUBGRAD-02,
SUBGRAD-04)."""

from __future__ import annotations

from typing import Any

import numpy

from .. import dtypes
from ..dtypes import REDUCED
from .arithmetic import is_number
from .dimensions import axes_of
from .layout import settle
from .pointwise import binary
from .table import PROMOTE, composite, operation, vjp

Array = Any


# Pairs
def _pair(name: str, function: Any, node: str, self_loses: str, other_loses: str) -> None:
    def gradient(loses: str) -> Any:
        def formula(F: Any, grad: Any, self: Any, other: Any) -> Any:
            shared = F.where(F.eq(self, other), F.div_Scalar(grad, 2), grad)
            return F.masked_fill(shared, getattr(F, loses)(self, other), 0)

        return vjp(formula, "self", "other")

    operation(
        name, binary(function), parameters="self, other", tensors=("self", "other"), scalars=(),
        promotion=PROMOTE,
        node=node, gradients={"self": gradient(self_loses), "other": gradient(other_loses)},
    )  # fmt: skip


_pair("maximum", numpy.maximum, "MaximumBackward0", "lt", "gt")
_pair("minimum", numpy.minimum, "MinimumBackward0", "gt", "lt")


def _first_wins(name: str, function: Any, node: str, wins: str) -> None:
    def first(F: Any, self: Any, other: Any) -> Any:
        return F.logical_or(getattr(F, wins)(self, other), F.isnan(other))

    operation(
        name, binary(function), parameters="self, other", tensors=("self", "other"), scalars=(),
        promotion=PROMOTE,
        node=node,
        gradients={
            "self": vjp(
                lambda F, grad, self, other: F.masked_fill(grad, F.logical_not(first(F, self, other)), 0),
                "self", "other"
            ),
            "other": vjp(lambda F, grad, self, other: F.masked_fill(grad, first(F, self, other), 0), "self",
            "other"),
        },
    )  # fmt: skip


_first_wins("fmax", numpy.fmax, "FmaxBackward0", "ge")
_first_wins("fmin", numpy.fmin, "FminBackward0", "le")


# clamp
def _clamped(self: Array, min: Any = None, max: Any = None) -> Array:
    operands = [each for each in (self, min, max) if each is not None]
    kind = dtypes.result_type(*operands).numpy
    wide = numpy.dtype(numpy.float32) if kind in REDUCED else kind

    def cast(value: Any) -> Any:
        return value.astype(wide) if hasattr(value, "dtype") else wide.type(value)

    result = self.astype(wide)
    if min is not None:
        result = numpy.maximum(result, cast(min))
    if max is not None:
        result = numpy.minimum(result, cast(max))
    result = result.astype(kind)
    return (
        result if result.ndim < 2 else settle(result, *(each for each in operands if hasattr(each, "dtype")))
    )


def _inside(F: Any, self: Any, min: Any, max: Any) -> Any:
    mask = None if min is None else F.ge(self, min)
    if max is not None:
        below = F.le(self, max)
        mask = below if mask is None else F.logical_and(mask, below)
    return mask


def _clamp_backward(F: Any, grad: Any, self: Any, min: Any, max: Any) -> Any:
    mask = _inside(F, self, min, max)
    return grad if mask is None else F.where(mask, grad, F.scalar_like(0.0, grad))


def _clamp_bounds(F: Any, grad: Any, self: Any, min: Any, max: Any) -> tuple[Any, Any, Any]:
    low = high = None
    zero = F.scalar_like(0.0, grad)
    if min is not None:
        below = F.lt(self, min)
        low = F.where(F.logical_and(below, F.lt(min, max)) if max is not None else below, grad, zero)
    if max is not None:
        above = F.gt(self, max)
        high = F.where(F.logical_or(above, F.lt(max, min)) if min is not None else above, grad, zero)
    return _clamp_backward(F, grad, self, min, max), low, high


operation(
    "clamp.Scalar", _clamped, node="ClampBackward1", inplace=True,
    gradients={"self": vjp(_clamp_backward, "self", "min", "max")},
)  # fmt: skip
operation(
    "clamp.Tensor", _clamped, tensors=("self", "min", "max"), node="ClampBackward0", inplace=True,
    joint=vjp(_clamp_bounds, "self", "min", "max"), differentiable=("self", "min", "max"),
)  # fmt: skip


def _clamp_key(F: Any, min: Any, max: Any, suffix: str = "") -> Any:
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    plain = all(each is None or is_number(each) for each in (min, max))
    return getattr(F, f"clamp_{'Scalar' if plain else 'Tensor'}{suffix}")


def _clamp(F: Any, self: Any, min: Any = None, max: Any = None) -> Any:
    return _clamp_key(F, min, max)(self, min, max)


def _clamp_(F: Any, self: Any, min: Any = None, max: Any = None) -> Any:
    return _clamp_key(F, min, max, "_")(self, min, max)


composite("clamp", functions=("clamp", "clip"), methods=("clamp", "clip"))(_clamp)
composite("clamp_", functions=("clamp_",), methods=("clamp_", "clip_"))(_clamp_)

for _name, _bound, _position, _compare, _loses in (
    ("clamp_min", "min", 0, "ge", "lt"),
    ("clamp_max", "max", 1, "le", "gt"),
):

    def _one_bound(self: Array, bound: Any, position: int = _position) -> Array:
        return _clamped(self, bound, None) if position == 0 else _clamped(self, None, bound)

    def _kept(F: Any, grad: Any, self: Any, bound: Any, compare: str = _compare) -> Any:
        return F.where(getattr(F, compare)(self, bound), grad, F.scalar_like(0.0, grad))

    def _given(F: Any, grad: Any, self: Any, bound: Any, compare: str = _loses) -> Any:
        return F.where(getattr(F, compare)(self, bound), grad, F.scalar_like(0.0, grad))

    _title = "".join(part.title() for part in _name.split("_"))
    operation(
        f"{_name}.Scalar", _one_bound, parameters=f"self, {_bound}", node=f"{_title}Backward0", inplace=True,
        gradients={"self": vjp(_kept, "self", _bound)},
    )  # fmt: skip
    operation(
        f"{_name}.Tensor", _one_bound, parameters=f"self, {_bound}", tensors=("self", _bound),
        node=f"{_title}Backward1",
        inplace=True, gradients={"self": vjp(_kept, "self", _bound), _bound: vjp(_given, "self", _bound)},
    )  # fmt: skip

    def _either(F: Any, self: Any, bound: Any, name: str = _name) -> Any:
        return getattr(F, f"{name}_{'Scalar' if is_number(bound) else 'Tensor'}")(self, bound)

    def _either_(F: Any, self: Any, bound: Any, name: str = _name) -> Any:
        return getattr(F, f"{name}_{'Scalar' if is_number(bound) else 'Tensor'}_")(self, bound)

    composite(_name)(_either)
    composite(_name + "_", functions=(_name + "_",))(_either_)


# any, all
def _truth(name: str, function: Any) -> None:
    def forward(self: Array, dim: Any = None, keepdim: bool = False) -> Array:
        axes = axes_of(dim, self.ndim)
        result = function(self != 0, axis=axes, keepdims=keepdim)
        return result.astype(numpy.uint8) if self.dtype == numpy.uint8 else result

    operation(name, forward)


_truth("any", numpy.any)
_truth("all", numpy.all)
