"""Graphs on which the reference engine is measured beside torch and other engines."""

from __future__ import annotations

import gc
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

Work = Callable[[], Any]


def engines() -> dict[str, Any]:
    """Torch on one thread, the reference engine, and MyGrad and HIPS autograd where they are installed."""
    found = {"torch": import_module("torch"), "refimpl": import_module("refimpl")}
    found["torch"].set_num_threads(1)
    for name in ("mygrad", "autograd"):
        if find_spec(name) is not None:
            found[name] = import_module(name)
    return found


def chain(name: str, module: Any, length: int) -> Work:
    """Adds and muls of one number, by turns, forward and backward."""
    if name == "autograd":
        numpy = import_module("autograd.numpy")

        def value(x: Any) -> Any:
            y = x
            for _ in range(length // 2):
                y = (y + 1.0) * 1.0
            return y

        gradient = module.grad(value)
        return lambda: gradient(numpy.array(1.0))

    def go() -> None:
        x = module.tensor(1.0) if name == "mygrad" else module.tensor(1.0, requires_grad=True)
        y = x
        for _ in range(length // 2):
            y = (y + 1.0) * 1.0
        y.backward()

    return go


def wide(name: str, module: Any, leaves: int) -> Work:
    """Many leaves into one root."""

    def go() -> None:
        parts = [module.tensor(1.0, requires_grad=True) for _ in range(leaves)]
        module.stack(parts).sum().backward()

    return go


def reused(name: str, module: Any, uses: int) -> Work:
    """One leaf used many times."""

    def go() -> None:
        x = module.tensor(1.0, requires_grad=True)
        module.stack([x * 2.0 for _ in range(uses)]).sum().backward()

    return go


def perceptron(name: str, module: Any, batch: int) -> Work:
    """A step of a perceptron of two layers, 784-256-10."""
    first = module.full((784, 256), 0.01, requires_grad=True)
    second = module.full((256, 10), 0.01, requires_grad=True)
    images = module.ones(batch, 784)

    def go() -> None:
        first.grad = second.grad = None
        loss = ((images @ first).relu() @ second).sum()
        loss.backward()
        with module.no_grad():
            first.sub_(first.grad * 1e-4)
            second.sub_(second.grad * 1e-4)

    return go


def seconds(work: Work) -> float:
    """One run of the work, with the garbage collector on."""
    gc.collect()
    start = perf_counter()
    work()
    return perf_counter() - start


def bytes_of_a_node(module: Any, length: int) -> float:
    """Memory that a chain of the reference engine takes, a node."""
    tracemalloc.start()
    try:
        y = module.tensor(1.0, requires_grad=True)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(length // 2):
            y = (y + 1.0) * 1.0
        return (tracemalloc.get_traced_memory()[0] - before) / length
    finally:
        tracemalloc.stop()


def import_time(statement: str) -> float:
    """Seconds that a statement takes in a fresh interpreter where numpy is imported."""
    text = f"import numpy, time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    return float(
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    )
