"""Recording: what happens when an operation of the table is called on tensors.

Out of place: compute on the arrays, wrap, and if grad mode is on and an operand requires grad, make a node,
save what its formulas use, and hang the result on it. In place: ask first whether it is allowed, compute,
write, count the version, and let the history follow (`views.rebase_history`). Views: share memory and version
counter with their base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from . import arrays, devices, dtypes, modes, views
from .arguments import NUMBERS, arrays_of, bind, coerce
from .errors import text
from .graph import NotImplementedNode, sequence
from .operations.table import KEEP, TABLE, Operation
from .plans import OperationNode, plan_of
from .raw import _FLOATING as FLOATING
from .raw import call_forward, compute, make_raw
from .saved import pack_result
from .tensor import INFERENCE, Tensor, bump, wrap

__all__ = [
    "as_strided_node",
    "invoke",
    "invoke_inplace",
    "make_inplace",
    "make_operator",
    "make_public",
    "operator_of",
]

state = modes.state
_ABSENT: Any = object()


# Out of place.


def needed(op: Operation, values: list[Any]) -> tuple[bool, ...] | None:
    """Which differentiable parameters require grad; None if nothing is to be recorded (MODE-01, MODE-08)."""
    if not state.grad:
        return None
    plan = plan_of(op)
    need = []
    for i in plan.differentiable:
        value = values[i]
        if i in plan.lists:
            need.append(value is not None and any(each is not None and each.requires_grad for each in value))
        else:
            need.append(isinstance(value, Tensor) and value.requires_grad)
    if not any(need) or all_inference(values, plan.tensors):
        return None
    return tuple(need)


def all_inference(values: list[Any], tensors: tuple[int, ...]) -> bool:
    """True if every tensor operand is an inference tensor (a number counts as an ordinary one)."""
    found = False
    for i in tensors:
        value = values[i]
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if each is None:
                continue
            if not isinstance(each, Tensor) or each._counter is not INFERENCE:
                return False
            found = True
    return found


def edges(
    op: Operation, values: list[Any]
) -> tuple[tuple[Any, ...], tuple[int, ...], tuple[int, ...] | None]:
    """Nodes and output numbers behind the differentiable parameters, and how many belong to each if one is a
    list.
    """
    plan = plan_of(op)
    nodes: list[Any] = []
    numbers: list[int] = []
    widths = []
    for i in plan.differentiable:
        value = values[i]
        group = (value or ()) if i in plan.lists else (value,)
        widths.append(len(group))
        for each in group:
            node, nr = None, 0
            if isinstance(each, Tensor) and each.requires_grad:
                node, nr = views.gradient_edge(each)
            nodes.append(node)
            numbers.append(nr)
    return tuple(nodes), tuple(numbers), tuple(widths) if plan.lists else None


def new_node(op: Operation, values: list[Any]) -> OperationNode:
    """A node of the operation with edges to its operands; nothing is saved yet."""
    plan = plan_of(op)
    node = plan.node.__new__(plan.node)
    node.next, node.nrs, node.widths = edges(op, values)
    node.seq = next(sequence)
    node.metas = None
    node.extra = None
    node.saved = None
    if state.anomaly:
        from .anomaly import remember

        remember(node)
    return node


def invoke(op: Operation, values: list[Any]) -> Any:
    """Run an out-of-place operation on bound parameters and record it if need be."""
    plan = plan_of(op)
    coerce(op, values, plan.tensors)
    if devices.in_use:
        check_devices(values, plan.tensors)
    need = needed(op, values)
    if op.view or op.multi_view:
        return invoke_view(op, values, need)
    made = compute(op, arrays_of(values, plan.tensors, plan.lists))
    if op.outputs == 1:
        results: tuple[Any, ...] = (wrap(made),)
    else:
        results = tuple(None if each is None else wrap(each) for each in made)
    if need is not None:
        if op.node == "NotImplemented":
            record_not_implemented(op, values, results)
        else:
            record(op, values, need, results)
    if op.outputs == 1:
        return results[0]
    return results if op.result_type is None else op.result_type(*results)


def record(op: Operation, values: list[Any], need: tuple[bool, ...], results: tuple[Any, ...]) -> None:
    """Hang the results on a new node (those of a dtype that has gradients)."""
    hang = [
        result
        for i, result in enumerate(results)
        if result is not None
        and i not in op.nondifferentiable
        and dtypes.of(result._data.dtype).is_differentiable
    ]
    if not hang:
        return
    node = new_node(op, values)
    if len(hang) > 1 or op.outputs == "list":
        node.metas = []
    for result in hang:
        views.set_history(result, node)
    node.saved = op.plan.save(need, False, state.pack_hooks, results, *values)


def record_not_implemented(op: Operation, values: list[Any], results: tuple[Any, ...]) -> None:
    """An operation without derivative still has a node, which raises in backward (ERROR-07)."""
    nodes, numbers, _ = edges(op, values)
    node = NotImplementedNode(
        text("function.not_differentiable", name=f"aten::{op.key.partition('.')[0]}"), nodes, numbers
    )
    for result in results:
        if dtypes.of(result._data.dtype).is_differentiable:
            views.set_history(result, node)


def invoke_view(op: Operation, values: list[Any], need: tuple[bool, ...] | None) -> Any:
    """Run a view operation: the results share memory, version counter and base with the operand (VIEW-01)."""
    base = values[0]
    raw = list(values)
    raw[0] = array = base.array()
    made = call_forward(op, raw)
    several = op.multi_view
    if devices.in_use and isinstance(array, devices.MetaArray):
        made = (
            [devices.meta_array(e.shape, e.dtype) for e in made]
            if several
            else devices.meta_array(made.shape, made.dtype)
        )
    results = tuple(wrap(each) for each in made) if several else (wrap(made[...] if made is array else made),)
    creation = views.creation_now(several)
    for result in results:
        views.as_view(base, result, creation)
    if need is not None:
        record(op, values, need, results)
    return results if several else results[0]


def check_devices(values: list[Any], tensors: tuple[int, ...]) -> None:
    """Operands with dimensions lie on one device. Raises RuntimeError."""
    found = None
    for i in tensors:
        value = values[i]
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, Tensor) and each._data.ndim:
                if found is not None and each.device != found:
                    raise RuntimeError(
                        f"Expected all tensors to be on the same device, but found at least two devices, "
                        f"{found} and {each.device}!"
                    )
                found = each.device


# In place.


def check_overlap(array: Any) -> None:
    """Refuse to write where several elements are one memory location (VIEW-11)."""
    if array.size and any(
        s == 0 and extent > 1 for s, extent in zip(array.strides, array.shape, strict=True)
    ):
        raise RuntimeError(text("inplace.overlap"))


def invoke_inplace(op: Operation, values: list[Any]) -> Any:
    """Run the in-place form: check, compute, write, and let the history follow. Gives the first operand back.

    Raises RuntimeError before anything is written where torch does (INPLACE-01, INPLACE-02, INPLACE-16,
    INPLACE-18)."""
    plan = plan_of(op)
    target = values[0]
    coerce(op, values, plan.tensors)
    need = needed(op, values)
    if need is not None and not dtypes.of(target._data.dtype).is_differentiable:
        need = None
    views.check_inplace(target, need is not None)
    if op.view:
        return inplace_view(op, values, need)
    node = None
    if need is not None:
        node = new_node(op, values)
        saving = [target.clone(), *values[1:]] if plan.saves_self else values
        saved = plan.save(need, True, state.pack_hooks, (None,), *saving)
    made = compute(op, arrays_of(values, plan.tensors, plan.lists))
    write(op, target, made)
    if node is not None:
        views.rebase_history(target, node)
        node.saved = with_results(saved, plan.results, target) if plan.results else saved
    return target


def with_results(saved: Any, places: Any, target: Tensor) -> Any:
    """What was saved before the write, completed with the result."""
    groups = [None if group is None else list(group) for group in saved]
    for k, i, _ in places:
        if groups[k] is not None:
            groups[k][i] = pack_result(target, on_view=target._req is None)
    return tuple(None if group is None else tuple(group) for group in groups)


_IDEMPOTENT = frozenset({"zero", "fill.Scalar", "fill.Tensor"})
"""Operations that may write one location several times."""


def write(op: Operation, target: Tensor, made: Any) -> None:
    """Put a computed value into a tensor's memory and count the version.

    Raises RuntimeError: INPLACE-18, VIEW-11.
    """
    held = target._data
    if op.key not in _IDEMPOTENT:
        check_overlap(held)
    if made.shape != held.shape and not (op.inplace_only and _expandable(made.shape, held.shape)):
        raise RuntimeError(text("inplace.shape", shape=list(held.shape), broadcast=list(made.shape)))
    if made.dtype != held.dtype:
        result, output = dtypes.of(made.dtype), dtypes.of(held.dtype)
        if not op.inplace_only and not dtypes.can_cast(result, output):
            raise RuntimeError(text("inplace.cast", result=result.scalar_name, output=output.scalar_name))
    if isinstance(held, numpy.generic):
        target._data = made.astype(held.dtype) if made.dtype != held.dtype else made
        if target._data is made and not isinstance(made, numpy.generic):
            target._data = made.copy()
    else:
        numpy.copyto(held, made, casting="unsafe")
    bump(target)


def _expandable(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    if len(shape) > len(wanted):
        return False
    return all(a in (1, b) for a, b in zip(reversed(shape), reversed(wanted), strict=False))


def inplace_view(op: Operation, values: list[Any], need: tuple[bool, ...] | None) -> Any:
    """An operation that changes a tensor's own shape and strides (t_, squeeze_: VIEW-17)."""
    target = values[0]
    node = new_node(op, values) if need is not None else None
    saved = plan_of(op).save(need, True, state.pack_hooks, (target,), *values) if need is not None else None
    raw = list(values)
    raw[0] = array = target.array()
    made = call_forward(op, raw)
    target._data = made[...] if made is array else made
    bump(target)
    if node is not None:
        views.rebase_history(target, node)
        node.saved = saved
    return target


