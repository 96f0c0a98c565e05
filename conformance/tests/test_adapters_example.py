"""The complete example engine in another language, through the command line's own way."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance.engines
from conformance.engines import EngineHandle, Trace, open_engine
from conformance.engines.check import check
from conformance.plan import Case, fixture_cases, generated_cases
from conformance.programs import Program, parse
from conformance.run import judge

EXAMPLE = Path(conformance.engines.__file__).parent / "examples" / "tiny.js"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not on PATH: the example engine cannot run")


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineHandle]:
    with open_engine(f"command:{NODE} '{EXAMPLE}'") as opened:
        yield opened


@pytest.fixture(scope="module")
def torch() -> Iterator[EngineHandle]:
    pytest.importorskip("torch")
    with open_engine("torch", in_process=True) as opened:
        yield opened


def test_it_is_short() -> None:
    assert len(EXAMPLE.read_text("utf-8").splitlines()) < 300


def test_it_speaks_and_sums(engine: EngineHandle) -> None:
    source = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x + x).sum().backward()\nx.grad"
    reply = engine.run([parse(source)])[0]
    assert isinstance(reply, Trace)
    value = reply.json["steps"][2]["value"]
    assert value[1]["bytes"] == "000040400000a040"
    assert engine.info.name == "tiny-js"


@pytest.mark.parametrize(
    "source",
    [
        "x = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny.backward()\nx.grad",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * 2.0).backward()",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * x\ny.backward(torch.tensor([1.0, 10.0]))",
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nx.backward(torch.tensor([1.0]))\nx.grad",
        "a = torch.tensor([1.0, 2.0])\nb = torch.tensor([1.0, 2.0, 3.0])\nc = a + b\nc * a",
        "w = torch.tensor(2.0, requires_grad=True)\n(w * torch.tensor([1.0, 3.0])).sum().backward()\nw.grad",
        "x = torch.tensor(1.0)\nx.backward()",
        "x = torch.tensor(2.0, requires_grad=True)\ny = x * x\ny.backward(retain_graph=True)\ny.backward()",
        "x = torch.tensor(float(NAN), requires_grad=True)\nx.requires_grad\nx.is_leaf",
    ],
)
def test_it_shows_what_torch_shows(source: str, engine: EngineHandle, torch: EngineHandle) -> None:
    program = parse(source.replace("NAN", '"nan"'))
    theirs, ours = torch.run([program])[0], engine.run([program])[0]
    assert isinstance(theirs, Trace)
    found = judge(program, theirs, ours, "required", engine.info.unread).verdict
    assert (found.kind, found.differences) == ("conforms", ())


def test_every_fixture_gets_a_trace(engine: EngineHandle) -> None:
    cases: list[Case] = [*fixture_cases(), *generated_cases(0, 30)]
    programs: list[Program] = [case.program for case in cases]
    replies = engine.run(programs)
    assert [reply for reply in replies if not isinstance(reply, Trace)] == []
    unsupported = [
        reply
        for reply in replies
        if isinstance(reply, Trace) and any(step["outcome"] == "unsupported" for step in reply.json["steps"])
    ]
    assert len(unsupported) > len(programs) // 2


def test_it_is_an_honest_engine(engine: EngineHandle) -> None:
    assert [found for found in check(engine) if found.outcome == "fails"] == []
