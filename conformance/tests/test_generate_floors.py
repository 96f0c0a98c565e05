"""What generated programs are worth on real torch: floors that must not be undercut."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from conformance import runner
from conformance.generate import sequence
from conformance.operations import runner_schema
from conformance.programs import Program

torch = pytest.importorskip("torch")

COUNT = 400
SEED = 31
KINDS = "create operation in-place view setitem delete backward grad hook observe block define set"


@pytest.fixture(scope="module")
def traces() -> list[tuple[Program, dict[str, Any]]]:
    engine, schema = runner.Engine(torch, "torch"), runner_schema()
    with warnings.catch_warnings():
        return [
            (program, runner.run(program.to_json(), engine, schema))
            for _, program in sequence(SEED, 0, COUNT)
        ]


def gradients(trace: dict[str, Any]) -> Iterator[Any]:
    for seen in trace["end"].values():
        if isinstance(seen, list) and seen[0] == "tensor" and isinstance(seen[1].get("grad"), list):
            yield seen[1]["grad"]


def test_most_programs_end_in_a_gradient(traces: list[tuple[Program, dict[str, Any]]]) -> None:
    ending = sum(any(True for _ in gradients(trace)) for _, trace in traces)
    assert ending >= 0.9 * COUNT


def test_most_last_passes_work(traces: list[tuple[Program, dict[str, Any]]]) -> None:
    assert sum(trace["steps"][-1]["outcome"] == "ok" for _, trace in traces) >= 0.85 * COUNT


def test_statements_mostly_work_and_some_raise(traces: list[tuple[Program, dict[str, Any]]]) -> None:
    outcomes = Counter(step["outcome"] for _, trace in traces for step in trace["steps"])
    total = sum(outcomes.values())
    assert outcomes["unsupported"] == 0
    assert outcomes["ok"] >= 0.85 * total
    assert outcomes["raised"] >= 0.02 * total
    assert outcomes["skipped"] <= 0.02 * total


def test_every_kind_of_statement_occurs(traces: list[tuple[Program, dict[str, Any]]]) -> None:
    kinds = {step["kind"] for _, trace in traces for step in trace["steps"]}
    assert kinds == set(KINDS.split())


def test_errors_of_many_clauses_occur(traces: list[tuple[Program, dict[str, Any]]]) -> None:
    texts = {
        step["error"]["text"][:40]
        for _, trace in traces
        for step in trace["steps"]
        if step["outcome"] == "raised"
    }
    assert len(texts) >= 30


def test_torch_agrees_with_itself(traces: list[tuple[Program, dict[str, Any]]]) -> None:
    """A program on which torch differs from torch would be a false alarm about every engine."""
    engine, schema = runner.Engine(torch, "torch"), runner_schema()
    for program, trace in traces[:150]:
        with warnings.catch_warnings():
            again = runner.run(program.to_json(), engine, schema)
        assert runner.dumps(again) == runner.dumps(trace)
