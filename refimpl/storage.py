"""Shapes, strides and memory as torch shows them."""

from __future__ import annotations

from typing import Any

from .operations import layout

__all__ = ["Size", "Storage", "strides_of", "wrap_dim"]


class Size(tuple[int, ...]):
    """A shape, as torch prints it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for extent in self:
            count *= extent
        return count

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Any:
        return Size(tuple.__add__(self, tuple(other)))


class Storage:
    """The memory behind tensors, identified by its address."""

    def __init__(self, array: Any) -> None:
        while array.base is not None and hasattr(array.base, "__array_interface__"):
            array = array.base
        self._owner = array

    def data_ptr(self) -> int:
        """The address of the memory."""
        return self._owner.__array_interface__["data"][0]  # type: ignore[no-any-return]

    def nbytes(self) -> int:
        """The size of the memory in bytes."""
        return self._owner.nbytes  # type: ignore[no-any-return]

    size = __len__ = nbytes


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front. Raises IndexError out of range."""
    low, high = -max(ndim, 1), max(ndim, 1) - 1
    if not low <= dim <= high:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})"
        )
    return dim + max(ndim, 1) if dim < 0 else dim


def strides_of(array: Any) -> tuple[int, ...]:
    """The strides of an array in elements, as torch has them."""
    return layout.element_strides(array)
