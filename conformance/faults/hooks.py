"""Faults in hooks, modes, custom Functions and messages."""

from __future__ import annotations

from typing import Any

from conformance.faults.model import Fault


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


def _unchecked(original: Any) -> Any:
    def unpack_tensor(node: Any, value: Any) -> Any:
        if type(value).__name__ == "Tensor":
            return value
        tensor = getattr(value, "tensor", None)
        return original(node, value) if tensor is None else tensor

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


_HOOKS = "refimpl.engine:call_tensor_hooks"


_UNPACK = "refimpl.engine:unpack_tensor"


FAULTS = (
    Fault("hook-reversed", "HOOK-02", _HOOKS, "hooks run in reverse", _reversed),
    Fault("hook-result-ignored", "HOOK-02", _HOOKS, "what a hook returns is ignored", _result_ignored),
    Fault("hook-last-only", "HOOK-02", _HOOKS, "only the last hook runs", _last_hook),
    Fault(
        "hook-leaf-skipped",
        "HOOK-03",
        "refimpl.engine:leaf_hooks",
        "hooks of leaves do not run",
        lambda original: lambda task, node, grad: grad,
    ),
    Fault(
        "hook-retain-before",
        "HOOK-10",
        "refimpl.engine:tensor_pre_hooks",
        "retain_grad sees the gradient before the hooks",
        _retain_first,
    ),
    Fault(
        "hook-result-unchecked",
        "HOOK-04",
        "refimpl.hooks:check_result",
        "what a hook returns is not checked",
        _nothing,
    ),
    Fault(
        "hook-retain-stays",
        "HOOK-14",
        "refimpl.views:move_hooks",
        "retain_grad stays with the old history",
        _retain_move,
    ),
    Fault(
        "hook-prehook-skipped",
        "HOOK-10",
        "refimpl.engine:pre_hooks",
        "hooks before a node do not run",
        lambda original: lambda task, node, grads: grads,
    ),
    Fault(
        "hook-post-twice",
        "HOOK-12",
        "refimpl.engine:run_accumulate",
        "post-accumulate-grad hooks run twice",
        _post_hooks_twice,
    ),
    Fault(
        "mode-no-grad-ignored",
        "MODE-01",
        "refimpl.modes:no_grad.value",
        "no_grad records",
        lambda original: True,
    ),
    Fault(
        "mode-enable-ignored",
        "MODE-01",
        "refimpl.modes:enable_grad.value",
        "enable_grad does not record",
        lambda original: False,
    ),
    Fault(
        "function-unchecked",
        "FUNC-02",
        "refimpl.function:unpack_tensor",
        "saved tensors of a Function are not checked",
        _unchecked,
    ),
    Fault(
        "function-dirty-uncounted",
        "FUNC-04",
        "refimpl.function:bump",
        "mark_dirty does not count a write",
        _nothing,
    ),
    Fault(
        "function-no-zeros",
        "FUNC-06",
        "refimpl.function:FunctionNode.materialize_grads",
        "an unused output's gradient arrives as None",
        lambda original: False,
    ),
    Fault(
        "higher-input-detached",
        "HIGHER-03",
        _UNPACK,
        "saved operands have no history in a recorded pass",
        _detached_input,
    ),
    Fault(
        "higher-output-detached",
        "HIGHER-01",
        _UNPACK,
        "saved results have no history in a recorded pass",
        _detached_output,
    ),
    Fault(
        "error-text-twice",
        "RETAIN-03",
        "refimpl.saved:text",
        "the text for a released graph is another",
        _text("saved.twice", "the graph was released"),
    ),
    Fault(
        "error-text-root",
        "ERROR-01",
        "refimpl.autograd:text",
        "the text for a root without history is another",
        _text("root.no_grad", "nothing to differentiate"),
    ),
    Fault(
        "warning-cycle",
        "CREATE-03",
        "refimpl.modes:warn_once",
        "backward(create_graph=True) does not warn",
        _nothing,
    ),
)
