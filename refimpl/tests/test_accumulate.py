"""Accumulation: steal or clone, in place or out of place, layout, dtype."""

from __future__ import annotations

from typing import Any

import pytest

from .engines import both


@both
def test_the_first_gradient_is_stolen_or_cloned(torch: Any) -> None:
    def version(make: Any) -> int:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        make(x)
        return int(x.grad._version)

    assert version(lambda x: (x * 2).sum().backward()) == 0  # stolen
    assert version(lambda x: x.sum().backward()) == 1  # expanded: cloned
    assert version(lambda x: x.backward(torch.ones(2))) == 1  # the seed is held: cloned
    assert version(lambda x: (x * x).sum().backward()) == 1  # two meet: added in place, then stolen


@both
def test_a_seed_is_shared_only_through_views(torch: Any) -> None:
    def shares(make: Any) -> bool:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        root = make(x)
        seed = torch.ones(root.shape)
        root.backward(seed)
        return bool(x.grad.data_ptr() == seed.data_ptr())

    assert not shares(lambda x: x)
    assert not shares(lambda x: x + 0)
    assert shares(lambda x: x.view(2, 1))


@both
def test_later_gradients_are_added_in_place_and_with_create_graph_out_of_place(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    held = x.grad
    (x * x).sum().backward()
    assert x.grad is held
    assert held.tolist() == [4.0, 8.0]
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not held
    assert held.tolist() == [4.0, 8.0]
    assert x.grad.grad_fn.name() == "AddBackward0"


@both
def test_the_gradient_has_the_strides_of_the_leaf(torch: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    (x * 2).sum().backward()
    assert tuple(x.grad.stride()) == (1, 3)
    y = torch.ones(3, 1).expand(3, 4).detach().requires_grad_()
    (y * 2).sum().backward()
    assert tuple(y.grad.stride()) == (4, 1)


@both
def test_summation_order_is_the_order_of_arrival(torch: Any) -> None:
    x = torch.tensor([1.0], requires_grad=True)
    one, again, big = x * 1.0, x * 1.0, x * float(2**24)
    (one + again + big).backward(torch.ones(1))
    assert x.grad.item() == 16777216.0


@both
def test_an_expanded_gradient_cannot_be_added_to(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([3.0]).expand(2)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@both
def test_assigning_a_gradient_is_judged(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"gradient of size '\[3\]' to a tensor of size '\[2\]'"):
        x.grad = torch.ones(3)
    with pytest.raises(
        RuntimeError, match="gradient with dtype 'double' to a tensor with grad_dtype 'Float'"
    ):
        x.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="its own grad"):
        x.grad = x
    with pytest.raises(TypeError, match="got grad of type float"):
        x.grad = 1.0
    x.grad_dtype = torch.float64
    (x * 3).sum().backward()
    assert x.grad.dtype == torch.float64


@both
def test_half_gradients_accumulate_in_half(torch: Any) -> None:
    x = torch.tensor([1.0], dtype=torch.float16, requires_grad=True)
    x.backward(torch.tensor([2048.0], dtype=torch.float16))
    x.backward(torch.tensor([1.0], dtype=torch.float16))
    assert x.grad.tolist() == [2048.0]
