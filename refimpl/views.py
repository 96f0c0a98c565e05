"""Views and in-place operations: who is whose base, and how history follows a write (VIEW, INPLACE).

A view knows its *base* (never itself a view) and how it came about (`Creation`). A write through a view
rewrites the history of the base: its grad_fn becomes a `CopySlices` node, which lets the written part's
gradient through the in-place operation and the rest through what the base was before. All other views notice
by the version counter that their base has changed, and rebuild their own grad_fn, an ``AsStridedBackward0``
on the base, when it is next asked for."""

from __future__ import annotations

import enum
import weakref
from typing import Any

from . import arrays, devices, modes
from .errors import text
from .graph import Edge, Meta, Node, extra
from .tensor import INFERENCE, Tensor, extra_of, strides_of, version_of, wrap

__all__ = [
    "CopySlices",
    "Creation",
    "ViewInfo",
    "as_view",
    "check_inplace",
    "detach",
    "detach_",
    "grad_accumulator",
    "grad_fn",
    "gradient_edge",
    "rebase_history",
    "requires_grad",
    "set_history",
    "set_requires_grad",
]

state = modes.state


class Creation(enum.Enum):
    """How a view was made, which decides whether it may be written to in grad mode."""

    DEFAULT = "default"
    MULTI = "one of several views of one function"  # VIEW-06
    NO_GRAD = "in no_grad mode"  # VIEW-08
    INFERENCE = "in inference mode"
    FUNCTION = "in a custom Function"  # VIEW-14


class ViewInfo:
    """What autograd knows of a view."""

    __slots__ = ("base", "creation", "own", "version")

    def __init__(self, base: Tensor, creation: Creation, version: int) -> None:
        self.base = base
        self.creation = creation
        self.version = version  # of the storage when the view's grad_fn was last right
        self.own = False  # requires_grad set on the view itself (LEAF-11)


def as_view(base: Tensor, view: Tensor, creation: Creation) -> None:
    """Make ``view`` a view of ``base`` (of its base, if it is itself a view) (VIEW-01)."""
    before = base._x.view if base._x is not None else None
    if before is not None:
        if creation is Creation.DEFAULT:
            creation = before.creation
        root = before.base
    else:
        root = base
    counter = base._counter
    if counter is None:
        counter = base._counter = [0]
    view._counter = counter
    if counter is INFERENCE:
        return
    extra_of(view).view = ViewInfo(root, creation, counter[0])
    view._req = None


def creation_now(multi: bool = False) -> Creation:
    """The kind of a view that is made in this thread's mode."""
    if state.inference:
        return Creation.INFERENCE
    if not state.grad:
        return Creation.NO_GRAD
    return Creation.MULTI if multi else Creation.DEFAULT


def _info(tensor: Tensor) -> ViewInfo:
    return tensor._x.view  # type: ignore[union-attr, no-any-return]


def requires_grad(view: Tensor) -> bool:
    """A view requires grad if it has a history, was told to, or its base requires grad (VIEW-09)."""
    info = _info(view)
    return info.own or view._fn is not None or info.base.requires_grad


def set_requires_grad(view: Tensor, value: bool) -> None:
    """Set the flag of a view that has no history (LEAF-11)."""
    _info(view).own = value


def grad_fn(view: Tensor) -> Any:
    """The view's grad_fn, rebuilt if its storage was written to since (VIEW-03, VIEW-04).

    Raises RuntimeError if the view must not be used after such a write (VIEW-07, VIEW-08).
    """
    info = _info(view)
    if view._fn is None and not info.base.requires_grad:
        return None
    version = version_of(view)
    if info.version != version:
        handle_view_on_rebase(view, indirect=True)
        old = view._fn
        view._fn = regenerate(view, info.base)
        view._nr = 0
        info.version = version
        move_hooks(view, old, view._fn)
    return view._fn


def regenerate(view: Tensor, base: Tensor) -> Any:
    """A new ``AsStridedBackward0`` from the view's geometry to the base's present history."""
    from .record import as_strided_node

    array = view.array()
    return as_strided_node(base, array.shape, strides_of(array), arrays.storage_offset(array))


def gradient_edge(tensor: Tensor) -> Edge:
    """Where the tensor's gradient goes:

    its grad_fn, or the accumulator of a leaf (None if it has neither).
    """
    node = tensor._fn if tensor._req is not None else grad_fn(tensor)
    if node is not None:
        return node, tensor._nr
    seldom = tensor._x
    if seldom is not None and seldom.accumulator is not None:
        node = seldom.accumulator()
        if node is not None:
            return node, 0
    return grad_accumulator(tensor), 0


def grad_accumulator(tensor: Tensor) -> Any:
    """The one `AccumulateGrad` node of a leaf, made if none is alive; None if the tensor itself requires no
    grad.
    """
    seldom = tensor._x
    if seldom is None:
        seldom = extra_of(tensor)
    elif seldom.accumulator is not None:
        node = seldom.accumulator()
        if node is not None:
            return node
    if not (seldom.view.own if tensor._req is None else tensor._req):
        return None
    node = accumulate.AccumulateGrad(tensor)
    seldom.accumulator = weakref.ref(node)
    return node


def check_inplace(tensor: Tensor, recorded: bool) -> None:
    """Refuse an in-place operation that autograd cannot follow; nothing has been written yet (INPLACE-16).

    Raises RuntimeError: INPLACE-01, INPLACE-02, VIEW-06, VIEW-08, VIEW-14.
    """
    if not recorded or not state.grad:
        return
    if tensor._req is None:
        handle_view_on_rebase(tensor, indirect=False)
        if tensor.requires_grad and _info(tensor).base.is_leaf:
            raise RuntimeError(text("inplace.leaf_view"))
    if tensor.requires_grad and tensor.is_leaf:
        raise RuntimeError(text("inplace.leaf"))


