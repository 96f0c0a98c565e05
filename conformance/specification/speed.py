"""How long the whole corpus takes on the reference engine, in process and through the process protocol.

    python -m conformance.specification.speed [RUNS]

A measurement to be published, not a test: times decide nothing.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator, Sequence

from conformance import __version__
from conformance.engines import Trace, open_engine
from conformance.fixtures import load_fixtures
from conformance.programs import Program

ENGINE = "refimpl"


def seconds(programs: Sequence[Program], *, in_process: bool) -> float:
    """The time from opening the engine to its last trace. Raises RuntimeError if it breaks on a program."""
    start = time.perf_counter()
    with open_engine(ENGINE, in_process=in_process) as handle:
        replies = handle.run(programs)
    taken = time.perf_counter() - start
    if not all(isinstance(reply, Trace) for reply in replies):
        raise RuntimeError(f"{ENGINE} gave no trace for some program")
    return taken


def lines(runs: int) -> Iterator[str]:
    """The measurement as lines of Markdown."""
    programs = [fixture.program for fixture in load_fixtures()]
    yield f"# The corpus on {ENGINE}"
    yield ""
    yield f"Suite {__version__}, {len(programs)} fixtures, {platform.machine()} with {os.cpu_count()} cores,"
    yield f"Python {platform.python_version()}; {runs} runs each, the engine opened anew for each."
    yield ""
    yield "| | median | slowest |"
    yield "|---|---|---|"
    for title, in_process in (("in process", True), ("process protocol", False)):
        found = [seconds(programs, in_process=in_process) for _ in range(runs)]
        yield f"| {title} | {statistics.median(found):.2f} s | {max(found):.2f} s |"


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    for line in lines(int(arguments[0]) if arguments else 5):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
