"""Saved tensors: what a node keeps of the forward pass, the version check, and release (RETAIN, INPLACE-04,
HOOK-21).

A node's ``saved`` is a tuple with one entry for each formula (None where that gradient is not needed), each a
tuple of the values that the formula uses. Among these values stand:

* a `Tensor` itself: an operand saved when its version was 0 (the usual case, nothing is allocated for it);
* a `SavedInput`: an operand at a later version, or one that a subclass or inference mode makes special;
* a `SavedOutput`: the node's own result, held without its history so that node and result are no cycle;
* a `Packed`: what a saved-tensor hook made of a tensor;
* anything else: a plain value (a number operand, a dimension, a shape).

An operand is saved as the very tensor object, so a later ``.data =`` shows in backward (INPLACE-17), a later
in-place change is found by the version, and a later ``detach_()`` is found by its moment (INPLACE-19)."""

from __future__ import annotations

from typing import Any

from . import modes
from .errors import text
from .tensor import INFERENCE, Tensor, extra_of, version_of, wrap

__all__ = [
    "Packed",
    "SavedInput",
    "SavedOutput",
    "check_version",
    "pack",
    "pack_result",
    "unpack_array",
    "unpack_tensor",
]

state = modes.state


class SavedInput:
    """An operand and the version that it had."""

    __slots__ = ("tensor", "version")

    def __init__(self, tensor: Tensor, version: int) -> None:
        self.tensor = tensor
        self.version = version


class SavedOutput:
    """A result without its history: the array, the shared version counter and the version."""

    __slots__ = ("array", "counter", "kind", "leaf", "nr", "on_view", "version")

    def __init__(self, tensor: Tensor, on_view: bool = False) -> None:
        self.array = tensor.array()
        counter = tensor._counter
        if counter is None:
            counter = tensor._counter = [0]
        self.counter = counter
        self.version = counter[0]
        self.nr = tensor._nr
        self.kind = tensor.dtype
        self.leaf = not tensor.requires_grad
        self.on_view = on_view


class Packed:
    """A tensor that a pack hook has taken; unpacked on each use, without version check (HOOK-21)."""

    __slots__ = ("edge", "hook", "is_leaf", "packed", "requires_grad", "tensor")

    def __init__(self, tensor: Tensor, pack_hook: Any, unpack_hook: Any, output: bool) -> None:
        from . import views

        self.requires_grad = tensor.requires_grad
        self.is_leaf = tensor.is_leaf
        self.edge = None if output or not self.requires_grad else views.gradient_edge(tensor)
        self.hook = unpack_hook
        given = tensor if not output else detached(tensor)
        version = version_of(given)
        before = state.pack_hooks
        state.pack_hooks = []
        state.update()
        try:
            with modes.no_grad():
                self.packed = pack_hook(detached(tensor) if not self.is_leaf or output else tensor)
        finally:
            state.pack_hooks = before
            state.update()
        if version_of(given) != version:
            raise RuntimeError(text("saved.pack_inplace"))

    def unpack(self, node: Any, output: bool, nr: int) -> Tensor:
        """Run the unpack hook. Raises TypeError unless it gives a tensor."""
        result = self.hook(self.packed)
        if not isinstance(result, Tensor):
            raise TypeError(text("saved.unpack_type", type=type(result).__name__))
        return result


def detached(tensor: Tensor) -> Tensor:
    """The same memory and version counter, without history."""
    alias = wrap(tensor.array())
    counter = tensor._counter
    if counter is None:
        counter = tensor._counter = [0]
    alias._counter = counter
    return alias


def pack(value: Any) -> Any:
    """Save an operand. A number stays what it is. Raises RuntimeError for an inference tensor (MODE-04)."""
    if not isinstance(value, Tensor):
        return [pack(each) for each in value] if isinstance(value, (list, tuple)) else value
    if value._counter is INFERENCE:
        raise RuntimeError(text("inference.save"))
    if state.pack_hooks:
        return Packed(value, *state.pack_hooks[-1], output=False)
    version = version_of(value)
    return value if version == 0 and type(value) is Tensor else SavedInput(value, version)


