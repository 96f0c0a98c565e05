"""Accumulation: where a gradient becomes the ``.grad`` of a leaf (ACC, LAYOUT-01 to LAYOUT-06).

The first gradient is *stolen* if nobody else holds it and its strides are what the leaf wants, else cloned
into the leaf's layout. A later one is added in place, into the same object; under ``create_graph=True`` out
of place, into a new one."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy

from . import devices, dtypes, modes
from .errors import text
from .graph import Node, extra
from .hooks import type_name
from .operations import layout
from .tensor import INFERENCE, Tensor, bump, extra_of, strides_of, wrap

__all__ = [
    "AccumulateGrad",
    "accumulate_grad",
    "assign_grad",
    "assign_grad_dtype",
    "clone_obeying_contract",
    "obeys_contract",
]

state = modes.state
_lock = threading.RLock()

ACCUMULATE_PRIORITY = 1 << 62
"""Before every interior node: a leaf that is complete accumulates at once (HOOK-19)."""


class AccumulateGrad(Node):
    """The node of a leaf: adds what arrives to the leaf's ``.grad``."""

    __slots__ = ("variable",)
    display = "torch::autograd::AccumulateGrad"

    def __init__(self, variable: Tensor) -> None:
        super().__init__()
        self.seq = ACCUMULATE_PRIORITY
        self.variable = variable
        data = variable._data
        self.shape, self.dtype = data.shape, data.dtype
        kind = variable.grad_dtype
        if kind is not variable.dtype:
            self.dtype = None if kind is None else kind.numpy
        if devices.in_use:
            extra(self).device = variable.device

    def run(self, grads: Any, task: Any, needs: Any) -> Any:
        """``grads`` is a box: a list of the one gradient, which is taken out of it, so that a sole owner can
        be told.

        Nothing is accumulated for an undefined gradient or a leaf that no longer requires one, but the
        post-accumulate hooks run (HOOK-12)."""
        variable = self.variable
        defined = grads[0] is not None
        if defined and variable._fn is not None:
            raise RuntimeError(text("accumulate.moved"))
        defined = defined and variable.requires_grad
        posts = self.extra is not None and bool(self.extra.post_hooks)
        with _lock:
            if defined:
                accumulate_grad(variable, grads, task, 1 if posts else 0)
            seldom = variable._x
            if seldom is not None and seldom.post_hooks:
                for hook in tuple(seldom.post_hooks.values()):
                    if hook(variable) is not None:
                        raise RuntimeError(text("hook.post_return"))
        return ()


def _measure(box: list[Any]) -> int:
    new = box.pop()
    return sys.getrefcount(new)


SOLE_OWNER = _measure([object()])
"""The reference count that an object shows in `accumulate_grad` if nothing else holds it."""


def accumulate_grad(variable: Tensor, box: list[Any], task: Any, expected: int) -> None:
    """Put the gradient in ``box`` into ``variable.grad``: steal, clone, add in place or add out of place.

    ``expected`` is the number of further references that do not count. Clauses ACC-01 to ACC-03, ACC-25,
    ACC-31."""
    new = box.pop()
    seldom = extra_of(variable)
    before = seldom.grad
    if task.recorded:
        if before is None:
            seldom.grad = clone_obeying_contract(new, variable)
        else:
            seldom.grad = task.F.add(before, new)
            warn_about_layout(seldom.grad, variable)
        return
    if before is None:
        if sys.getrefcount(new) <= SOLE_OWNER + expected and obeys_contract(new, variable._data):
            seldom.grad = stolen = wrap(new)
            version = task.bumps.get(seldom.accumulator() if seldom.accumulator is not None else None)
            if version and stolen._counter is None:
                stolen._counter = [version]
        else:
            seldom.grad = clone_array(new, variable._data)
        return
    held = before._data
    if (
        held.dtype is new.dtype
        and held.shape == new.shape
        and before._counter is not INFERENCE
        and (not held.ndim or 0 not in held.strides)
    ):
        if held.dtype.kind == "c":
            total = task.F.add(held, new)  # not a plain sum: it decides the signs of zeros
            if isinstance(held, numpy.generic):
                before._data = total
            else:
                numpy.copyto(held, total)
        elif isinstance(held, numpy.generic):
            before._data = held + new
        else:
            numpy.add(held, new, out=held)
        bump(before)
    else:
        with modes.no_grad():
            before.add_(task.wrap(new))
    if held.shape:
        warn_about_layout(before, variable)


