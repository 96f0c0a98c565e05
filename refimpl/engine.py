"""The engine: one backward pass over the graph, iterative, in torch's order.

A pass is a `GraphTask`. First it counts, for every node that can be reached, how many edges lead to it. A
node is ready when all of them have delivered (a missing gradient is delivered as None); of the ready nodes
the one made last runs first, and a leaf's accumulation before all others. Among equal priorities the order is
that of the binary heap of the standard library, which `heapq` shares with C++'s ``std::priority_queue``
(HOOK-19). Gradients that meet before a node runs are added.

Without ``create_graph`` the pass carries plain arrays and runs the formulas over arrays; tensors are made
only for hooks, custom Functions and results. With it, the pass carries tensors, and everything is recorded.

The steps that decide about results are functions of this module, called through its globals.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

from . import devices, dtypes, modes, namespace, tensor_hooks
from .accumulate import AccumulateGrad
from .buffers import add_gradients, mark, mark_recorded, moved
from .errors import text
from .graph import Edge, Meta, Node
from .hooks import call_tensor_hooks
from .operations import layout
from .saved import unpack_array, unpack_tensor
from .tensor import wrap
from .traversal import ExecInfo, compute_dependencies, executes, restrict

__all__ = ["GraphTask", "call_node", "execute", "queue_callback"]

state = modes.state
MAX_DEPTH = 60
"""Deeper reentrant passes run in a thread of their own, as torch's do (CONCURRENCY-08, FUNC-12)."""
_MISSING: Any = object()


class GraphRoot(Node):
    """Stands before several roots, so that they start as one node's outputs (MULTI-01)."""

    __slots__ = ("seeds",)
    display = "torch::autograd::GraphRoot"

    def __init__(self, edges: Sequence[Edge], seeds: list[Any]) -> None:
        super().__init__(tuple(node for node, _ in edges), tuple(nr for _, nr in edges))
        self.seeds = seeds

    def run(self, grads: Any, task: Any, needs: Any) -> Any:
        return self.seeds


class GraphTask:
    """One backward pass."""

    __slots__ = (
        "F",
        "__weakref__",
        "buffers",
        "bumps",
        "callbacks",
        "captured",
        "dependencies",
        "exec_info",
        "held",
        "keep_graph",
        "queue",
        "recorded",
        "seen",
        "unpack",
    )

    def __init__(self, keep_graph: bool, create_graph: bool) -> None:
        self.keep_graph = keep_graph
        self.recorded = create_graph
        self.F = namespace.TENSOR if create_graph else namespace.RAW
        self.unpack = unpack_tensor if create_graph else unpack_array
        self.exec_info: dict[Node, ExecInfo] | None = None
        self.captured: list[Any] = []
        self.dependencies: dict[Node, int] = {}
        self.buffers: dict[Node, Any] = {}
        self.held: list[
            Any
        ] = []  # tensors of captured gradients that were made early, to keep their versions
        self.queue: list[tuple[int, Node]] = []
        self.bumps: dict[Any, int] = {}  # in-place additions that the gradient waiting at a node has seen
        self.callbacks: list[Callable[[], Any]] = []
        self.seen: dict[int, Any] = {}  # id of an array -> weak reference to the tensor that shows it

    def wrap(self, grad: Any, version: int = 0) -> Any:
        """The tensor that shows a gradient of this pass; the same one for the same gradient while somebody
        holds it (GRAD-06).
        """
        if grad is None or self.recorded:
            return grad
        known = self.seen.get(id(grad))
        if known is not None:
            tensor = known()
            if tensor is not None and tensor._data is grad:
                return tensor
        tensor = wrap(grad)
        if version and tensor._counter is None:
            tensor._counter = [version]
        self.seen[id(grad)] = weakref.ref(tensor)
        return tensor

    def unwrap(self, tensor: Any) -> Any:
        """The gradient in the form in which this pass carries it."""
        if tensor is None or self.recorded:
            return tensor
        data = tensor.array()
        self.seen[id(data)] = weakref.ref(tensor)
        return data

    def zeros(self, meta: Meta) -> Any:
        """A zero gradient for a tensor of this description."""
        made = layout.empty_strided(meta.shape, layout.contiguous_strides(meta.shape), meta.dtype)
        made[...] = 0
        return wrap(made) if self.recorded else made


