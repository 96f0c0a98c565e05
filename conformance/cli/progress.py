"""How a run shows that it goes on: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from conformance.results import ProgramResult

_SECONDS_BETWEEN_LINES = 10.0


class Lines:
    """Plain lines: each failure as it is found, and now and then a count."""

    def __init__(self, planned: int | None, stream: TextIO) -> None:
        self._planned, self._stream = planned, stream
        self._done = self._failing = 0
        self._last = time.monotonic()

    def result(self, result: ProgramResult) -> None:
        """One program is done."""
        self._done += 1
        if result.failing:
            self._failing += 1
            mark = "expected " if result.expected is not None else ""
            self._say(f"{mark}{result.verdict}: {result.id}")
        if time.monotonic() - self._last > _SECONDS_BETWEEN_LINES:
            of = "" if self._planned is None else f" of {self._planned}"
            self._say(f"{self._done}{of} programs, {self._failing} failing")

    def _say(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=self._stream, flush=True)

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        return None


class Bar:
    """A bar with counts."""

    def __init__(self, planned: int | None, stream: TextIO) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(file=stream),
        )
        self._task = self._progress.add_task("running", total=planned)
        self._failing = 0

    def result(self, result: ProgramResult) -> None:
        """One program is done."""
        self._failing += result.failing
        text = f"running, {self._failing} failing" if self._failing else "running"
        self._progress.update(self._task, advance=1, description=text)

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


def progress(planned: int | None, stream: TextIO | None = None) -> Bar | Lines:
    """The bar on a terminal, lines elsewhere."""
    stream = sys.stderr if stream is None else stream
    return Bar(planned, stream) if stream.isatty() else Lines(planned, stream)