def warn_about_layout(grad: Tensor, variable: Tensor) -> None:
    """Warn, once in a process, of a gradient that was given another layout before (LAYOUT-03)."""
    if not obeys_contract(grad._data, variable._data):
        modes.warn_once(
            text(
                "accumulate.layout",
                grad_shape=list(grad.shape),
                grad_strides=list(grad.stride()),
                shape=list(variable.shape),
                strides=list(variable.stride()),
            ),
            stacklevel=4,
        )


def obeys_contract(grad: Any, leaf: Any) -> bool:
    """True if the gradient's strides are those that the leaf's ``.grad`` must have (LAYOUT-01, LAYOUT-02,
    LAYOUT-06).
    """
    shape = grad.shape
    if not shape:
        return True
    strides = strides_of(grad)
    wanted = strides_of(leaf)
    if not layout.is_dense(leaf.shape, wanted) or len(wanted) != len(strides):
        return layout.is_contiguous(shape, strides)
    return all(
        has == wants if extent != 1 else has != 0
        for extent, has, wants in zip(shape, strides, wanted, strict=True)
    )


def _contract_strides(grad: Any, leaf: Any) -> tuple[int, ...]:
    strides = strides_of(leaf)
    if grad.shape == leaf.shape and layout.is_dense(leaf.shape, strides):
        return strides
    return layout.contiguous_strides(grad.shape)


def clone_array(grad: Any, leaf: Any) -> Tensor:
    """A copy in the layout of the contract; its version is 1 where torch fills a new tensor (ACC-37)."""
    made = layout.empty_strided(grad.shape, _contract_strides(grad, leaf), grad.dtype)
    made[...] = grad
    tensor = wrap(devices.meta_array(grad.shape, grad.dtype) if isinstance(grad, devices.MetaArray) else made)
    if layout.is_dense(leaf.shape, strides_of(leaf)):
        bump(tensor)
    return tensor


def clone_obeying_contract(grad: Tensor, variable: Tensor) -> Any:
    """The recorded form of `clone_array`: the copy has history (CREATE-06)."""
    leaf = variable._data
    if not layout.is_dense(leaf.shape, strides_of(leaf)):
        copied = grad.clone(memory_format=_contiguous_format())
        return copied
    made = wrap(layout.empty_strided(grad._data.shape, _contract_strides(grad._data, leaf), grad._data.dtype))
    copied = made.copy_(grad)
    return copied


def _contiguous_format() -> Any:
    import refimpl

    return refimpl.contiguous_format


_C_NAMES = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "int64": "long int",
    "int32": "int",
    "int16": "short",
    "int8": "signed char",
    "uint8": "unsigned char",
    "bool": "bool",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


def assign_grad(tensor: Tensor, grad: Any) -> None:
    """``tensor.grad = grad``.

    Raises TypeError or RuntimeError as ACC-13 says; None is always allowed (ACC-14).
    """
    if grad is None:
        if tensor._x is not None:
            tensor._x.grad = None
        return
    if not isinstance(grad, Tensor):
        raise TypeError(text("grad.assign_type", type=type_name(grad)))
    if grad is tensor:
        raise RuntimeError(text("grad.assign_self"))
    expected = tensor.grad_dtype
    if expected is not None and grad.dtype is not expected:
        raise RuntimeError(
            text("grad.assign_dtype", dtype=_C_NAMES[grad.dtype.name], expected=expected.scalar_name)
        )
    if grad.device.type != tensor.device.type:
        raise RuntimeError(text("grad.assign_device", device=grad.device.type, expected=tensor.device.type))
    if grad._data.shape != tensor._data.shape:
        raise RuntimeError(text("grad.assign_size", size=list(grad.shape), expected=list(tensor.shape)))
    extra_of(tensor).grad = grad


def assign_grad_dtype(tensor: Tensor, value: Any) -> None:
    """``tensor.grad_dtype = value`` (ACC-33).

    Raises RuntimeError for a non-leaf or a gradient of another dtype.
    """
    if not tensor.is_leaf:
        tensor.grad  # noqa: B018  (torch looks at it first, which warns)
        raise RuntimeError(text("grad_dtype.non_leaf"))
    if value is not None and not isinstance(value, dtypes.DType):
        raise TypeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
    seldom = extra_of(tensor)
    if value is not None and seldom.grad is not None and seldom.grad.dtype is not value:
        raise RuntimeError(
            text("grad_dtype.existing", dtype=value.scalar_name, existing=_C_NAMES[seldom.grad.dtype.name])
        )
    seldom.grad_dtype = value
    node = seldom.accumulator() if seldom.accumulator is not None else None
    if node is not None:
        node.dtype = None if value is None else value.numpy
