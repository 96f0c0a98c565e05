"""What users attach to a tensor: hooks, post-accumulate hooks, retain_grad (HOOK, LEAF-06 to LEAF-08)."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .errors import text
from .graph import extra
from .hooks import RemovableHandle

if TYPE_CHECKING:
    from .tensor import Tensor

__all__ = ["hooks_of", "register_hook", "register_post_accumulate_grad_hook", "retain_grad", "retain_into"]

Hook = Callable[..., Any]


def _extra_of(tensor: Tensor) -> Any:
    from .tensor import extra_of

    return extra_of(tensor)


def hooks_of(tensor: Tensor) -> Any:
    """The tensor's hooks:

    those of a leaf, or those that wait at the node that made it; None if there never were any.
    """
    return None if tensor._x is None else tensor._x.hooks


def register_hook(tensor: Tensor, hook: Hook) -> RemovableHandle:
    """Attach a hook where the tensor's gradient arrives.

    Raises RuntimeError if it requires no grad (HOOK-07).
    """
    if not tensor.requires_grad:
        raise RuntimeError(text("hook.no_grad"))
    node = tensor.grad_fn
    seldom = _extra_of(tensor)
    if seldom.hooks is None:
        seldom.hooks = OrderedDict()
        if node is not None:
            extra(node).tensor_hooks.setdefault(tensor._nr, []).append(seldom.hooks)
    handle = RemovableHandle(seldom.hooks)
    seldom.hooks[handle.id] = hook
    return handle


def register_post_accumulate_grad_hook(tensor: Tensor, hook: Hook) -> RemovableHandle:
    """Attach a hook that runs after accumulation.

    Raises RuntimeError unless the tensor is a leaf that requires grad (HOOK-12).
    """
    if not tensor.requires_grad:
        raise RuntimeError(text("hook.no_grad"))
    if tensor.grad_fn is not None:
        raise RuntimeError(text("hook.post_non_leaf"))
    seldom = _extra_of(tensor)
    if seldom.post_hooks is None:
        seldom.post_hooks = OrderedDict()
    handle = RemovableHandle(seldom.post_hooks)
    seldom.post_hooks[handle.id] = hook
    return handle


def retain_grad(tensor: Tensor) -> None:
    """Keep the gradient of a non-leaf (LEAF-06). Raises RuntimeError if it requires no grad."""
    if not tensor.requires_grad:
        raise RuntimeError(text("retain_grad.no_grad"))
    node = tensor.grad_fn
    seldom = _extra_of(tensor)
    if node is None or seldom.retains:
        return
    seldom.retains = True
    extra(node).retains[tensor._nr] = weakref.ref(tensor)


def retain_into(tensor: Tensor, grad: Tensor) -> None:
    """Store a gradient in a retaining tensor: a clone at first, then out of place sums (LEAF-07, HOOK-23)."""
    seldom = _extra_of(tensor)
    if seldom.grad is None:
        seldom.grad = grad.clone(memory_format=_contiguous())
    else:
        seldom.grad = seldom.grad + grad


def _contiguous() -> Any:
    import refimpl

    return refimpl.contiguous_format
