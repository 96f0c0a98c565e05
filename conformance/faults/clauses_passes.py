"""Faults that make single clauses false: `inputs=`, hooks, modes, several roots, autograd.grad, Functions,
errors, threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from conformance.faults.model import Fault

Plant = Callable[[Any], Any]


def _nothing(original: Any) -> Any:
    def nothing(*arguments: Any, **keywords: Any) -> None:
        return None

    return nothing


def _run(change: Callable[..., Any]) -> Plant:
    """A fault around one pass: ``change(original, roots, seeds, retain, create, inputs, allow_unreachable,
    accumulate)``."""

    def plant(original: Any) -> Any:
        def run_engine(
            roots: Any,
            seeds: Any,
            retain_graph: Any,
            create_graph: Any,
            inputs: Any,
            allow_unreachable: bool,
            accumulate: bool,
        ) -> Any:
            return change(
                original, roots, seeds, retain_graph, create_graph, inputs, allow_unreachable, accumulate
            )

        return run_engine

    return plant


def _lists_alone(original: Any) -> Any:
    def input_tuple(inputs: Any, name: str) -> Any:
        if not isinstance(inputs, list):
            raise TypeError("inputs must be a list")
        return original(inputs, name)

    return input_tuple


def _constant_input(original: Any) -> Any:
    def input_edge(given: Any, accumulate: bool) -> Any:
        from refimpl.graph import Identity

        if not accumulate and getattr(given, "requires_grad", True) is False:
            return Identity(), 0
        return original(given, accumulate)

    return input_edge


def _hook_on_constant(original: Any) -> Any:
    def register_hook(tensor: Any, hook: Any) -> Any:
        from refimpl.hooks import RemovableHandle

        return original(tensor, hook) if tensor.requires_grad else RemovableHandle({})

    return register_hook


def _no_reentry(original: Any) -> Any:
    def execute(*arguments: Any) -> Any:
        from refimpl import modes

        if modes.state.tasks:
            raise RuntimeError("a pass is already running")
        return original(*arguments)

    return execute


def _in_a_thread(original: Any) -> Any:
    def execute(*arguments: Any) -> Any:
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.extend((original(*arguments), None))
            except BaseException as error:
                outcome.extend((None, error))

        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        if outcome[1] is not None:
            raise outcome[1]
        return outcome[0]

    return execute


def _not_deep(original: Any) -> Any:
    def compute_dependencies(task: Any, root: Any) -> None:
        original(task, root)
        if len(task.dependencies) > 1000:
            raise RecursionError("maximum recursion depth exceeded")

    return compute_dependencies


def _none_skipped(original: Any) -> Any:
    def call_tensor_hooks(hooks: Any, grad: Any) -> Any:
        return grad if grad is None else original(hooks, grad)

    return call_tensor_hooks


def _only_in_grad_mode(run: Any, *arguments: Any) -> Any:
    from refimpl import modes

    return run(*arguments) if modes.state.grad else ()


def _starts_off(original: Any) -> Any:
    def __init__(self: Any) -> None:
        original(self)
        if threading.current_thread() is not threading.main_thread():
            self.grad = False
            self.update()

    return __init__


def _one_by_one(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    if len(roots) < 2 or not rest[-1]:
        return run(roots, seeds, *rest)
    for root, seed in zip(roots, seeds, strict=True):
        run((root,), (seed,), *rest)
    return ()


def _some_root(run: Any, roots: Any, *rest: Any) -> Any:
    if not roots:
        raise RuntimeError("there is no root")
    return run(roots, *rest)


def _all_or_none(original: Any) -> Any:
    def make_seeds(outputs: Any, grads: Any, batched: bool) -> Any:
        if len({grad is None for grad in grads}) > 1:
            raise RuntimeError("either all seeds are given or none")
        return original(outputs, grads, batched)

    return make_seeds


def _all_runtime(original: Any) -> Any:
    def make_seeds(outputs: Any, grads: Any, batched: bool) -> Any:
        try:
            return original(outputs, grads, batched)
        except TypeError as error:
            raise RuntimeError(str(error)) from error

    return make_seeds


def _copies(run: Any, *arguments: Any) -> Any:
    found = run(*arguments)
    return found if arguments[-1] else tuple(grad if grad is None else grad.clone() for grad in found)


def _rows_reversed(original: Any) -> Any:
    def batched(roots: Any, seeds: Any, *rest: Any) -> Any:
        return original(roots, tuple(seed if seed is None else seed.flip(0) for seed in seeds), *rest)

    return batched


def _wrapped_error(original: Any) -> Any:
    def apply(self: Any, *grads: Any) -> Any:
        try:
            return original(self, *grads)
        except Exception as error:
            raise RuntimeError(f"a Function failed: {error}") from error

    return apply


def _saved_detached(original: Any) -> Any:
    def unpack_tensor(node: Any, value: Any) -> Any:
        found = original(node, value)
        return found.detach() if hasattr(found, "detach") else found

    return unpack_tensor


def _none_refused(original: Any) -> Any:
    def save_for_backward(self: Any, *tensors: Any) -> None:
        if any(tensor is None for tensor in tensors):
            raise TypeError("only tensors are saved")
        original(self, *tensors)

    return save_for_backward


def _input_itself(original: Any) -> Any:
    def hang_one(node: Any, output: Any, is_input: bool, modified: bool, follows: bool) -> Any:
        return output if is_input and not modified else original(node, output, is_input, modified, follows)

    return hang_one


def _never_split(original: Any) -> Any:
    def apply_function(cls: Any, args: Any, kwargs: Any, split: bool) -> Any:
        return original(cls, args, kwargs, False)

    return apply_function


def _at_once(original: Any) -> Any:
    def queue_callback(callback: Any) -> None:
        from refimpl import modes

        if not modes.state.tasks:
            original(callback)
        callback()

    return staticmethod(queue_callback)


def _no_multi_hook(original: Any) -> Any:
    def will_run(task: Any, node: Any) -> bool:
        return True

    return will_run


_EXECUTE = "refimpl.engine:execute"
_RUN = "refimpl.autograd:run_engine"
_SEEDS = "refimpl.autograd:make_seeds"

FAULTS = (
    Fault(
        "inputs-lists-alone",
        "INPUTS-02",
        "refimpl.autograd:_input_tuple",
        "inputs= takes lists alone",
        _lists_alone,
    ),
    Fault(
        "grad-constant-input",
        "GRAD-03",
        "refimpl.autograd:input_edge",
        "a constant input is merely unused",
        _constant_input,
    ),
    Fault(
        "grad-rows-reversed",
        "GRAD-04",
        "refimpl.autograd:_batched",
        "batched seeds are taken from the last",
        _rows_reversed,
    ),
    Fault("grad-copies", "GRAD-06", _RUN, "autograd.grad returns copies", _run(_copies)),
    Fault(
        "hook-on-constant",
        "HOOK-07",
        "refimpl.tensor_hooks:register_hook",
        "a constant takes a hook that never runs",
        _hook_on_constant,
    ),
    Fault("hook-no-reentry", "HOOK-15", _EXECUTE, "a pass cannot start within a pass", _no_reentry),
    Fault(
        "hook-none-skipped",
        "HOOK-17",
        "refimpl.engine:call_tensor_hooks",
        "a hook is not told of a missing gradient",
        _none_skipped,
    ),
    Fault(
        "hook-multi-waits",
        "HOOK-20",
        "refimpl.autograd.graph:_will_run",
        "a multi-grad hook waits for leaves outside of the graph",
        _no_multi_hook,
    ),
    Fault(
        "hook-pack-ignored",
        "HOOK-21",
        "refimpl.autograd.graph:saved_tensors_hooks.__enter__",
        "saved-tensor hooks do not run",
        lambda original: lambda self: self,
    ),
    Fault(
        "mode-backward-needs-grad",
        "MODE-02",
        _RUN,
        "backward() under no_grad does nothing",
        _run(_only_in_grad_mode),
    ),
    Fault(
        "mode-thread-starts-off",
        "MODE-03",
        "refimpl.modes:ThreadState.__init__",
        "a new thread starts with grad mode off",
        _starts_off,
    ),
    Fault(
        "mode-anomaly-silent",
        "MODE-07",
        "refimpl.anomaly:check_nan",
        "anomaly mode does not look for NaN",
        _nothing,
    ),
    Fault(
        "mode-inference-recorded",
        "MODE-08",
        "refimpl.record:all_inference",
        "operations on inference tensors alone are recorded",
        lambda original: lambda *arguments: False,
    ),
    Fault("multi-one-by-one", "MULTI-11", _RUN, "each root has a pass of its own", _run(_one_by_one)),
    Fault("multi-some-root", "MULTI-06", _RUN, "an empty list of roots is refused", _run(_some_root)),
    Fault("multi-all-or-none", "MULTI-07", _SEEDS, "seeds may not mix None and tensors", _all_or_none),
    Fault("error-all-runtime", "ERROR-09", _SEEDS, "a seed of a wrong type is a RuntimeError", _all_runtime),
    Fault(
        "error-wrapped",
        "ERROR-02",
        "refimpl.function:FunctionNode.apply",
        "an exception of a Function is wrapped",
        _wrapped_error,
    ),
    Fault(
        "function-saved-detached",
        "HIGHER-06",
        "refimpl.function:unpack_tensor",
        "a Function's saved tensors have no history",
        _saved_detached,
    ),
    Fault(
        "function-none-refused",
        "FUNC-03",
        "refimpl.function:FunctionCtx.save_for_backward",
        "save_for_backward refuses None",
        _none_refused,
    ),
    Fault(
        "function-input-itself",
        "FUNC-07",
        "refimpl.function:hang_one",
        "an input that is returned is the very object",
        _input_itself,
    ),
    Fault(
        "function-never-split",
        "FUNC-10",
        "refimpl.function:apply_function",
        "setup_context is not called",
        _never_split,
    ),
    Fault("thread-worker", "CONCURRENCY-06", _EXECUTE, "hooks run in a thread of the engine", _in_a_thread),
    Fault(
        "thread-callback-at-once",
        "CONCURRENCY-07",
        "refimpl.autograd:_Engine.queue_callback",
        "a queued callback runs at once",
        _at_once,
    ),
    Fault(
        "depth-limited",
        "CONCURRENCY-08",
        "refimpl.engine:compute_dependencies",
        "a graph of more than 1,000 nodes is too deep",
        _not_deep,
    ),
)
