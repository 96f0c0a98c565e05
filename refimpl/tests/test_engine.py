"""The backward pass: order, restriction, what stays after an error, depth."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from typing import Any

import pytest

from .engines import both, load


@both
def test_ready_nodes_of_equal_priority_run_in_heap_order(torch: Any) -> None:
    leaves = [torch.tensor(1.0, requires_grad=True) for _ in range(4)]
    order: list[int] = []
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda g, i=i: order.append(i))
    torch.stack(leaves).sum().backward()
    assert order == [0, 2, 1, 3]


@both
def test_interior_nodes_run_latest_first_and_leaves_at_once(torch: Any) -> None:
    order: list[str] = []

    def seen(name: str, tensor: Any) -> Any:
        tensor.register_hook(lambda g: order.append(name))
        return tensor

    a, b, c = (seen(name, torch.tensor(1.0, requires_grad=True)) for name in "abc")
    p, q, s = seen("p", a * 2), seen("q", b * 3), seen("s", c * 4)
    (p + q + s).backward()
    assert order == ["s", "c", "q", "b", "p", "a"]


@both
def test_a_failing_node_keeps_what_it_saved_and_what_ran_is_freed(torch: Any) -> None:
    class Boom(torch.autograd.Function):  # type: ignore[misc]
        failing = True

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if Boom.failing:
                raise ValueError("boom")
            return g

    x = torch.tensor(2.0, requires_grad=True)
    v = torch.tensor(3.0, requires_grad=True)
    b = Boom.apply(x * x)
    c = b * b + v * v
    with pytest.raises(ValueError, match="boom"):
        c.backward()
    assert (v.grad.item(), x.grad) == (6.0, None)
    Boom.failing = False
    with pytest.raises(RuntimeError, match="second time"):
        c.backward()
    b.backward()
    assert x.grad.item() == 4.0


@both
def test_inputs_restrict_what_runs_and_what_is_freed(torch: Any) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    y = a * a + b * b
    y.backward(inputs=[a])
    assert (a.grad.item(), b.grad) == (4.0, None)
    y.backward(inputs=[b])
    assert b.grad.item() == 6.0


@both
def test_grad_calls_the_hooks_of_a_root_that_does_not_run(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    other = torch.tensor(1.0, requires_grad=True)
    h = x * 2
    h.retain_grad()
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        torch.autograd.grad(h, [other], torch.ones(2))
    assert h.grad.tolist() == [1.0, 1.0]


@both
def test_reentrant_backward_deeper_than_the_limit(torch: Any) -> None:
    depth = 0

    class Nested(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            nonlocal depth
            if depth < 200:
                depth += 1
                with torch.enable_grad():
                    Nested.apply(torch.ones(1, requires_grad=True)).sum().backward()
            return g

    x = torch.ones(1, requires_grad=True)
    Nested.apply(x).sum().backward()
    assert depth == 200
    assert x.grad.tolist() == [1.0]


def test_a_deep_graph_runs_and_is_freed_without_recursion() -> None:
    limit = sys.getrecursionlimit()
    x = load("refimpl").tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    sys.setrecursionlimit(120)
    try:
        y.backward()
        del y
    finally:
        sys.setrecursionlimit(limit)
    assert x.grad.item() == 1.0


@both
def test_the_graph_dies_with_its_root(torch: Any) -> None:
    x = torch.tensor([1.0], requires_grad=True)
    y = x.exp() * x
    leaf = weakref.ref(x)
    del x
    assert leaf() is not None
    y.sum().backward()
    del y
    gc.collect()
    assert leaf() is None


@both
def test_two_threads_on_one_retained_graph(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    threads = [
        threading.Thread(target=lambda: [y.backward(retain_graph=True) for _ in range(50)]) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [200.0, 400.0]


@both
def test_grad_mode_comes_back_after_an_error(torch: Any) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2

    def hook(g: Any) -> Any:
        torch.set_grad_enabled(True)
        raise KeyError("k")

    y.register_hook(hook)
    with torch.no_grad():
        with pytest.raises(KeyError):
            y.backward()
        assert not torch.is_grad_enabled()


@both
def test_a_callback_runs_at_the_end_of_the_pass(torch: Any) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    seen: list[Any] = []
    queue = torch.autograd.Variable._execution_engine.queue_callback
    y = x * 2
    y.register_hook(lambda g: queue(lambda: seen.append(x.grad.item())))
    y.backward()
    assert seen == [2.0]
    with pytest.raises(RuntimeError, match="Final callbacks"):
        queue(lambda: None)
