"""The script to paste runs in a bare interpreter and shows what the program shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.programs import parse, standalone_script

pytest.importorskip("torch")

PROGRAM = parse("""\
# title: a script
value = bits("f32", "0000803f00000040")
x = torch.tensor([3.0, 5.0], requires_grad=True)
def hook(g):
    g
    log(g * 2)
y = (x * value).sum()
y.register_hook(hook)
y.backward()
x.grad
y.backward()
with thread("a"):
    raised = x.detach() * 2
    log(thread_name())
with threads(2):
    raised.sum()
kept = ref(raised)
kept() is raised
with warnings_once():
    copy.copy(raised)
torch.ones(1, device=torch.device("main"))
thread_name()
""")


def _run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    file = folder / "script.py"
    file.write_text(script, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-I", str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        check=False,
    )


def _right(index: int, value: str, error: str) -> list[str]:
    if index == 6:
        return [f"assert {value}.tolist() == [1.0, 2.0], {value}"]
    if index == 7:
        return [f"assert type({error}) is RuntimeError, {error}"]
    return ["print('the end')"] if index == len(PROGRAM.body) else []


def test_the_script_runs_and_its_assertions_hold(tmp_path: Path) -> None:
    done = _run(standalone_script(PROGRAM, after=_right), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "tensor(1.)\nlog: tensor(2.)\n" in done.stdout
    assert "statement 7: RuntimeError: Trying to backward through the graph a second time" in done.stdout
    assert "log: a\n" in done.stdout
    assert done.stdout.endswith("main\nthe end\n")


def test_a_wrong_value_makes_the_script_fail(tmp_path: Path) -> None:
    def wrong(index: int, value: str, error: str) -> list[str]:
        return [f"assert {value}.tolist() == [1.0, 2.5], {value}"] if index == 6 else []

    done = _run(standalone_script(PROGRAM, after=wrong), tmp_path)
    assert done.returncode == 1
    assert "AssertionError: tensor([1., 2.])" in done.stderr


def test_only_the_named_statements_are_caught() -> None:
    script = standalone_script(PROGRAM, raising=[7])
    assert script.count("try:\n    y.backward()") == 1
    assert script.count("except Exception") == 1


def test_devices_are_bound() -> None:
    script = standalone_script(
        PROGRAM, devices={"main": "cuda", "other": "cpu", "host": "cpu", "meta": "meta"}
    )
    assert 'torch.ones(1, device=torch.device("cuda"))' in script
    assert 'torch.set_default_device("cuda")' in script
    assert "set_default_device" not in standalone_script(PROGRAM)


def test_helpers_appear_only_where_needed() -> None:
    script = standalone_script(parse("x = torch.ones(2)\nx.sum()\n"))
    assert script == (
        "import torch\n\nx = torch.ones(2)\ntry:\n    print(x.sum())\nexcept Exception as raised:\n"
        '    print("statement 1:", type(raised).__name__ + ":", raised)\n'
    )