def execute(
    roots: Sequence[Edge],
    seeds: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Edge],
    accumulate: bool,
) -> tuple[Any, ...]:
    """Run one pass from ``roots`` with ``seeds`` (tensors, or None for an undefined one).

    With ``inputs``, only what leads to them runs; with ``accumulate`` their gradients go to ``.grad``, else
    they are returned. Raises what a node, a hook or a check raises; the state left behind is the one at that
    moment (ERROR-03)."""
    if len(state.tasks) >= MAX_DEPTH:
        return _in_new_thread(roots, seeds, keep_graph, create_graph, inputs, accumulate)
    task = GraphTask(keep_graph, create_graph)
    carried = [task.unwrap(seed) for seed in seeds]
    # Held to the end of the pass: a seed is never stolen (SEED-14, SEED-15).
    carried = validate_outputs(task, [node for node, _ in roots], [nr for _, nr in roots], carried, "")
    if accumulate and create_graph:
        modes.warn_once(text("create_graph.cycle"), stacklevel=6)
    root: Node
    if len(roots) == 1:
        root, nr = roots[0]
        task.buffers[root] = (
            carried[0]
            if root.metas is None
            else [carried[0] if i == nr else None for i in range(len(root.metas))]
        )
    else:
        root = GraphRoot(roots, carried)
        task.buffers[root] = None
    compute_dependencies(task, root)
    if inputs:
        restrict(task, root, inputs, accumulate)
    task.queue.append((-root.seq, root))
    before = (state.grad, state.inference)
    state.tasks.append(task)
    try:
        state.grad = create_graph
        drain(task)
        for callback in _each_callback(task):
            callback()
    finally:
        state.tasks.pop()
        state.grad, state.inference = before
        state.update()
    return tuple(task.wrap(grad) for grad in task.captured)


def _each_callback(task: GraphTask) -> Any:
    done = 0
    while done < len(task.callbacks):
        yield task.callbacks[done]
        done += 1


