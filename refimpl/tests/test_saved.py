"""Saved tensors: version check, release, hooks."""

from __future__ import annotations

from typing import Any

import pytest

from .engines import both


@both
def test_a_saved_tensor_that_changed_is_refused_with_its_producer(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError) as error:
        y.sum().backward()
    assert "[torch.FloatTensor [2]], which is output 0 of Exp, is at version 1; expected version 0" in str(
        error.value
    )


@both
@pytest.mark.parametrize(
    ("make", "again"),
    [
        (lambda x: x + 1, True),
        (lambda x: x - x, True),
        (lambda x: x.sum(), True),
        (lambda x: x.view(2), True),
        (lambda x: x * 2, False),
        (lambda x: x / 2, False),
        (lambda x: x * x, False),
        (lambda x: x.exp(), False),
    ],
)
def test_a_node_runs_twice_only_if_it_saved_nothing(torch: Any, make: Any, again: bool) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = make(x)
    seed = torch.ones(y.shape)
    y.backward(seed)
    if again:
        y.backward(seed)
    else:
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            y.backward(seed)


@both
def test_data_replaced_after_the_forward_shows(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data = torch.tensor([10.0, 20.0])
    y.backward()
    assert x.grad.tolist() == [20.0, 40.0]


@both
def test_a_saved_input_detached_in_place_is_refused(torch: Any) -> None:
    x = torch.tensor([1.0], requires_grad=True)
    h = x * 2
    y = h * h
    h.detach_()
    with pytest.raises(RuntimeError, match="detached in-place"):
        y.sum().backward()


@both
def test_hooks_pack_at_the_forward_and_unpack_at_the_backward(torch: Any) -> None:
    log: list[str] = []

    def pack(t: Any) -> Any:
        log.append("pack")
        return t * 10

    def unpack(t: Any) -> Any:
        log.append("unpack")
        return t

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    y.sum().backward()
    assert log == ["pack", "pack", "unpack", "unpack"]
    assert x.grad.tolist() == [20.0, 40.0]
