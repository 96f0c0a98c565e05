"""First and second derivatives against finite differences; needs nothing but the reference engine."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import refimpl as engine

from .operation_cases import CASES, evaluate, operands

reference: Any = engine

# Cases that are not functions of their entries alone near the operands: kinks, ties, steps, casts, or
# written twice.
SKIPPED = (
    "n **", "n %", "padding_idx", "n.", "(n", "p.", "q.", "(p", "(q", "0 ** x", "half", "bfloat16",
    "float64", "double", "x < y", "x == y", "argmax",
    "isnan", "count_nonzero", "any()", "all(", "clamp_(", "x.clamp", "z", "complex", "1j", "F.relu6", "topk",
    "dropout", "r[", "repeat_interleave",
    "l1_loss", "scatter(1, k, y)", "index_put((i,), v)", "x.put(", "index_copy", "masked_scatter",
)  # fmt: skip
SMOOTH = [case for case in CASES if not any(part in case for part in SKIPPED)]
STEP = 2.0**-16


def _value(case: str, names: dict[str, Any]) -> Any:
    """One number that depends on every entry of the results, each with another weight."""
    total = None
    for result in evaluate(reference, case, names):
        if not result.is_floating_point():
            continue
        weights = 0.5 + reference.arange(result.numel(), dtype=result.dtype).reshape(tuple(result.shape)) / 8
        part = (result * weights).sum()
        total = part if total is None else total + part
    return total


def _leaves(names: dict[str, Any]) -> list[str]:
    return [name for name, each in names.items() if getattr(each, "requires_grad", False)]


def _moved(function: Any, names: dict[str, Any], name: str, index: tuple[int, ...], step: float) -> float:
    moved = dict(names)
    array = names[name].detach().clone()
    array[index] = array[index].item() + step
    moved[name] = array.requires_grad_()
    return float(function(moved))


def _assert_slope(function: Any, names: dict[str, Any], name: str, gradient: Any) -> None:
    shape = tuple(names[name].shape)
    got = numpy.array(gradient.tolist()) if gradient is not None else numpy.zeros(shape)
    for index in list(numpy.ndindex(shape))[:4]:
        slope = (_moved(function, names, name, index, STEP) - _moved(function, names, name, index, -STEP)) / (
            2 * STEP
        )
        assert got[index] == pytest.approx(slope, rel=1e-5, abs=1e-5), (name, index)


@pytest.mark.parametrize("case", SMOOTH)
def test_derivatives_are_limits_of_differences(case: str) -> None:
    names = operands(reference, "float64")
    del names["z"]
    root = _value(case, names)
    if root is None or not root.requires_grad:
        pytest.skip("has no derivative")
    leaves = _leaves(names)
    grads = reference.autograd.grad(
        root, [names[name] for name in leaves], create_graph=True, allow_unused=True
    )
    for name, grad in zip(leaves, grads, strict=True):
        if grad is not None:
            _assert_slope(lambda moved: _value(case, moved).item(), names, name, grad.detach())

    def slope_sum(moved: dict[str, Any]) -> Any:
        found = reference.autograd.grad(
            _value(case, moved), [moved[name] for name in leaves], create_graph=True, allow_unused=True
        )
        return sum((grad * (0.25 + grad.detach() * 0)).sum() for grad in found if grad is not None)

    total = slope_sum(names)
    if not getattr(total, "requires_grad", False):
        return
    again = reference.autograd.grad(total, [names[name] for name in leaves], allow_unused=True)
    for name, grad in zip(leaves, again, strict=True):
        if grad is not None:
            _assert_slope(lambda moved: slope_sum(moved).item(), names, name, grad)
