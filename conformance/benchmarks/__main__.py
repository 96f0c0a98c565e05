"""`python -m conformance.benchmarks`: the whole table."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from typing import Any

from conformance.benchmarks import graphs
from conformance.benchmarks.line import Line, Split, decoding, drawn, plain


def show(name: str, split: Split) -> None:
    """Print one driver's split."""
    parts = ", ".join(f"{stage} {each / split.programs * 1e6:.0f}" for stage, each in split.seconds.items())
    print(
        f"{name}: {split.rate:.0f} programs/s of {split.statements / split.programs:.1f} statements; "
        f"µs a program: {parts} (bits differ in {split.shadows / split.programs:.0%}); "
        f"bound by {split.bounded_by}",
        flush=True,
    )


def line(count: int, rounds: int) -> None:
    """The generation line; of several rounds the fastest."""
    work = decoding(count)
    print(f"decode: {min(graphs.seconds(work) for _ in range(rounds)) / count * 1e6:.0f} µs a program")
    ready = Line()
    plain(ready, count)  # warm
    show("plain driver", max((plain(ready, count) for _ in range(rounds)), key=lambda split: split.rate))
    show("Hypothesis driver", max((drawn(ready, count) for _ in range(rounds)), key=lambda split: split.rate))


def ratios(title: str, make: Callable[..., graphs.Work], size: int, rounds: int, names: set[str]) -> None:
    """Each engine's time against torch's, the two measured by turns."""
    works = {name: make(name, module, size) for name, module in graphs.engines().items() if name in names}
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(graphs.seconds(work))
    for name, own in times.items():
        against = [a / b for a, b in zip(own, times["torch"], strict=True)]
        print(
            f"{title}, {name}: {min(own) / size * 1e6:.2f} µs each; to torch "
            f"{min(against):.2f} / {median(against):.2f} / {max(against):.2f} (min / median / max)",
            flush=True,
        )


def engine(rounds: int) -> None:
    """The reference engine beside the others."""
    every, two = {"torch", "refimpl", "mygrad", "autograd"}, {"torch", "refimpl"}
    for length, times in ((10, 100 * rounds), (1000, 10 * rounds), (100_000, rounds)):
        ratios(f"chain of {length:,}", graphs.chain, length, times, every)
    module: Any = graphs.engines()["refimpl"]
    short, long = (
        min(graphs.seconds(graphs.chain("refimpl", module, length)) for _ in range(2))
        for length in (100_000, 1_000_000)
    )
    print(f"refimpl, chain of 1,000,000: {long:.1f} s, {long / short:.1f}x of 100,000")
    print(f"refimpl, {graphs.bytes_of_a_node(module, 100_000):.0f} bytes a node")
    ratios("100,000 leaves", graphs.wide, 100_000, rounds, two)
    ratios("one leaf 100,000 times", graphs.reused, 100_000, rounds, two)
    ratios("perceptron, batch of 64", graphs.perceptron, 64, 10 * rounds, two)
    imports = [graphs.import_time("import refimpl") for _ in range(rounds)]
    print(f"import refimpl: {min(imports):.3f} / {median(imports):.3f} / {max(imports):.3f} s beyond numpy")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m conformance.benchmarks", description=__doc__)
    parser.add_argument("--programs", type=int, default=500, help="programs of each driver (default 500)")
    parser.add_argument("--rounds", type=int, default=5, help="repetitions (default 5)")
    parser.add_argument("--only", choices=("line", "engine"), help="one half of the table")
    given = parser.parse_args()
    if given.only != "engine":
        line(given.programs, given.rounds)
    if given.only != "line":
        engine(given.rounds)


if __name__ == "__main__":
    main()
