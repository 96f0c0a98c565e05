"""Seams for the frozen faults of leaves, views, in-place operations, hooks, formulas and Functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Plant = Callable[[Any], Any]


_ACCUMULATE = "refimpl.accumulate:accumulate_grad"


def _nothing(original: Any) -> Any:
    def nothing(*arguments: Any, **keywords: Any) -> None:
        return None

    return nothing


def _extra(tensor: Any) -> Any:
    from refimpl.tensor import extra_of

    return extra_of(tensor)


def _switch_off(original: Any) -> Any:
    def set_requires_grad(tensor: Any, value: Any, wrong_dtype: str, setter: bool) -> None:
        if value is False and not tensor.is_leaf and tensor._req is not None:
            tensor._fn, tensor._req = None, False
        else:
            original(tensor, value, wrong_dtype, setter)

    return set_requires_grad


def _retain_in_place(original: Any) -> Any:
    def retain_into(tensor: Any, grad: Any) -> None:
        if _extra(tensor).grad is None:
            original(tensor, grad)
        else:
            from refimpl import modes

            with modes.no_grad():
                tensor._x.grad.add_(grad)

    return retain_into


def _first_only(original: Any) -> Any:
    def needed(op: Any, values: Any) -> Any:
        found = original(op, values)
        return found if found is None or len(found) == 1 or found[0] else None

    return needed


def _detach_copies(original: Any) -> Any:
    from refimpl.tensor import wrap

    def detach(tensor: Any) -> Any:
        return wrap(tensor.array().copy())

    return detach


def _plain_base(original: Any) -> Any:
    def rebase_history(tensor: Any, node: Any) -> None:
        base = tensor._x.view.base if tensor._req is None else None
        plain = base is not None and not base.requires_grad
        original(tensor, node)
        if plain and base is not None:
            base._fn, base._req = None, False

    return rebase_history


def _allowed(creation: str) -> Plant:
    def plant(original: Any) -> Any:
        def handle_view_on_rebase(view: Any, indirect: bool) -> None:
            if view._x.view.creation.name != creation:
                original(view, indirect)

        return handle_view_on_rebase

    return plant


def _overlap_assigned(original: Any) -> Any:
    def forward(
        grad: Any, input_size: Any, input_stride: Any, input_offset: int, size: Any, stride: Any, offset: Any
    ) -> Any:
        from refimpl import arrays

        place = input_offset if offset is None else offset
        base = min(place, input_offset)
        reach = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=False)) + place - base
        reach = max(
            reach,
            1
            + sum((n - 1) * s for n, s in zip(input_size, input_stride, strict=False))
            + input_offset
            - base,
        )
        memory = arrays.zeros(reach, grad.dtype)
        if grad.size:
            arrays.restride(memory, tuple(size), tuple(stride), place - base)[...] = grad
        return arrays.restride(memory, tuple(input_size), tuple(input_stride), input_offset - base)

    return forward


def _bumps_first(original: Any) -> Any:
    def check_inplace(tensor: Any, recorded: bool) -> None:
        try:
            original(tensor, recorded)
        except RuntimeError:
            from refimpl.tensor import bump

            bump(tensor)
            raise

    return check_inplace


def _value_not_summed(original: Any) -> Any:
    def sum_to_size(F: Any, grad: Any, shape: Any) -> Any:
        if not shape and len(grad.shape) > 0:
            return (
                F.select(F.reshape(grad, (-1,)), 0, 0)
                if 0 not in tuple(grad.shape)
                else original(F, grad, shape)
            )
        return original(F, grad, shape)

    return sum_to_size


def _quiet_without_grad(original: Any) -> Any:
    def bump(tensor: Any) -> None:
        from refimpl import modes

        if modes.state.grad:
            original(tensor)

    return bump


def _swallowed(original: Any) -> Any:
    def call_tensor_hooks(hooks: Any, grad: Any) -> Any:
        try:
            return original(hooks, grad)
        except Exception:
            return grad

    return call_tensor_hooks


def _post_before(original: Any) -> Any:
    def accumulate_grad(variable: Any, box: list[Any], task: Any, expected: int) -> None:
        seldom = variable._x
        hooks = None if seldom is None else seldom.post_hooks
        if hooks:
            for hook in tuple(hooks.values()):
                hook(variable)
            original(variable, box, task, expected)
            seldom.post_hooks = type(hooks)()
            task.callbacks.append(lambda: setattr(seldom, "post_hooks", hooks))
        else:
            original(variable, box, task, expected)

    return accumulate_grad


def _clamp_bound(original: Any) -> Any:
    def formula(F: Any, grad: Any, self: Any, low: Any, high: Any) -> Any:
        made = original(F, grad, self, low, high)
        for bound in (low, high):
            if bound is not None:
                made = F.where(F.eq(self, bound), F.mul(made, 0), made)
        return made

    return formula


def _amax_full(original: Any) -> Any:
    def formula(F: Any, grad: Any, self: Any, result: Any, shape: Any, dim: Any, keepdim: bool) -> Any:
        made = original(F, grad, self, result, shape, dim, keepdim)
        return F.where(F.ne(made, 0), F.expand(F.sum(made), shape), made) if not grad.shape else made

    return formula


def _needs_all(original: Any) -> Any:
    def __init__(self: Any, needs_input_grad: Any, is_variable: Any) -> None:
        original(self, tuple(True for _ in needs_input_grad), is_variable)

    return __init__


def _surplus(original: Any) -> Any:
    def run(self: Any, grads: Any, task: Any, needs: Any) -> Any:
        expected, apply = len(self.is_variable), self.apply

        def cut(*given: Any) -> Any:
            found = apply(*given)
            return found[:expected] if isinstance(found, tuple) and len(found) > expected else found

        self.__dict__["apply"] = cut
        try:
            return original(self, grads, task, needs)
        finally:
            del self.__dict__["apply"]

    return run


SEAMS: dict[str, tuple[str, Plant]] = {
    "leaf-switch-off-nonleaf": ("refimpl.tensor:set_requires_grad", _switch_off),
    "leaf-retain-in-place": ("refimpl.tensor_hooks:retain_into", _retain_in_place),
    "leaf-first-operand-only": ("refimpl.record:needed", _first_only),
    "leaf-detach-copies": ("refimpl.views:detach", _detach_copies),
    "view-plain-base-untracked": ("refimpl.views:rebase_history", _plain_base),
    "view-multi-output-write": ("refimpl.views:handle_view_on_rebase", _allowed("MULTI")),
    "view-no-grad-write": ("refimpl.views:handle_view_on_rebase", _allowed("NO_GRAD")),
    "view-overlap-assigned": (
        "refimpl.operations.table:TABLE[as_strided_backward].forward",
        _overlap_assigned,
    ),
    "inplace-copy-keeps-history": (
        "refimpl.operations.table:TABLE[copy].formulas[0]",
        lambda original: lambda F, grad, *used: grad,
    ),
    "inplace-error-after-write": ("refimpl.views:check_inplace", _bumps_first),
    "inplace-setitem-broadcast": ("refimpl.engine:sum_to_size", _value_not_summed),
    "mode-no-grad-version": ("refimpl.record:bump", _quiet_without_grad),
    "hook-remove-ignored": ("refimpl.hooks:RemovableHandle.remove", _nothing),
    "hook-error-swallowed": ("refimpl.engine:call_tensor_hooks", _swallowed),
    "hook-post-before": (_ACCUMULATE, _post_before),
    "layout-of-incoming": ("refimpl.accumulate:obeys_contract", lambda original: lambda grad, leaf: True),
    "subgrad-clamp-bound": ("refimpl.operations.table:TABLE[clamp.Scalar].formulas[0]", _clamp_bound),
    "subgrad-amax-full": ("refimpl.operations.table:TABLE[amax].formulas[0]", _amax_full),
    "func-needs-all": ("refimpl.function:FunctionNode.__init__", _needs_all),
    "func-non-differentiable-ignored": ("refimpl.function:FunctionCtx.mark_non_differentiable", _nothing),
    "func-surplus-accepted": ("refimpl.function:FunctionNode.run", _surplus),
    "higher-once-ignored": (
        "refimpl.autograd.function:once_differentiable",
        lambda original: lambda function: function,
    ),
}
