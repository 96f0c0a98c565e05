"""Faults in seeds, in accumulation, and on a gradient's way to an operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.faults.model import Fault

Plant = Callable[[Any], Any]


_ACCUMULATE = "refimpl.accumulate:accumulate_grad"


_SEEDS = "refimpl.autograd:make_seeds"


def _extra(tensor: Any) -> Any:
    from refimpl.tensor import extra_of

    return extra_of(tensor)


def _wrap(array: Any) -> Any:
    from refimpl.tensor import wrap

    return wrap(array)


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


def _implicit_any(original: Any) -> Any:
    def implicit_seed(out: Any, shape: Any, dtype: Any) -> Any:
        from refimpl import layouts

        return _wrap(layouts.ones_like(out._data))

    return implicit_seed


def _seeds(change: Callable[[Any, Any], Any]) -> Plant:
    """A fault that changes the seeds: ``change(root, seed)`` before they are judged."""

    def plant(original: Any) -> Any:
        def make_seeds(outputs: Any, grads: Any, batched: bool) -> Any:
            return original(
                outputs, tuple(change(*pair) for pair in zip(outputs, grads, strict=False)) or grads, batched
            )

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


def _fitted(reduce: Callable[[int], bool], cast: bool) -> Plant:
    """validate_outputs with a part missing."""

    def plant(original: Any) -> Any:
        def validate_outputs(task: Any, nodes: Any, numbers: Any, grads: Any, giver: Any) -> Any:
            from refimpl import dtypes, engine

            fitted = list(grads)
            for i, (node, nr) in enumerate(zip(nodes, numbers, strict=False)):
                grad = fitted[i]
                if node is None or grad is None:
                    continue
                meta = node.meta(nr)
                if (
                    reduce(i)
                    and tuple(grad.shape) != meta.shape
                    and engine.expandable(meta.shape, tuple(grad.shape))
                ):
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


FAULTS = (
    Fault("acc-overwrite", "ACC-01", _ACCUMULATE, "a second backward overwrites .grad", _overwrite),
    Fault(
        "acc-steal",
        "ACC-24",
        "refimpl.accumulate:SOLE_OWNER",
        "the first gradient is stored without a copy, whoever holds it",
        lambda original: original + 1_000_000,
    ),
    Fault("acc-new-object", "ACC-02", _ACCUMULATE, "accumulation makes a new .grad", _new_object),
    Fault(
        "acc-recorded-in-place",
        "ACC-03",
        _ACCUMULATE,
        "create_graph accumulates in place",
        _in_place_recorded,
    ),
    Fault("acc-first-only", "ACC-01", _ACCUMULATE, "only the first gradient is stored", _only_first),
    Fault(
        "acc-recorded-no-clone",
        "CREATE-06",
        "refimpl.accumulate:clone_obeying_contract",
        "a gradient with history is stored as it is",
        lambda original: lambda grad, variable: grad,
    ),
    Fault(
        "buffer-last",
        "ACC-05",
        "refimpl.engine:add_gradients",
        "where gradients meet, the last one counts",
        lambda original: lambda task, first, second: second,
    ),
    Fault(
        "buffer-in-place",
        "ACC-05",
        "refimpl.engine:add_gradients",
        "gradients that meet are added in place",
        _add_in_place,
    ),
    Fault(
        "order-no-dependencies",
        "ACC-05",
        "refimpl.engine:compute_dependencies",
        "a node runs when its first gradient arrives",
        _no_dependencies,
    ),
    Fault(
        "order-earliest-first",
        "HOOK-19",
        "refimpl.engine:heappush",
        "ready nodes run earliest first",
        _earliest_first,
    ),
    Fault(
        "seed-implicit-any",
        "SEED-02",
        "refimpl.autograd:implicit_seed",
        "any root gets an implicit seed",
        _implicit_any,
    ),
    Fault(
        "seed-ignored-scalar",
        "SEED-01",
        _SEEDS,
        "the seed of a scalar is ignored",
        _seeds(
            lambda root, seed: (
                None if getattr(root, "numel", lambda: 0)() == 1 and root.dtype.is_floating_point else seed
            )
        ),
    ),
    Fault(
        "seed-not-cast",
        "SEED-07",
        "refimpl.engine:validate_outputs",
        "the seed keeps its dtype",
        _uncast_seed,
    ),
    Fault(
        "seed-shape-unchecked",
        "SEED-05",
        "refimpl.autograd:check_seed",
        "the seed's shape is not checked",
        lambda original: lambda *arguments: None,
    ),
    Fault(
        "seed-detached",
        "SEED-12",
        _SEEDS,
        "the seed loses its history",
        _made_seeds(lambda seeds: tuple(None if seed is None else seed.detach() for seed in seeds)),
    ),
    Fault(
        "seed-written", "SEED-13", _SEEDS, "the pass counts a write to the seed", _made_seeds(_written_seed)
    ),
    Fault(
        "seed-twice",
        "SEED-01",
        _SEEDS,
        "the implicit seed is two",
        lambda original: (
            lambda outputs, grads, batched: (
                tuple(
                    seed + seed if given is None and seed is not None else seed
                    for seed, given in zip(original(outputs, grads, batched), grads, strict=False)
                )
                if len(outputs) == len(grads)
                else original(outputs, grads, batched)
            )
        ),
    ),
    Fault(
        "fit-no-cast",
        "DTYPE-01",
        "refimpl.engine:validate_outputs",
        "a gradient keeps its own dtype",
        _fitted(lambda place: True, cast=False),
    ),
    Fault(
        "fit-right-only",
        "SUBGRAD-14",
        "refimpl.engine:validate_outputs",
        "only the second operand's broadcast is summed back",
        _fitted(lambda place: place > 0, cast=True),
    ),
    Fault(
        "fit-drops-dims",
        "SUBGRAD-14",
        "refimpl.engine:sum_to_size",
        "dimensions of size 1 are summed away",
        _sum_drops_dims,
    ),
    Fault(
        "fit-leading-first",
        "SUBGRAD-14",
        "refimpl.engine:sum_to_size",
        "of added leading dimensions only the first entry counts",
        _sum_takes_first,
    ),
)
