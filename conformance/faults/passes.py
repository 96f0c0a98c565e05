"""Faults in seeds, accumulation, released graphs, create_graph, `inputs`, several roots and autograd.grad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.faults.model import Fault

Plant = Callable[[Any], Any]

_ACCUMULATE = "refimpl.accumulate:accumulate_grad"
_RUN = "refimpl.autograd:run_engine"
_SEEDS = "refimpl.autograd:make_seeds"


def _extra(tensor: Any) -> Any:
    from refimpl.tensor import extra_of

    return extra_of(tensor)


def _wrap(array: Any) -> Any:
    from refimpl.tensor import wrap

    return wrap(array)


# Accumulation.


def _overwrite(original: Any) -> Any:
    def accumulate_grad(variable: Any, box: list[Any], task: Any, expected: int) -> None:
        _extra(variable).grad = None
        original(variable, box, task, expected)

    return accumulate_grad


def _new_object(original: Any) -> Any:
    def accumulate_grad(variable: Any, box: list[Any], task: Any, expected: int) -> None:
        seldom = _extra(variable)
        if seldom.grad is None or task.recorded:
            original(variable, box, task, expected)
        else:
            seldom.grad = _wrap(seldom.grad._data + box.pop())

    return accumulate_grad


def _in_place_recorded(original: Any) -> Any:
    def accumulate_grad(variable: Any, box: list[Any], task: Any, expected: int) -> None:
        before = _extra(variable).grad
        if before is None or not task.recorded:
            original(variable, box, task, expected)
        else:
            from refimpl import modes

            with modes.no_grad():
                before.add_(box.pop())

    return accumulate_grad


def _only_first(original: Any) -> Any:
    def accumulate_grad(variable: Any, box: list[Any], task: Any, expected: int) -> None:
        if _extra(variable).grad is None:
            original(variable, box, task, expected)
        else:
            box.pop()

    return accumulate_grad


def _add_in_place(original: Any) -> Any:
    def add_gradients(task: Any, first: Any, second: Any) -> Any:
        if task.recorded or not first.shape or not first.flags.writeable or first.dtype != second.dtype:
            return original(task, first, second)
        first += second
        return first

    return add_gradients


def _no_dependencies(original: Any) -> Any:
    def compute_dependencies(task: Any, root: Any) -> None:
        original(task, root)
        for node in task.dependencies:
            task.dependencies[node] = 1

    return compute_dependencies


def _earliest_first(original: Any) -> Any:
    def heappush(queue: Any, entry: Any) -> None:
        original(queue, (-entry[0], entry[1]))

    return heappush


# Seeds.


def _implicit_any(original: Any) -> Any:
    def implicit_seed(out: Any, shape: Any, dtype: Any) -> Any:
        from refimpl import layouts

        return _wrap(layouts.ones_like(out._data))

    return implicit_seed


def _seeds(change: Callable[[Any, Any], Any]) -> Plant:
    """A fault that changes the seeds: ``change(root, seed)`` before they are judged."""

    def plant(original: Any) -> Any:
        def make_seeds(outputs: Any, grads: Any, batched: bool) -> Any:
            return original(outputs, tuple(change(*pair) for pair in zip(outputs, grads)) or grads, batched)

        return make_seeds

    return plant


def _made_seeds(change: Callable[[Any], Any]) -> Plant:
    """A fault that changes the seeds after they were judged."""

    def plant(original: Any) -> Any:
        def make_seeds(outputs: Any, grads: Any, batched: bool) -> Any:
            return change(original(outputs, grads, batched))

        return make_seeds

    return plant


def _written_seed(seeds: Any) -> Any:
    from refimpl.tensor import bump

    for seed in seeds:
        if seed is not None:
            bump(seed)
    return seeds


def _uncast_seed(original: Any) -> Any:
    def validate_outputs(task: Any, nodes: Any, numbers: Any, grads: Any, giver: Any) -> Any:
        return list(grads) if giver == "" else original(task, nodes, numbers, grads, giver)

    return validate_outputs


# The way of a gradient to an operand.


def _fitted(reduce: Callable[[int], bool], cast: bool) -> Plant:
    """validate_outputs with a part missing."""

    def plant(original: Any) -> Any:
        def validate_outputs(task: Any, nodes: Any, numbers: Any, grads: Any, giver: Any) -> Any:
            from refimpl import dtypes, engine

            fitted = list(grads)
            for i, (node, nr) in enumerate(zip(nodes, numbers)):
                grad = fitted[i]
                if node is None or grad is None:
                    continue
                meta = node.meta(nr)
                if reduce(i) and tuple(grad.shape) != meta.shape and engine.expandable(meta.shape, tuple(grad.shape)):
                    grad = engine.sum_to_size(task.F, grad, meta.shape)
                has = grad.dtype if task.recorded else dtypes.of(grad.dtype)
                wanted = dtypes.of(meta.dtype)
                if cast and has is not wanted and has.is_complex == wanted.is_complex:
                    grad = task.F.to(grad, wanted)
                fitted[i] = grad
            return fitted

        return validate_outputs

    return plant


def _sum_drops_dims(original: Any) -> Any:
    def sum_to_size(F: Any, grad: Any, shape: Any) -> Any:
        made = original(F, grad, shape)
        return F.sum(made, [i for i, extent in enumerate(shape) if extent == 1]) if 1 in shape else made

    return sum_to_size


def _sum_takes_first(original: Any) -> Any:
    def sum_to_size(F: Any, grad: Any, shape: Any) -> Any:
        while len(grad.shape) > len(shape):
            grad = F.select(grad, 0, 0)
        return grad if tuple(grad.shape) == tuple(shape) else original(F, grad, shape)

    return sum_to_size


# Engine runs.


def _run(change: Callable[..., Any]) -> Plant:
    """A fault around one pass: ``change(original, roots, seeds, retain, create, inputs, allow_unreachable, accumulate)``."""

    def plant(original: Any) -> Any:
        def run_engine(
            roots: Any, seeds: Any, retain_graph: Any, create_graph: Any, inputs: Any, allow_unreachable: bool, accumulate: bool
        ) -> Any:
            return change(original, roots, seeds, retain_graph, create_graph, inputs, allow_unreachable, accumulate)

        return run_engine

    return plant


def _create_frees(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, *rest: Any) -> Any:
    return run(roots, seeds, retain and not create, create, *rest)


def _create_without_graph(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, *rest: Any) -> Any:
    return run(roots, seeds, retain, False, *rest)


def _always_create(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, *rest: Any) -> Any:
    return run(roots, seeds, retain, True, *rest)


def _ignore_inputs(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
    return run(roots, seeds, retain, create, () if accumulate else inputs, allow, accumulate)


def _inputs_overwrite(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
    if accumulate:
        for each in inputs:
            if getattr(each, "_x", None) is not None:
                each._x.grad = None
    return run(roots, seeds, retain, create, inputs, allow, accumulate)


def _inputs_twice(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
    if accumulate and len({id(each) for each in inputs}) < len(inputs):
        run(roots, seeds, True, create, inputs, allow, accumulate)
    return run(roots, seeds, retain, create, inputs, allow, accumulate)


def _unused_zeros(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
    from refimpl import layouts

    found = run(roots, seeds, retain, create, inputs, True, accumulate)
    if accumulate:
        return found
    return tuple(
        _wrap(layouts.zeros_like(each._data)) if result is None and hasattr(each, "_data") else result
        for result, each in zip(found, inputs)
    )


def _grad_accumulates(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
    found = run(roots, seeds, retain, create, inputs, allow, accumulate)
    if not accumulate:
        for result, each in zip(found, inputs):
            if result is not None and hasattr(each, "_data") and each.is_leaf:
                seldom = _extra(each)
                seldom.grad = result.detach().clone() if seldom.grad is None else seldom.grad + result.detach()
    return found


def _constant_root_silent(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, *rest: Any) -> Any:
    if roots and not any(getattr(root, "requires_grad", True) for root in roots):
        return (None,) * len(inputs)
    return run(roots, seeds, retain, create, inputs, *rest)


def _first_root_only(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    return run(roots[:1], seeds[:1], *rest) if len(roots) == len(seeds) else run(roots, seeds, *rest)


def _seeds_swapped(run: Any, roots: Any, seeds: Any, *rest: Any) -> Any:
    same = len(roots) == len(seeds) and len({tuple(s.shape) for s in seeds if s is not None}) == 1
    return run(roots, seeds[::-1] if same else seeds, *rest)


def _grads_reversed(run: Any, roots: Any, seeds: Any, retain: Any, create: Any, inputs: Any, allow: Any, accumulate: bool) -> Any:
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
    def execute(roots: Any, seeds: Any, keep_graph: bool, create_graph: bool, inputs: Any, accumulate: bool) -> Any:
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
    Fault("acc-overwrite", "ACC-01", _ACCUMULATE, "a second backward overwrites .grad", _overwrite),
    Fault("acc-steal", "ACC-24", "refimpl.accumulate:SOLE_OWNER", "the first gradient is stored without a copy, whoever holds it",
          lambda original: original + 1_000_000),
    Fault("acc-new-object", "ACC-02", _ACCUMULATE, "accumulation makes a new .grad", _new_object),
    Fault("acc-recorded-in-place", "ACC-03", _ACCUMULATE, "create_graph accumulates in place", _in_place_recorded),
    Fault("acc-first-only", "ACC-01", _ACCUMULATE, "only the first gradient is stored", _only_first),
    Fault("acc-recorded-no-clone", "CREATE-06", "refimpl.accumulate:clone_obeying_contract", "a gradient with history is stored as it is",
          lambda original: lambda grad, variable: grad),
    Fault("buffer-last", "ACC-05", "refimpl.engine:add_gradients", "where gradients meet, the last one counts",
          lambda original: lambda task, first, second: second),
    Fault("buffer-in-place", "ACC-05", "refimpl.engine:add_gradients", "gradients that meet are added in place", _add_in_place),
    Fault("order-no-dependencies", "ACC-05", "refimpl.engine:compute_dependencies", "a node runs when its first gradient arrives",
          _no_dependencies),
    Fault("order-earliest-first", "HOOK-19", "refimpl.engine:heappush", "ready nodes run earliest first", _earliest_first),
    Fault("seed-implicit-any", "SEED-02", "refimpl.autograd:implicit_seed", "any root gets an implicit seed", _implicit_any),
    Fault("seed-ignored-scalar", "SEED-01", _SEEDS, "the seed of a scalar is ignored",
          _seeds(lambda root, seed: None if getattr(root, "numel", lambda: 0)() == 1 and root.dtype.is_floating_point else seed)),
    Fault("seed-not-cast", "SEED-07", "refimpl.engine:validate_outputs", "the seed keeps its dtype", _uncast_seed),
    Fault("seed-shape-unchecked", "SEED-05", "refimpl.autograd:check_seed", "the seed's shape is not checked",
          lambda original: lambda *arguments: None),
    Fault("seed-detached", "SEED-12", _SEEDS, "the seed loses its history",
          _made_seeds(lambda seeds: tuple(None if seed is None else seed.detach() for seed in seeds))),
    Fault("seed-written", "SEED-13", _SEEDS, "the pass counts a write to the seed", _made_seeds(_written_seed)),
    Fault("seed-twice", "SEED-01", _SEEDS, "the implicit seed is two",
          lambda original: lambda outputs, grads, batched: tuple(
              seed + seed if given is None and seed is not None else seed
              for seed, given in zip(original(outputs, grads, batched), grads)) if len(outputs) == len(grads)
          else original(outputs, grads, batched)),
    Fault("fit-no-cast", "DTYPE-01", "refimpl.engine:validate_outputs", "a gradient keeps its own dtype",
          _fitted(lambda place: True, cast=False)),
    Fault("fit-right-only", "SUBGRAD-14", "refimpl.engine:validate_outputs", "only the second operand's broadcast is summed back",
          _fitted(lambda place: place > 0, cast=True)),
    Fault("fit-drops-dims", "SUBGRAD-14", "refimpl.engine:sum_to_size", "dimensions of size 1 are summed away", _sum_drops_dims),
    Fault("fit-leading-first", "SUBGRAD-14", "refimpl.engine:sum_to_size", "of added leading dimensions only the first entry counts",
          _sum_takes_first),
    Fault("retain-create-frees", "RETAIN-05", _RUN, "create_graph does not keep the graph", _run(_create_frees)),
    Fault("retain-never-free", "RETAIN-01", "refimpl.plans:OperationNode.release", "nothing is ever released", _release_nothing),
    Fault("retain-ignored", "RETAIN-04", "refimpl.engine:GraphTask.__init__", "retain_graph=True releases all the same", _plain_init),
    Fault("retain-free-all", "RETAIN-02", "refimpl.plans:OperationNode.release", "nodes that saved no tensor are released too",
          _release_all),
    Fault("retain-slices-kept", "RETAIN-01", "refimpl.views:CopySlices.release", "a rewritten history is never released",
          _release_nothing),
    Fault("retain-function-kept", "RETAIN-12", "refimpl.function:FunctionNode.release", "a custom Function is never released",
          _release_nothing),
    Fault("inputs-frees-all", "RETAIN-11", "refimpl.engine:execute", "a restricted pass releases the whole graph", _frees_everything),
    Fault("create-no-graph", "CREATE-01", _RUN, "gradients of create_graph have no history", _run(_create_without_graph)),
    Fault("create-always", "ACC-22", _RUN, "a plain pass records a graph", _run(_always_create)),
    Fault("create-caller-mode", "ERROR-09", "refimpl.engine:execute", "grad mode stays off after a pass that raised", _mode_leaks),
    Fault("inputs-ignored", "INPUTS-01", _RUN, "inputs= is ignored", _run(_ignore_inputs)),
    Fault("inputs-overwrite", "INPUTS-01", _RUN, "inputs= sets .grad instead of adding", _run(_inputs_overwrite)),
    Fault("inputs-duplicates", "INPUTS-08", _RUN, "a duplicate in inputs= counts twice", _run(_inputs_twice)),
    Fault("inputs-leaves-only", "INPUTS-04", "refimpl.autograd:input_edge", "an interior tensor in inputs= gets no .grad",
          _inputs_leaves_only),
    Fault("inputs-stop", "INPUTS-19", "refimpl.engine:restrict", "the pass stops at an interior tensor of inputs=", _stops_at_inputs),
    Fault("inputs-empty", "INPUTS-03", "refimpl.autograd:_input_tuple", "empty inputs= mean all leaves",
          lambda original: lambda inputs, name: () if inputs == [] else original(inputs, name)),
    Fault("inputs-leaf-hooks", "INPUTS-12", "refimpl.engine:leaf_hooks", "hooks of leaves do not run in a restricted pass",
          lambda original: lambda task, node, grad: grad if task.exec_info is not None else original(task, node, grad)),
    Fault("grad-unused-zeros", "GRAD-02", _RUN, "an unused input gets zeros", _run(_unused_zeros)),
    Fault("grad-accumulates", "GRAD-01", _RUN, "autograd.grad writes .grad", _run(_grad_accumulates)),
    Fault("grad-reversed", "GRAD-01", _RUN, "autograd.grad gives its results in reverse", _run(_grads_reversed)),
    Fault("root-constant-silent", "ERROR-01", _RUN, "a root that does not require grad is no error", _run(_constant_root_silent)),
    Fault("multi-first-root", "MULTI-01", _RUN, "only the first root counts", _run(_first_root_only)),
    Fault("multi-seeds-swapped", "MULTI-01", _RUN, "the seeds of several roots are swapped", _run(_seeds_swapped)),
)
