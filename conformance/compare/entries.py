"""Numbers: reading the bytes of an observed tensor, and judging them entry by entry.

An entry whose bound is zero is *exact*: every engine that computes by IEEE rules gets these bits, in any
order, so bits are compared. There is one exception, NaNs, whose sign and payload no operation promises: a
NaN equals a NaN. The sign of a zero counts in an exact entry; where it depends on the order or the
instruction (sums, ties of max and min) the shadow gives the entry a bound of the smallest float64 instead
of zero.

Any other entry may differ from the oracle's by its *allowance*, `MULTIPLE` times its bound. The bound
covers the distance of one engine from the true value along the oracle's branches, and both engines stay
within it: hence two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Bounds = NDArray[np.float64]
Mask = NDArray[np.bool_]

MULTIPLE = 2.0

# The relative error that is found in every entry that is not ill-conditioned.
ALWAYS_FOUND = 0.01
ALWAYS_FOUND_REDUCED = 0.05
REDUCED = frozenset({"float16", "bfloat16", "complex32"})

_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
DTYPES: dict[str, np.dtype[Any]] = {
    **{name: np.dtype(name).newbyteorder("<") for name in _NAMES},
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}

# Zeros and numbers below this size have no relative error; what is smaller than them is no loss of digits.
_SMALLEST_NORMAL = {
    "float16": 2.0**-14,
    "complex32": 2.0**-14,
    "float64": 2.0**-1022,
    "complex128": 2.0**-1022,
}
_SMALLEST_NORMAL_OTHERS = 2.0**-126


class Unreadable(ValueError):
    """The bytes of an observation are not those of its dtype and shape."""


def item_size(dtype: str) -> int:
    """Bytes of one entry. Raises Unreadable for a dtype that is not known."""
    if dtype == "complex32":
        return 4
    try:
        return DTYPES[dtype].itemsize
    except (KeyError, TypeError):  # the engine may show anything there, also that reading it raised
        raise Unreadable(f"unknown dtype {dtype!r}") from None


def decode(observed: str, dtype: str, shape: list[int]) -> Numbers:
    """The entries of an observed tensor, flat. Raises Unreadable."""
    try:
        raw = bytes.fromhex(observed)
    except (ValueError, TypeError):
        raise Unreadable("bytes are not hexadecimal") from None
    size = item_size(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if len(raw) != count * size:
        raise Unreadable(f"{len(raw)} bytes for {count} entries of {dtype}")
    if dtype == "complex32":
        return np.frombuffer(raw, "<f2").astype(np.float32).view(np.complex64)
    return np.frombuffer(raw, DTYPES[dtype])


def decode_bound(observed: str, count: int) -> Bounds:
    """The bounds of `count` entries. Raises Unreadable."""
    try:
        raw = bytes.fromhex(observed)
    except (ValueError, TypeError):
        raise Unreadable("bounds are not hexadecimal") from None
    if len(raw) != 8 * count:
        raise Unreadable(f"{len(raw)} bytes of bounds for {count} entries")
    return np.frombuffer(raw, "<f8")


def wide(entries: Numbers) -> Numbers:
    """The entries in float64 or complex128, each without loss but integers beyond 2**53."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return entries.astype(np.complex128 if entries.dtype.kind == "c" else np.float64)


def is_nan(entries: Numbers) -> Mask:
    """Where an entry is no number, in any of its parts."""
    if entries.dtype.kind in "biu":
        return np.zeros(entries.shape, np.bool_)
    return np.asarray(np.isnan(entries), np.bool_)


def _parts(entries: Numbers) -> Numbers:
    """Complex entries as pairs of reals, real ones as columns of one."""
    if entries.dtype.kind == "c":
        return np.ascontiguousarray(entries).view(entries.real.dtype).reshape(-1, 2)
    return entries.reshape(-1, 1)


def same_bits(a: Numbers, b: Numbers) -> Mask:
    """Where two entries of one dtype have the same bits, all NaNs being one."""
    if a.dtype.kind in "biu":
        return np.asarray(a == b, np.bool_)
    x, y = _parts(a), _parts(b)
    bits = np.dtype(f"u{x.dtype.itemsize}")
    equal = np.ascontiguousarray(x).view(bits) == np.ascontiguousarray(y).view(bits)
    return np.asarray((equal | (is_nan(x) & is_nan(y))).all(axis=1), np.bool_)


def distance(a: Numbers, b: Numbers) -> Bounds:
    """|a - b| in float64; 0 where both are the same infinity or both no number, infinite where only one is
    finite."""
    x, y = _parts(wide(a)), _parts(wide(b))
    with np.errstate(all="ignore"):
        gap = np.abs(x - y)
    gap = np.where((x == y) | (is_nan(x) & is_nan(y)), 0.0, np.where(np.isnan(gap), np.inf, gap))
    return np.asarray(np.hypot.reduce(gap, axis=1), np.float64)


def exact_integers(a: Numbers, b: Numbers) -> Bounds:
    """|a - b| of integers, exact also beyond 2**53."""
    return np.array([float(abs(int(x) - int(y))) for x, y in zip(a, b, strict=True)], np.float64)


def widest(dtype: str) -> float:
    """The largest allowance, as a part of an entry's size, with which the error that must be found is still
    found.

    Let e be that error and t the allowance. The engine's right value may be t from the oracle's, so a wrong
    one shows as (1 - t) * e - t at least, which has to be more than t.
    """
    error = ALWAYS_FOUND_REDUCED if dtype in REDUCED else ALWAYS_FOUND
    return error / (2 + error)


def ill_conditioned(oracle: Numbers, bound: Bounds, dtype: str) -> Mask:
    """Where the bound is too wide to find an error of 1 % (reduced dtypes: 5 %)."""
    size = np.abs(wide(oracle))
    floor = _SMALLEST_NORMAL.get(dtype, _SMALLEST_NORMAL_OTHERS)
    with np.errstate(all="ignore"):
        narrow = MULTIPLE * bound <= np.maximum(widest(dtype) * size, floor)
    narrow = np.where(np.isfinite(size), narrow, bound == 0)  # infinities and NaNs have no size
    return np.asarray(~narrow, np.bool_)


@dataclass(frozen=True)
class Judgement:
    """What became of the entries of one tensor."""

    wrong: Mask  # beyond the allowance
    exact: Mask
    ill_conditioned: Mask
    unsure: Mask  # ill-conditioned, and the bits differ: not judged as the others are
    undecided: Mask  # without a finite bound
    distance: Bounds


def judge(oracle: Numbers, engine: Numbers, bound: Bounds | None, dtype: str) -> Judgement:
    """Compare entries of one dtype. Without bounds all are exact."""
    if bound is None:
        bound = np.zeros(oracle.shape, np.float64)
    equal = same_bits(oracle, engine)
    gap = exact_integers(oracle, engine) if oracle.dtype.kind in "iu" else distance(oracle, engine)
    exact = bound == 0
    with np.errstate(all="ignore"):
        wrong = ~equal & (exact | (gap > MULTIPLE * bound))
    ill = ~exact & ill_conditioned(oracle, bound, dtype)
    wrong &= ~np.isinf(bound)
    return Judgement(wrong, exact, ill, ill & ~equal, np.isinf(bound), gap)


def same_payloads(a: Numbers, b: Numbers) -> bool:
    """True if NaNs have the same sign and payload wherever both are NaN."""
    if a.dtype.kind in "biu":
        return True
    x, y = _parts(a), _parts(b)
    both = is_nan(x) & is_nan(y)
    return bool((x[both].tobytes()) == y[both].tobytes())
