"""Random tensors. The generator is numpy's: the same seed gives the same numbers here, other numbers than in
torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays, dtypes
from ..tensor import Tensor
from .creation import finish, numpy_type
from .sizes import sizes_of
from .table import FACTORIES, composite, factory

_generator = numpy.random.default_rng(0)


@factory()
def manual_seed(seed: int) -> None:
    """Start the generator anew."""
    global _generator
    _generator = numpy.random.default_rng(int(seed) % (1 << 63))


@factory()
def seed() -> int:
    """Start the generator anew from a number that nobody knows, which is returned."""
    number = int(numpy.random.SeedSequence().generate_state(1)[0])
    manual_seed(number)
    return number


def _uniform(shape: Sequence[int]) -> Any:
    return _generator.random(tuple(shape))


def uniform(shape: Sequence[int], low: float, high: float) -> Any:
    """Random numbers from low to high."""
    return low + (high - low) * _uniform(shape)


def _normal(shape: Sequence[int]) -> Any:
    return _generator.standard_normal(tuple(shape))


def _random(name: str, draw: Any) -> None:
    def create(
        *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
        generator: Any = None, pin_memory: bool = False,
    ) -> Tensor:  # fmt: skip
        return finish(
            arrays.asarray(draw(sizes_of(size, name))).astype(numpy_type(dtype)), requires_grad, device
        )

    def like(
        F: Any, self: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False,
        memory_format: Any = None,
    ) -> Any:  # fmt: skip
        return create(*self.shape, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    FACTORIES[name] = create
    composite(name + "_like", methods=())(like)


_random("rand", _uniform)
_random("randn", _normal)


@factory()
def randint(
    *args: Any, low: int = 0, high: int | None = None, size: Any = None, dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """Random integers from low to high (not reached)."""
    given = list(args)
    if size is None:
        size = given.pop()
    if given:
        low, high = (0, given[0]) if len(given) == 1 else (given[0], given[1])
    if high is None or low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    numbers = _generator.integers(low, high, tuple(size))
    return finish(arrays.asarray(numbers).astype(numpy_type(dtype or dtypes.int64)), requires_grad, device)


@factory()
def randperm(n: int, *, dtype: Any = None) -> Tensor:
    """A random order of the numbers below n."""
    return finish(_generator.permutation(n).astype(numpy_type(dtype or dtypes.int64)))


@composite()
def bernoulli(F: Any, self: Any, p: Any = None) -> Any:
    """1 with the probability that each entry (or `p`) says, else 0."""
    chance = self.array() if p is None else p
    drawn = _uniform(self.shape) < chance
    return finish(arrays.asarray(drawn).astype(self.dtype.numpy))


@composite("uniform_", functions=())
def _uniform_(F: Any, self: Any, low: float = 0.0, high: float = 1.0) -> Any:
    numbers = low + (high - low) * _uniform(self.shape)
    return F.copy_(self, finish(arrays.asarray(numbers).astype(self.dtype.numpy)))


@composite("normal_", functions=())
def _normal_(F: Any, self: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    numbers = mean + std * _normal(self.shape)
    return F.copy_(self, finish(arrays.asarray(numbers).astype(self.dtype.numpy)))
