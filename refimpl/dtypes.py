"""Data types: torch's dtype objects, promotion rules and numeric limits.

Each `DType` names one numpy dtype. numpy's own promotion is not torch's (int64 with float32 gives float64
there),
so every mixed operation goes through `result_type`, which follows torch's three categories: tensors with
dimensions
win over 0-d tensors, and those over python numbers (DTYPE-05, DTYPE-07).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy

BOOL, INTEGER, FLOATING, COMPLEX = range(4)


class DType:
    """One torch data type: `str(float32)` is `"torch.float32"`."""

    __slots__ = ("category", "is_complex", "is_floating_point", "is_signed", "itemsize", "kind", "name",
    "numpy",
                 "scalar_name")  # fmt: skip

    def __init__(
        self, name: str, scalar_name: str, numpy_type: Any, category: int, signed: bool = True
    ) -> None:
        self.name = name
        self.scalar_name = scalar_name
        self.numpy = numpy.dtype(numpy_type)
        self.category = category
        self.is_floating_point = category == FLOATING
        self.is_complex = category == COMPLEX
        self.is_signed = signed
        self.itemsize = self.numpy.itemsize
        self.kind = "bifc"[category]

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> str:
        return self.name

    @property
    def is_differentiable(self) -> bool:
        """True for the types that can require a gradient (LEAF-03)."""
        return self.category >= FLOATING

    @property
    def tensor_name(self) -> str:
        """The old tensor type's name, as error texts write it: `torch.FloatTensor`."""
        return f"torch.{self.scalar_name}Tensor"

    @property
    def error_name(self) -> str:
        """The type's name in the texts of the C++ core, which lacks the old names of the newer types."""
        old = self.name not in ("bfloat16", "complex64", "complex128")
        return self.tensor_name if old else f"CPU{self.scalar_name}Type"

    @property
    def cpp_name(self) -> str:
        """The C++ type's name, as `lerp` writes it: `double`, `c10::Half`."""
        return _CPP_NAMES.get(self.name, self.scalar_name.lower())

    def to_real(self) -> DType:
        """The real type of the same precision."""
        return _REAL.get(self, self)

    def to_complex(self) -> DType:
        """The complex type of the same precision.

        Raises TypeError for a type without one.
        """
        if self.is_complex:
            return self
        for complex_type, real_type in _REAL.items():
            if real_type is self:
                return complex_type
        raise TypeError(f"{self} has no complex counterpart")


bool_ = DType("bool", "Bool", numpy.bool_, BOOL, signed=False)
uint8 = DType("uint8", "Byte", numpy.uint8, INTEGER, signed=False)
int8 = DType("int8", "Char", numpy.int8, INTEGER)
int16 = DType("int16", "Short", numpy.int16, INTEGER)
int32 = DType("int32", "Int", numpy.int32, INTEGER)
int64 = DType("int64", "Long", numpy.int64, INTEGER)
float16 = DType("float16", "Half", numpy.float16, FLOATING)
bfloat16 = DType("bfloat16", "BFloat16", ml_dtypes.bfloat16, FLOATING)
float32 = DType("float32", "Float", numpy.float32, FLOATING)
float64 = DType("float64", "Double", numpy.float64, FLOATING)
complex64 = DType("complex64", "ComplexFloat", numpy.complex64, COMPLEX)
complex128 = DType("complex128", "ComplexDouble", numpy.complex128, COMPLEX)

half, float_, double, short, int_, long, cfloat, cdouble = (
    float16, float32, float64, int16, int32, int64, complex64, complex128,
)  # fmt: skip

ALL = (
    bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
_REAL = {complex64: float32, complex128: float64}
BY_NUMPY: dict[Any, DType] = {each.numpy: each for each in ALL}

# Reduced types compute in float32 and round once for each operation.
REDUCED = frozenset({float16.numpy, bfloat16.numpy})

_default = float32


def of(numpy_type: Any) -> DType:
    """The `DType` of a numpy dtype. Raises TypeError for one that torch does not have."""
    try:
        return BY_NUMPY[numpy_type]
    except KeyError:
        found = BY_NUMPY.get(numpy.dtype(numpy_type))
        if found is None:
            raise TypeError(_unconvertible(numpy.dtype(numpy_type))) from None
        return found


def _unconvertible(numpy_type: Any) -> str:
    name = numpy_type.type.__name__
    return (
        f"can't convert np.ndarray of type numpy.{name}. The only supported types are: float64, float32, "
        f"float16, "
        "complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
    )


def get_default_dtype() -> DType:
    """The type of tensors made from python floats."""
    return _default


def set_default_dtype(dtype: DType, /) -> None:
    """Set the type of tensors made from python floats. Raises TypeError for a type that is not floating."""
    global _default
    if not isinstance(dtype, DType):
        raise TypeError(
            f"invalid dtype object: only floating-point types are supported as the default type, got "
            f"{dtype!r}"
        )
    if not dtype.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {dtype}")
    _default = dtype


def default_complex() -> DType:
    """The complex type that matches the default floating type."""
    return complex128 if _default is float64 else complex64


def of_number(value: Any) -> DType:
    """The type of a tensor made from one python number."""
    if isinstance(value, (bool, numpy.bool_)):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, complex):
        return default_complex()
    return _default


