"""Devices: the CPU, and ``meta``, whose tensors have a shape and a dtype but no data (DEVICE-01 to
DEVICE-03).

A meta tensor's array is a `MetaArray`: an array of zeros whose memory is never touched, so that every
operation works out shapes, strides and dtypes as usual, and nothing can read values."""

from __future__ import annotations

from typing import Any

import numpy

__all__ = ["CPU", "META", "Device", "MetaArray", "device_of", "in_use", "meta_array", "parse"]


class Device:
    """A device as torch shows it: ``str()`` gives ``cpu``. Made from a name, or a name and an index."""

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __new__(cls, device: Any = None, index: int | None = None) -> Device:
        return parse(device, index)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        inner = f"type={self.type!r}" if self.index is None else f"type={self.type!r}, index={self.index}"
        return f"device({inner})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.type == other.type and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))


Device.__name__ = Device.__qualname__ = "device"
Device.__module__ = "torch"


def _make(kind: str, index: int | None = None) -> Device:
    made = object.__new__(Device)
    made.type, made.index = kind, index
    return made


CPU = _make("cpu")
META = _make("meta")

in_use = False
"""True once a meta tensor was made: only then can a gradient be on another device."""


def parse(device: Any, index: int | None = None) -> Device:
    """A device from what users write.

    Raises RuntimeError for an unknown one, AssertionError for CUDA (DEVICE-04).
    """
    if device is None:
        return CPU
    if isinstance(device, Device):
        return device
    if not isinstance(device, str):
        raise TypeError(f"device(): argument 'type' must be str, not {type(device).__name__}")
    kind, _, number = device.partition(":")
    if kind == "cpu":
        at = int(number) if number else index
        return CPU if at is None else _make("cpu", at)
    if kind == "meta":
        return META
    if kind == "cuda":
        raise AssertionError("Torch not compiled with CUDA enabled")
    raise RuntimeError(
        "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, "
        f"lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device string: {kind}"
    )


class MetaArray(numpy.ndarray[Any, Any]):
    """The array of a meta tensor."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return meta_array(array.shape, array.dtype)


def meta_array(shape: tuple[int, ...], dtype: Any) -> MetaArray:
    """An array of this shape and dtype without data."""
    global in_use
    in_use = True
    return numpy.zeros(shape, dtype).view(MetaArray)


def device_of(array: Any) -> Device:
    """Where an array lies."""
    return META if in_use and isinstance(array, MetaArray) else CPU
