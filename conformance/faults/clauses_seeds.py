"""Faults that make single clauses false: seeds, accumulation, released and recorded graphs."""

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


# Seeds.


def _implicit(change: Callable[[Any, Any], Any], when: Callable[[Any, Any], bool]) -> Plant:
    """An implicit seed of another kind, where ``when`` says so."""

    def plant(original: Any) -> Any:
        def implicit_seed(out: Any, shape: Any, dtype: Any) -> Any:
            return change(out, shape) if when(shape, dtype) else original(out, shape, dtype)

        return implicit_seed

    return plant


def _ones(out: Any, shape: Any) -> Any:
    from refimpl import layouts
    from refimpl.tensor import wrap

    return wrap(layouts.ones_like(out._data))


def _expanded_ones(out: Any, shape: Any) -> Any:
    return _ones(out, shape).new_ones(()).expand(shape)


def _check_seed(change: Callable[..., Any]) -> Plant:
    """Another judgement of seeds: ``change(check, out, grad, shape)``, where ``check()`` is the right one."""

    def plant(original: Any) -> Any:
        def check_seed(
            outputs: Any, grads: Any, out: Any, grad: Any, shape: Any, dtype: Any, batched: Any
        ) -> Any:
            def check() -> None:
                original(outputs, grads, out, grad, shape, dtype, batched)

            change(check, out, grad, shape)

        return check_seed

    return plant


def _shape_alone(check: Any, out: Any, grad: Any, shape: Any) -> None:
    if grad.shape != shape:
        check()


def _tracked_refused(check: Any, out: Any, grad: Any, shape: Any) -> None:
    if grad.requires_grad:
        raise RuntimeError("a seed must not require grad")
    check()


def _empty_refused(check: Any, out: Any, grad: Any, shape: Any) -> None:
    if not grad.numel():
        raise RuntimeError("a seed must not be empty")
    check()


def _failure_frees(check: Any, out: Any, grad: Any, shape: Any) -> None:
    try:
        check()
    except RuntimeError:
        if getattr(out, "grad_fn", None) is not None:
            out.grad_fn.release()
        raise


def _no_leaf_root(original: Any) -> Any:
    def root_edge(tensor: Any) -> Any:
        if tensor.requires_grad and tensor.is_leaf:
            raise RuntimeError("a leaf is no root")
        return original(tensor)

    return root_edge


def _returns_seeds(original: Any) -> Any:
    def backward(*arguments: Any, **keywords: Any) -> Any:
        return original(*arguments, **keywords) or ()

    return backward


def _flags_swapped(original: Any) -> Any:
    def backward(
        self: Any,
        gradient: Any = None,
        create_graph: Any = False,
        retain_graph: Any = None,
        inputs: Any = None,
    ) -> Any:
        return original(self, gradient, retain_graph, create_graph, inputs)

    return backward


# Accumulation.


def _grad_read(change: Callable[[Any, Any], Any]) -> Plant:
    """Another reading of ``.grad``: ``change(tensor, grad)``."""

    def plant(original: Any) -> Any:
        return property(lambda self: change(self, original.fget(self)), original.fset, original.fdel)

    return plant


def _zeros_unused(tensor: Any, grad: Any) -> Any:
    return tensor.detach() * 0 if grad is None and tensor.requires_grad and tensor.is_leaf else grad


def _interior_shown(tensor: Any, grad: Any) -> Any:
    return tensor.detach() * 0 if grad is None and not tensor.is_leaf else grad


def _zero_is_none(original: Any) -> Any:
    def formula(F: Any, grad: Any, other: Any, dtype: Any) -> Any:
        return None if isinstance(other, (int, float)) and other == 0 else original(F, grad, other, dtype)

    return formula


def _none_zeroes(original: Any) -> Any:
    def assign_grad(tensor: Any, grad: Any) -> None:
        if grad is None and tensor._x is not None and tensor._x.grad is not None:
            tensor._x.grad._data[...] = 0
        else:
            original(tensor, grad)

    return assign_grad


def _delete_zeroes(original: Any) -> Any:
    def delete(self: Any) -> None:
        if self._x is not None and self._x.grad is not None:
            self._x.grad = self._x.grad.detach() * 0

    return property(original.fget, original.fset, delete)


def _tracked_only(original: Any) -> Any:
    def assign_grad(tensor: Any, grad: Any) -> None:
        if grad is not None and not tensor.requires_grad:
            raise RuntimeError("only a tensor that requires grad has a .grad")
        original(tensor, grad)

    return assign_grad


def _any_device(original: Any) -> Any:
    def assign_grad(tensor: Any, grad: Any) -> None:
        if hasattr(grad, "device") and grad.device != tensor.device:
            _extra(tensor).grad = grad
        else:
            original(tensor, grad)

    return assign_grad


def _same_shape_only(original: Any) -> Any:
    def replace(self: Any, new: Any) -> None:
        if new.shape != self.shape:
            raise RuntimeError("the new data has another shape")
        original.fset(self, new)

    return property(original.fget, replace)


def _half_kept_wide(original: Any) -> Any:
    def accumulate_grad(variable: Any, box: list[Any], task: Any, expected: int) -> None:
        seldom = _extra(variable)
        if task.recorded or seldom.grad is None or seldom.grad.dtype.itemsize != 2:
            original(variable, box, task, expected)
        else:
            from refimpl.tensor import wrap

            seldom.grad = wrap(seldom.grad._data.astype("float32") + box.pop().astype("float32"))

    return accumulate_grad