def _in_new_thread(*arguments: Any) -> tuple[Any, ...]:
    outcome: list[Any] = []
    modes_now = (state.grad, state.inference, state.anomaly, state.check_nan)

    def run() -> None:
        state.grad, state.inference, state.anomaly, state.check_nan = modes_now
        state.update()
        try:
            outcome.extend((execute(*arguments), None))
        except BaseException as error:
            outcome.extend((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if outcome[1] is not None:
        raise outcome[1]
    return outcome[0]  # type: ignore[no-any-return]


def drain(task: GraphTask) -> None:
    """Run ready nodes until none is left."""
    queue, buffers, dependencies, restricted = task.queue, task.buffers, task.dependencies, task.exec_info
    keep, bumps, anomaly = task.keep_graph, task.bumps, state.anomaly
    needs: Any = None
    sole: Node | None = None  # the only ready node: need not go through the heap
    while queue or sole is not None:
        if sole is not None:
            node, sole = sole, None
        else:
            node = heappop(queue)[1]
        grads = buffers.pop(node)
        passed = (grads, bumps[node]) if bumps and node in bumps else None
        if restricted is not None:
            entry = restricted[node]
            if not entry.needed or entry.captures:
                grads = capture(task, node, grads, entry)
            if not entry.needed:
                grads = None
                continue
            needs = tuple(below is not None and executes(restricted.get(below)) for below in node.next)
        if node.__class__ is AccumulateGrad:
            box = [grads]
            grads = None
            passed = None
            run_accumulate(task, node, box)
            continue
        if node.extra is not None or anomaly:
            given = outs = run_with_hooks(task, node, grads, needs)
        else:
            given = outs = node.run(grads, task, needs)
            if task.recorded or devices.in_use:
                outs = validate_node(task, node, outs)
        # Asked after each node: the first meta tensor of a process may be made within a pass.
        careful = task.recorded or devices.in_use
        grads = None
        following = node.next
        for place, below in enumerate(following):
            if below is not None and not careful:
                grad = outs[place]
                if grad is not None and (
                    below.metas is not None or grad.dtype is not below.dtype or grad.shape != below.shape
                ):
                    outs = validate_node(task, node, outs)
                    break
        grad = None
        if not keep:
            node.release()
        # The version of the gradients that go on, where it is not 0 (ACC-37).
        if passed is not None and not any(out is passed[0] for out in outs):
            passed = None
        marked = (passed is not None or node.writes) and not task.recorded
        if node.writes and task.recorded:
            mark_recorded(node, outs)
        if not marked:
            given = None
        for place, below in enumerate(following):
            if below is not None:
                left = dependencies[below] - 1
                dependencies[below] = left
                if below.metas is None:
                    old = buffers.get(below, _MISSING)
                    if old is _MISSING:
                        if restricted is not None and not executes(restricted.get(below)):
                            continue
                        buffers[below] = outs[place]
                        if marked:
                            mark(task, node, below, outs[place], passed, given[place])
                    elif old is None:
                        buffers[below] = outs[place]
                        if marked:
                            mark(task, node, below, outs[place], passed, given[place])
                    elif outs[place] is not None:
                        del buffers[below]
                        box = [old, place and moved(outs, place, old)]
                        old = None
                        buffers[below] = add_gradients(task, below, box, outs[place])
                    old = None
                else:
                    old = buffers.get(below)
                    if old is None:
                        if restricted is not None and not executes(restricted.get(below)):
                            continue
                        old = buffers[below] = [None] * len(below.metas)
                    nr = node.nrs[place]
                    if old[nr] is None:
                        old[nr] = outs[place]
                    elif outs[place] is not None:
                        box = [old[nr], moved(outs, place, old[nr])]
                        old[nr] = None
                        old[nr] = add_gradients(task, (below, nr), box, outs[place])
                    old = None
                if left == 0:
                    if not queue and sole is None:
                        sole = below
                    else:
                        if sole is not None:
                            heappush(queue, (-sole.seq, sole))
                            sole = None
                        heappush(queue, (-below.seq, below))
        # Nothing here may hold a gradient any longer: accumulation steals what nobody holds.
        outs = given = passed = None


def capture(task: GraphTask, node: Node, grads: Any, entry: ExecInfo) -> Any:
    """Keep the gradients that ``autograd.grad`` asked for, after the tensor's hooks (HOOK-13).

    The hooks of a node that does not run itself are called here. Gives the gradients to go on with.
    """
    if not entry.needed:
        if isinstance(node, AccumulateGrad):
            grads = leaf_hooks(task, node, grads)
        elif node.extra is not None:
            grads = tensor_pre_hooks(task, node, grads)
    for nr, place in entry.captures:
        task.captured[place] = grads if node.metas is None else grads[nr]
        if node.metas is None and grads is not None and node in task.bumps:
            task.held.append(task.wrap(grads, task.bumps[node]))
    return grads


def leaf_hooks(task: GraphTask, node: AccumulateGrad, grad: Any) -> Any:
    """Call the hooks of a leaf on its gradient (HOOK-03)."""
    seldom = node.variable._x
    if seldom is not None and seldom.hooks:
        return settle_version(
            task, node, call_tensor_hooks(seldom.hooks, task.wrap(grad, task.bumps.get(node, 0)))
        )
    return grad


def run_accumulate(task: GraphTask, node: AccumulateGrad, box: list[Any]) -> None:
    """A leaf's node: tensor hooks, pre-hooks, accumulation, post-accumulate hooks, post-hooks (HOOK-11)."""
    seldom = node.variable._x
    if seldom is not None and seldom.hooks:
        box[0] = leaf_hooks(task, node, box[0])
    more = node.extra
    if more is None or not (more.pre_hooks or more.post_hooks):
        node.run(box, task, None)
        return
    box[0] = pre_hooks(task, node, box[0])
    kept = (task.wrap(box[0]),) if more.post_hooks else ()
    node.run(box, task, None)
    for hook in tuple(more.post_hooks.values()):
        hook((), kept)


def tensor_pre_hooks(task: GraphTask, node: Node, grads: Any) -> Any:
    """The hooks of the tensors that the node made, then retain_grad (HOOK-10)."""
    more = node.extra
    if more is None or not (more.tensor_hooks or more.retains):
        return grads
    several = node.metas is not None
    bumps = task.bumps
    if several:
        shown = [task.wrap(grad, bumps.get((node, nr), 0)) for nr, grad in enumerate(grads)]
    else:
        shown = [task.wrap(grads, bumps.get(node, 0))]
    for nr, lists in more.tensor_hooks.items():
        for hooks in lists:
            if hooks:
                shown[nr] = call_tensor_hooks(hooks, shown[nr])
    for nr, kept in list(more.retains.items()):
        tensor = kept()
        if tensor is not None and shown[nr] is not None:
            tensor_hooks.retain_into(tensor, shown[nr])
    if several:
        return [task.unwrap(tensor) for tensor in shown]
    return settle_version(task, node, shown[0])


def settle_version(task: GraphTask, node: Node, tensor: Any) -> Any:
    """Unwrap what hooks left, and remember its version (ACC-37)."""
    if tensor is None or tensor._counter is None or not tensor._counter[0]:
        task.bumps.pop(node, None)
    else:
        task.bumps[node] = tensor._counter[0]
    return task.unwrap(tensor)


def pre_hooks(task: GraphTask, node: Node, grads: Any) -> Any:
    """The hooks registered on the node with ``register_prehook``."""
    more = node.extra
    if more is None or not more.pre_hooks:
        return grads
    several = node.metas is not None
    shown = tuple(task.wrap(grad) for grad in grads) if several else (task.wrap(grads),)
    for hook in tuple(more.pre_hooks.values()):
        result = hook(shown)
        if result is not None:
            shown = _as_tuple(result, shown, hook)
    if several:
        return [task.unwrap(tensor) for tensor in shown]
    return task.unwrap(shown[0])


def _as_tuple(result: Any, before: tuple[Any, ...], hook: Any) -> tuple[Any, ...]:
    from .hooks import check_result, hook_name

    given = result if isinstance(result, tuple) else (result,)
    if len(given) != len(before):
        raise RuntimeError(
            f"hook '{hook_name(hook)}' has returned an incorrect number of values (got {len(given)}, "
            f"but expected {len(before)})"
        )
    for old, new in zip(before, given, strict=True):
        if new is not None:
            check_result(old, new, hook)
    return given


def run_with_hooks(task: GraphTask, node: Node, grads: Any, needs: Any) -> Any:
    """The long way through a node:

    hooks before, the node, validation, hooks after, the NaN check of anomaly mode.
    """
    grads = tensor_pre_hooks(task, node, grads)
    grads = pre_hooks(task, node, grads)
    more = node.extra
    if state.anomaly:
        from .anomaly import explained

        with explained(node):
            outs = validate_node(task, node, evaluate(task, node, grads, needs))
    else:
        outs = validate_node(task, node, evaluate(task, node, grads, needs))
    if more is not None and more.post_hooks:
        given = tuple(task.wrap(grad) for grad in grads) if node.metas is not None else (task.wrap(grads),)
        shown = tuple(task.wrap(grad) for grad in outs)
        for hook in tuple(more.post_hooks.values()):
            result = hook(shown, given)
            if result is not None:
                shown = _as_tuple(result, shown, hook)
        outs = [task.unwrap(tensor) for tensor in shown]
    if state.anomaly and state.check_nan:
        from .anomaly import check_nan

        check_nan(task, node, outs)
    return outs


def evaluate(task: GraphTask, node: Node, grads: Any, needs: Any) -> Any:
    """Run a node; what an operation on meta tensors computes is on meta too (DEVICE-01)."""
    outs = node.run(grads, task, needs)
    if devices.in_use and not task.recorded and node.extra is not None and node.extra.device == devices.META:
        keep = getattr(node, "operation", None)
        if keep is not None and keep.key != "_to_copy":
            return [None if out is None else devices.meta_array(out.shape, out.dtype) for out in outs]
    return outs


def validate_node(task: GraphTask, node: Node, outs: Any) -> list[Any]:
    """Judge what a node returned against what its operands were."""
    return validate_outputs(task, node.next, node.nrs, outs, node)


def validate_outputs(
    task: GraphTask, nodes: Sequence[Any], numbers: Sequence[int], grads: Any, giver: Any
) -> list[Any]:
    """Fit each gradient to the tensor it is for: sum what was broadcast, cast a real dtype, move a 0-d value
    (ERROR-05, DTYPE-02).

    Raises RuntimeError if it cannot be made to fit (ERROR-04, DEVICE-01, DEVICE-02). ``giver`` is the node,
    or "" for seeds."""
    fitted = list(grads)
    for i, (node, nr) in enumerate(zip(nodes, numbers, strict=True)):
        grad = fitted[i]
        if node is None or grad is None:
            continue
        meta = node.meta(nr)
        prefix = text("gradient.from", node=giver.name()) if giver != "" else ""
        shape = tuple(grad.shape)
        if devices.in_use:
            device = grad.device if task.recorded else devices.device_of(grad)
        if shape != meta.shape:
            if not expandable(meta.shape, shape):
                raise RuntimeError(
                    prefix + text("gradient.shape", index=i, shape=list(shape), expected=list(meta.shape))
                )
            grad = sum_to_size(task.F, grad, meta.shape)
        has = grad.dtype if task.recorded else dtypes.of(grad.dtype)
        wanted = has if meta.dtype is None else dtypes.of(meta.dtype)
        if has is not wanted:
            if not has.is_floating_point and has.is_complex != wanted.is_complex:
                raise RuntimeError(text("gradient.complex"))
            grad = task.F.to(grad, wanted)
        if devices.in_use and device != meta.device:
            if len(shape) == 0:
                if device == devices.META:
                    raise NotImplementedError(text("meta.no_data"))
                grad = task.unwrap(wrap(devices.meta_array((), meta.dtype)))
            else:
                raise RuntimeError(
                    prefix + text("gradient.device", index=i, expected=meta.device, device=device)
                )
        fitted[i] = grad
    return fitted


def expandable(shape: tuple[int, ...], wider: tuple[int, ...]) -> bool:
    """True if a tensor of ``shape`` broadcasts to ``wider``."""
    if len(shape) > len(wider):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(wider), strict=False))