# The functions that users call.


def make_public(op: Operation) -> Callable[..., Any]:
    """The recorded, out-of-place function of an entry."""
    if _is_binary(op):
        return _public_binary(op)

    def public(*args: Any, **kwargs: Any) -> Any:
        if kwargs and "out" in kwargs:
            return call_with_out(op, args, kwargs)
        return invoke(op, bind(op, args, kwargs))

    return public


def make_operator(op: Operation) -> Callable[..., Any]:
    """The function behind a binary operator: NotImplemented for what is neither tensor nor number."""
    if not _is_binary(op):
        return operator_of(make_public(op))
    return _public_binary(op, operator=True)


def operator_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `make_operator`, for any function of two operands."""

    def operator(self: Any, other: Any) -> Any:
        if not is_operand(other):
            return NotImplemented
        return function(self, other)

    return operator


def is_operand(value: Any) -> bool:
    """True for what a tensor can be combined with by an operator."""
    return isinstance(value, Tensor) or value.__class__ in NUMBERS or hasattr(value, "dtype")


def _is_binary(op: Operation) -> bool:
    two = op.promotion is not KEEP and op.outputs == 1 and len(op.parameters) - op.keyword_only == 2
    numbers = "other" in op.scalars
    return two and numbers and op.tensors == op.parameters[:2] and op.differentiable == ("self", "other")


def _public_binary(op: Operation, operator: bool = False) -> Callable[..., Any]:
    """The short way for two operands:

    no binding, no lists, no special mode; anything else takes the general way.
    """
    raw = make_raw(op)
    defaults = list(op.defaults[-op.keyword_only :]) if op.keyword_only else []
    new = object.__new__
    edge = views.gradient_edge
    zeros = (0, 0)
    tls = state
    numbers = NUMBERS
    floating = FLOATING
    count = sequence.__next__

    def general(self: Any, other: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if operator and not is_operand(other):
            return NotImplemented
        if kwargs and "out" in kwargs:
            return call_with_out(op, (self, other, *args), kwargs)
        given = (self, *args) if other is _ABSENT else (self, other, *args)
        return invoke(op, bind(op, given, kwargs))

    def public(self: Any, other: Any = _ABSENT, *args: Any, **kwargs: Any) -> Any:
        kind = other.__class__
        number = kind in numbers
        if (
            kwargs
            or args
            or not (number or kind is Tensor or isinstance(other, Tensor))
            or not isinstance(self, Tensor)
            or tls.special
            or self._counter is INFERENCE
            or devices.in_use
        ):
            return general(self, other, args, kwargs)
        held = self._data
        if number:
            data = raw(held, other)
        else:
            data = other._data
            kind = held.dtype
            data = (
                op.forward(held, data)
                if kind is data.dtype and kind in floating and held.shape == data.shape
                else raw(held, data)
            )
        made = new(Tensor)
        made._data = data
        made._nr = 0
        made._counter = made._x = None
        if tls.grad:
            first = self._req
            if first is None:
                first = self.requires_grad
            if number:
                second = False
            else:
                second = other._req
                if second is None:
                    second = other.requires_grad
            if (first or second) and data.dtype.kind in "fcV":
                plan = op.plan or plan_of(op)
                node = new(plan.node)
                nr0 = nr1 = 0
                node0 = node1 = None
                if first:
                    node0, nr0 = self._fn, self._nr
                    if node0 is None or self._req is None:
                        node0, nr0 = edge(self)
                if second:
                    node1, nr1 = other._fn, other._nr
                    if node1 is None or other._req is None:
                        node1, nr1 = edge(other)
                node.next = (node0, node1)
                node.nrs = (nr0, nr1) if nr0 or nr1 else zeros
                node.seq = count()
                node.shape = data.shape
                node.dtype = data.dtype
                node.metas = node.extra = node.widths = None
                made._fn = node
                made._req = True
                node.saved = plan.save((first, second), False, None, (made,), self, other, *defaults)
                return made
        made._fn = None
        made._req = False
        return made

    return public


def call_with_out(op: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``out=``: refused for operands that require grad (INPLACE-12), else written into the tensor."""
    out = kwargs.pop("out")
    values = bind(op, args, kwargs)
    operands = [value for value in (*values, out) if isinstance(value, Tensor)]
    if state.grad and any(each.requires_grad for each in operands):
        raise RuntimeError(text("out.requires_grad", name=op.key.partition(".")[0]))
    made = invoke(op, values)
    if out is not None:
        if out._data.shape != made._data.shape:
            out._data = arrays.empty(made._data.shape, out._data.dtype)
        write(op, out, made._data)
        return out
    return made


def make_inplace(op: Operation) -> Callable[..., Any]:
    """The recorded in-place function of an entry."""

    def inplace(*args: Any, **kwargs: Any) -> Any:
        return invoke_inplace(op, bind(op, args, kwargs))

    return inplace


def as_strided_node(base: Tensor, shape: Any, strides: Any, offset: int) -> Any:
    """The node of a view whose history is rebuilt on its base (VIEW-02)."""
    op = TABLE["as_strided"]
    values = [base, tuple(shape), tuple(strides), offset]
    node = new_node(op, values)
    array = base.array()
    node.shape, node.dtype = tuple(shape), array.dtype
    node.saved = plan_of(op).save((True,), False, (), (), *values)
    return node
