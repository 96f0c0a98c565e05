"""``torch.autograd``: backward and grad, and the seeds that start them (SEED, MULTI, INPUTS, GRAD)."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping
from typing import Any

from .. import devices, dtypes, engine, layouts, modes, views
from ..errors import text
from ..function import Function
from ..graph import Edge, GradientEdge, Identity
from ..modes import detect_anomaly, enable_grad, inference_mode, no_grad, set_detect_anomaly, set_grad_enabled
from ..operations import layout
from ..tensor import Size, Tensor, wrap
from . import function, functional, graph

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "graph",
    "inference_mode",
    "make_seeds",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

grad_mode = modes


class _VariableMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class _Engine:
    """The engine as ``Variable._execution_engine`` shows it."""

    queue_callback = staticmethod(engine.queue_callback)


class Variable(metaclass=_VariableMeta):
    """The old name of a tensor."""

    _execution_engine = _Engine()

    def __new__(cls, data: Any, requires_grad: bool = False) -> Any:
        return data.detach().requires_grad_(requires_grad)


def make_seeds(outputs: tuple[Any, ...], grads: tuple[Any, ...], batched: bool) -> tuple[Any, ...]:
    """One seed for each root: judged, or ones where it may be left out (SEED-01 to SEED-10, MULTI-08,
    MULTI-10).

    Raises RuntimeError or TypeError; nothing has run yet (SEED-22).
    """
    seeds: list[Any] = []
    for out, grad in zip(outputs, grads, strict=False):
        if isinstance(out, GradientEdge):
            meta = out.node.meta(out.output_nr)
            shape, dtype = Size(meta.shape), dtypes.of(meta.dtype)
            requires_grad = True
        else:
            if not isinstance(out, Tensor):
                raise AssertionError(text("root.type"))
            shape, dtype = out.shape, out.dtype
            requires_grad = out.requires_grad
        if isinstance(grad, Tensor):
            check_seed(outputs, grads, out, grad, shape, dtype, batched)
            seeds.append(grad)
        elif grad is None:
            seeds.append(implicit_seed(out, shape, dtype) if requires_grad else None)
        else:
            raise TypeError(text("seed.type", type=type(grad).__name__))
    return tuple(seeds)


def check_seed(
    outputs: tuple[Any, ...],
    grads: tuple[Any, ...],
    out: Any,
    grad: Tensor,
    shape: Size,
    dtype: Any,
    batched: bool,
) -> None:
    """The seed has the root's shape, and is complex if the root is (SEED-05, SEED-09, GRAD-04)."""
    first = grad[0] if batched else grad  # type: ignore[index]
    if first.shape != shape:
        # As in torch, the places are found by comparing tensors, which may raise in its own words (MULTI-08).
        key = "seed.batched_shape" if batched else "seed.shape"
        shown = Size(first.shape[1:]) if batched else first.shape
        raise RuntimeError(
            text(key, grad=grads.index(grad), grad_shape=shown, output=outputs.index(out), shape=shape)
        )
    if dtype.is_complex != grad.dtype.is_complex:
        raise RuntimeError(
            text(
                "seed.complex",
                grad=grads.index(grad),
                grad_dtype=grad.dtype,
                output=outputs.index(out),
                dtype=dtype,
            )
        )


def implicit_seed(out: Any, shape: Size, dtype: Any) -> Tensor:
    """Ones, for a root of one real element (SEED-01 to SEED-03, LAYOUT-07)."""
    if shape.numel() != 1:
        raise RuntimeError(text("seed.implicit"))
    if not dtype.is_floating_point:
        raise RuntimeError(text("seed.implicit_complex", dtype=dtype))
    if isinstance(out, Tensor):
        if devices.in_use and out.is_meta:
            return wrap(devices.meta_array(out._data.shape, out._data.dtype))
        return wrap(layouts.ones_like(out._data))
    return wrap(layout.empty_strided(shape, layout.contiguous_strides(shape), dtype.numpy) * 0 + 1)


def _to_tuple(tensors: Any, length: int) -> tuple[Any, ...]:
    if tensors is None:
        return (None,) * length
    if isinstance(tensors, Tensor):
        return (tensors,)
    return tuple(tensors)


