"""The decoder as a Hypothesis strategy."""

from __future__ import annotations

from hypothesis import strategies

from conformance.generate.choices import FEWEST_STEPS, MOST_STEPS, WORD_LIMIT
from conformance.generate.decode import decode
from conformance.programs import Program


def programs() -> strategies.SearchStrategy[Program]:
    """Programs of every kind that the decoder knows. Shrinking removes steps and makes them plain."""
    words = strategies.integers(0, WORD_LIMIT)
    return strategies.lists(words, min_size=FEWEST_STEPS, max_size=MOST_STEPS + 4).map(decode)