def _sums_kept_wide(original: Any) -> Any:
    def add_gradients(task: Any, below: Any, box: list[Any], second: Any) -> Any:
        if task.recorded or second.dtype.itemsize != 2:
            return original(task, below, box, second)
        return box[0].astype("float32") + second.astype("float32")

    return add_gradients


def _freed_at_run(original: Any) -> Any:
    def run(self: Any, grads: Any, task: Any, needs: Any) -> Any:
        if self._freed:
            raise RuntimeError("the Function ran before")
        return original(self, grads, task, needs)

    return run


def _recorded_grad(change: Callable[[Any], Any]) -> Plant:
    def plant(original: Any) -> Any:
        def clone_obeying_contract(grad: Any, variable: Any) -> Any:
            return change(original(grad, variable))

        return clone_obeying_contract

    return plant


def _tracked(grad: Any) -> Any:
    return grad if grad.requires_grad else grad.detach().requires_grad_()


_SEED = "refimpl.autograd:check_seed"
_ASSIGN = "refimpl.accumulate:assign_grad"

FAULTS = (
    Fault(
        "seed-implicit-complex",
        "SEED-03",
        "refimpl.autograd:implicit_seed",
        "a complex scalar gets an implicit seed",
        _implicit(_ones, lambda shape, dtype: dtype.is_complex and shape.numel() == 1),
    ),
    Fault(
        "seed-implicit-expanded",
        "LAYOUT-07",
        "refimpl.autograd:implicit_seed",
        "the implicit seed has strides of 0",
        _implicit(_expanded_ones, lambda shape, dtype: shape.numel() == 1 and dtype.is_floating_point),
    ),
    Fault(
        "seed-complex-unchecked",
        "SEED-09",
        _SEED,
        "a seed may be complex where the root is real",
        _check_seed(_shape_alone),
    ),
    Fault(
        "seed-tracked-refused",
        "SEED-11",
        _SEED,
        "a seed that requires grad is refused",
        _check_seed(_tracked_refused),
    ),
    Fault("seed-empty-refused", "SEED-25", _SEED, "an empty seed is refused", _check_seed(_empty_refused)),
    Fault(
        "seed-failure-frees",
        "SEED-22",
        _SEED,
        "a refused seed releases the root's node",
        _check_seed(_failure_frees),
    ),
    Fault(
        "seed-leaf-root-refused",
        "SEED-17",
        "refimpl.autograd:root_edge",
        "a leaf is refused as root",
        _no_leaf_root,
    ),
    Fault(
        "backward-returns-something",
        "SEED-21",
        "refimpl.autograd:backward",
        "autograd.backward returns a tuple",
        _returns_seeds,
    ),
    Fault(
        "backward-flags-swapped",
        "SEED-26",
        "refimpl.tensor:Tensor.backward",
        "create_graph comes before retain_graph",
        _flags_swapped,
    ),
    Fault(
        "acc-unused-zeros",
        "ACC-06",
        "refimpl.tensor:Tensor.grad",
        ".grad begins as zeros",
        _grad_read(_zeros_unused),
    ),
    Fault("acc-zero-is-none", "ACC-07", _formula("mul"), "a factor of 0 gives no gradient", _zero_is_none),
    Fault("acc-none-zeroes", "ACC-14", _ASSIGN, ".grad = None sets it to zero", _none_zeroes),
    Fault(
        "acc-delete-zeroes",
        "ACC-16",
        "refimpl.tensor:Tensor.grad",
        "del x.grad sets it to zero",
        _delete_zeroes,
    ),
    Fault("acc-constant-refused", "ACC-17", _ASSIGN, "a constant cannot have a .grad", _tracked_only),
    Fault("acc-other-device", "DEVICE-01", _ASSIGN, "a .grad on another device is accepted", _any_device),
    Fault(
        "acc-data-shape",
        "ACC-28",
        "refimpl.tensor:Tensor.data",
        ".data may not get another shape",
        _same_shape_only,
    ),
    Fault(
        "acc-half-wide",
        "ACC-30",
        "refimpl.accumulate:accumulate_grad",
        "half precision accumulates in float32",
        _half_kept_wide,
    ),
    Fault(
        "acc-grad-dtype-ignored",
        "ACC-33",
        "refimpl.accumulate:assign_grad_dtype",
        "grad_dtype cannot be set",
        _nothing,
    ),
    Fault(
        "buffer-half-wide",
        "DTYPE-06",
        "refimpl.engine:add_gradients",
        "gradients of half precision meet in float32",
        _sums_kept_wide,
    ),
    Fault(
        "retain-function-once",
        "RETAIN-13",
        "refimpl.function:FunctionNode.run",
        "a Function runs once even if it saved nothing",
        _freed_at_run,
    ),
    Fault(
        "create-constant-tracked",
        "CREATE-02",
        "refimpl.accumulate:clone_obeying_contract",
        "a constant gradient requires grad",
        _recorded_grad(_tracked),
    ),
    Fault(
        "create-doubles",
        "CREATE-10",
        "refimpl.accumulate:clone_obeying_contract",
        "a recorded gradient is doubled",
        _recorded_grad(lambda grad: grad + grad),
    ),
    Fault(
        "leaf-interior-zeros",
        "LEAF-17",
        "refimpl.tensor:Tensor.grad",
        ".grad of an interior tensor reads as zeros",
        _grad_read(_interior_shown),
    ),
)
