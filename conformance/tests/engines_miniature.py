"""Helpers of the tests that run miniature engines in processes of their own."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from conformance import runner
from conformance.engines import EngineHandle, open_engine
from conformance.programs import parse

MINIATURES = Path(__file__).parent / "miniatures"
GOOD = parse("x = torch.tensor(2.0, requires_grad=True)\ny = x * 3\ny.backward()\nx.grad")
OTHER = parse("x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nx.grad")
BAD = parse("x = torch.tensor(666)\nx")


def speaker(fault: str) -> str:
    """The spec of the engine that speaks the protocol with one fault."""
    words = [sys.executable, str(MINIATURES / "speaker.py"), str(Path(runner.__file__)), fault]
    return "command:" + " ".join(shlex.quote(word) for word in words)


def opened(spec: str, timeout: float = 20.0) -> EngineHandle:
    """A miniature in a process of its own."""
    return open_engine(spec, timeout=timeout)
