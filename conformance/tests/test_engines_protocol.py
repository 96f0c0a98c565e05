"""The protocol's page and its schemas, against what is really said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import conformance.engines
from conformance import runner
from conformance.engines import process
from conformance.operations import runner_schema
from conformance.tests.engines_miniature import GOOD, MINIATURES

HERE = Path(conformance.engines.__file__).parent
PAGE = (HERE / "PROTOCOL.md").read_text("utf-8")


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((HERE / name).read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def conversation() -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages of the page with who says them."""
    block = PAGE.split("```")[1]
    said: list[list[str]] = []
    for line in block.strip().splitlines():
        if line[0] in "<>":
            said.append([line[0], line[2:]])
        else:
            said[-1][1] += line.strip()
    for who, text in said:
        yield who, json.loads(text.replace("{…}", "{}"))


def spoken(messages: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """What the runner answers."""
    answers: list[dict[str, Any]] = []
    runner.serve(name, [json.dumps(message).encode() for message in messages], answers.append)
    return answers


def test_the_conversation_fits_the_schemas() -> None:
    names = {">": "to-engine.schema.json", "<": "from-engine.schema.json"}
    messages = list(conversation())
    assert len(messages) == 7
    for who, message in messages:
        validator(names[who]).validate(message)


def test_the_reply_on_the_page_is_torchs() -> None:
    pytest.importorskip("torch")
    messages = [message for who, message in conversation() if who == ">"]
    messages[0]["schema"] = runner_schema()
    replies = [message for who, message in conversation() if who == "<"]
    answers = spoken(messages, "torch")
    assert answers[1:] == replies[1:]


def test_what_is_really_said_fits_the_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))
    monkeypatch.syspath_prepend(str(MINIATURES))
    sent: list[bytes] = []
    received: list[bytes] = []
    send, line = process.Process.send, process.Process.line

    def sending(self: process.Process, data: bytes) -> None:
        sent.append(data)
        send(self, data)

    def receiving(self: process.Process, timeout: float) -> bytes:
        got = line(self, timeout)
        received.append(got)
        return got

    monkeypatch.setattr(process.Process, "send", sending)
    monkeypatch.setattr(process.Process, "line", receiving)
    with conformance.engines.open_engine("module:tiny") as engine:
        engine.run([GOOD, GOOD])
    for data in sent:
        validator("to-engine.schema.json").validate(json.loads(data))
    for data in received:
        validator("from-engine.schema.json").validate(json.loads(data))
    assert (len(sent), len(received)) == (3, 4)
    refused = spoken([{"do": "hello", "protocol": 1, "schema": {}}], "no_such_module_here")
    validator("from-engine.schema.json").validate(refused[0])


def test_unknown_messages_are_answered() -> None:
    assert "unknown message 'dance'" in spoken([{"do": "dance"}], "tiny")[0]["error"]["what"]


def test_a_program_that_is_none_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(MINIATURES))
    hello = {"do": "hello", "protocol": 1, "schema": runner_schema()}
    answers = spoken([hello, {"do": "run", "batch": 0, "programs": [[5, {"form": 1}]]}], "tiny")
    assert answers[1] == {"id": 5, "error": "not a program of form 1"}
    assert answers[2] == {"done": 0}
