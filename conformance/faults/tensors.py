"""Faults in leaves, views, in-place operations, hooks, modes, custom Functions, layouts and messages."""

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


def _reversed(original: Any) -> Any:
    def call_tensor_hooks(hooks: Any, grad: Any) -> Any:
        return original(dict(reversed(list(hooks.items()))), grad)

    return call_tensor_hooks


def _result_ignored(original: Any) -> Any:
    def call_tensor_hooks(hooks: Any, grad: Any) -> Any:
        original(hooks, grad)
        return grad

    return call_tensor_hooks


def _last_hook(original: Any) -> Any:
    def call_tensor_hooks(hooks: Any, grad: Any) -> Any:
        return original(dict(list(hooks.items())[-1:]), grad)

    return call_tensor_hooks


def _retain_first(original: Any) -> Any:
    def tensor_pre_hooks(task: Any, node: Any, grads: Any) -> Any:
        more = node.extra
        if more is None or not more.retains:
            return original(task, node, grads)
        from refimpl import tensor_hooks

        kept, shown = more.retains, grads if node.metas is not None else [grads]
        for nr, reference in kept.items():
            if reference() is not None and shown[nr] is not None:
                tensor_hooks.retain_into(reference(), task.wrap(shown[nr]))
        more.retains = {}
        try:
            return original(task, node, grads)
        finally:
            more.retains = kept

    return tensor_pre_hooks


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


def _retain_move(original: Any) -> Any:
    def move_hooks(tensor: Any, old: Any, new: Any) -> None:
        return None

    return move_hooks


def _post_hooks_twice(original: Any) -> Any:
    def run_accumulate(task: Any, node: Any, box: list[Any]) -> None:
        original(task, node, box)
        for hook in tuple(getattr(node.variable._x, "post_hooks", None) or {}):
            node.variable._x.post_hooks[hook](node.variable)

    return run_accumulate


def _unmarked(original: Any) -> Any:
    def version_check(*arguments: Any) -> None:
        return None

    return version_check


def _unchecked(original: Any) -> Any:
    def unpack_tensor(node: Any, value: Any) -> Any:
        tensor = getattr(value, "tensor", None)
        return tensor if tensor is not None else original(node, value)

    return unpack_tensor


def _detached_input(original: Any) -> Any:
    def unpack_tensor(node: Any, value: Any) -> Any:
        found = original(node, value)
        output = type(value).__name__ == "SavedOutput"
        return found.detach() if hasattr(found, "detach") and not output else found

    return unpack_tensor


def _detached_output(original: Any) -> Any:
    def unpack_tensor(node: Any, value: Any) -> Any:
        found = original(node, value)
        output = type(value).__name__ == "SavedOutput"
        return found.detach() if hasattr(found, "detach") and output else found

    return unpack_tensor


def _quiet_grad(original: Any) -> Any:
    return property(lambda self: None if self._x is None else self._x.grad, original.fset, original.fdel)


def _text(key: str, wrong: str) -> Any:
    def plant(original: Any) -> Any:
        def text(name: str, **parts: Any) -> str:
            return wrong if name == key else str(original(name, **parts))

        return text

    return plant


def _nothing(original: Any) -> Any:
    def nothing(*arguments: Any, **keywords: Any) -> None:
        return None

    return nothing


def _contiguous(original: Any) -> Any:
    def contract_strides(grad: Any, leaf: Any) -> Any:
        from refimpl.operations import layout

        return layout.contiguous_strides(grad.shape)

    return contract_strides


_HOOKS = "refimpl.engine:call_tensor_hooks"
_UNPACK = "refimpl.engine:unpack_tensor"

