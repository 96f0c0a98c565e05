"""Faults in leaves, views, in-place operations and layouts."""

from __future__ import annotations

from typing import Any

from conformance.faults.model import Fault


def _detach_keeps(original: Any) -> Any:
    def detach(tensor: Any) -> Any:
        return tensor.view_as(tensor) if tensor.requires_grad else original(tensor)

    return detach


def _own_counter(original: Any) -> Any:
    def as_view(base: Any, view: Any, creation: Any) -> None:
        original(base, view, creation)
        if view._x is not None and view._x.view is not None:
            view._counter = [view._counter[0]]

    return as_view


def _base_untouched(original: Any) -> Any:
    def rebase_history(tensor: Any, node: Any) -> None:
        if tensor._req is not None:
            original(tensor, node)
            return
        from refimpl import views

        views.set_history(tensor, node)
        tensor._x.view.version = tensor._version
        tensor._x.view.own = True

    return rebase_history


def _stale(original: Any) -> Any:
    def grad_fn(view: Any) -> Any:
        return view._fn

    return grad_fn


def _part_kept(original: Any) -> Any:
    def overwritten_part(whole: Any, shape: Any, strides: Any, offset: int, part: Any) -> Any:
        return whole

    return overwritten_part


def _part_zero(original: Any) -> Any:
    def overwritten_part(whole: Any, shape: Any, strides: Any, offset: int, part: Any) -> Any:
        return original(whole, shape, strides, offset, None)

    return overwritten_part


def _alias_saved(original: Any) -> Any:
    from dataclasses import replace

    def plan_of(op: Any) -> Any:
        return replace(original(op), saves_self=False)

    return plan_of


def _retain_overwrites(original: Any) -> Any:
    def retain_into(tensor: Any, grad: Any) -> None:
        tensor._x.grad = None
        original(tensor, grad)

    return retain_into


def _retain_aliases(original: Any) -> Any:
    def retain_into(tensor: Any, grad: Any) -> None:
        if tensor._x.grad is None:
            tensor._x.grad = grad
        else:
            original(tensor, grad)

    return retain_into


def _unmarked(original: Any) -> Any:
    def version_check(*arguments: Any) -> None:
        return None

    return version_check


def _quiet_grad(original: Any) -> Any:
    return property(lambda self: None if self._x is None else self._x.grad, original.fset, original.fdel)


def _nothing(original: Any) -> Any:
    def nothing(*arguments: Any, **keywords: Any) -> None:
        return None

    return nothing


def _contiguous(original: Any) -> Any:
    def contract_strides(grad: Any, leaf: Any) -> Any:
        from refimpl.operations import layout

        return layout.contiguous_strides(grad.shape)

    return contract_strides


FAULTS = (
    Fault(
        "leaf-detach-tracked", "LEAF-09", "refimpl.views:detach", "detach() keeps the history", _detach_keeps
    ),
    Fault(
        "leaf-retain-ignored",
        "LEAF-06",
        "refimpl.tensor_hooks:retain_grad",
        "retain_grad does nothing",
        _nothing,
    ),
    Fault(
        "leaf-retain-overwrites",
        "LEAF-07",
        "refimpl.tensor_hooks:retain_into",
        "retain_grad keeps the last gradient only",
        _retain_overwrites,
    ),
    Fault(
        "leaf-retain-aliases",
        "HOOK-23",
        "refimpl.tensor_hooks:retain_into",
        "retain_grad stores the very gradient",
        _retain_aliases,
    ),
    Fault(
        "leaf-grad-quiet",
        "LEAF-05",
        "refimpl.tensor:Tensor.grad",
        "reading .grad of an interior tensor does not warn",
        _quiet_grad,
    ),
    Fault(
        "view-own-counter",
        "VIEW-10",
        "refimpl.views:as_view",
        "a view has a version counter of its own",
        _own_counter,
    ),
    Fault(
        "view-base-untouched",
        "VIEW-02",
        "refimpl.views:rebase_history",
        "a write through a view leaves the base's history",
        _base_untouched,
    ),
    Fault(
        "view-stale",
        "VIEW-03",
        "refimpl.views:grad_fn",
        "a view keeps its history when its base is written",
        _stale,
    ),
    Fault(
        "view-part-kept",
        "INPLACE-07",
        "refimpl.namespace:RAW.overwritten_part",
        "the overwritten part keeps its old gradient",
        _part_kept,
    ),
    Fault(
        "view-part-zero",
        "VIEW-02",
        "refimpl.namespace:RAW.overwritten_part",
        "the written part passes no gradient on",
        _part_zero,
    ),
    Fault(
        "view-overlap-written",
        "VIEW-11",
        "refimpl.record:check_overlap",
        "an expanded tensor may be written",
        _nothing,
    ),
    Fault(
        "inplace-leaf-allowed",
        "INPLACE-01",
        "refimpl.views:check_inplace",
        "a leaf may be written in grad mode",
        _nothing,
    ),
    Fault(
        "inplace-alias-saved",
        "INPLACE-14",
        "refimpl.record:plan_of",
        "an in-place operation saves what it has overwritten",
        _alias_saved,
    ),
    Fault(
        "inplace-version-unchecked",
        "INPLACE-04",
        "refimpl.saved:check_version",
        "a saved tensor's version is not checked",
        _unmarked,
    ),
    Fault(
        "inplace-no-bump", "INPLACE-11", "refimpl.record:bump", "in-place operations do not count", _nothing
    ),
    Fault(
        "layout-contiguous",
        "LAYOUT-01",
        "refimpl.accumulate:_contract_strides",
        "a cloned gradient is always contiguous",
        _contiguous,
    ),
)
