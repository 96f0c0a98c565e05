"""Complex numbers: conj, real, imag, view_as_real, angle, polar; and abs (DTYPE-03, DTYPE-04, VIEW-15)."""

from __future__ import annotations

from typing import Any

import numpy

from .. import arrays, dtypes
from .arithmetic import is_number
from .layout import element_strides
from .pointwise import binary, unary
from .table import FLOAT, PROMOTE, composite, operation, vjp

Array = Any


def _abs_backward(F: Any, grad: Any, self: Any) -> Any:
    return F.mul(grad, F.sgn(self))


operation(
    "abs", unary(numpy.abs), parameters="self", node="AbsBackward0", inplace=True, out=True,
    functions=("abs", "absolute"), methods=("abs", "absolute"), gradients={"self": vjp(_abs_backward,
    "self")},
)  # fmt: skip
operation(
    "_conj", unary(numpy.conjugate), parameters="self", node="ConjBackward0", functions=(), methods=(),
    gradients={"self": vjp(lambda F, grad: F.conj(grad))},
)  # fmt: skip
operation(
    "_conj_physical", unary(numpy.conjugate), parameters="self", node="ConjPhysicalBackward0", functions=(),
    methods=(),
    inplace=True, gradients={"self": vjp(lambda F, grad: F.conj_physical(grad))},
)  # fmt: skip


@composite()
def conj(F: Any, self: Any) -> Any:
    """The complex conjugate; a real tensor is its own."""
    if is_number(self):
        return self.conjugate()
    return F._conj(self) if self.dtype.kind == "c" else self


@composite()
def conj_physical(F: Any, self: Any) -> Any:
    """The complex conjugate as a new tensor."""
    return F._conj_physical(self) if self.dtype.kind == "c" else self


@composite()
def resolve_conj(F: Any, self: Any) -> Any:
    """The tensor itself: conjugation is never lazy here."""
    return self


@composite()
def is_conj(F: Any, self: Any) -> bool:
    """False: conjugation is never lazy here."""
    return False


def view_as_real(self: Array) -> Array:
    """A view with one more dimension of size 2. Raises RuntimeError for a real tensor."""
    if self.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    strides = (*(2 * stride for stride in element_strides(self)), 1)
    first = arrays.restride(self, (min(self.size, 1),), (1,)).view(dtypes.of(self.dtype).to_real().numpy)
    return arrays.restride(first, (*self.shape, 2), strides)


def view_as_complex(self: Array) -> Array:
    """A complex view of pairs. Raises RuntimeError if the last dimension is not a contiguous pair."""
    if self.dtype.kind != "f" or self.dtype.itemsize < 4:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            "scalar type: " + dtypes.of(self.dtype).scalar_name
        )
    if self.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    strides = element_strides(self)
    if strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(stride % 2 for stride in strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    kind = dtypes.of(self.dtype).to_complex().numpy
    pair = arrays.restride(self, (min(self.size, 2),), (1,)).view(kind)
    return arrays.restride(pair, self.shape[:-1], tuple(stride // 2 for stride in strides[:-1]))


operation(
    "view_as_real", view_as_real, node="ViewAsRealBackward0", view=True, methods=(),
    gradients={"self": vjp(lambda F, grad: F.view_as_complex(F.contiguous(grad)))},
)  # fmt: skip
operation(
    "view_as_complex", view_as_complex, node="ViewAsComplexBackward0", view=True, methods=(),
    gradients={"self": vjp(lambda F, grad: F.view_as_real(F.resolve_conj(grad)))},
)  # fmt: skip


@composite()
def real(F: Any, self: Any) -> Any:
    """The real part as a view; a real tensor itself."""
    if is_number(self):
        return self.real
    return F.select(F.view_as_real(self), -1, 0) if self.dtype.kind == "c" else self


@composite()
def imag(F: Any, self: Any) -> Any:
    """The imaginary part as a view. Raises RuntimeError for a real tensor."""
    if self.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return F.select(F.view_as_real(self), -1, 1)


def _angle_backward(F: Any, grad: Any, self: Any, dtype: Any) -> Any:
    if not dtype.is_complex:
        return F.where(F.isnan(self), F.scalar_like(float("nan"), grad), F.scalar_like(0.0, grad))
    size = F.abs(self)
    slope = F.mul_Scalar(F.mul(F.div(self, F.mul(size, size)), grad), 1j)
    return F.where(F.eq(self, 0), F.scalar_like(0.0, slope), slope)


def _angle(x: Array) -> Array:
    if x.dtype.kind == "c":
        return numpy.angle(x)
    pi = x.dtype.type(numpy.pi)
    return numpy.where(numpy.isnan(x), x, numpy.where(x < 0, pi, x.dtype.type(0)))


operation(
    "angle", unary(_angle), parameters="self", node="AngleBackward0", promotion=FLOAT,
    gradients={"self": vjp(_angle_backward, "self", "self.dtype")},
)  # fmt: skip


def _complex(real: Array, imag: Array) -> Array:
    if real.dtype.kind != "f" or imag.dtype.kind != "f":
        names = (dtypes.of(real.dtype).scalar_name, dtypes.of(imag.dtype).scalar_name)
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {names[0]} and {names[1]}"
        )
    if real.dtype != imag.dtype:
        first, second = (dtypes.of(each.dtype).scalar_name for each in (real, imag))
        raise RuntimeError(
            f"Expected object of scalar type {first} but got scalar type {second} for second argument"
        )
    shape = numpy.broadcast_shapes(real.shape, imag.shape)
    result = arrays.empty(shape, dtype=dtypes.of(real.dtype).to_complex().numpy)
    result.real[...] = real
    result.imag[...] = imag
    return result


operation(
    "complex", binary(_complex), parameters="real, imag", tensors=("real", "imag"), scalars=(),
    node="ComplexBackward0",
    methods=(),
    gradients={
        "real": vjp(lambda F, grad, real: F.real(grad), "real"),
        "imag": vjp(lambda F, grad, imag: F.imag(grad), "imag"),
    },
)  # fmt: skip


def _polar(abs: Array, angle: Array) -> Array:
    return _complex(abs * numpy.cos(angle), abs * numpy.sin(angle))


operation(
    "polar", binary(_polar), parameters="abs, angle", tensors=("abs", "angle"), scalars=(), promotion=PROMOTE,
    node="PolarBackward0", methods=(),
    gradients={
        "abs": vjp(lambda F, grad, result: F.real(F.mul(F.conj(grad), F.sgn(result))), "result"),
        "angle": vjp(lambda F, grad, result: F.real(F.mul(F.conj(grad), F.mul_Scalar(result, 1j))), "result"),
    },
)  # fmt: skip
