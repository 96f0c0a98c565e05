"""Comparisons, logic and bits: results that carry no gradient."""

from __future__ import annotations

from typing import Any

import numpy

from ..dtypes import REDUCED
from .arithmetic import NUMBERS
from .layout import settle
from .pointwise import unary, widen
from .table import COMPARE, PROMOTE, composite, operation

Array = Any


def _compare(function: Any) -> Any:
    def forward(self: Array, other: Array) -> Array:
        if other.__class__ in NUMBERS and self.dtype in REDUCED:
            other = self.dtype.type(other)
        result = function(self, other)
        return result if result.ndim < 2 else settle(result, self, other)

    return forward


for _names, _function in (
    (("eq",), numpy.equal),
    (("ne", "not_equal"), numpy.not_equal),
    (("lt", "less"), numpy.less),
    (("le", "less_equal"), numpy.less_equal),
    (("gt", "greater"), numpy.greater),
    (("ge", "greater_equal"), numpy.greater_equal),
    (("logical_and",), numpy.logical_and),
    (("logical_or",), numpy.logical_or),
    (("logical_xor",), numpy.logical_xor),
):
    operation(
        _names[0], _compare(_function), parameters="self, other", tensors=("self", "other"),
        promotion=COMPARE,
        inplace=True, functions=_names, methods=_names,
    )  # fmt: skip

_TESTS: tuple[tuple[str, Any], ...] = (
    ("logical_not", numpy.logical_not),
    ("isnan", numpy.isnan),
    ("isinf", numpy.isinf),
    ("isfinite", numpy.isfinite),
    ("signbit", numpy.signbit),
    ("isposinf", lambda x: numpy.isinf(x) & (x > 0)),
    ("isneginf", lambda x: numpy.isinf(x) & (x < 0)),
    ("isreal", lambda x: x.imag == 0 if x.dtype.kind == "c" else numpy.equal(x, x) | True),
)
for _name, _test_function in _TESTS:

    def _test(self: Array, function: Any = _test_function) -> Array:
        result = function(widen(self))
        return result if result.ndim < 2 else settle(result, self)

    operation(_name, _test, parameters="self", inplace=_name == "logical_not")


def _bitwise(logical: Any, bitwise: Any, name: str) -> Any:
    def forward(self: Array, other: Array) -> Array:
        dtype = getattr(self, "dtype", None) or other.dtype
        if dtype.kind not in "biu":
            from ..dtypes import of

            raise RuntimeError(f"\"{name}_cpu\" not implemented for '{of(dtype).scalar_name}'")
        result = (logical if dtype.kind == "b" else bitwise)(self, other)
        return result if result.ndim < 2 else settle(result, self, other)

    return forward


for _name, _logical, _bits in (
    ("and", numpy.logical_and, numpy.bitwise_and),
    ("or", numpy.logical_or, numpy.bitwise_or),
    ("xor", numpy.logical_xor, numpy.bitwise_xor),
):
    operation(
        f"bitwise_{_name}", _bitwise(_logical, _bits, f"bitwise_{_name}"), parameters="self, other",
        tensors=("self", "other"), promotion=PROMOTE, inplace=True,
    )  # fmt: skip

operation(
    "bitwise_not",
    unary(lambda x: ~x if x.dtype.kind in "biu" else numpy.invert(x)),
    parameters="self",
    inplace=True,
)


def _isclose(self: Array, other: Array, rtol: float, atol: float, equal_nan: bool) -> Array:
    self, other = widen(self), widen(other)
    close = numpy.equal(self, other)
    if self.dtype.kind in "fc":
        allowed = atol + numpy.abs(rtol * other)
        difference = numpy.abs(self - other)
        close = close | (numpy.isfinite(difference) & (difference <= allowed))
        if equal_nan:
            close = close | (numpy.isnan(self) & numpy.isnan(other))
    elif rtol != 0 or atol != 0:
        close = close | (numpy.abs(self - other) <= atol + numpy.abs(rtol * other))
    return close


def isclose(
    self: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    """|self - other| <= atol + rtol * |other|, entry by entry. Raises RuntimeError for operands of different
    types."""
    if self.dtype != other.dtype:
        from ..dtypes import of

        names = (of(self.dtype).scalar_name, of(other.dtype).scalar_name)
        raise RuntimeError(f"{names[0]} did not match {names[1]}")
    return _isclose(self, other, rtol, atol, equal_nan)


operation("isclose", isclose, tensors=("self", "other"))


def _equal(self: Array, other: Array) -> bool:
    return self.shape == other.shape and bool(numpy.all(self == other))


operation("allclose.value", lambda self, other, rtol=1e-05, atol=1e-08, equal_nan=False: numpy.all(
    isclose(self, other, rtol, atol, equal_nan)), tensors=("self", "other"))  # fmt: skip
operation("equal.value", lambda self, other: numpy.bool_(_equal(self, other)), tensors=("self", "other"))


@composite()
def allclose(
    F: Any, self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """True if all entries are close."""
    return bool(F.allclose_value(self, other, rtol, atol, equal_nan))


@composite()
def equal(F: Any, self: Any, other: Any) -> bool:
    """True if shape and all entries agree."""
    return bool(F.equal_value(self, other))


@composite()
def is_complex(F: Any, self: Any) -> bool:
    """True for a tensor of complex numbers."""
    return bool(self.dtype.kind == "c")


@composite()
def is_floating_point(F: Any, self: Any) -> bool:
    """True for a tensor of a floating type."""
    return bool(self.dtype.kind in "fV")


@composite()
def is_nonzero(F: Any, self: Any) -> bool:
    """The truth of a tensor with one entry. Raises RuntimeError for any other number of entries."""
    return bool(self)
