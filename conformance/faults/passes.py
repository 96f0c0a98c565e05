"""Faults in released graphs, create_graph, `inputs`, several roots and autograd.grad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.faults.model import Fault

Plant = Callable[[Any], Any]


_RUN = "refimpl.autograd:run_engine"


def _extra(tensor: Any) -> Any:
    from refimpl.tensor import extra_of

    return extra_of(tensor)


def _wrap(array: Any) -> Any:
    from refimpl.tensor import wrap

    return wrap(array)


def _run(change: Callable[..., Any]) -> Plant:
    """A fault around one pass: ``change(original, roots, seeds, retain, create, inputs, allow_unreachable,
    accumulate)``.
    """

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


def _create_frees(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, *rest: Any) -> Any:
    return run(roots, seeds, retain and not create, create, *rest)


def _create_without_graph(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, *rest: Any) -> Any:
    return run(roots, seeds, retain, False, *rest)


def _always_create(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, *rest: Any) -> Any:
    return run(roots, seeds, retain, True, *rest)


def _ignore_inputs(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    return run(roots, seeds, retain, create, () if accumulate else inputs, allow, accumulate)


def _inputs_overwrite(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    if accumulate:
        for each in inputs:
            if getattr(each, "_x", None) is not None:
                each._x.grad = None
    return run(roots, seeds, retain, create, inputs, allow, accumulate)


def _inputs_twice(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    if accumulate and len({id(each) for each in inputs}) < len(inputs):
        run(roots, seeds, True, create, inputs, allow, accumulate)
    return run(roots, seeds, retain, create, inputs, allow, accumulate)


def _unused_zeros(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    from refimpl import layouts

    found = run(roots, seeds, retain, create, inputs, True, accumulate)
    if accumulate:
        return found
    return tuple(
        _wrap(layouts.zeros_like(each._data)) if result is None and hasattr(each, "_data") else result
        for result, each in zip(found, inputs, strict=False)
    )


def _grad_accumulates(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    found = run(roots, seeds, retain, create, inputs, allow, accumulate)
    if not accumulate:
        for result, each in zip(found, inputs, strict=False):
            if result is not None and hasattr(each, "_data") and each.is_leaf:
                seldom = _extra(each)
                seldom.grad = (
                    result.detach().clone() if seldom.grad is None else seldom.grad + result.detach()
                )
    return found


def _constant_root_silent(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, *rest: Any
) -> Any:
    if roots and not any(getattr(root, "requires_grad", True) for root in roots):
        return (None,) * len(inputs)
    return run(roots, seeds, retain, create, inputs, *rest)


def _first_root_only(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    return run(roots[:1], seeds[:1], *rest) if len(roots) == len(seeds) else run(roots, seeds, *rest)


def _seeds_swapped(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    same = len(roots) == len(seeds) and len({tuple(s.shape) for s in seeds if s is not None}) == 1
    return run(roots, seeds[::-1] if same else seeds, *rest)


def _grads_reversed(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    found = run(roots, seeds, retain, create, inputs, allow, accumulate)
    return found if accumulate else found[::-1]


def _mode_leaks(original: Any) -> Any:
    def execute(*arguments: Any) -> Any:
        from refimpl import modes

        try:
            return original(*arguments)
        except BaseException:
            modes.state.grad = False
            raise

    return execute


def _frees_everything(original: Any) -> Any:
    def execute(
        roots: Any, seeds: Any, keep_graph: bool, create_graph: bool, inputs: Any, accumulate: bool
    ) -> Any:
        found = original(roots, seeds, keep_graph, create_graph, inputs, accumulate)
        if inputs and not keep_graph:
            seen = {id(node): node for node, _ in roots}
            stack = list(seen.values())
            while stack:
                node = stack.pop()
                node.release()
                for below in node.next:
                    if below is not None and id(below) not in seen:
                        seen[id(below)] = below
                        stack.append(below)
        return found

    return execute


def _stops_at_inputs(original: Any) -> Any:
    def restrict(task: Any, root: Any, inputs: Sequence[Any], accumulate: bool) -> None:
        original(task, root, inputs, accumulate)
        stack = [below for node, _ in inputs for below in node.next if below is not None]
        while stack:
            node = stack.pop()
            entry = task.exec_info.get(node)
            if entry is not None and (entry.needed or entry.captures):
                entry.needed = False
                entry.captures = []
                stack += [below for below in node.next if below is not None]

    return restrict


def _inputs_leaves_only(original: Any) -> Any:
    def input_edge(given: Any, accumulate: bool) -> Any:
        from refimpl.graph import Identity

        if accumulate and getattr(given, "grad_fn", None) is not None:
            return Identity(), 0
        return original(given, accumulate)

    return input_edge


def _plain_init(original: Any) -> Any:
    def __init__(self: Any, keep_graph: bool, create_graph: bool) -> None:
        original(self, create_graph, create_graph)

    return __init__


def _release_nothing(original: Any) -> Any:
    def release(self: Any) -> None:
        return None

    return release


def _release_all(original: Any) -> Any:
    def release(self: Any) -> None:
        original(self)
        self.saved = None

    return release


FAULTS = (
    Fault(
        "retain-create-frees", "RETAIN-05", _RUN, "create_graph does not keep the graph", _run(_create_frees)
    ),
    Fault(
        "retain-never-free",
        "RETAIN-01",
        "refimpl.plans:OperationNode.release",
        "nothing is ever released",
        _release_nothing,
    ),
    Fault(
        "retain-ignored",
        "RETAIN-04",
        "refimpl.engine:GraphTask.__init__",
        "retain_graph=True releases all the same",
        _plain_init,
    ),
    Fault(
        "retain-free-all",
        "RETAIN-02",
        "refimpl.plans:OperationNode.release",
        "nodes that saved no tensor are released too",
        _release_all,
    ),
    Fault(
        "retain-slices-kept",
        "RETAIN-01",
        "refimpl.views:CopySlices.release",
        "a rewritten history is never released",
        _release_nothing,
    ),
    Fault(
        "retain-function-kept",
        "RETAIN-12",
        "refimpl.function:FunctionNode.release",
        "a custom Function is never released",
        _release_nothing,
    ),
    Fault(
        "inputs-frees-all",
        "RETAIN-11",
        "refimpl.engine:execute",
        "a restricted pass releases the whole graph",
        _frees_everything,
    ),
    Fault(
        "create-no-graph",
        "CREATE-01",
        _RUN,
        "gradients of create_graph have no history",
        _run(_create_without_graph),
    ),
    Fault("create-always", "ACC-22", _RUN, "a plain pass records a graph", _run(_always_create)),
    Fault(
        "create-caller-mode",
        "ERROR-09",
        "refimpl.engine:execute",
        "grad mode stays off after a pass that raised",
        _mode_leaks,
    ),
    Fault("inputs-ignored", "INPUTS-01", _RUN, "inputs= is ignored", _run(_ignore_inputs)),
    Fault(
        "inputs-overwrite", "INPUTS-01", _RUN, "inputs= sets .grad instead of adding", _run(_inputs_overwrite)
    ),
    Fault("inputs-duplicates", "INPUTS-08", _RUN, "a duplicate in inputs= counts twice", _run(_inputs_twice)),
    Fault(
        "inputs-leaves-only",
        "INPUTS-04",
        "refimpl.autograd:input_edge",
        "an interior tensor in inputs= gets no .grad",
        _inputs_leaves_only,
    ),
    Fault(
        "inputs-stop",
        "INPUTS-19",
        "refimpl.engine:restrict",
        "the pass stops at an interior tensor of inputs=",
        _stops_at_inputs,
    ),
    Fault(
        "inputs-empty",
        "INPUTS-03",
        "refimpl.autograd:_input_tuple",
        "empty inputs= mean all leaves",
        lambda original: lambda inputs, name: () if inputs == [] else original(inputs, name),
    ),
    Fault(
        "inputs-leaf-hooks",
        "INPUTS-12",
        "refimpl.engine:leaf_hooks",
        "hooks of leaves do not run in a restricted pass",
        lambda original: (
            lambda task, node, grad: grad if task.exec_info is not None else original(task, node, grad)
        ),
    ),
    Fault("grad-unused-zeros", "GRAD-02", _RUN, "an unused input gets zeros", _run(_unused_zeros)),
    Fault("grad-accumulates", "GRAD-01", _RUN, "autograd.grad writes .grad", _run(_grad_accumulates)),
    Fault(
        "grad-reversed", "GRAD-01", _RUN, "autograd.grad gives its results in reverse", _run(_grads_reversed)
    ),
    Fault(
        "root-constant-silent",
        "ERROR-01",
        _RUN,
        "a root that does not require grad is no error",
        _run(_constant_root_silent),
    ),
    Fault("multi-first-root", "MULTI-01", _RUN, "only the first root counts", _run(_first_root_only)),
    Fault(
        "multi-seeds-swapped",
        "MULTI-01",
        _RUN,
        "the seeds of several roots are swapped",
        _run(_seeds_swapped),
    ),
)