def pack_result(value: Any, on_view: bool = False) -> Any:
    """Save a result of the node itself."""
    if not isinstance(value, Tensor):
        return value
    if value._counter is INFERENCE:
        raise RuntimeError(text("inference.save"))
    if state.pack_hooks:
        return Packed(value, *state.pack_hooks[-1], output=True)
    return SavedOutput(value, on_view)


def check_version(
    node: Any, kind: Any, shape: Any, version: int, expected: int, producer: Any, nr: int
) -> None:
    """Raise RuntimeError if a saved tensor is not at the version at which it was saved (INPLACE-04).

    ``producer`` is the tensor's grad_fn as it is now, or None.
    """
    if version == expected:
        return
    made_by = ""
    if producer is not None:
        made_by = text("saved.producer", output=nr, node=_short(producer.name()))
    hint = text("saved.hint_anomaly" if state.anomaly else "saved.hint")
    raise RuntimeError(
        text(
            "saved.modified",
            type=kind.error_name,
            shape=list(shape),
            producer=made_by,
            version=version,
            expected=expected,
        )
        + hint
    )


def _short(name: str) -> str:
    head, mark, tail = name.rpartition("Backward")
    if not mark or "::" in name or not (tail == "" or tail.isdigit()):
        return name
    return head if tail in ("", "0") else head + tail


def _check_input(node: Any, tensor: Tensor, expected: int) -> None:
    counter = tensor._counter
    version = 0 if counter is None else counter[0]
    if version != expected:
        producer = tensor._fn if tensor._req is not None else tensor.grad_fn
        check_version(node, tensor.dtype, tensor.shape, version, expected, producer, tensor._nr)
    seldom = tensor._x
    if seldom is not None and seldom.detached_at > node.seq and tensor._fn is None:
        raise RuntimeError(text("saved.detached"))


def unpack_array(node: Any, value: Any) -> Any:
    """The array of a saved value (a plain value as it is). Raises RuntimeError if it was modified since."""
    kind = type(value)
    if kind is Tensor:
        if value._counter is not None or value._x is not None:
            _check_input(node, value, 0)
        return value._data
    if kind is SavedInput:
        _check_input(node, value.tensor, value.version)
        return value.tensor._data
    if kind is SavedOutput:
        if value.counter[0] != value.version:
            check_version(
                node, value.kind, value.array.shape, value.counter[0], value.version, node, value.nr
            )
        return value.array
    if kind is Packed:
        return value.unpack(node, False, 0)._data
    if kind is list:
        return [unpack_array(node, each) for each in value]
    return value


def unpack_tensor(node: Any, value: Any) -> Any:
    """As `unpack_array`, but the tensor with its place in the graph, to be differentiated again."""
    kind = type(value)
    if kind is Tensor:
        _check_input(node, value, 0)
        return value
    if kind is SavedInput:
        _check_input(node, value.tensor, value.version)
        return value.tensor
    if kind is SavedOutput:
        unpack_array(node, value)
        tensor = wrap(value.array)
        tensor._counter = value.counter
        if not value.leaf:
            tensor._fn, tensor._nr, tensor._req = node, value.nr, True
        return tensor
    if kind is Packed:
        return _unpack_packed(node, value)
    if kind is list:
        return [unpack_tensor(node, each) for each in value]
    return value


def _unpack_packed(node: Any, value: Packed) -> Tensor:
    result = value.unpack(node, False, 0)
    if not value.requires_grad:
        return result
    tensor = wrap(result.array())
    if value.edge is None:
        tensor._fn, tensor._nr, tensor._req = node, 0, True
    elif value.is_leaf:
        tensor._req = True
        import weakref

        extra_of(tensor).accumulator = weakref.ref(value.edge[0])
    else:
        tensor._fn, tensor._nr = value.edge
        tensor._req = True
    return tensor


def raise_twice() -> None:
    """Raise the error of a graph that was freed (RETAIN-03)."""
    raise RuntimeError(text("saved.twice"))
