"""Programs made from integers: one decoder, driven by Hypothesis or by a plain generator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from conformance.generate.choices import random_choices
from conformance.generate.decode import decode, steps
from conformance.programs import Program

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def programs() -> SearchStrategy[Program]:
    """The decoder as a Hypothesis strategy. Raises ImportError where Hypothesis is not installed."""
    from conformance.generate import strategy

    return strategy.programs()


def sequence(seed: int, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, Program]]:
    """The programs of a seed, with their index: a range of indices is a shard of a campaign."""
    index = start
    while stop is None or index < stop:
        yield index, decode(random_choices(seed, index))
        index += 1


__all__ = ["decode", "programs", "random_choices", "sequence", "steps"]