def handle_view_on_rebase(view: Tensor, indirect: bool) -> None:
    """Raise RuntimeError unless the view was made in a way that lets history follow a write."""
    from .saved import _short

    creation = _info(view).creation
    if creation is Creation.DEFAULT:
        return
    what = text("view.indirect" if indirect else "view.direct")
    node = view._fn
    if creation in (Creation.INFERENCE, Creation.NO_GRAD) or node is None:
        prefix = text("view.created")
        if node is not None:
            prefix = text("view.created_of_view", output=view._nr, node=_short(node.name()))
        message = text(
            "view.inference" if creation is Creation.INFERENCE else "view.no_grad", prefix=prefix, what=what
        )
    else:
        message = text("view.modified", output=view._nr, node=_short(node.name()), what=what)
    if creation is Creation.MULTI:
        message += text("view.multi")
    elif creation is Creation.NO_GRAD:
        message += text("view.ambiguous", mode="no_grad")
    elif creation is Creation.INFERENCE:
        message += text("view.ambiguous", mode="inference_mode")
    else:
        message += text("view.function")
    raise RuntimeError(message)


def add_output(node: Node, tensor: Tensor) -> int:
    """Tell the node about one more tensor that it made; gives the output's number."""
    data = tensor._data
    device = tensor.device
    if device != devices.CPU:
        extra(node).device = device
    if node.metas is None:
        node.shape, node.dtype = data.shape, data.dtype
        return 0
    node.metas.append(Meta(data.shape, data.dtype, device))
    return len(node.metas) - 1


def set_history(tensor: Tensor, node: Node) -> None:
    """Make ``tensor`` an output of ``node``: a new result, or one whose own history is replaced."""
    nr = add_output(node, tensor)
    if tensor._req is not None:
        tensor._req = True
    tensor._fn, tensor._nr = node, nr


def rebase_history(tensor: Tensor, node: Node) -> None:
    """Let the history of a tensor that was written to by ``node`` follow (INPLACE-05, VIEW-02).

    For a view the base's history becomes a `CopySlices` around ``node``, and the view's own is rebuilt from
    it."""
    if tensor._req is None:
        base = _info(tensor).base
        add_output(node, tensor)
        had_grad = base.requires_grad
        slices = CopySlices(base, tensor, node)
        if had_grad:
            move_hooks(base, base._fn, slices)
        if base._req is not None:
            base._req = True
        base._fn, base._nr = slices, 0
        grad_fn(tensor)
        return
    old = tensor._fn
    nr = add_output(node, tensor)
    tensor._req, tensor._fn, tensor._nr = True, node, nr
    move_hooks(tensor, old, node)


def move_hooks(tensor: Tensor, old: Node | None, new: Node) -> None:
    """After a change of grad_fn: hooks stay with the old node, retain_grad moves to the new one (HOOK-14)."""
    seldom = tensor._x
    if seldom is None:
        return
    seldom.hooks = None
    if seldom.retains and old is not None and old.extra is not None:
        for nr, kept in list(old.extra.retains.items()):
            if kept() is tensor:
                del old.extra.retains[nr]
        extra(new).retains[tensor._nr] = weakref.ref(tensor)


class CopySlices(Node):
    """The history of a tensor of which a part was overwritten:

    that part's gradient goes through ``inner`` (INPLACE-07).
    """

    __slots__ = ("base_strides", "inner", "offset", "view_shape", "view_strides")
    display = "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, inner: Node) -> None:
        first, nr = gradient_edge(base) if base.requires_grad else (None, 0)
        super().__init__((first, *inner.next[1:]), (nr, *inner.nrs[1:]))
        self.inner: Node | None = inner
        array = base.array()
        self.shape, self.dtype = array.shape, array.dtype
        self.base_strides = strides_of(array)
        self.view_shape = view._data.shape
        self.view_strides = strides_of(view._data)
        self.offset = arrays.storage_offset(view.array()) - arrays.storage_offset(array)

    def run(self, grads: Any, task: Any, needs: Any) -> Any:
        if grads is None:
            return (None,) * len(self.next)
        if self.inner is None:
            raise RuntimeError(text("saved.twice"))
        F = task.F
        result = F.copied_strided(grads, self.shape, self.base_strides)
        part = F.as_strided(result, self.view_shape, self.view_strides, self.offset)
        copied = F.clone(part)
        given = copied if self.inner.metas is None else [copied]
        inner_grads = list(self.inner.run(given, task, needs))
        if self.next[0] is not None and (needs is None or needs[0]):
            first = inner_grads[0]
            inner_grads[0] = F.overwritten_part(
                result, self.view_shape, self.view_strides, self.offset, first
            )
        return inner_grads

    def release(self) -> None:
        self.inner = None


def detach(tensor: Tensor) -> Tensor:
    """A view of the same memory without history; shares the version counter (LEAF-09)."""
    made = wrap(tensor.array())
    counter = tensor._counter
    if counter is None:
        counter = tensor._counter = [0]
    made._counter = counter
    return made


def detach_(tensor: Tensor) -> Tensor:
    """Forget the history in place. Raises RuntimeError for a view (LEAF-10)."""
    from .graph import next_sequence_nr

    if tensor._base is not None:
        raise RuntimeError(text("detach.view"))
    if tensor._fn is not None:
        tensor._fn, tensor._nr = None, 0
        extra_of(tensor).detached_at = next_sequence_nr()
    tensor._req = False
    return tensor


from . import accumulate  # noqa: E402  (needs gradient_edge)
