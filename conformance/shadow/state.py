"""What a shadow run decides, and what leaves it without a bound.

A truth that python asks of an inexact number may come out otherwise on another engine; from there on the
program may take another way, and nothing more is known. Numbers that are read out of arrays (`item`,
`tolist`) keep their bounds in a table, so that they are known when they are shown or come back as operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

# Another engine may be this many bounds away: the multiple that comparing allows.
MARGIN = 2.0


@dataclass
class Run:
    """One shadow run."""

    undecided: str = ""  # the first question that the bounds leave open
    lacking: str = ""  # the first function of the array library without a rule
    escaped: dict[Any, float] = field(default_factory=dict)  # numbers read out of arrays, with their bounds

    def leave_open(self, question: str) -> None:
        """Note that another engine may answer otherwise."""
        self.undecided = self.undecided or question


_run = Run()


def current() -> Run:
    """The run that operations belong to."""
    return _run


@contextmanager
def running() -> Iterator[Run]:
    """A new run inside the `with` block."""
    global _run
    before, _run = _run, Run()
    try:
        yield _run
    finally:
        _run = before
