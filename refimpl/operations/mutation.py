"""Copies, casts and the writing operations: clone, to, contiguous, copy_, fill_, zero_."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy

from .. import devices, dtypes
from ..dtypes import DType
from . import layout
from .arithmetic import is_number
from .table import composite, operation, vjp

Array = Any


CONTIGUOUS = SimpleNamespace(name="contiguous_format")


def _clone(self: Array, memory_format: Any = None) -> Array:
    wanted = layout.format_name(memory_format)
    if wanted in layout.CHANNELS_LAST:
        return layout.with_format(self, memory_format).copy(order="K")
    if (self.ndim < 2 and self.size) or (self.flags.c_contiguous and self.size and 1 not in self.shape):
        return self.copy()
    strides = layout.contiguous_strides(self.shape)
    if wanted != "contiguous_format":
        strides = layout.preserved_strides(self)
    made = layout.empty_strided(self.shape, strides, self.dtype)
    made[...] = self
    return made


operation(
    "clone", lambda self, *, memory_format=None: _clone(self, memory_format), node="CloneBackward0",
    gradients={"self": vjp(lambda F, grad: grad)},
)  # fmt: skip
operation(
    "is_row_major.value",
    lambda self, memory_format=None: numpy.bool_(
        layout.is_channels_last(self.shape, layout.element_strides(self))
        if layout.format_name(memory_format) in layout.CHANNELS_LAST
        else layout.is_contiguous(self.shape, layout.element_strides(self))
    ),
)


@composite("contiguous", functions=())
def _contiguous(F: Any, self: Any, memory_format: Any = None) -> Any:
    if bool(F.is_row_major_value(self, memory_format)):
        return self
    return F.clone(self, memory_format=memory_format or CONTIGUOUS)


@composite("contiguous_clone", functions=(), methods=())
def _contiguous_clone(F: Any, self: Any) -> Any:
    return F.clone(self, memory_format=CONTIGUOUS)


def _to_copy(self: Array, dtype: Any = None, device: Any = None, memory_format: Any = None) -> Array:
    kind = self.dtype if dtype is None else dtype.numpy
    if device is not None:
        target = devices.parse(device)
        if target == devices.META:
            return devices.meta_array(self.shape, kind)
        if devices.device_of(self) == devices.META:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    copied = _clone(self, memory_format)
    if copied.dtype == kind:
        return copied
    if copied.dtype.kind == "c" and kind.kind != "c":
        copied = copied != 0 if kind.kind == "b" else copied.real
    return copied.astype(kind, order="K") if copied.ndim else copied.astype(kind)


def _to_copy_backward(F: Any, grad: Any, dtype: DType, device: Any) -> Any:
    grad = F.handle_r_to_c(dtype, grad)
    here = grad.device if isinstance(grad.dtype, DType) else devices.device_of(grad)
    return F.to(grad, dtype) if here == device else F._to_copy(grad, dtype, device)


operation(
    "_to_copy", _to_copy, node="ToCopyBackward0", functions=(), methods=(),
    gradients={"self": vjp(_to_copy_backward, "self.dtype", "self.device")},
)  # fmt: skip


def _dtype_of(value: Any) -> DType:
    return value.dtype if isinstance(value.dtype, DType) else dtypes.of(value.dtype)


def _is_device(value: Any) -> bool:
    return isinstance(value, (str, devices.Device, int))


@composite("to", functions=())
def _to(
    F: Any, self: Any, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None, other: Any = None,
) -> Any:  # fmt: skip
    """Another type or device; the tensor itself where nothing changes."""
    for value in args:
        if isinstance(value, DType):
            dtype = value
        elif value in (float, int, bool, complex):
            dtype = {
                float: dtypes.float64,
                int: dtypes.int64,
                bool: dtypes.bool_,
                complex: dtypes.complex128,
            }[value]
        elif isinstance(value, bool):
            continue
        elif _is_device(value):
            device = value
        elif hasattr(value, "dtype"):
            other = value
    if other is not None:
        dtype = _dtype_of(other)
    same_type = dtype is None or dtype is _dtype_of(self)
    same_device = device is None or devices.parse(device) == devices.parse(getattr(self, "device", None))
    same_format = memory_format is None or bool(F.is_row_major_value(self, memory_format))
    if same_type and same_device and same_format and not copy:
        return self
    return F._to_copy(self, dtype, None if same_device else device, memory_format)


def _cast(name: str, dtype: DType) -> None:
    composite(name, functions=())(
        lambda F, self, memory_format=None: F.to(self, dtype, memory_format=memory_format)
    )


for _name, _dtype in (
    ("float", dtypes.float32), ("double", dtypes.float64), ("half", dtypes.float16), ("bfloat16",
    dtypes.bfloat16),
    ("int", dtypes.int32), ("long", dtypes.int64), ("short", dtypes.int16), ("char", dtypes.int8), ("byte",
    dtypes.uint8),
    ("bool", dtypes.bool_), ("cfloat", dtypes.complex64), ("cdouble", dtypes.complex128),
):  # fmt: skip
    _cast(_name, _dtype)


@composite(functions=())
def type_as(F: Any, self: Any, other: Any) -> Any:
    """Cast to the type of `other`."""
    return F.to(self, _dtype_of(other))


@composite(functions=())
def cpu(F: Any, self: Any) -> Any:
    """The tensor on the CPU."""
    return F.to(self, device="cpu")


def _copied(self: Array, src: Array, non_blocking: bool = False) -> Array:
    if src.dtype.kind == "c" and self.dtype.kind != "c":
        return src.real
    return src


operation(
    "copy", _copied, tensors=("self", "src"), scalars=("src",), node="CopyBackwards", inplace_only=True,
    gradients={
        "self": vjp(lambda F, grad: F.zeros_like(grad)),
        "src": vjp(lambda F, grad, dtype: F.handle_r_to_c(dtype, grad), "src.dtype"),
    },
)  # fmt: skip
operation(
    "zero", lambda self: self.dtype.type(0), node="ZeroBackward0", inplace_only=True,
    gradients={"self": vjp(lambda F, grad: F.zeros_like(grad))},
)  # fmt: skip
operation(
    "fill.Scalar", lambda self, value: self.dtype.type(value), node="FillBackward2", inplace_only=True,
    gradients={"self": vjp(lambda F, grad: F.zeros_like(grad))},
)  # fmt: skip


def _filled(self: Array, value: Array) -> Array:
    if value.ndim:
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} dimensions."
        )
    return value


operation(
    "fill.Tensor", _filled, tensors=("self", "value"), scalars=(), node="FillBackward3", inplace_only=True,
    gradients={
        "self": vjp(lambda F, grad: F.zeros_like(grad)),
        "value": vjp(lambda F, grad: F.sum(grad)),
    },
)  # fmt: skip


@composite("fill_", functions=("fill_",))
def _fill_(F: Any, self: Any, value: Any) -> Any:
    return (F.fill_Scalar_ if is_number(value) else F.fill_Tensor_)(self, value)
