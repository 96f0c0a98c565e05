"""Tensors: an array, a place in the graph, and what torch shows of both.

Storage is numpy's: tensors whose arrays share memory share storage. A 0-d result may travel as a numpy scalar
(ten times cheaper than a 0-d array); `Tensor.array` turns it into an array as soon as memory matters. The
version counter is a list of one number, shared by all tensors of one storage but not through ``.data``
(INPLACE-11), and made on first need.

``_req`` is True or False for an ordinary tensor, and None for a view of which autograd must be asked
(`refimpl.views`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from . import arrays, devices, dtypes, modes
from .errors import text
from .hooks import RemovableHandle
from .storage import Size, Storage, strides_of, wrap_dim
from .values import Values

__all__ = [
    "INFERENCE",
    "Extra",
    "Size",
    "Tensor",
    "bump",
    "extra_of",
    "strides_of",
    "version_of",
    "wrap",
    "wrap_dim",
]

state = modes.state
INFERENCE: Any = [0]
"""Stands in the place of the version counter of an inference tensor, which has none."""


class Extra:
    """What few tensors have: a gradient, a grad accumulator, hooks, a base, a device."""

    __slots__ = (
        "accumulator",
        "detached_at",
        "device",
        "grad",
        "grad_dtype",
        "hooks",
        "inference",
        "name",
        "post_hooks",
        "retains",
        "view",
    )

    def __init__(self) -> None:
        self.accumulator: Any = None  # weak reference to the AccumulateGrad node of a leaf
        self.detached_at = -1  # the moment of the last detach_()
        self.device = devices.CPU
        self.grad: Any = None
        self.grad_dtype: Any = ()  # (): the tensor's own; None: any
        self.hooks: Any = None  # of a leaf, and of a non-leaf those registered since its grad_fn changed
        self.inference = False
        self.name: str | None = None
        self.post_hooks: Any = None
        self.retains = False
        self.view: Any = None


def extra_of(tensor: Tensor) -> Extra:
    """The tensor's seldom things, made on first use."""
    found = tensor._x
    if found is None:
        found = tensor._x = Extra()
    return found


def version_of(tensor: Tensor) -> int:
    """How often the tensor's storage was written to (INPLACE-11)."""
    counter = tensor._counter
    return 0 if counter is None else counter[0]


def bump(tensor: Tensor) -> None:
    """Count one write to the tensor's storage.

    Raises RuntimeError for an inference tensor in normal mode; what was written stays written, as in torch
    (MODE-04)."""
    counter = tensor._counter
    if counter is None:
        tensor._counter = [1]
    elif counter is not INFERENCE:
        counter[0] += 1
    elif not state.inference:
        raise RuntimeError(text("inference.inplace"))


class ReadOnly(property):
    """A property that says so in torch's words when it is set (LEAF-15)."""

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(text("attribute.read_only", name=self.fget.__name__))  # type: ignore[union-attr]


