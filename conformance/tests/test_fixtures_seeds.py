"""The two user documents: every value and both error texts that they print, on each recorded release.

The first document shows torch 1.2.0, the second torch 1.9.0. What they print is what the recordings hold,
with each release's own wording of the errors.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance import runner
from conformance.fixtures import load_fixtures, recorded_trace

RELEASES = ("torch-2.13.0-cpu", "torch-1.9.0-cpu", "torch-1.2.0-cpu")
ONCE = [5430.0, 59220.0, 16320.0]
TWICE = [10860.0, 118440.0, 32640.0]
THRICE = [16290.0, 177660.0, 48960.0]
ZEROS = [0.0, 0.0, 0.0]
FREED = (
    "Trying to backward through the graph a second time (or directly access saved {0} after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved {0} after calling backward."
)
SECOND_TIME = {
    "torch-2.13.0-cpu": FREED.format("tensors"),
    "torch-1.9.0-cpu": FREED.format("variables"),
    "torch-1.2.0-cpu": "Trying to backward through the graph a second time, but the buffers have already "
    "been freed. Specify retain_graph=True when calling backward the first time.",
}


def trace_of(name: str, release: str) -> dict[str, Any]:
    trace = recorded_trace(name, release)
    assert trace is not None
    return trace


def printed(name: str, release: str) -> list[Any]:
    """What the `print` statements of a document showed: the numbers of a tensor, or None."""
    program = next(one.program for one in load_fixtures(["seeds"]) if one.id == name)
    steps = zip(program.body, trace_of(name, release)["steps"], strict=True)
    return [numbers(step["value"]) for statement, step in steps if statement["do"] == "print"]


def numbers(value: Any) -> Any:
    if value is None:
        return None
    flat = runner.unpack(value[1]["dtype"], bytes.fromhex(value[1]["bytes"]))
    return flat if value[1]["shape"] else flat[0]


def errors(name: str, release: str) -> list[tuple[str, str]]:
    steps = trace_of(name, release)["steps"]
    return [(step["error"]["type"], step["error"]["text"]) for step in steps if step["outcome"] == "raised"]


@pytest.mark.parametrize("release", RELEASES)
def test_first_document_first_session(release: str) -> None:
    assert printed("seed-vector-root-session-1", release) == [None, None, None, ONCE]
    assert errors("seed-vector-root-session-1", release) == [("RuntimeError", SECOND_TIME[release])]
    root = trace_of("seed-vector-root-session-1", release)["end"]["Y"]
    assert numbers(root) == [123.0, 112.0, 109.0]
    assert root[1]["grad_fn"] == "CopySlices"


@pytest.mark.parametrize("release", RELEASES)
def test_first_document_second_session(release: str) -> None:
    gradients = [None, ONCE, TWICE, THRICE, ZEROS, ONCE, ZEROS, ONCE]
    assert printed("seed-vector-root-session-2", release) == [
        value for gradient in gradients for value in (gradient, None)
    ]
    assert errors("seed-vector-root-session-2", release) == []


@pytest.mark.parametrize("release", RELEASES)
def test_second_document_first_example(release: str) -> None:
    assert printed("seed-scalar-root", release) == [4.0, 4.0, 4.0, 8.0, 4.0, 12.0, 4.0, 14.0, 14.0]
    assert errors("seed-scalar-root", release) == []


@pytest.mark.parametrize("release", RELEASES)
def test_second_document_second_example(release: str) -> None:
    refused, seeded = "seed-vector-root-without-seed", "seed-vector-root-with-ones"
    assert printed(refused, release) == [[4.0, 9.0, 16.0], None]
    text = "grad can be implicitly created only for scalar outputs"
    assert errors(refused, release) == [("RuntimeError", text)]
    assert printed(seeded, release) == [[4.0, 9.0, 16.0], [4.0, 6.0, 8.0]]
    assert errors(seeded, release) == []