def _input_tuple(inputs: Any, name: str) -> tuple[Any, ...]:
    """The inputs as a tuple.

    Raises TypeError for a mapping that is no dict, RuntimeError if there are none (INPUTS-02, INPUTS-03).
    """
    if isinstance(inputs, (Tensor, GradientEdge)):
        return (inputs,)
    if type(inputs) is dict:
        found = tuple(inputs.values())
    elif isinstance(inputs, Mapping):
        raise TypeError(text("inputs.mapping", function=name, type=type(inputs).__name__))
    else:
        found = tuple(inputs)
    if not found:
        raise RuntimeError(text("inputs.empty", function=name))
    return found


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of ``tensors``, each with its seed, into the leaves (or ``inputs``).

    Raises RuntimeError or TypeError before anything runs for wrong arguments (SEED-22, INPUTS-20); errors of
    nodes and hooks as they come."""
    if grad_variables is not None:
        warnings.warn(text("grad_variables.deprecated"), FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(text("grad_variables.both"))
        grad_tensors = grad_variables
    wanted = () if inputs is None else _input_tuple(inputs, "backward")
    roots = (tensors,) if isinstance(tensors, (Tensor, GradientEdge)) else tuple(tensors)
    seeds = make_seeds(roots, _to_tuple(grad_tensors, len(roots)), batched=False)
    if retain_graph is None:
        retain_graph = create_graph
    run_engine(roots, seeds, retain_graph, create_graph, wanted, allow_unreachable=True, accumulate=True)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of ``outputs`` with respect to ``inputs``; ``.grad`` of leaves is not touched (GRAD-01 to
    GRAD-09).
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(text("grad.materialize"))
    if allow_unused is None:
        allow_unused = materialize_grads
    roots = (outputs,) if isinstance(outputs, (Tensor, GradientEdge)) else tuple(outputs)
    wanted = _input_tuple(inputs, "grad")
    if not only_inputs:
        warnings.warn(text("grad.only_inputs"), FutureWarning, stacklevel=2)
    seeds = make_seeds(roots, _to_tuple(grad_outputs, len(roots)), batched=is_grads_batched)
    if retain_graph is None:
        retain_graph = create_graph
    if is_grads_batched:
        found = _batched(roots, seeds, retain_graph, create_graph, wanted, allow_unused)
    else:
        found = run_engine(roots, seeds, retain_graph, create_graph, wanted, allow_unused, accumulate=False)
    if materialize_grads:
        found = tuple(
            wrap(layouts.zeros_like(each._data)).requires_grad_(bool(create_graph))
            if result is None
            else result
            for result, each in zip(found, wanted, strict=True)
        )
    return dict(zip(inputs, found, strict=True)) if type(inputs) is dict else found


def _batched(
    roots: tuple[Any, ...],
    seeds: tuple[Any, ...],
    keep: Any,
    create: Any,
    wanted: tuple[Any, ...],
    allow_unused: bool,
) -> tuple[Any, ...]:
    """One pass for each row of the seeds, stacked (GRAD-04)."""
    from ..namespace import TENSOR

    count = len(next(seed for seed in seeds if seed is not None))
    rows = []
    for i in range(count):
        last = i == count - 1
        row = tuple(None if seed is None else seed[i] for seed in seeds)
        rows.append(run_engine(roots, row, keep or not last, create, wanted, allow_unused, accumulate=False))
    return tuple(
        None if column[0] is None else TENSOR.stack(list(column), 0) for column in zip(*rows, strict=True)
    )


def run_engine(
    roots: tuple[Any, ...],
    seeds: tuple[Any, ...],
    retain_graph: Any,
    create_graph: Any,
    inputs: tuple[Any, ...],
    allow_unreachable: bool,
    accumulate: bool,
) -> tuple[Any, ...]:
    """Judge roots and inputs, and run the engine.

    Clauses SEED-26, MULTI-02, ERROR-01, INPUTS-09, GRAD-02, GRAD-03.
    """
    keep, create = bool(operator.index(retain_graph)), bool(operator.index(create_graph))
    if len(roots) != len(seeds):
        raise RuntimeError(text("seed.count", tensors=len(roots), gradients=len(seeds)))
    edges: list[Edge] = []
    for index, root in enumerate(roots):
        node, nr = (root.node, root.output_nr) if isinstance(root, GradientEdge) else root_edge(root)
        if node is None:
            raise RuntimeError(text("root.no_grad", index=index))
        edges.append((node, nr))
    targets = [input_edge(each, accumulate) for each in inputs]
    found = engine.execute(edges, seeds, keep, create, targets, accumulate)
    if not accumulate and not allow_unreachable:
        for index, result in enumerate(found):
            if result is None:
                raise RuntimeError(text("grad.unused", index=index))
    return found


def root_edge(tensor: Tensor) -> Edge:
    """Where a pass from this tensor starts; the node is None if it does not require grad."""
    return views.gradient_edge(tensor) if tensor.requires_grad else (None, 0)


def input_edge(given: Any, accumulate: bool) -> Edge:
    """The edge of one of ``inputs``.

    A non-leaf retains its gradient from now on if the pass accumulates (INPUTS-04, INPUTS-21).
    """
    if isinstance(given, GradientEdge):
        return given.node, given.output_nr
    if not isinstance(given, Tensor):
        raise RuntimeError(text("inputs.type", type=type(given).__name__))
    node = given.grad_fn
    nr = given.output_nr
    if accumulate:
        given.retain_grad()
    if node is None and given.requires_grad:
        # Only an accumulator that a graph still holds can be reached (INPUTS-07).
        found = None if given._x is None or given._x.accumulator is None else given._x.accumulator()
        node, nr = found or views.grad_accumulator(given), 0
    if not given.requires_grad:
        raise RuntimeError(text("inputs.no_grad"))
    return (Identity(), 0) if node is None else (node, nr)
