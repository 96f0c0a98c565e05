"""Tensors from nothing: zeros, tensor, arange and the like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays, devices, dtypes
from ..dtypes import DType
from ..tensor import Tensor, set_requires_grad, wrap
from . import layout
from .layout import with_format as formatted
from .sizes import shape_text, sizes_of
from .table import FACTORIES, factory

Array = Any


def finish(array: Array, requires_grad: bool = False, device: Any = None) -> Tensor:
    """A new leaf around an array that nobody else has. Raises RuntimeError if its type cannot require grad
    (LEAF-03)."""
    if device is not None and devices.parse(device) == devices.META:
        array = devices.meta_array(array.shape, array.dtype)
    made = wrap(array)
    if requires_grad:
        set_requires_grad(made, True, "requires_grad.constructor", setter=False)
    return made


def numpy_type(dtype: Any) -> Any:
    """The numpy type of a dtype argument: the default type for None. Raises TypeError for anything else."""
    if dtype is None:
        return dtypes.get_default_dtype().numpy
    if dtype in (float, int, bool, complex):
        dtype = {float: dtypes.get_default_dtype(), int: dtypes.int64, bool: dtypes.bool_}.get(
            dtype, dtypes.complex128
        )
    if not isinstance(dtype, DType):
        raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    return dtype.numpy


def checked(shape: Sequence[int], name: str = "") -> tuple[int, ...]:
    """The shape. Raises RuntimeError for a negative size."""
    for size in shape:
        if size < 0:
            if name == "zeros":
                raise RuntimeError("zeros: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {shape_text(shape)}")
    return tuple(shape)


def fresh(shape: Sequence[int], fill: Any, kind: Any) -> Array:
    """New row-major memory, with torch's strides also where a size is 0."""
    made = arrays.full(tuple(shape), fill, dtype=kind)
    return (
        layout.with_strides(made, layout.contiguous_strides(made.shape))
        if made.size == 0 and made.ndim
        else made
    )


def _filled(name: str, value: Any) -> Any:
    def create(
        *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
        pin_memory: bool = False, memory_format: Any = None, out: Any = None,
    ) -> Tensor:  # fmt: skip
        if not size:
            raise TypeError(f'{name}() missing 1 required positional arguments: "size"')
        shape = checked(sizes_of(size, name), name)
        array = fresh(shape, value, numpy_type(dtype))
        if memory_format is not None:
            array = formatted(array, memory_format)
        if out is not None:
            return out.copy_(finish(array))  # type: ignore[no-any-return]
        return finish(array, requires_grad, device)

    create.__name__ = name
    create.__doc__ = f"A tensor of the given size, filled with {value}."
    return create


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", 0)):
    FACTORIES[_name] = _filled(_name, _value)


