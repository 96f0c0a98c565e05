"""The script to paste passes on real torch, and fails where torch would do what the engine did."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from conformance.compare import compare
from conformance.operations import runner_schema
from conformance.programs import Program, parse
from conformance.runner import Engine
from conformance.runner import run as run_program
from conformance.script import assertion_script

torch = pytest.importorskip("torch", reason="torch is not installed: scripts cannot be run")

SOURCE = """
x = torch.tensor([1.0, -2.0], requires_grad=True)
y = torch.ones(100, requires_grad=True)
w = x.detach()
((x * x).sum() + (y * 3.0).sum()).backward()
[x.grad, None, 2.5]
x.sum().backward(torch.ones(3))
z = x * 2
"""

Trace = dict[str, Any]


@cache
def _torch_trace() -> tuple[Program, Trace]:
    program = parse(SOURCE)
    return program, run_program(program.to_json(), Engine(torch, "torch"), runner_schema())


def seen(trace: Trace, at: int, name: str) -> dict[str, Any]:
    fields: dict[str, Any] = trace["steps"][at]["seen"][name][1]
    return fields


def grad(trace: Trace, name: str = "x") -> dict[str, Any]:
    fields: dict[str, Any] = seen(trace, 3, name)["grad"][1]
    return fields


MUTANTS: dict[str, Callable[[Trace], Any]] = {
    "another number": lambda t: grad(t).update(bytes="0000003f000080c0"),
    "the sign of a zero": lambda t: seen(t, 0, "x").update(bytes="0000803f010000c0"),
    "one of many entries": lambda t: grad(t, "y").update(bytes="00004040" * 99 + "00000040"),
    "no gradient": lambda t: seen(t, 3, "x").update(grad=None),
    "dtype": lambda t: grad(t).update(dtype="float64", bytes="000000000000f03f00000000000000c0"),
    "shape": lambda t: grad(t).update(shape=[2, 1], strides=[1, 1]),
    "requires_grad": lambda t: grad(t).update(requires_grad=True),
    "is_leaf": lambda t: seen(t, 6, "z").update(is_leaf=True),
    "node": lambda t: seen(t, 6, "z").update(grad_fn=None),
    "version": lambda t: seen(t, 0, "x").update(version=1),
    "strides": lambda t: seen(t, 0, "x").update(strides=[2]),
    "one object": lambda t: seen(t, 2, "w").update(id=seen(t, 2, "x")["id"]),
    "apart in memory": lambda t: seen(t, 2, "w").update(storage=[7, 0]),
    "a value in a list": lambda t: t["steps"][4]["value"][1].__setitem__(2, ["float", "2.0"]),
    "something for None": lambda t: t["steps"][4]["value"][1].__setitem__(1, 0),
    "no error": lambda t: t["steps"][5].update(outcome="ok", error=None) or t["steps"][5].pop("error"),
    "another error": lambda t: t["steps"][5]["error"].update(type="ValueError"),
    "another text": lambda t: t["steps"][5]["error"].update(text="no"),
    "an error": lambda t: t["steps"][6].update(
        outcome="raised", error={"type": "RuntimeError", "text": "no", "phase": "forward"}
    ),
    "grad mode": lambda t: t["steps"][6].update(grad_mode=False),
    "at the end": lambda t: t["end"]["z"][1].update(bytes="0000004000008040"),
}  # fmt: skip


def execute(script: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(script, "script", "exec"), {"__name__": "script"})


@pytest.mark.parametrize("name", MUTANTS)
def test_the_assertion_tells_torch_from_the_engine(name: str) -> None:
    program, oracle = _torch_trace()
    engine = copy.deepcopy(oracle)
    MUTANTS[name](engine)
    verdict = compare(program, oracle, engine, strength="torch-specific")
    assert verdict.kind == "diverges"
    right = assertion_script(program, oracle, engine, verdict.differences)
    assert [line.split()[0] for line in right.splitlines() if "import" in line] == ["import"]
    execute(right)
    swapped = compare(program, engine, oracle, strength="torch-specific")
    wrong = assertion_script(program, engine, oracle, swapped.differences)
    with pytest.raises((AssertionError, AttributeError)):
        execute(wrong)


def test_without_a_difference_it_is_the_program() -> None:
    program, _ = _torch_trace()
    script = assertion_script(program, None, None, ())
    assert "assert" not in script
    execute(script)


def test_what_no_line_can_assert_stands_as_a_comment() -> None:
    program, oracle = _torch_trace()
    engine = copy.deepcopy(oracle)
    engine["steps"][3]["warnings"] = [["UserWarning", "a\nb"]]
    verdict = compare(program, oracle, engine, strength="torch-specific")
    script = assertion_script(program, oracle, engine, verdict.differences)
    assert "# torch: warnings is [], not [['UserWarning', 'a\\nb']]" in script
    execute(script)
