"""Seams for the frozen faults (`frozen.py`). None is written with a look at what the generator draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.faults.frozen import FROZEN
from conformance.faults.model import Fault

Plant = Callable[[Any], Any]

_ACCUMULATE = "refimpl.accumulate:accumulate_grad"
_RUN = "refimpl.autograd:run_engine"


def _nothing(original: Any) -> Any:
    def nothing(*arguments: Any, **keywords: Any) -> None:
        return None

    return nothing


def _extra(tensor: Any) -> Any:
    from refimpl.tensor import extra_of

    return extra_of(tensor)


def _run(change: Callable[..., Any]) -> Plant:
    def plant(original: Any) -> Any:
        def run_engine(roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow_unreachable: bool, accumulate: bool) -> Any:
            return change(original, roots, seeds, retain, create, inputs, allow_unreachable, accumulate)

        return run_engine

    return plant


def _zero_is_nothing(original: Any) -> Any:
    def make_seeds(outputs: Any, grads: Any, batched: bool) -> Any:
        made = original(outputs, grads, batched)
        return tuple(None if seed is not None and seed.numel() and not bool((seed != 0).any().item()) else seed for seed in made)

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
        original(tensor, grad.clone() if hasattr(grad, "clone") and tensor.shape == grad.shape and tensor is not grad else grad)

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


def _root_ignored(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
    given = tuple(each for each in inputs if not any(each is root for root in roots)) if accumulate else inputs
    if accumulate and inputs and not given:
        return ()
    return run(roots, seeds, retain, create, given, allow, accumulate)


def _retain_temporary(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
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
    def forward(grad: Any, input_size: Any, input_stride: Any, input_offset: int, size: Any, stride: Any, offset: Any) -> Any:
        from refimpl import arrays

        place = input_offset if offset is None else offset
        base = min(place, input_offset)
        reach = 1 + sum((n - 1) * s for n, s in zip(size, stride)) + place - base
        reach = max(reach, 1 + sum((n - 1) * s for n, s in zip(input_size, input_stride)) + input_offset - base)
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
            return F.select(F.reshape(grad, (-1,)), 0, 0) if 0 not in tuple(grad.shape) else original(F, grad, shape)
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


def _never_unused(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
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


_SEAMS: dict[str, tuple[str, Plant]] = {
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
    "leaf-switch-off-nonleaf": ("refimpl.tensor:set_requires_grad", _switch_off),
    "leaf-retain-in-place": ("refimpl.tensor_hooks:retain_into", _retain_in_place),
    "leaf-first-operand-only": ("refimpl.record:needed", _first_only),
    "leaf-detach-copies": ("refimpl.views:detach", _detach_copies),
    "view-plain-base-untracked": ("refimpl.views:rebase_history", _plain_base),
    "view-multi-output-write": ("refimpl.views:handle_view_on_rebase", _allowed("MULTI")),
    "view-no-grad-write": ("refimpl.views:handle_view_on_rebase", _allowed("NO_GRAD")),
    "view-overlap-assigned": ("refimpl.operations.table:TABLE[as_strided_backward].forward", _overlap_assigned),
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
    "mode-backward-of-caller": ("refimpl.engine:execute", _caller_mode),
    "layout-of-incoming": ("refimpl.accumulate:obeys_contract", lambda original: lambda grad, leaf: True),
    "multi-duplicate-root-once": (_RUN, _run(_duplicate_root)),
    "multi-missing-seed-ok": (_RUN, _run(_missing_seed)),
    "multi-constant-root-skipped": (_RUN, _run(_constant_skipped)),
    "grad-allow-unused-always": (_RUN, _run(_never_unused)),
    "grad-retained-untouched": ("refimpl.engine:tensor_pre_hooks", _retained_untouched),
    "subgrad-clamp-bound": ("refimpl.operations.table:TABLE[clamp.Scalar].formulas[0]", _clamp_bound),
    "subgrad-amax-full": ("refimpl.operations.table:TABLE[amax].formulas[0]", _amax_full),
    "func-needs-all": ("refimpl.function:FunctionNode.__init__", _needs_all),
    "func-non-differentiable-ignored": ("refimpl.function:FunctionCtx.mark_non_differentiable", _nothing),
    "func-surplus-accepted": ("refimpl.function:FunctionNode.run", _surplus),
    "higher-once-ignored": ("refimpl.autograd.function:once_differentiable", lambda original: lambda function: function),
}

FAULTS = tuple(
    Fault(name, clause, *_SEAMS[name][:1], what, _SEAMS[name][1], blind=True) for name, clause, what in FROZEN
)
