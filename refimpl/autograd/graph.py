"""``torch.autograd.graph``: nodes, edges, and hooks on what is saved (HOOK-20, HOOK-21, INPUTS-13)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import modes, views
from ..errors import text
from ..graph import GradientEdge, Node
from ..saved import SavedInput, SavedOutput, unpack_tensor
from ..tensor import Tensor, bump

__all__ = [
    "GradientEdge",
    "Node",
    "SavedTensor",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "saved_tensors_hooks",
]

state = modes.state


class SavedTensor:
    """A saved tensor as ``_raw_saved_*`` shows it."""

    def __init__(self, node: Any, value: Any) -> None:
        self._node = node
        self._value = value

    @property
    def data(self) -> Any:
        """The tensor, unpacked."""
        return unpack_tensor(self._node, self._value)

    def register_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        """Pack this one tensor now, and unpack it on use."""
        from ..saved import Packed

        output = isinstance(self._value, SavedOutput)
        tensor = self._value.tensor if isinstance(self._value, SavedInput) else self.data
        packed = Packed(tensor, pack_hook, unpack_hook, output)
        node = self._node
        if hasattr(node, "_saved"):
            node._saved = tuple(packed if each is self._value else each for each in node._saved)
        else:
            node.saved = tuple(
                None if group is None else tuple(packed if each is self._value else each for each in group)
                for group in node.saved
            )
        self._value = packed


class saved_tensors_hooks:
    """Pack what is saved inside by one function, and unpack it by another; the innermost pair counts
    (HOOK-21).
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pair = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if state.pack_hooks_disabled is not None:
            raise RuntimeError(state.pack_hooks_disabled)
        state.pack_hooks.append(self.pair)
        state.update()

    def __exit__(self, *exc: object) -> None:
        state.pack_hooks.pop()
        state.update()


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse saved-tensor hooks inside. Raises RuntimeError if some are active."""
    if state.pack_hooks:
        raise RuntimeError(error_message)
    before = state.pack_hooks_disabled
    state.pack_hooks_disabled = error_message
    try:
        yield
    finally:
        state.pack_hooks_disabled = before


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Name the tensor's gradient without holding the tensor. Raises RuntimeError if it requires no grad."""
    if not tensor.requires_grad:
        raise RuntimeError(text("edge.no_grad"))
    node, nr = views.gradient_edge(tensor)
    return GradientEdge(node, nr)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write that autograd cannot see."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        bump(each)


class _MultiHandle:
    def __init__(self, handles: tuple[Any, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Remove all the hooks."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> _MultiHandle:
    """Call ``fn`` once for each pass:

    with all gradients when the last has come, or with the first (HOOK-20).
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of {('all', 'any')} but got {mode}")
    lock = threading.Lock()
    if mode == "any":
        done: set[int] = set()

        def first(grad: Any) -> None:
            task = state.tasks[-1]
            with lock:
                if id(task) in done:
                    return
                done.add(id(task))
                task.callbacks.append(lambda: done.discard(id(task)))
            fn(grad)

        return _MultiHandle(tuple(each.register_hook(first) for each in tensors if each.requires_grad))
    nodes = [views.gradient_edge(each)[0] for each in tensors]
    waiting: dict[int, tuple[list[Any], list[int]]] = {}

    def hook_for(index: int) -> Callable[[Any], None]:
        def arrived(grad: Any) -> None:
            task = state.tasks[-1]
            with lock:
                if id(task) not in waiting:
                    expected = sum(_will_run(task, node) for node in nodes)
                    waiting[id(task)] = ([None] * len(tensors), [expected])
                grads, left = waiting[id(task)]
                grads[index] = grad
                left[0] -= 1
                complete = left[0] == 0
            if complete:
                del waiting[id(task)]
                fn(grads)

        return arrived

    return _MultiHandle(tuple(each.register_hook(hook_for(i)) for i, each in enumerate(tensors)))


def _will_run(task: Any, node: Node) -> bool:
    if task.exec_info is not None:
        if node not in task.dependencies:
            return False
        entry = task.exec_info.get(node)
        if entry is not None and entry.captures and not node.next:
            raise RuntimeError(text("hook.multi_grad"))
        return entry is not None and (entry.needed or bool(entry.captures))
    return node in task.dependencies  # a single root is not counted, as in torch
