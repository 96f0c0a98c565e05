"""Faults in lifetimes: what is kept for too long, and what dies too soon."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from conformance.faults.model import Fault


def _keeps(chosen: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function that keeps ``chosen(result, arguments)`` for as long as the fault is planted."""

    def plant(original: Any) -> Any:
        held: list[Any] = []

        def keeping(*arguments: Any, **keywords: Any) -> Any:
            result = original(*arguments, **keywords)
            held.append(chosen(result, arguments))
            return result

        return keeping

    return plant


def _weak(original: Any) -> Any:
    """An attribute that does not keep what it names alive."""
    stored: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def read(self: Any) -> Any:
        reference = stored.get(self)
        return None if reference is None else reference()

    def write(self: Any, value: Any) -> None:
        stored[self] = weakref.ref(value)

    return property(read, write)


def _hooks_used_up(original: Any) -> Any:
    def call_tensor_hooks(hooks: Any, grad: Any) -> Any:
        found = original(hooks, grad)
        hooks.clear()
        return found

    return call_tensor_hooks


def _base_forgotten(original: Any) -> Any:
    def as_view(base: Any, view: Any, creation: Any) -> None:
        original(base, view, creation)
        info = None if view._x is None else view._x.view
        if info is not None and not base.requires_grad:
            info.base = base.detach()

    return as_view


FAULTS = (
    Fault(
        "life-node-kept",
        "LIFETIME-01",
        "refimpl.views:set_history",
        "every node is kept for ever",
        _keeps(lambda made, given: given[1]),
    ),
    Fault(
        "life-operands-kept",
        "LIFETIME-04",
        "refimpl.record:record",
        "operands are kept whether they are needed or not",
        _keeps(lambda made, given: list(given[1])),
    ),
    Fault(
        "life-leaf-weak",
        "LIFETIME-05",
        "refimpl.accumulate:AccumulateGrad.variable",
        "the graph does not keep its leaves alive",
        _weak,
    ),
    Fault(
        "life-hooks-used-up",
        "LIFETIME-08",
        "refimpl.engine:call_tensor_hooks",
        "a hook goes when it has run",
        _hooks_used_up,
    ),
    Fault(
        "life-retained-kept",
        "LIFETIME-12",
        "refimpl.tensor_hooks:retain_grad",
        "retain_grad keeps its tensor alive",
        _keeps(lambda made, given: given[0]),
    ),
    Fault(
        "life-detached-source",
        "LIFETIME-13",
        "refimpl.views:detach",
        "detach() keeps the tensor that it came from",
        _keeps(lambda made, given: given[0].grad_fn),
    ),
    Fault(
        "life-base-forgotten",
        "LIFETIME-14",
        "refimpl.views:as_view",
        "a view keeps the memory of its base alone",
        _base_forgotten,
    ),
    Fault(
        "life-grad-kept",
        "LIFETIME-15",
        "refimpl.accumulate:accumulate_grad",
        "the engine keeps the gradients that it stored",
        _keeps(lambda made, given: given[0].grad),
    ),
    Fault(
        "life-seed-kept",
        "LIFETIME-17",
        "refimpl.autograd:make_seeds",
        "the engine keeps the seeds",
        _keeps(lambda made, given: made),
    ),
    Fault(
        "life-packed-kept",
        "LIFETIME-18",
        "refimpl.saved:Packed.__init__",
        "what was packed is kept beside its packing",
        _keeps(lambda made, given: given[1]),
    ),
    Fault(
        "life-result-kept",
        "LIFETIME-19",
        "refimpl.autograd:run_engine",
        "the engine keeps the gradients that it returned",
        _keeps(lambda made, given: made),
    ),
)
