"""The graph: nodes and the edges between them (LEAF-16).

A node stands for one operation that was recorded. Its *edges* lead to the nodes that made its operands:
``next[i]`` is the node behind operand i (None for a constant) and ``nrs[i]`` says which of that node's
outputs the operand was. A leaf is represented by its `AccumulateGrad` node, one per leaf while anything holds
it. Nodes are numbered in order of creation; the engine runs the latest first.

What a node needs to check an incoming gradient is the shape, dtype and device of the tensor it made:
``shape`` and ``dtype`` for the only output, ``metas`` for several."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import devices, dtypes
from .errors import text
from .hooks import RemovableHandle

__all__ = ["Edge", "GradientEdge", "Meta", "Node", "NodeExtra", "extra", "next_sequence_nr"]

sequence: Iterator[int] = itertools.count()
"""Numbers the nodes. Also marks moments: what has a larger number came later."""


def next_sequence_nr() -> int:
    """Take the next number of the sequence."""
    return next(sequence)


class Meta(NamedTuple):
    """What is known of a tensor that a node made: enough to judge a gradient for it."""

    shape: tuple[int, ...]
    dtype: Any
    device: devices.Device


class GradientEdge(NamedTuple):
    """A node and which of its outputs: names a gradient without holding the tensor (INPUTS-13)."""

    node: Any
    output_nr: int
    ownership_token: Any = None


Edge = tuple[Any, int]


class NodeExtra:
    """What few nodes have:

    hooks, a device that is not the CPU, the user's metadata, where it was recorded.
    """

    __slots__ = ("device", "metadata", "post_hooks", "pre_hooks", "retains", "tensor_hooks", "trace")

    def __init__(self) -> None:
        self.tensor_hooks: dict[int, list[dict[int, Callable[..., Any]]]] = {}
        self.retains: dict[int, Any] = {}
        self.pre_hooks: dict[int, Callable[..., Any]] = {}
        self.post_hooks: dict[int, Callable[..., Any]] = {}
        self.metadata: dict[Any, Any] = {}
        self.device = devices.CPU
        self.trace = ""


class Node:
    """A node of the graph.

    Subclasses say what runs when a gradient arrives; their class's name is the node's name.
    """

    __slots__ = ("__weakref__", "dtype", "extra", "metas", "next", "nrs", "seq", "shape")

    display = ""  # what name() returns where it is not the class's name
    writes = 0  # the version of the gradients that the node gives

    next: tuple[Node | None, ...]
    nrs: tuple[int, ...]
    seq: int
    shape: tuple[int, ...]
    dtype: Any
    metas: list[Meta] | None
    extra: NodeExtra | None

    def __init__(self, next_nodes: tuple[Node | None, ...] = (), nrs: tuple[int, ...] | None = None) -> None:
        self.next = next_nodes
        self.nrs = (0,) * len(next_nodes) if nrs is None else nrs
        self.seq = next(sequence)
        self.metas = None
        self.extra = None

    # heapq compares entries (priority, node): this is the comparison of nodes of equal priority.
    def __lt__(self, other: object) -> bool:
        return False

    def run(self, grads: Any, task: Any, needs: Any) -> Any:
        """Gradients of the operands, from that of the output (a list of them if ``metas`` is a list)."""
        raise TypeError(f"{type(self).__name__} cannot run")

    def release(self) -> None:
        """Forget what was saved (RETAIN-08)."""

    # The public face, as torch shows it.

    def name(self) -> str:
        """The name that torch gives to this kind of node."""
        return self.display or type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """The edges: pairs of a node and the number of its output."""
        return tuple(zip(self.next, self.nrs, strict=True))

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user."""
        return extra(self).metadata

    @property
    def requires_grad(self) -> bool:
        """Always true: only what needs a gradient is recorded."""
        return True

    @property
    def _input_metadata(self) -> list[Any]:
        metas = [self.meta(i) for i in range(1 if self.metas is None else len(self.metas))]
        return [_PublicMeta(meta.shape, dtypes.of(meta.dtype), meta.device) for meta in metas]

    def meta(self, output_nr: int) -> Meta:
        """Shape, numpy dtype and device of the tensor that was output ``output_nr``."""
        if self.metas is not None:
            return self.metas[output_nr]
        return Meta(self.shape, self.dtype, devices.CPU if self.extra is None else self.extra.device)

    def _sequence_nr(self) -> int:
        return self.seq

    def _set_sequence_nr(self, number: int) -> None:
        self.seq = number

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_inputs, grad_outputs)`` after the node has run; a result replaces ``grad_inputs``
        (HOOK-10).
        """
        return _add(extra(self).post_hooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(grad_outputs)`` before the node runs; a result replaces them (HOOK-10)."""
        return _add(extra(self).pre_hooks, hook)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def __call__(self, *grads: Any) -> Any:
        """Run the node on tensors, outside any backward pass."""
        from .engine import call_node

        return call_node(self, grads)


@dataclass(frozen=True)
class _PublicMeta:
    """What ``_input_metadata`` shows of one output."""

    shape: tuple[int, ...]
    dtype: dtypes.DType
    device: devices.Device
    is_nested_tensor: bool = False
    is_cpp_nested_tensor: bool = False


def _add(hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def extra(node: Node) -> NodeExtra:
    """The node's seldom things, made on first use."""
    found = node.extra
    if found is None:
        found = node.extra = NodeExtra()
    return found


class Identity(Node):
    """Stands for a gradient that nothing can reach (INPUTS-07)."""

    __slots__ = ()
    display = "torch::autograd::Identity"


class Error(Node):
    """Refuses to be differentiated, with a text of its own (HIGHER-10)."""

    __slots__ = ("message",)
    display = "torch::autograd::Error"

    def __init__(
        self, message: str, next_nodes: tuple[Node | None, ...] = (), nrs: tuple[int, ...] | None = None
    ) -> None:
        super().__init__(next_nodes, nrs)
        self.message = message

    def run(self, grads: Any, task: Any, needs: Any) -> Any:
        raise RuntimeError(self.message)


def not_implemented(name: str, next_nodes: tuple[Node | None, ...], nrs: tuple[int, ...]) -> Error:
    """The node of an operation that has no derivative: it raises when it is reached (ERROR-07)."""
    return NotImplementedNode(text("function.not_differentiable", name=name), next_nodes, nrs)


class NotImplementedNode(Error):
    """See `not_implemented`."""

    __slots__ = ()
    display = "NotImplemented"


NotImplementedNode.__name__ = NotImplementedNode.__qualname__ = "NotImplemented"