def sum_to_size(F: Any, grad: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the dimensions along which its tensor was broadcast (ACC-32)."""
    has = tuple(grad.shape)
    leading = len(has) - len(shape)
    if not shape:
        return F.sum(grad)
    dims = list(range(leading))
    dims += [i for i in range(leading, len(has)) if shape[i - leading] == 1 and has[i] != 1]
    if dims:
        grad = F.sum(grad, dims, True)
    return F.view(grad, shape) if leading else grad


def queue_callback(callback: Callable[[], Any]) -> None:
    """Run ``callback`` when the present pass has ended.

    Raises RuntimeError outside of one (CONCURRENCY-07).
    """
    if not state.tasks:
        raise RuntimeError(text("callback.outside"))
    state.tasks[-1].callbacks.append(callback)


def call_node(node: Node, grads: Sequence[Any]) -> Any:
    """Run one node on tensors, as calling a grad_fn does."""
    task = GraphTask(True, state.grad)
    given = [task.unwrap(grad) for grad in grads]
    if isinstance(node, AccumulateGrad):
        node.run([given[0]], task, None)
        return None
    outs = node.run(given if node.metas is not None else given[0], task, None)
    shown = tuple(task.wrap(grad) for grad in outs)
    return shown[0] if len(shown) == 1 else shown
