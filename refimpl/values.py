"""The values of a tensor as python and numpy see them (LEAF-13), and how it prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from . import devices, dtypes
from .errors import text

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["Values"]


class Values:
    """The part of `Tensor` that gives its values out."""

    __slots__ = ()

    if TYPE_CHECKING:  # what Tensor has besides

        def __getattr__(self, name: str) -> Any: ...

    def _values(self) -> Any:
        if devices.in_use and self.device == devices.META:
            raise NotImplementedError(text("meta.no_data"))
        return self._data

    def item(self) -> Any:
        """The only element as a python number (LEAF-13).

        Raises RuntimeError for another number of elements.
        """
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        if devices.in_use and self.device == devices.META:
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")
        return _python(self._data.reshape(())).item()

    def tolist(self) -> Any:
        """The elements as nested lists of python numbers."""
        return _python(self._values()).tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """The tensor's own array. Raises RuntimeError if it requires grad (LEAF-13)."""
        if force:
            return self.detach().array()
        if self.requires_grad:
            raise RuntimeError(text("numpy.requires_grad"))
        if self.dtype is dtypes.bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        self._values()
        return self.array()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                f"Boolean value of Tensor with {'no values' if self.numel() == 0 else 'more than one value'} "
                "is ambiguous"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.category > dtypes.INTEGER or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._data.shape[0]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        return bool((element == self).any().item())

    __hash__ = object.__hash__

    def __format__(self, spec: str) -> str:
        if self.dim() == 0 and not self.is_meta and type(self).__name__ == "Tensor":
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __repr__(self) -> str:
        from .printing import tensor_text

        return tensor_text(cast("Tensor", self))


def _python(array: Any) -> Any:
    return array.astype("float32") if array.dtype == dtypes.bfloat16.numpy else array
