"""The texts of errors, whole, against torch's."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

import refimpl
from refimpl.errors import text

CASES: dict[str, Callable[[Any], Any]] = {
    "no implicit seed": lambda t: (t.ones(2, requires_grad=True) * 2).backward(),
    "implicit complex seed": lambda t: (t.tensor(1j, requires_grad=True) * 2).backward(),
    "seed shape": lambda t: (t.ones(2, requires_grad=True) * 2).backward(t.ones(3)),
    "seed type": lambda t: t.ones(2, requires_grad=True).backward([1.0]),
    "seed count": lambda t: t.autograd.backward([t.ones(1, requires_grad=True)] * 2, [t.ones(1)]),
    "root": lambda t: t.ones(1).backward(),
    "empty inputs": lambda t: t.ones(1, requires_grad=True).backward(inputs=[]),
    "input type": lambda t: t.ones(1, requires_grad=True).backward(inputs=[None]),
    "input without grad": lambda t: t.ones(1, requires_grad=True).backward(inputs=[t.ones(1)]),
    "unused": lambda t: t.autograd.grad(t.ones(1, requires_grad=True), t.ones(1, requires_grad=True)),
    "materialize": lambda t: t.autograd.grad(
        t.ones(1), t.ones(1), allow_unused=False, materialize_grads=True
    ),
    "requires_grad of a non-leaf": lambda t: (t.ones(1, requires_grad=True) * 2).requires_grad_(False),
    "requires_grad of integers": lambda t: t.ones(1, dtype=t.int64).requires_grad_(),
    "retain_grad": lambda t: t.ones(1).retain_grad(),
    "detach_ of a view": lambda t: t.ones(2)[0].detach_(),
    "numpy": lambda t: t.ones(1, requires_grad=True).numpy(),
    "hook": lambda t: t.ones(1).register_hook(print),
    "post hook": lambda t: (t.ones(1, requires_grad=True) * 1).register_post_accumulate_grad_hook(print),
    "broadcast": lambda t: t.ones(2) + t.ones(3),
    "in-place broadcast": lambda t: t.ones(2).add_(t.ones(3, 2)),
    "in-place cast": lambda t: t.ones(2, dtype=t.int64).add_(1.5),
    "overlap": lambda t: t.ones(1).expand(3).add_(1),
    "retain_graph": lambda t: t.ones(1, requires_grad=True).backward(retain_graph="no"),
    "bool": lambda t: bool(t.ones(2)),
}


def outcome(case: Callable[[Any], Any], library: Any) -> tuple[str, str]:
    """The type and text of what a case raises."""
    with pytest.raises(Exception) as error:  # noqa: PT011  (the type is what is compared)
        case(library)
    return type(error.value).__name__, str(error.value)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("case", list(CASES), ids=list(CASES))
def test_errors_are_torchs(case: str) -> None:
    torch = importlib.import_module("torch")
    assert outcome(CASES[case], refimpl) == outcome(CASES[case], torch)


def test_templates_are_filled() -> None:
    assert text("seed.count", tensors=2, gradients=1) == "got 2 tensors and 1 gradients"
    with pytest.raises(KeyError):
        text("no such text")