FAULTS = (
    Fault("leaf-detach-tracked", "LEAF-09", "refimpl.views:detach", "detach() keeps the history", _detach_keeps),
    Fault("leaf-retain-ignored", "LEAF-06", "refimpl.tensor_hooks:retain_grad", "retain_grad does nothing", _nothing),
    Fault("leaf-retain-overwrites", "LEAF-07", "refimpl.tensor_hooks:retain_into", "retain_grad keeps the last gradient only",
          _retain_overwrites),
    Fault("leaf-retain-aliases", "HOOK-23", "refimpl.tensor_hooks:retain_into", "retain_grad stores the very gradient", _retain_aliases),
    Fault("leaf-grad-quiet", "LEAF-05", "refimpl.tensor:Tensor.grad", "reading .grad of an interior tensor does not warn", _quiet_grad),
    Fault("view-own-counter", "VIEW-10", "refimpl.views:as_view", "a view has a version counter of its own", _own_counter),
    Fault("view-base-untouched", "VIEW-02", "refimpl.views:rebase_history", "a write through a view leaves the base's history",
          _base_untouched),
    Fault("view-stale", "VIEW-03", "refimpl.views:grad_fn", "a view keeps its history when its base is written", _stale),
    Fault("view-part-kept", "INPLACE-07", "refimpl.namespace:RAW.overwritten_part", "the overwritten part keeps its old gradient", _part_kept),
    Fault("view-part-zero", "VIEW-02", "refimpl.namespace:RAW.overwritten_part", "the written part passes no gradient on", _part_zero),
    Fault("view-overlap-written", "VIEW-11", "refimpl.record:check_overlap", "an expanded tensor may be written", _nothing),
    Fault("inplace-leaf-allowed", "INPLACE-01", "refimpl.views:check_inplace", "a leaf may be written in grad mode", _nothing),
    Fault("inplace-alias-saved", "INPLACE-14", "refimpl.record:plan_of", "an in-place operation saves what it has overwritten", _alias_saved),
    Fault("inplace-version-unchecked", "INPLACE-04", "refimpl.saved:check_version", "a saved tensor's version is not checked", _unmarked),
    Fault("inplace-no-bump", "INPLACE-11", "refimpl.record:bump", "in-place operations do not count", _nothing),
    Fault("hook-reversed", "HOOK-02", _HOOKS, "hooks run in reverse", _reversed),
    Fault("hook-result-ignored", "HOOK-02", _HOOKS, "what a hook returns is ignored", _result_ignored),
    Fault("hook-last-only", "HOOK-02", _HOOKS, "only the last hook runs", _last_hook),
    Fault("hook-leaf-skipped", "HOOK-03", "refimpl.engine:leaf_hooks", "hooks of leaves do not run",
          lambda original: lambda task, node, grad: grad),
    Fault("hook-retain-before", "HOOK-10", "refimpl.engine:tensor_pre_hooks", "retain_grad sees the gradient before the hooks",
          _retain_first),
    Fault("hook-result-unchecked", "HOOK-04", "refimpl.hooks:check_result", "what a hook returns is not checked", _nothing),
    Fault("hook-retain-stays", "HOOK-14", "refimpl.views:move_hooks", "retain_grad stays with the old history", _retain_move),
    Fault("hook-prehook-skipped", "HOOK-10", "refimpl.engine:pre_hooks", "hooks before a node do not run",
          lambda original: lambda task, node, grads: grads),
    Fault("hook-post-twice", "HOOK-12", "refimpl.engine:run_accumulate", "post-accumulate-grad hooks run twice", _post_hooks_twice),
    Fault("mode-no-grad-ignored", "MODE-01", "refimpl.modes:no_grad.value", "no_grad records", lambda original: True),
    Fault("mode-enable-ignored", "MODE-01", "refimpl.modes:enable_grad.value", "enable_grad does not record", lambda original: False),
    Fault("function-unchecked", "FUNC-02", "refimpl.function:unpack_tensor", "saved tensors of a Function are not checked", _unchecked),
    Fault("function-dirty-uncounted", "FUNC-04", "refimpl.function:bump", "mark_dirty does not count a write", _nothing),
    Fault("function-no-zeros", "FUNC-06", "refimpl.function:FunctionNode.materialize_grads", "an unused output's gradient arrives as None",
          lambda original: False),
    Fault("higher-input-detached", "HIGHER-03", _UNPACK, "saved operands have no history in a recorded pass", _detached_input),
    Fault("higher-output-detached", "HIGHER-01", _UNPACK, "saved results have no history in a recorded pass", _detached_output),
    Fault("layout-contiguous", "LAYOUT-01", "refimpl.accumulate:_contract_strides", "a cloned gradient is always contiguous", _contiguous),
    Fault("error-text-twice", "RETAIN-03", "refimpl.saved:text", "the text for a released graph is another",
          _text("saved.twice", "the graph was released")),
    Fault("error-text-root", "ERROR-01", "refimpl.autograd:text", "the text for a root without history is another",
          _text("root.no_grad", "nothing to differentiate")),
    Fault("warning-cycle", "CREATE-03", "refimpl.modes:warn_once", "backward(create_graph=True) does not warn", _nothing),
)
