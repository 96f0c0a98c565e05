"""The recording holds on every processor: torch's other code paths give no difference."""

from __future__ import annotations

import sys
from functools import partial

import pytest

from conformance.compare import compare
from conformance.engines import Trace, open_engine
from conformance.fixtures import load_fixtures, recorded_bounds, recorded_trace


@pytest.mark.parametrize("capability", ["default", "avx2"])
def test_replay_on_another_code_path_gives_no_difference(
    capability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__.partition("+")[0] != "2.13.0":
        pytest.skip("the newest recording is of torch 2.13.0")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", capability)
    corpus = load_fixtures(hazards=True)
    with open_engine("module:torch", python=sys.executable, in_process=False) as engine:
        assert engine.info.build["cpu_capability"] == capability.upper()
        replies = engine.run([one.program for one in corpus])
    differing = {}
    for one, reply in zip(corpus, replies, strict=True):
        recorded, bounds = recorded_trace(one.id), recorded_bounds(one.id)
        assert recorded is not None, one.id
        assert bounds is not None, one.id
        assert isinstance(reply, Trace), (one.id, reply)
        verdict = compare(
            one.program,
            recorded,
            reply.json,
            strength="torch-specific",
            bounds=partial(dict, bounds),
        )
        if verdict.kind != "conforms":
            differing[one.id] = verdict.differences
    assert differing == {}