class Tensor(Values):
    """A tensor. Operations are added to the class from the table (`refimpl.namespace`)."""

    __slots__ = ("__weakref__", "_counter", "_data", "_fn", "_nr", "_req", "_x")
    __module__ = "torch"
    __array_priority__ = 1000

    _data: Any
    _fn: Any
    _nr: int
    _req: bool | None
    _counter: Any
    _x: Extra | None

    def __init__(self, data: Any = (), _req: bool = False, _fn: Any = None, _nr: int = 0) -> None:
        self._data = data if hasattr(data, "dtype") and not isinstance(data, Tensor) else _legacy(data)
        self._fn = _fn
        self._nr = _nr
        self._req = _req
        self._counter = None
        self._x = None

    if TYPE_CHECKING:  # the operations' methods, which `namespace.install` adds

        def __getattr__(self, name: str) -> Any: ...

    # Memory.

    def array(self) -> Any:
        """The tensor's array; a 0-d value that travelled as a numpy scalar gets memory now."""
        data = self._data
        if isinstance(data, numpy.generic):
            data = self._data = arrays.asarray(data)
        elif not data.size:
            data = self._data = layout.showable(data)
        return data

    @property
    def shape(self) -> Size:
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one extent of it."""
        return Size(self._data.shape) if dim is None else self._data.shape[wrap_dim(dim, self._data.ndim)]

    def dim(self) -> int:
        """The number of dimensions."""
        return self._data.ndim  # type: ignore[no-any-return]

    ndimension = dim
    ndim = property(dim)

    def numel(self) -> int:
        """The number of elements."""
        return self._data.size  # type: ignore[no-any-return]

    nelement = numel

    @property
    def dtype(self) -> dtypes.DType:
        return dtypes.of(self._data.dtype)

    @property
    def device(self) -> devices.Device:
        return devices.CPU if not devices.in_use else devices.device_of(self._data)

    @property
    def is_meta(self) -> bool:
        return self.device == devices.META

    def cuda(self, device: Any = None) -> Any:
        """Raises AssertionError: there is no CUDA here (DEVICE-04)."""
        return devices.parse("cuda")

    def cpu(self) -> Tensor:
        """The tensor itself, or a copy on the CPU."""
        moved: Tensor = self.to(devices.CPU)
        return moved

    is_cuda = is_sparse = is_nested = is_quantized = is_mkldnn = False

    @property
    def itemsize(self) -> int:
        return self._data.dtype.itemsize  # type: ignore[no-any-return]

    def element_size(self) -> int:
        """Bytes of one element."""
        return self._data.dtype.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self._data.dtype.itemsize * self._data.size  # type: ignore[no-any-return]

    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, or one of them."""
        strides = strides_of(self._data)
        return strides if dim is None else strides[wrap_dim(dim, len(strides))]

    def storage_offset(self) -> int:
        """How many elements of the storage lie before this tensor's first."""
        return arrays.storage_offset(self.array())

    def data_ptr(self) -> int:
        """The address of the first element; 0 for an empty tensor."""
        array = self.array()
        return array.__array_interface__["data"][0] if array.size else 0

    def untyped_storage(self) -> Storage:
        """The memory that the tensor lies in."""
        return Storage(self.array())

    storage = untyped_storage

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """True if the elements lie row-major without gaps (or as ``memory_format`` says)."""
        strides = strides_of(self._data)
        if memory_format is not None and getattr(memory_format, "name", "") == "channels_last":
            return layout.is_channels_last(self._data.shape, strides)
        return layout.is_contiguous(self._data.shape, strides)

    def is_floating_point(self) -> bool:
        """True for float16, bfloat16, float32 and float64."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        """True for types with negative numbers."""
        return self.dtype.is_signed

    def is_inference(self) -> bool:
        """True if the tensor was made in inference mode (MODE-04)."""
        return self._counter is INFERENCE

    def type(self, dtype: Any = None) -> Any:
        """The old name of the tensor's type, or the tensor cast to another."""
        if dtype is not None:
            return self.to(dtype)
        return (
            self.dtype.tensor_name
            if self.device.type == "cpu"
            else f"torch.{self.device.type}.{self.dtype.tensor_name[6:]}"
        )

    # The graph.

    @property
    def requires_grad(self) -> bool:
        req = self._req
        return req if req is not None else views.requires_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: Any) -> None:
        set_requires_grad(self, value, "requires_grad.setter", setter=True)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` (LEAF-03, LEAF-04)."""
        set_requires_grad(self, requires_grad, "requires_grad.method", setter=False)
        return self

    @ReadOnly
    def grad_fn(self) -> Any:
        return self._fn if self._req is not None else views.grad_fn(self)

    @property
    def _grad_fn(self) -> Any:
        return self.grad_fn

    @ReadOnly
    def is_leaf(self) -> bool:
        return self._fn is None if self._req is not None else views.grad_fn(self) is None

    @ReadOnly
    def output_nr(self) -> int:
        return self._nr

    @ReadOnly
    def _version(self) -> int:
        counter = self._counter
        if counter is INFERENCE:
            raise RuntimeError(text("inference.version"))
        return 0 if counter is None else counter[0]

    @ReadOnly
    def _base(self) -> Any:
        seldom = self._x
        return None if seldom is None or seldom.view is None else seldom.view.base

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def retains_grad(self) -> bool:
        return self._x is not None and self._x.retains

    @property
    def name(self) -> str | None:
        return None if self._x is None else self._x.name

    # Gradients.

    @property
    def grad(self) -> Any:
        seldom = self._x
        if self._fn is not None and (seldom is None or (not seldom.retains and seldom.grad is None)):
            warnings.warn(text("grad.non_leaf"), UserWarning, stacklevel=2)
        return None if seldom is None else seldom.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        accumulate.assign_grad(self, value)

    @grad.deleter
    def grad(self) -> None:
        extra_of(self).grad = None

    _grad = grad

    @property
    def grad_dtype(self) -> Any:
        """The dtype that ``.grad`` must have; None for any (ACC-33)."""
        seldom = self._x
        return self.dtype if seldom is None or seldom.grad_dtype == () else seldom.grad_dtype

    @grad_dtype.setter
    def grad_dtype(self, value: Any) -> None:
        accumulate.assign_grad_dtype(self, value)

    def backward(
        self, gradient: Any = None, retain_graph: Any = None, create_graph: Any = False, inputs: Any = None
    ) -> None:
        """Run the graph backwards from this tensor and accumulate into ``.grad`` of the leaves."""
        from . import autograd

        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep the gradient of a non-leaf in ``.grad`` (LEAF-06, LEAF-07)."""
        tensor_hooks.retain_grad(self)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad)`` when the gradient arrives; a result replaces it (HOOK-01, HOOK-02)."""
        return tensor_hooks.register_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(leaf)`` each time a gradient was accumulated into the leaf (HOOK-12)."""
        return tensor_hooks.register_post_accumulate_grad_hook(self, hook)

    @property
    def _backward_hooks(self) -> Any:
        return tensor_hooks.hooks_of(self)

    @property
    def _post_accumulate_grad_hooks(self) -> Any:
        return None if self._x is None else self._x.post_hooks

    def detach(self) -> Tensor:
        """The same memory and version counter, outside the graph (LEAF-09)."""
        return views.detach(self)

    def detach_(self) -> Tensor:
        """Leave the graph in place (LEAF-09). Raises RuntimeError for a view (LEAF-10)."""
        return views.detach_(self)

    @property
    def data(self) -> Tensor:
        """The same memory, with neither history nor version counter in common (INPLACE-11)."""
        return wrap(self.array())

    @data.setter
    def data(self, new: Any) -> None:
        if not isinstance(new, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(new).__name__}")
        if self._req and not new.dtype.is_differentiable:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype"
            )
        self._data = new.array()

    # Copies.

    def __copy__(self) -> Tensor:
        made = wrap(self.array(), type(self))
        made._counter = self._counter
        made._req = self.requires_grad
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(text("deepcopy.non_leaf"))
        if id(self) in memo:
            return memo[id(self)]  # type: ignore[no-any-return]
        array = self.array()
        copied = layout.empty_strided(array.shape, layout.preserved_strides(array), array.dtype)
        copied[...] = array
        made = wrap(copied, type(self))
        if type(self) is Tensor:
            made._counter = [1]  # torch fills the copy in place
        made._req = self.requires_grad
        memo[id(self)] = made
        if self._x is not None and self._x.grad is not None:
            extra_of(made).grad = self._x.grad.__deepcopy__(memo)
        return made


def _legacy(data: Any) -> Any:
    """The array of ``torch.Tensor(...)``: values in the default dtype, or an uninitialized shape."""
    if isinstance(data, Tensor):
        return data.array()
    kind = dtypes.get_default_dtype().numpy
    return arrays.zeros((data,), kind) if isinstance(data, int) else arrays.asarray(data, dtype=kind)


def wrap(array: Any, kind: type[Tensor] = Tensor) -> Tensor:
    """A new tensor around an array: a leaf that requires no gradient."""
    tensor = kind.__new__(kind)
    tensor._data = array
    tensor._fn = None
    tensor._nr = 0
    tensor._req = False
    tensor._counter = INFERENCE if state.inference else None
    tensor._x = None
    return tensor


def set_requires_grad(tensor: Tensor, value: Any, wrong_dtype: str, setter: bool) -> None:
    """Raises RuntimeError for a non-bool, an integer dtype, a non-leaf (LEAF-03, LEAF-04) or an inference
    tensor (MODE-04).
    """
    if not isinstance(value, bool):
        if setter:
            raise RuntimeError(text("requires_grad.type"))
        raise TypeError(
            "requires_grad_(): argument 'requires_grad' (position 1) must be bool, "
            f"not {type(value).__name__}"
        )
    if not tensor.is_leaf:
        if value and not setter:
            return
        message = text("requires_grad.non_leaf") + ("" if value else text("requires_grad.non_leaf_false"))
        raise RuntimeError(message)
    if value and not tensor.dtype.is_differentiable:
        raise RuntimeError(text(wrong_dtype))
    if value and tensor._counter is INFERENCE and not state.inference:
        raise RuntimeError(text("inference.requires_grad"))
    if tensor._req is None:
        views.set_requires_grad(tensor, value)
    else:
        tensor._req = value


from . import accumulate, tensor_hooks, views  # noqa: E402  (these modules need the class)
from .operations import layout  # noqa: E402
