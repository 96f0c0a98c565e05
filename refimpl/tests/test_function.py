"""Custom functions."""

from __future__ import annotations

from typing import Any

import pytest

from .engines import both


def function_returning(torch: Any, *gradients: Any) -> Any:
    """A Function of as many inputs as needed, whose backward returns ``gradients``."""

    class F(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            return inputs[0] * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return gradients if len(gradients) != 1 else gradients[0]

    return F


@both
def test_wrong_gradients_are_refused(torch: Any) -> None:
    def run(*gradients: Any) -> Any:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        function_returning(torch, *gradients).apply(x).sum().backward()
        return x.grad.tolist()

    with pytest.raises(
        RuntimeError,
        match=r"function FBackward returned an incorrect number of gradients \(expected 1, got 2",
    ):
        run(torch.ones(2), torch.ones(2))
    with pytest.raises(
        RuntimeError,
        match=r"invalid gradient at index 0 - got \[3\] but expected shape compatible with \[2\]",
    ):
        run(torch.ones(3))
    with pytest.raises(RuntimeError, match=r"expected Variable or None \(got float\)"):
        run(1.0)
    assert run(torch.ones(5, 2)) == [5.0, 5.0]
    assert run(torch.ones(2, dtype=torch.float64)) == [1.0, 1.0]
    assert run(torch.ones(2), None) == [1.0, 1.0]


@both
def test_unused_outputs_arrive_as_zeros_or_as_none(torch: Any) -> None:
    seen: list[Any] = []

    def make(materialize: bool) -> Any:
        class Two(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(materialize)
                return x * 1, x * 2

            @staticmethod
            def backward(ctx: Any, g: Any, h: Any) -> Any:
                seen.append(None if h is None else h.tolist())
                return g

        return Two

    x = torch.tensor([1.0], requires_grad=True)
    make(True).apply(x)[0].sum().backward()
    make(False).apply(x)[0].sum().backward()
    assert seen == [[0.0], None]


@both
def test_once_differentiable_refuses_the_second_derivative(torch: Any) -> None:
    once = __import__(
        torch.__name__ + ".autograd.function", fromlist=["once_differentiable"]
    ).once_differentiable

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once  # type: ignore[untyped-decorator]
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * g

    x = torch.tensor(3.0, requires_grad=True)
    (g,) = torch.autograd.grad(Square.apply(x) ** 2, x, create_graph=True)
    assert g.item() == 108.0
    with pytest.raises(RuntimeError, match="trying to differentiate twice"):
        g.backward()


@both
def test_mark_dirty_returns_the_same_tensor_with_the_function_as_history(torch: Any) -> None:
    class Double(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.tensor(1.0, requires_grad=True)
    y = x * 1
    z = Double.apply(y)
    assert z is y
    assert z.grad_fn.name() == "DoubleBackward"
    z.backward()
    assert x.grad.item() == 2.0
    with pytest.raises(RuntimeError, match="has been used in an in-place operation"):
        Double.apply(x)