_INTEGER_ORDER = {int8: 0, int16: 1, int32: 2, int64: 3}
_FLOATING_ORDER = {float16: 0, bfloat16: 0, float32: 1, float64: 2}


def promote_types(first: DType, second: DType, /) -> DType:
    """The smallest type that both can be cast to, by torch's table."""
    if first is second:
        return first
    if first.category < second.category:
        first, second = second, first
    if first.category == COMPLEX:
        return complex128 if complex128 in (first, second) or second is float64 else complex64
    if first.category == FLOATING:
        if second.category != FLOATING:
            return first
        if _FLOATING_ORDER[first] == _FLOATING_ORDER[second]:
            return float32
        return first if _FLOATING_ORDER[first] > _FLOATING_ORDER[second] else second
    if second.category == BOOL:
        return first
    if uint8 in (first, second):
        signed = second if first is uint8 else first
        return int16 if signed is int8 else signed
    return first if _INTEGER_ORDER[first] > _INTEGER_ORDER[second] else second


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    if higher is None or lower is None:
        return higher or lower
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return promote_types(higher, complex64) if lower.is_complex else higher
    if higher is bool_ or lower.category >= FLOATING:
        return promote_types(higher, lower)
    return higher


def result_type(*operands: Any) -> DType:
    """The type of an operation over arrays (anything with `dtype` and `shape`) and python numbers."""
    dimensioned: DType | None = None
    zero_dim: DType | None = None
    number: DType | None = None
    for operand in operands:
        numpy_type = getattr(operand, "dtype", None)
        if numpy_type is None:
            kind = of_number(operand)
            number = kind if number is None else promote_types(number, kind)
            continue
        kind = numpy_type if isinstance(numpy_type, DType) else of(numpy_type)
        if len(operand.shape):
            dimensioned = kind if dimensioned is None else promote_types(dimensioned, kind)
        else:
            zero_dim = kind if zero_dim is None else promote_types(zero_dim, kind)
    found = _combine(dimensioned, _combine(zero_dim, number))
    return _default if found is None else found


def can_cast(source: DType, target: DType, /) -> bool:
    """True if a result of type `source` may be written into a tensor of type `target` (INPLACE-18)."""
    return source.category <= target.category


_limits: Any = ml_dtypes.finfo


_CPP_NAMES = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>", "uint8": "unsigned char", "int8": "signed char",
    "int16": "short int", "int64": "long int",
}  # fmt: skip


@dataclass(frozen=True)
class finfo:
    """Numeric limits of a floating or complex type, as `torch.finfo`."""

    dtype: str
    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, dtype: DType | None = None) -> None:
        kind = _default if dtype is None else dtype
        if kind.category < FLOATING:
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{kind}'"
            )
        kind = kind.to_real()
        limits: Any = _limits(kind.numpy)
        values = {
            "dtype": kind.name, "bits": int(limits.bits), "eps": float(limits.eps), "max": float(limits.max),
            "min": float(limits.min), "tiny": float(limits.smallest_normal),
            "smallest_normal": float(limits.smallest_normal), "resolution": float(limits.resolution),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class iinfo:
    """Numeric limits of an integer type, as `torch.iinfo`."""

    dtype: str
    bits: int
    max: int
    min: int

    def __init__(self, dtype: DType) -> None:
        if dtype.category != INTEGER:
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{dtype}'"
            )
        limits = numpy.iinfo(dtype.numpy)
        for name, value in (
            ("dtype", dtype.name),
            ("bits", limits.bits),
            ("max", limits.max),
            ("min", limits.min),
        ):
            object.__setattr__(self, name, value)