@factory()
def full(
    size: Sequence[int], fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of the given size, filled with one value, in the value's own type if none is given."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    kind = numpy_type(dtype) if dtype is not None else dtypes.of_number(value).numpy
    return finish(fresh(checked(sizes_of((size,), "full")), value, kind), requires_grad, device)


@factory()
def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Memory seen through a size and strides; zeros here, undefined in torch."""
    from .layout import empty_strided as make

    array = make(size, stride, numpy_type(dtype))
    array[...] = 0
    return finish(array, requires_grad, device)


def infer_type(data: Any) -> DType:
    """The type of a tensor made from python data: the widest of the numbers in it."""
    if isinstance(data, (list, tuple)):
        found: DType | None = None
        for each in data:
            kind = infer_type(each)
            found = kind if found is None else dtypes.promote_types(found, kind)
        return dtypes.get_default_dtype() if found is None else found
    own = getattr(data, "dtype", None)
    if own is not None:
        return own if isinstance(own, DType) else dtypes.of(own)
    if isinstance(data, (bool, int, float, complex)):
        return dtypes.of_number(data)
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def _shape(data: Any) -> tuple[int, ...]:
    if isinstance(data, (list, tuple)):
        if not data:
            return (0,)
        inner = _shape(data[0])
        for each in data[1:]:
            _match(each, inner, 1)
        return (len(data), *inner)
    return tuple(getattr(data, "shape", ()))


def _match(data: Any, expected: tuple[int, ...], depth: int) -> None:
    if not expected:
        if isinstance(data, (list, tuple)):
            raise TypeError(f"must be real number, not {type(data).__name__}")
        return
    if not isinstance(data, (list, tuple)) and not hasattr(data, "shape"):
        raise TypeError("not a sequence")
    if len(data) != expected[0]:
        raise ValueError(f"expected sequence of length {expected[0]} at dim {depth} (got {len(data)})")
    for each in data if isinstance(data, (list, tuple)) else ():
        _match(each, expected[1:], depth + 1)


def _flat(data: Any) -> list[Any]:
    if isinstance(data, (list, tuple)):
        return [entry for each in data for entry in _flat(each)]
    if hasattr(data, "shape"):
        return list(_numbers(data).reshape(-1).tolist())
    return [data]


def _numbers(data: Any) -> Array:
    array = data.detach().array() if isinstance(data, Tensor) else data
    return array.astype("float32") if array.dtype == dtypes.bfloat16.numpy else array


def array_of(data: Any, dtype: Any = None) -> Array:
    """A new array from python data, arrays or tensors. Raises ValueError for ragged lists, OverflowError out
    of range."""
    kind = infer_type(data).numpy if dtype is None else numpy_type(dtype)
    if isinstance(data, Tensor):
        return data.detach().array().astype(kind).copy(order="C")
    if hasattr(data, "shape") and hasattr(data, "dtype"):
        return arrays.asarray(data).astype(kind).copy(order="C")
    shape = _shape(data)
    entries = _flat(data)
    if kind.kind in "iu":
        if any(isinstance(each, complex) for each in entries):
            raise TypeError("can't convert complex to int")
        entries = [int(each) for each in entries]
        limits = numpy.iinfo(kind)
        low = 2 * limits.min if kind.kind == "i" else -limits.max - 1
        for each in entries:
            if not (limits.min if kind.kind == "i" else low) <= each <= limits.max:
                name = dtypes.of(kind).scalar_name
                raise RuntimeError(f"value cannot be converted to type {name.lower()} without overflow")
    elif kind.kind == "b":
        entries = [bool(each) for each in entries]
    elif kind.kind != "c" and any(isinstance(each, complex) for each in entries):
        raise RuntimeError("value cannot be converted to type float without overflow")
    return fresh(shape, 0, kind) if not entries else arrays.asarray(entries).astype(kind).reshape(shape)


@factory()
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new leaf with a copy of the data (LEAF-01)."""
    if isinstance(data, Tensor):
        import warnings

        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    array = array_of(data, dtype)
    if not array.shape and array.dtype.kind == "f":
        array = array[()]  # a 0-d value that nobody else sees needs no memory yet
    return finish(array, requires_grad, device)


@factory()
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data itself where it is a tensor or an array of the right type, else a copy."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    if isinstance(data, numpy.ndarray) and (dtype is None or dtype.numpy == data.dtype):
        shared: Tensor = from_numpy(data)
        return shared
    return finish(array_of(data, dtype), False, device)


@factory()
def from_numpy(array: Array) -> Tensor:
    """A tensor that shares the array's memory. Raises TypeError for a type that torch lacks."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    dtypes.of(array.dtype)
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are "
            "not currently "
            "supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    return wrap(array)


@factory()
def frombuffer(
    buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A 1-d tensor that shares the buffer's memory."""
    return finish(
        arrays.frombuffer(buffer, dtype=numpy_type(dtype), count=count, offset=offset), requires_grad
    )


@factory()
def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor."""
    return finish(fresh((), s, numpy_type(dtype)), requires_grad, device)


def _numbers_of(*values: Any) -> list[Any]:
    return [value.item() if isinstance(value, Tensor) else value for value in values]


@factory()
def arange(
    *args: Any, start: Any = None, end: Any = None, step: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, out: Any = None,
) -> Tensor:  # fmt: skip
    """Numbers from start to end (not reached), step by step. Raises RuntimeError for a step of 0 or the
    wrong sign."""
    given = _numbers_of(*args)
    if len(given) == 1:
        given = [0, given[0]] if start is None else [start, given[0]]
    first = given[0] if given else (0 if start is None else start)
    last = given[1] if len(given) > 1 else end
    by = given[2] if len(given) > 2 else (1 if step is None else step)
    first, last, by = _numbers_of(first, last, by)
    if by == 0:
        raise RuntimeError("step must be nonzero")
    if (last - first) * by < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype is not None:
        kind = numpy_type(dtype)
    else:
        floating = any(isinstance(each, float) for each in (first, last, by))
        kind = dtypes.get_default_dtype().numpy if floating else numpy.dtype(numpy.int64)
    count = math.ceil((last - first) / by)
    wide = numpy.dtype(numpy.float64) if kind.kind not in "biu" else kind
    values = arrays.asarray(first, dtype=wide) + arrays.arange(count).astype(wide) * arrays.asarray(
        by, dtype=wide
    )
    return finish(values.astype(kind), requires_grad, device)


@factory()
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`steps` numbers from start to end, computed from both ends towards the middle."""
    first, last = _numbers_of(start, end)
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    kind = numpy_type(dtype)
    wide = numpy.dtype(numpy.float64) if kind.kind in "biu" else numpy.promote_types(kind, numpy.float32)
    index = arrays.arange(steps).astype(wide)
    step = wide.type((wide.type(last) - wide.type(first)) / wide.type(max(steps - 1, 1)))
    rising = wide.type(first) + step * index
    falling = wide.type(last) - step * (steps - index - 1)
    return finish(numpy.where(index < steps // 2, rising, falling).astype(kind) if steps != 1
                  else fresh((1,), first, kind), requires_grad, device)  # fmt: skip


@factory()
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`base` to the powers of linspace."""
    powers = linspace(start, end, steps, dtype=dtypes.float64).array()
    return finish(numpy.power(base, powers).astype(numpy_type(dtype)), requires_grad, device)


@factory()
def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """The identity matrix."""
    columns = n if m is None else m
    rows, across = arrays.arange(n).reshape(-1, 1), arrays.arange(columns).reshape(1, -1)
    return finish((rows == across).astype(numpy_type(dtype)), requires_grad, device)
