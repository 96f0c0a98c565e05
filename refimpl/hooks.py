"""Hooks on tensors: handles, registration, and how their results are judged (HOOK-01 to HOOK-24).

A tensor hook lives where the gradient arrives: with the node that made the tensor (so it keeps receiving the
gradient of the value *before* a later in-place operation, HOOK-14), or with the leaf itself. The engine calls
all hooks with tensors."""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .errors import text

__all__ = ["RemovableHandle", "call_tensor_hooks", "check_result", "hook_name", "type_name"]

Hook = Callable[..., Any]


class RemovableHandle:
    """Takes one hook away again; also a context manager (HOOK-06)."""

    next_id = itertools.count()

    def __init__(self, hooks: dict[int, Hook]) -> None:
        self.hooks_ref = weakref.ref(hooks) if isinstance(hooks, OrderedDict) else (lambda: hooks)
        self.id = next(RemovableHandle.next_id)

    def remove(self) -> None:
        """Remove the hook. Does nothing the second time."""
        hooks = self.hooks_ref()
        if hooks is not None:
            hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


RemovableHandle.__module__ = "torch.utils.hooks"


def hook_name(hook: Hook) -> str:
    """The name by which an error calls a hook."""
    return getattr(hook, "__name__", "<unknown>")


def type_name(value: object) -> str:
    """A type's name as C++ texts give it: with its module if it is a static type of an extension."""
    kind = type(value)
    heap_type = 1 << 9
    return (
        kind.__name__
        if kind.__flags__ & heap_type or kind.__module__ == "builtins"
        else f"{kind.__module__}.{kind.__name__}"
    )


def check_result(before: Any, after: Any, hook: Hook) -> None:
    """Judge what a hook returned in place of ``before``.

    Raises TypeError if it is no tensor, RuntimeError if its shape or dtype differ (HOOK-04).
    """
    if not hasattr(after, "_data"):
        raise TypeError(text("hook.type", type=type_name(after)))
    if before is None:
        return
    if after.dtype is not before.dtype:
        raise RuntimeError(
            text(
                "hook.dtype",
                name=hook_name(hook),
                expected=before.dtype.error_name,
                dtype=after.dtype.error_name,
            )
        )
    if after.device != before.device:
        raise RuntimeError(
            text("hook.dtype", name=hook_name(hook), expected=before.type(), dtype=after.type())
        )
    if after.shape != before.shape:
        raise RuntimeError(text("hook.size", name=hook_name(hook)))


def call_tensor_hooks(hooks: dict[int, Hook], grad: Any) -> Any:
    """Call a tensor's hooks in order of registration; each sees what the one before returned (HOOK-02)."""
    for hook in tuple(hooks.values()):
        result = hook(grad)
        if result is not None:
            check_result(grad, result, hook)
            grad = result
    return grad
