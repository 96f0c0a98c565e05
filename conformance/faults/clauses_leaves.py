"""Faults that make single clauses false: leaves, views, in-place operations, slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.faults.model import Fault

Plant = Callable[[Any], Any]


def _extra(tensor: Any) -> Any:
    from refimpl.tensor import extra_of

    return extra_of(tensor)


def _nothing(original: Any) -> Any:
    def nothing(*arguments: Any, **keywords: Any) -> None:
        return None

    return nothing


def _formula(key: str, place: int = 0) -> str:
    return f"refimpl.operations.table:TABLE[{key}].formulas[{place}]"


def _only_tracked_leaves(original: Any) -> Any:
    return property(lambda self: original.fget(self) and self.requires_grad)


def _any_dtype(original: Any) -> Any:
    def set_requires_grad(tensor: Any, value: Any, wrong_dtype: str, setter: bool) -> None:
        if value is True and not tensor.dtype.is_differentiable and tensor._req is not None:
            tensor._req = True
        else:
            original(tensor, value, wrong_dtype, setter)

    return set_requires_grad


def _detached_view(original: Any) -> Any:
    def detach_(tensor: Any) -> Any:
        if tensor._base is None:
            return original(tensor)
        tensor._fn, tensor._req, tensor._x.view = None, False, None
        return tensor

    return detach_


def _without_grad(original: Any) -> Any:
    def deepcopy(self: Any, memo: Any) -> Any:
        made = original(self, memo)
        if made._x is not None:
            made._x.grad = None
        return made

    return deepcopy


def _with_hooks(original: Any) -> Any:
    def deepcopy(self: Any, memo: Any) -> Any:
        made = original(self, memo)
        if self._x is not None and self._x.hooks:
            _extra(made).hooks = self._x.hooks
        return made

    return deepcopy


def _numpy_allowed(original: Any) -> Any:
    def numpy(self: Any, *, force: bool = False) -> Any:
        return original(self.detach() if self.requires_grad else self, force=force)

    return numpy


def _leaves_left_out(original: Any) -> Any:
    return property(lambda self: tuple(edge for edge in original.fget(self) if edge[0] is not None))


# Views and in-place operations.


def _nearest_base(original: Any) -> Any:
    def as_view(base: Any, view: Any, creation: Any) -> None:
        original(base, view, creation)
        if view._x is not None and view._x.view is not None:
            view._x.view.base = base

    return as_view


def _read_allowed(original: Any) -> Any:
    def handle_view_on_rebase(view: Any, indirect: bool) -> None:
        if not indirect:
            original(view, indirect)

    return handle_view_on_rebase


def _function_views(original: Any) -> Any:
    def handle_view_on_rebase(view: Any, indirect: bool) -> None:
        if view._x.view.creation.name != "FUNCTION":
            original(view, indirect)

    return handle_view_on_rebase


def _own_flag(original: Any) -> Any:
    def requires_grad(view: Any) -> Any:
        info = view._x.view
        return info.own or view._fn is not None

    return requires_grad


def _untracked(original: Any) -> Any:
    def inplace_view(op: Any, values: Any, need: Any) -> Any:
        return original(op, values, None)

    return inplace_view


def _stale_connected(original: Any) -> Any:
    def grad_accumulator(tensor: Any) -> Any:
        if tensor._req is None and tensor._fn is None and tensor.requires_grad:
            tensor._x.view.own = True
        return original(tensor)

    return grad_accumulator


def _history_kept(original: Any) -> Any:
    def rebase_history(tensor: Any, node: Any) -> None:
        if tensor._req is None or tensor._fn is None:
            original(tensor, node)

    return rebase_history


def _constant_stays(original: Any) -> Any:
    def rebase_history(tensor: Any, node: Any) -> None:
        if tensor.requires_grad or (tensor._req is None and tensor._x.view.base.requires_grad):
            original(tensor, node)

    return rebase_history


def _detached_unnoticed(original: Any) -> Any:
    def detach_(tensor: Any) -> Any:
        made = original(tensor)
        if tensor._x is not None:
            tensor._x.detached_at = -1
        return made

    return detach_


def _slope(at: float, value: float) -> Plant:
    """Another slope where the operand is ``at``."""

    def plant(original: Any) -> Any:
        def formula(F: Any, grad: Any, self: Any, *used: Any) -> Any:
            return F.where(F.eq(self, at), F.mul(grad, value), original(F, grad, self, *used))

        return formula

    return plant


def _nan_masked(original: Any) -> Any:
    def formula(F: Any, grad: Any, self: Any, *used: Any) -> Any:
        return F.where(F.eq(grad, 0), grad, original(F, grad, self, *used))

    return formula


FAULTS = (
    Fault(
        "leaf-constants-interior",
        "LEAF-01",
        "refimpl.tensor:Tensor.is_leaf",
        "a constant is no leaf",
        _only_tracked_leaves,
    ),
    Fault(
        "leaf-integer-allowed",
        "LEAF-03",
        "refimpl.tensor:set_requires_grad",
        "an integer tensor may require grad",
        _any_dtype,
    ),
    Fault(
        "leaf-detach-view",
        "LEAF-10",
        "refimpl.views:detach_",
        "a view may be detached in place",
        _detached_view,
    ),
    Fault(
        "leaf-view-flag-lost",
        "LEAF-11",
        "refimpl.views:set_requires_grad",
        "requires_grad_() on a view does nothing",
        _nothing,
    ),
    Fault(
        "leaf-deepcopy-no-grad",
        "LEAF-12",
        "refimpl.tensor:Tensor.__deepcopy__",
        "deepcopy leaves .grad behind",
        _without_grad,
    ),
    Fault(
        "leaf-numpy-allowed",
        "LEAF-13",
        "refimpl.values:Values.numpy",
        "numpy() works on a tensor that requires grad",
        _numpy_allowed,
    ),
    Fault(
        "leaf-writable",
        "LEAF-15",
        "refimpl.tensor:ReadOnly.__set__",
        "writing a read-only attribute is silently ignored",
        _nothing,
    ),
    Fault(
        "leaf-next-compacted",
        "LEAF-16",
        "refimpl.graph:Node.next_functions",
        "next_functions leaves constants out",
        _leaves_left_out,
    ),
    Fault(
        "view-nearest-base",
        "VIEW-01",
        "refimpl.views:as_view",
        "the base of a view of a view is a view",
        _nearest_base,
    ),
    Fault(
        "view-read-after-write",
        "VIEW-07",
        "refimpl.views:handle_view_on_rebase",
        "one of several views may be read after a write",
        _read_allowed,
    ),
    Fault(
        "view-flag-of-base",
        "VIEW-09",
        "refimpl.views:requires_grad",
        "a view does not follow the flag of its base",
        _own_flag,
    ),
    Fault(
        "view-function-write",
        "VIEW-14",
        "refimpl.views:handle_view_on_rebase",
        "a view from a Function may be written",
        _function_views,
    ),
    Fault(
        "view-metadata-untracked",
        "VIEW-17",
        "refimpl.record:inplace_view",
        "t_() and squeeze_() are not recorded",
        _untracked,
    ),
    Fault(
        "view-stale-connected",
        "VIEW-18",
        "refimpl.views:grad_accumulator",
        "a stale view collects its own gradient",
        _stale_connected,
    ),
    Fault(
        "inplace-history-kept",
        "INPLACE-05",
        "refimpl.views:rebase_history",
        "an in-place operation keeps the old history",
        _history_kept,
    ),
    Fault(
        "inplace-constant-stays",
        "INPLACE-06",
        "refimpl.views:rebase_history",
        "a constant stays one when a tracked value is written to it",
        _constant_stays,
    ),
    Fault(
        "inplace-detached-unnoticed",
        "INPLACE-19",
        "refimpl.views:detach_",
        "detach_() of a saved tensor is not noticed",
        _detached_unnoticed,
    ),
    Fault(
        "inplace-clone-shares",
        "INPLACE-21",
        "refimpl.operations.table:TABLE[clone].forward",
        "clone() shares memory",
        lambda original: lambda self, *used: self,
    ),
    Fault(
        "hook-deepcopied",
        "HOOK-18",
        "refimpl.tensor:Tensor.__deepcopy__",
        "deepcopy carries hooks along",
        _with_hooks,
    ),
    Fault(
        "sqrt-at-zero",
        "SUBGRAD-06",
        _formula("sqrt"),
        "sqrt has slope 0 at 0",
        lambda original: (
            lambda F, grad, result: F.where(F.eq(result, 0), F.mul(grad, 0), original(F, grad, result))
        ),
    ),
    Fault(
        "pow-at-zero",
        "SUBGRAD-07",
        _formula("pow.Tensor_Scalar"),
        "a power has slope 1 at 0",
        _slope(0.0, 1.0),
    ),
    Fault(
        "floor-passes",
        "SUBGRAD-10",
        _formula("floor"),
        "floor passes its gradient",
        lambda original: lambda F, grad, *used: grad,
    ),
    Fault(
        "log-nan-masked", "SUBGRAD-12", _formula("log"), "a gradient of 0 stays 0 through log", _nan_masked
    ),
)
