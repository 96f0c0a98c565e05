"""Views and in-place operations."""

from __future__ import annotations

from typing import Any

import pytest

from .engines import both


@both
def test_a_write_through_a_view_rewrites_the_history_of_the_base(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v, sibling = y[:2], y[1:]
    v.mul_(10)
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert type(v.grad_fn).__name__ == "AsStridedBackward0"
    assert type(sibling.grad_fn).__name__ == "AsStridedBackward0"
    assert v._base is y
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0, 2.0]


@both
def test_setitem_gives_each_value_its_own_gradient(torch: Any) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    y = torch.zeros(3)
    y[0], y[1] = a * a, b * b
    y[0] = 5 * b
    y.backward(torch.tensor([1.0, 10.0, 100.0]))
    assert a.grad.item() == 0.0
    assert b.grad.item() == 65.0


@both
@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda x: x.add_(1), "a leaf Variable that requires grad is being used in an in-place operation."),
        (lambda x: x[0].add_(1), "a view of a leaf Variable that requires grad is being used"),
        (lambda x: x.unbind(0)[0].add_(1), "Output 0 of Unbind is a view and is being modified inplace"),
    ],
)
def test_writes_that_autograd_cannot_follow_are_refused_before_anything_changes(
    torch: Any, write: Any, message: str
) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=message.replace(".", r"\.")):
        write(x)
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0


@both
def test_a_view_made_without_grad_is_not_written_to_with_grad(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y[:1]
    with pytest.raises(
        RuntimeError, match="A view was created in no_grad mode and is being modified inplace"
    ):
        v.mul_(2)


@both
def test_versions_are_shared_by_views_and_detach_but_not_by_data(torch: Any) -> None:
    x = torch.zeros(3)
    x.add_(1)
    x[0].add_(1)
    x.detach().add_(1)
    x.data.add_(1)
    assert x._version == 3
    assert x.tolist() == [4.0, 3.0, 3.0]


@both
def test_hooks_stay_with_the_value_and_retain_grad_follows_the_tensor(torch: Any) -> None:
    x = torch.tensor([1.0], requires_grad=True)
    h = x * 1
    log: list[Any] = []
    h.register_hook(lambda g: log.append(("before", g.tolist())))
    h.retain_grad()
    h.mul_(3)
    h.register_hook(lambda g: log.append(("after", g.tolist())))
    h.sum().backward()
    assert log == [("after", [1.0]), ("before", [3.0])]
    assert h.grad.tolist() == [1.0]
