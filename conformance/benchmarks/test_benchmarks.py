"""The figures of the table under pytest-benchmark: `pytest conformance/benchmarks`."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.benchmarks import graphs
from conformance.benchmarks.line import Line, decoding, drawn, plain

pytest.importorskip("pytest_benchmark")
pytest.importorskip("torch")


def test_decode(benchmark: Any) -> None:
    benchmark(decoding(100))


@pytest.mark.parametrize("driver", [plain, drawn])
def test_line(benchmark: Any, driver: Any) -> None:
    line = Line()
    split = benchmark.pedantic(driver, (line, 100), rounds=3, warmup_rounds=1)
    benchmark.extra_info.update(split.seconds, rate=split.rate, bound_by=split.bounded_by)
    assert split.programs > 0


@pytest.mark.parametrize("name", ["torch", "refimpl", "mygrad", "autograd"])
@pytest.mark.parametrize("length", [10, 1000, 100_000])
def test_chain(benchmark: Any, name: str, length: int) -> None:
    pytest.importorskip(name)
    benchmark.pedantic(graphs.chain(name, graphs.engines()[name], length), rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("name", ["torch", "refimpl"])
@pytest.mark.parametrize(
    ("make", "size"), [(graphs.wide, 100_000), (graphs.reused, 100_000), (graphs.perceptron, 64)]
)
def test_graph(benchmark: Any, make: Any, size: int, name: str) -> None:
    benchmark.pedantic(make(name, graphs.engines()[name], size), rounds=3, warmup_rounds=1)
