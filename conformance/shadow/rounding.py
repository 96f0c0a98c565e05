"""Rounding: how far a computed number may be from the true one, and when it provably is the true one.

All functions take plain numpy arrays. Errors are float64; those of complex numbers are split into parts
only by the caller. Nothing here knows of bounds of operands: these are the errors that an operation *adds*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Reals = NDArray[np.float64]
Mask = NDArray[np.bool_]

# The bound of a zero whose sign depends on the order of a sum or on the instruction: exact but for its sign.
UNSIGNED_ZERO = 5e-324

# Transcendental functions: units in the last place that torch's and numpy's vector libraries may be off.
ULPS = 2.0


class Format(NamedTuple):
    """A floating type: unit roundoff, bits of the significand, smallest subnormal, largest number."""

    unit: float
    bits: int
    smallest: float
    largest: float


_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_FORMATS: dict[np.dtype[Any], Format] = {
    np.dtype(np.float16): Format(2.0**-11, 11, 2.0**-24, 65504.0),
    _BFLOAT16: Format(2.0**-8, 8, 2.0**-133, 3.3895313892515355e38),
    np.dtype(np.float32): Format(2.0**-24, 24, 2.0**-149, 3.4028234663852886e38),
    np.dtype(np.float64): Format(2.0**-53, 53, 2.0**-1074, 1.7976931348623157e308),
}
_FORMATS[np.dtype(np.complex64)] = _FORMATS[np.dtype(np.float32)]
_FORMATS[np.dtype(np.complex128)] = _FORMATS[np.dtype(np.float64)]
_WHOLE = Format(0.0, 64, 0.0, np.inf)


def format_of(dtype: np.dtype[Any]) -> Format:
    """The format of a dtype; integers and booleans never round."""
    found = _FORMATS.get(dtype)
    if found is not None:
        return found
    if dtype.kind in "biuO":
        return _WHOLE
    raise TypeError(f"no rounding is known for {dtype}")


def is_whole(dtype: np.dtype[Any]) -> bool:
    """True for integers and booleans."""
    return dtype.kind in "biu"


def wide(values: Any) -> Numbers:
    """Values in float64 or complex128."""
    array: Numbers = np.asarray(values)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def parts(values: Numbers) -> list[Reals]:
    """The real parts of numbers: one array, or two for complex."""
    return [values.real, values.imag] if values.dtype.kind == "c" else [values]


def one_rounding(result: Numbers) -> Reals:
    """The error of one correct rounding to `result`."""
    form = format_of(result.dtype)
    size = np.abs(wide(result))
    return np.asarray(
        np.where(np.isfinite(size), np.maximum(form.unit * size, form.smallest), 0.0), np.float64
    )


def sum_is_exact(a: Reals, b: Reals, result: Reals) -> Mask:
    """Where result = a + b without rounding (two-sum); all in float64, the result perhaps rounded further."""
    total = a + b
    virtual = total - a
    error = (a - (total - virtual)) + (b - virtual)
    return np.asarray((error == 0) & (total == result), np.bool_)


def product_is_exact(a: Reals, b: Reals, result: Reals) -> Mask:
    """Where result = a * b without rounding (Dekker's product)."""
    product = a * b
    safe = (np.abs(product) > 2.0**-960) & (np.abs(a) < 2.0**900) & (np.abs(b) < 2.0**900)
    high_a, low_a = _split(a)
    high_b, low_b = _split(b)
    error = low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)
    return np.asarray(
        ((error == 0) & safe & (product == result)) | (((a == 0) | (b == 0)) & (result == 0)), np.bool_
    )


def _split(a: Reals) -> tuple[Reals, Reals]:
    scaled = a * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def grain(values: Reals) -> Reals:
    """The value of the lowest bit that is set in each number; infinite for zero, NaN for what is not
    finite."""
    mantissa, exponent = np.frexp(values)
    whole = np.where(np.isfinite(values), mantissa, 0.0) * 2.0**53
    bits = whole.astype(np.int64)
    low = np.where(bits == 0, 1, bits & -bits).astype(np.float64)
    result = np.ldexp(low, exponent - 53)
    return np.asarray(
        np.where(values == 0, np.inf, np.where(np.isfinite(values), result, np.nan)), np.float64
    )


def significant_bits(values: Reals) -> Reals:
    """How many bits each number's significand takes: 1 for powers of two, 0 for zero, NaN for what is not
    finite."""
    with np.errstate(all="ignore"):
        ratio = np.abs(values) / grain(values)
        return np.asarray(
            np.where(values == 0, 0.0, np.floor(np.log2(np.maximum(ratio, 1.0))) + 1), np.float64
        )


def any_order_is_exact(total: Reals, smallest_grain: Reals, bits: int) -> Mask:
    """Where numbers that are multiples of a grain, with `total` the sum of their sizes, add up exactly in
    any order."""
    with np.errstate(all="ignore"):
        return np.asarray((total == 0) | (total <= smallest_grain * 2.0**bits), np.bool_)


def cast_error(before: Numbers, after: Numbers) -> Reals:
    """What casting added, exactly; 0 where it lost nothing."""
    with np.errstate(all="ignore"):
        gap = np.abs(wide(before) - wide(after))
    gap = np.where((wide(before) == wide(after)) | np.isnan(gap), 0.0, gap)
    if is_whole(before.dtype) and before.dtype.itemsize == 8 and not is_whole(after.dtype):
        back = np.where(np.abs(wide(after)) < 2.0**63, wide(after).real, 0.0).astype(before.dtype)
        gap = np.where(back == before, 0.0, np.maximum(gap, 1.0))
    return np.asarray(gap, np.float64)


def is_power_of_two(values: Numbers) -> Mask:
    """Where a factor changes only the exponent."""
    mantissa, _ = np.frexp(np.abs(values))
    return np.asarray(mantissa == 0.5, np.bool_)
