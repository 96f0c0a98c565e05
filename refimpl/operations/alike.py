"""Tensors like another: zeros_like, new_zeros and their kin, and memory formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import layout
from .creation import array_of, checked, finish, fresh, full, numpy_type
from .sizes import sizes_of
from .table import composite, operation

Array = Any


def _like(self: Array, value: Any, dtype: Any, memory_format: Any) -> Array:
    kind = self.dtype if dtype is None else dtype.numpy
    shape = self.shape
    wanted = layout.format_name(memory_format)
    if wanted in layout.CHANNELS_LAST:
        return layout.with_format(fresh(shape, value, kind), memory_format)
    if wanted == "contiguous_format" or not shape:
        return fresh(shape, value, kind)
    made = layout.empty_strided(shape, layout.preserved_strides(self), kind)
    made[...] = value
    return made


for _name, _value in (("zeros_like", 0), ("ones_like", 1), ("empty_like", 0)):
    operation(
        f"{_name}.raw",
        lambda self, dtype=None, memory_format=None, value=_value: _like(self, value, dtype, memory_format),
    )

    def _make_like(
        F: Any, self: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False,
        pin_memory: bool = False, memory_format: Any = None, _key: str = _name,
    ) -> Any:  # fmt: skip
        made = getattr(F, _key + "_raw")(self, dtype, memory_format)
        return made if device is None and not requires_grad else finish(made.array(), requires_grad, device)

    composite(_name, methods=())(_make_like)

operation("full_like.raw", lambda self, fill_value, dtype=None, memory_format=None: _like(
    self, fill_value, dtype, memory_format))  # fmt: skip


@composite(methods=())
def full_like(
    F: Any, self: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None,
) -> Any:  # fmt: skip
    """A tensor like `self`, filled with one value."""
    made = F.full_like_raw(self, fill_value, dtype, memory_format)
    return made if device is None and not requires_grad else finish(made.array(), requires_grad, device)


operation("scalar_like.raw", lambda self, value: self.dtype.type(value))


@composite(functions=(), methods=())
def scalar_like(F: Any, value: Any, like: Any) -> Any:
    """A 0-d constant of the type of `like`."""
    return F.scalar_like_raw(like, value)


operation("new_zeros.raw", lambda self, size: fresh(size, 0, self.dtype))


def _new(name: str, value: Any) -> None:
    def create(
        F: Any, self: Any, *size: Any, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False, pin_memory: bool = False,
    ) -> Any:  # fmt: skip
        shape = checked(sizes_of(size, name))
        if dtype is None and device is None and not requires_grad and value == 0:
            return F.new_zeros_raw(self, shape)
        return finish(fresh(shape, value, numpy_type(dtype or self.dtype)), requires_grad, device)

    composite(name, functions=())(create)


for _name, _value in (("new_zeros", 0), ("new_ones", 1), ("new_empty", 0)):
    _new(_name, _value)


@composite(functions=())
def new_full(
    F: Any, self: Any, size: Sequence[int], fill_value: Any, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """A tensor of the given size in the type of `self`."""
    return full(size, fill_value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


@composite(functions=())
def new_tensor(
    F: Any, self: Any, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Any:
    """A tensor with a copy of the data, in the type of `self`."""
    return finish(array_of(data, dtype or self.dtype), requires_grad, device)


@composite(functions=())
def new(F: Any, self: Any, *size: Any) -> Any:
    """The old constructor: a tensor of the type of `self` from a size or a list."""
    if len(size) == 1 and isinstance(size[0], (list, tuple)):
        return finish(array_of(size[0], self.dtype))
    return finish(fresh(sizes_of(size, "new"), 0, self.dtype.numpy))
