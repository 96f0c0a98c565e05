"""The line of generated programs on one core: decode, run on torch, run on the reference engine, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import process_time

import refimpl
from conformance.compare import compare
from conformance.generate import decode, random_choices
from conformance.generate import programs as strategy
from conformance.operations import runner_schema
from conformance.programs import Program
from conformance.runner import Engine, run
from conformance.shadow import NoRule, bounds_of

SEED = 20
FEWEST_STATEMENTS, MOST_STATEMENTS = 15, 25

STAGES = ("generate", "torch", "refimpl", "compare", "bounds")


@dataclass
class Split:
    """CPU seconds by stage: a busy machine disturbs them less.

    `bounds` is the shadow, evaluated only where bits differ.
    """

    programs: int = 0
    statements: int = 0
    shadows: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    @property
    def total(self) -> float:
        """All seconds."""
        return sum(self.seconds.values())

    @property
    def rate(self) -> float:
        """Programs a second, everything included."""
        return self.programs / self.total

    @property
    def bounded_by(self) -> str:
        """The stage that takes longest."""
        return max(self.seconds, key=lambda stage: self.seconds[stage])


class Line:
    """Both engines in this process, torch on one thread."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch, self.refimpl = Engine(torch, "torch"), Engine(refimpl, "refimpl")
        self.schema = runner_schema()

    def judge(self, program: Program, split: Split) -> None:
        """Run a program on both engines, compare all they show, and add to the split."""
        body = program.to_json()
        seconds = split.seconds
        start = process_time()
        oracle = run(body, self.torch, self.schema, False, program.hash)
        ran = process_time()
        engine = run(body, self.refimpl, self.schema, False, program.hash)
        done = process_time()
        within = 0.0

        def bounds() -> dict[str, object]:
            nonlocal within
            began = process_time()
            try:
                return bounds_of(program)
            finally:
                within = process_time() - began

        try:
            compare(program, oracle, engine, strength="torch-specific", bounds=bounds)
        except NoRule:  # bits differ where there is no bound: counted as compared
            within = within or process_time() - done
        end = process_time()
        seconds["torch"] += ran - start
        seconds["refimpl"] += done - ran
        seconds["compare"] += end - done - within
        seconds["bounds"] += within
        split.shadows += within > 0
        split.programs += 1
        split.statements += len(program.body)


def sized(seed: int) -> Iterator[list[int]]:
    """Choices whose programs have about 20 statements."""
    index = 0
    while True:
        choices = random_choices(seed, index)
        if FEWEST_STATEMENTS <= len(decode(choices).body) <= MOST_STATEMENTS:
            yield choices
        index += 1


def plain(line: Line, count: int) -> Split:
    """The plain driver."""
    split = Split()
    waiting = sized(SEED)
    for choices in [next(waiting) for _ in range(count)]:
        start = process_time()
        program = decode(choices)
        _ = program.hash
        split.seconds["generate"] += process_time() - start
        line.judge(program, split)
    return split


def drawn(line: Line, count: int) -> Split:
    """The Hypothesis driver. Programs are those that it draws, of any length; what it adds is `generate`."""
    from hypothesis import HealthCheck, Phase, given, settings

    split = Split()

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],  # slowness is what is measured
    )
    @given(strategy())
    def each(program: Program) -> None:
        line.judge(program, split)

    start = process_time()
    each()
    split.seconds["generate"] = process_time() - start - split.total
    return split


def decoding(count: int) -> Callable[[], None]:
    """Decode that many lists of integers."""
    waiting = sized(SEED)
    choices = [next(waiting) for _ in range(count)]

    def go() -> None:
        for each in choices:
            decode(each)

    return go
