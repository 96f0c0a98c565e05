"""Seams for the frozen faults (`frozen.py`). None is written with a look at what the generator draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.faults import blind_tensors
from conformance.faults.frozen import FROZEN
from conformance.faults.model import Fault

Plant = Callable[[Any], Any]


_RUN = "refimpl.autograd:run_engine"


def _extra(tensor: Any) -> Any:
    from refimpl.tensor import extra_of

    return extra_of(tensor)


def _run(change: Callable[..., Any]) -> Plant:
    def plant(original: Any) -> Any:
        def run_engine(
            roots: Any,
            seeds: Any,
            retain: Any,
            create: Any,
            inputs: Any,
            allow_unreachable: bool,
            accumulate: bool,
        ) -> Any:
            return change(original, roots, seeds, retain, create, inputs, allow_unreachable, accumulate)

        return run_engine

    return plant


def _zero_is_nothing(original: Any) -> Any:
    def make_seeds(outputs: Any, grads: Any, batched: bool) -> Any:
        made = original(outputs, grads, batched)
        return tuple(
            None if seed is not None and seed.numel() and not bool((seed != 0).any().item()) else seed
            for seed in made
        )

    return make_seeds


def _empty_implicit(original: Any) -> Any:
    def implicit_seed(out: Any, shape: Any, dtype: Any) -> Any:
        from refimpl import layouts
        from refimpl.tensor import wrap

        return wrap(layouts.ones_like(out._data)) if shape.numel() == 0 else original(out, shape, dtype)

    return implicit_seed


def _list_refused(original: Any) -> Any:
    def to_tuple(tensors: Any, length: int) -> Any:
        if isinstance(tensors, list) and length == 1:
            raise TypeError("gradients can be either Tensors or None, but got list")
        return original(tensors, length)

    return to_tuple


def _unreached_reset(original: Any) -> Any:
    def drain(task: Any) -> None:
        from refimpl.accumulate import AccumulateGrad

        if task.exec_info is not None:
            for node in task.dependencies:
                entry = task.exec_info.get(node)
                if isinstance(node, AccumulateGrad) and (entry is None or not entry.needed):
                    _extra(node.variable).grad = None
        original(task)

    return drain


def _assigned_replaced(original: Any) -> Any:
    def assign_grad(tensor: Any, grad: Any) -> None:
        original(
            tensor,
            grad.clone()
            if hasattr(grad, "clone") and tensor.shape == grad.shape and tensor is not grad
            else grad,
        )

    return assign_grad


def _any_shape(original: Any) -> Any:
    def assign_grad(tensor: Any, grad: Any) -> None:
        if hasattr(grad, "_data") and grad.dtype is tensor.dtype and grad.shape != tensor.shape:
            _extra(tensor).grad = grad
        else:
            original(tensor, grad)

    return assign_grad


def _although_off(original: Any) -> Any:
    def run(self: Any, grads: Any, task: Any, needs: Any) -> Any:
        variable = self.variable
        if variable.requires_grad or variable._fn is not None or variable._req is None:
            return original(self, grads, task, needs)
        variable._req = True
        try:
            return original(self, grads, task, needs)
        finally:
            variable._req = False

    return run


def _frees_at_end(original: Any) -> Any:
    def drain(task: Any) -> None:
        keep, task.keep_graph = task.keep_graph, True
        original(task)
        if not keep:
            for node in [*task.roots, *task.dependencies]:
                if task.exec_info is None or (node in task.exec_info and task.exec_info[node].needed):
                    node.release()

    return drain


def _frees_the_failing(original: Any) -> Any:
    def run(self: Any, grads: Any, task: Any, needs: Any) -> Any:
        try:
            return original(self, grads, task, needs)
        except BaseException:
            if not task.keep_graph:
                self.release()
            raise

    return run


def _sticky(original: Any) -> Any:
    def drain(task: Any) -> None:
        nodes = [*task.roots, *task.dependencies]
        if task.keep_graph:
            for node in nodes:
                from refimpl.graph import extra

                extra(node).metadata["retained"] = True
        elif any(node.extra is not None and node.extra.metadata.get("retained") for node in nodes):
            task.keep_graph = True
        original(task)

    return drain


def _retain_twice(original: Any) -> Any:
    def tensor_pre_hooks(task: Any, node: Any, grads: Any) -> Any:
        made = original(task, node, grads)
        entry = None if task.exec_info is None else task.exec_info.get(node)
        if entry is not None and entry.needed and node.extra is not None and node.extra.retains:
            from refimpl import tensor_hooks

            several = node.metas is not None
            for nr, kept in node.extra.retains.items():
                shown = made[nr] if several else made
                if kept() is not None and shown is not None:
                    tensor_hooks.retain_into(kept(), task.wrap(shown))
        return made

    return tensor_pre_hooks


def _unreachable_raises(original: Any) -> Any:
    def restrict(task: Any, root: Any, inputs: Any, accumulate: bool) -> None:
        original(task, root, inputs, accumulate)
        if accumulate:
            for node, _ in inputs:
                if node is not root and node not in task.dependencies:
                    raise RuntimeError("One of the inputs was not used in the graph")

    return restrict


def _root_ignored(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    given = (
        tuple(each for each in inputs if not any(each is root for root in roots)) if accumulate else inputs
    )
    if accumulate and inputs and not given:
        return ()
    return run(roots, seeds, retain, create, given, allow, accumulate)


def _retain_temporary(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    before = [each for each in inputs if hasattr(each, "_x") and not each.retains_grad] if accumulate else []
    try:
        return run(roots, seeds, retain, create, inputs, allow, accumulate)
    finally:
        for each in before:
            if each.retains_grad:
                each._x.retains = False
                node = each.grad_fn
                if node is not None and node.extra is not None:
                    node.extra.retains.pop(each._nr, None)


def _caller_mode(original: Any) -> Any:
    def execute(*arguments: Any) -> Any:
        from refimpl import engine, modes

        caller, drain = modes.state.grad, engine.drain

        def in_callers_mode(task: Any) -> None:
            modes.state.grad = caller
            drain(task)

        engine.drain = in_callers_mode
        try:
            return original(*arguments)
        finally:
            engine.drain = drain

    return execute


def _duplicate_root(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    if len(roots) != len(seeds):
        return run(roots, seeds, *rest)
    kept = [i for i, root in enumerate(roots) if not any(root is earlier for earlier in roots[:i])]
    return run(tuple(roots[i] for i in kept), tuple(seeds[i] for i in kept), *rest)


def _missing_seed(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    from refimpl import layouts
    from refimpl.tensor import wrap

    more = tuple(wrap(layouts.ones_like(root._data)) for root in roots[len(seeds) :])
    return run(roots, (*seeds, *more), *rest)


def _constant_skipped(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    if len(roots) < 2 or len(roots) != len(seeds):
        return run(roots, seeds, *rest)
    kept = [i for i, root in enumerate(roots) if getattr(root, "requires_grad", True)]
    return run(tuple(roots[i] for i in kept), tuple(seeds[i] for i in kept), *rest)


def _never_unused(
    run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool
) -> Any:
    return run(roots, seeds, retain, create, inputs, True, accumulate)


def _retained_untouched(original: Any) -> Any:
    def tensor_pre_hooks(task: Any, node: Any, grads: Any) -> Any:
        if not task.captured or node.extra is None:
            return original(task, node, grads)
        kept, node.extra.retains = node.extra.retains, {}
        try:
            return original(task, node, grads)
        finally:
            node.extra.retains = kept

    return tensor_pre_hooks


_SEAMS: dict[str, tuple[str, Plant]] = {
    **blind_tensors.SEAMS,
    "seed-zero-is-nothing": ("refimpl.autograd:make_seeds", _zero_is_nothing),
    "seed-empty-root-implicit": ("refimpl.autograd:implicit_seed", _empty_implicit),
    "seed-list-refused": ("refimpl.autograd:_to_tuple", _list_refused),
    "acc-unreached-reset": ("refimpl.engine:drain", _unreached_reset),
    "acc-assigned-replaced": ("refimpl.accumulate:assign_grad", _assigned_replaced),
    "acc-assign-any-shape": ("refimpl.accumulate:assign_grad", _any_shape),
    "acc-after-requires-grad-off": ("refimpl.accumulate:AccumulateGrad.run", _although_off),
    "retain-free-at-end": ("refimpl.engine:drain", _frees_at_end),
    "retain-free-before-apply": ("refimpl.function:FunctionNode.run", _frees_the_failing),
    "retain-sticky": ("refimpl.engine:drain", _sticky),
    "inputs-retain-twice": ("refimpl.engine:tensor_pre_hooks", _retain_twice),
    "inputs-unreachable-raises": ("refimpl.engine:restrict", _unreachable_raises),
    "inputs-root-ignored": (_RUN, _run(_root_ignored)),
    "inputs-retain-temporary": (_RUN, _run(_retain_temporary)),
    "mode-backward-of-caller": ("refimpl.engine:execute", _caller_mode),
    "multi-duplicate-root-once": (_RUN, _run(_duplicate_root)),
    "multi-missing-seed-ok": (_RUN, _run(_missing_seed)),
    "multi-constant-root-skipped": (_RUN, _run(_constant_skipped)),
    "grad-allow-unused-always": (_RUN, _run(_never_unused)),
    "grad-retained-untouched": ("refimpl.engine:tensor_pre_hooks", _retained_untouched),
}

FAULTS = tuple(
    Fault(name, clause, *_SEAMS[name][:1], what, _SEAMS[name][1], blind=True) for name, clause, what in FROZEN
)
