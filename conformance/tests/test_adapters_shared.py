"""What adapters share: files as modules, fields that are not compared, wrapped tensors, the tape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import runner
from conformance.compare import Verdict, compare
from conformance.divergences import collect, page, to_json
from conformance.engines import EngineError, EngineHandle, Trace, open_engine
from conformance.engines.catalogue import ADAPTERS
from conformance.operations import runner_schema
from conformance.plan import generated_cases
from conformance.programs import Program, parse
from conformance.results import read
from conformance.run import judge

ADAPTER = """
def conformance_engine(runner, device):
    import tiny

    class Mine(runner.Engine):
        reading = runner.constant(version=lambda t: 7)
        unread = frozenset(("dtype",))

    return Mine(tiny, "mine", {"main": device})
"""
SOURCE = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nx.grad"


def test_a_file_is_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.tests.engines_miniature import MINIATURES

    monkeypatch.syspath_prepend(str(MINIATURES))
    path = tmp_path / "mine.py"
    path.write_text(ADAPTER, "utf-8")
    engine = runner.load(str(path))
    trace = runner.run(parse(SOURCE).to_json(), engine, runner_schema())
    fields = trace["steps"][0]["seen"]["x"][1]
    assert fields["version"] == 7
    said = runner.describe(engine)["capabilities"]
    assert "dtype" in said["reads_absent"]
    assert "version" not in said["reads_absent"]
    assert said["dtypes"] == ["float64"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import no_such_engine", "ModuleNotFoundError"),
        ("def conformance_engine(runner, device):\n    import no_such_engine", "ModuleNotFoundError"),
        ("def conformance_engine(runner, device):\n    return 7", "gave 'int', no Engine"),
    ],
)
def test_a_file_that_makes_no_engine_says_why(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text, "utf-8")
    with pytest.raises(runner.EngineProblem, match=what):
        runner.load(str(path))


def tensor(**fields: Any) -> list[Any]:
    whole = {"dtype": "float32", "shape": [], "strides": [], "is_leaf": True, "requires_grad": True}
    return ["tensor", {**whole, "bytes": "0000803f", "grad": None, **fields}]


def trace(program: Program, value: list[Any]) -> dict[str, Any]:
    step = {"at": 0, "kind": "create", "outcome": "ok", "log": [], "warnings": [], "seen": {"x": value}}
    return {"form": 1, "program": program.hash, "steps": [step], "end": {"x": value}, "leaks": []}


def verdict(theirs: list[Any], ours: list[Any], *unread: str) -> Verdict:
    program = parse("x = torch.tensor(1.0, requires_grad=True)")
    return compare(program, trace(program, theirs), trace(program, ours), unread=frozenset(unread))


def without(value: list[Any], *names: str) -> list[Any]:
    return ["tensor", {key: part for key, part in value[1].items() if key not in names}]


def test_a_field_that_an_engine_lacks_is_compared_unless_it_says_so() -> None:
    assert verdict(tensor(), without(tensor(), "strides")).kind == "diverges"
    assert verdict(tensor(), without(tensor(), "strides"), "strides").kind == "conforms"
    assert verdict(tensor(), without(tensor(), "strides"), "dtype").kind == "diverges"


def test_what_stands_in_a_trace_without_being_the_engines_is_not_compared() -> None:
    ours = tensor(dtype="float64", bytes="000000000000f03f")
    assert verdict(tensor(), ours).kind == "diverges"
    assert verdict(tensor(), ours, "dtype").kind == "conforms"
    wrong = tensor(dtype="float64", bytes="0000000000000040")
    assert verdict(tensor(), wrong, "dtype").kind == "diverges"


def test_values_are_compared_whatever_an_engine_says() -> None:
    assert verdict(tensor(), tensor(bytes="00000040"), "bytes", "shape", "grad").kind == "diverges"
    grad = without(tensor(), "grad")
    assert verdict(tensor(grad=grad), tensor(), "grad").kind == "diverges"


def test_a_dtype_that_cannot_be_read_is_a_difference() -> None:
    found = verdict(tensor(), tensor(dtype=["raised", "KeyError", "weak"]), "dtype")
    assert [each.path for each in found.differences] == ["seen.x.bytes"]
    assert "unknown dtype" in found.differences[0].note


def test_a_field_of_gradients_alone_can_be_left_out() -> None:
    theirs = tensor(grad=without(tensor(requires_grad=False), "grad"))
    ours = tensor(grad=without(tensor(), "grad"))
    assert verdict(theirs, ours).kind == "diverges"
    assert verdict(theirs, ours, "grad.requires_grad").kind == "conforms"
    assert verdict(tensor(requires_grad=False), tensor(), "grad.requires_grad").kind == "diverges"


@pytest.fixture(scope="module")
def sides() -> Iterator[tuple[EngineHandle, EngineHandle]]:
    """Torch, and torch through the tape over `torch.func.vjp`."""
    pytest.importorskip("torch")
    with (
        open_engine("torch", in_process=True) as torch,
        open_engine("torch-func-vjp", in_process=True) as tape,
    ):
        yield torch, tape


def through_the_tape(source: str, sides: tuple[EngineHandle, EngineHandle]) -> tuple[Verdict, dict[str, Any]]:
    program = parse(source)
    theirs, ours = (side.run([program])[0] for side in sides)
    assert isinstance(theirs, Trace)
    assert isinstance(ours, Trace)
    return judge(program, theirs, ours, "required", sides[1].info.unread).verdict, ours.json


@pytest.mark.parametrize(
    "source",
    [
        SOURCE,
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nx.exp().backward(torch.tensor([1.0, 9.0]))",
        "x = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\ny.backward(create_graph=True)\ng = x.grad\n"
        "x.grad = None\ng.backward()\nx.grad",
        "x = torch.tensor([1.0, 1.0], requires_grad=True)\nx.max().backward()\nx.grad",
        "x = torch.tensor(2.0, requires_grad=True)\ny = x * x\n(g,) = torch.autograd.grad(y * y, [y])\ng",
        "x = torch.tensor([3.0, 1.0], requires_grad=True)\nv, i = torch.sort(x)\nv[0].backward()\nx.grad",
        "x = torch.tensor(float('nan'), requires_grad=True)\nx.backward()\nx.grad".replace("'", '"'),
        "a = torch.tensor([1.0, 2.0])\nb = torch.tensor([1.0, 2.0, 3.0])\na + b",
    ],
)
def test_the_tape_gives_what_the_engine_gives(source: str, sides: tuple[EngineHandle, EngineHandle]) -> None:
    found, _ = through_the_tape(source, sides)
    assert (found.kind, found.differences) == ("conforms", ())


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        (SOURCE + "\n(x * x).sum().backward()", "adding to a gradient that is there"),
        (
            "x = torch.tensor(2.0, requires_grad=True)\ny = x * x\ny.backward()\nx.grad = None\ny.backward()",
            "freed",
        ),
        ("x = torch.tensor([1.0], requires_grad=True)\nx += 1.0", "in-place operations"),
        ("x = torch.tensor([1.0, 2.0])\nx[0] = 1.0", "in-place operations"),
        ("x = torch.tensor([1.0, 2.0], requires_grad=True)\nx.backward()", "more than one real number"),
        ("x = torch.tensor(1.0)\nx.backward()", "what does not require grad"),
        ("x = torch.tensor(1.0)\nx.grad = torch.tensor(1.0)", "Tensor.grad = a tensor"),
        ("x = torch.tensor(1.0)\nx.requires_grad = True", "Tensor.requires_grad = a value"),
        ("x = torch.tensor(1.0)\ndel x.grad", "del Tensor.grad"),
        ("x = torch.tensor(1.0)\nx.is_leaf", "Tensor.is_leaf"),
        ("x = torch.tensor(1.0)\nref(x)", "ref"),
        ("x = torch.tensor(1.0)\nx is x", "whether two tensors are one"),
        ("with torch.no_grad():\n    pass", "torch.no_grad"),
        ("x = torch.tensor(1.0, requires_grad=True)\nh = x.register_hook(lambda g: g)", "register_hook"),
    ],
)
def test_what_the_tape_would_make_up_is_unsupported(
    source: str, missing: str, sides: tuple[EngineHandle, EngineHandle]
) -> None:
    found, shown = through_the_tape(source, sides)
    last = next(step for step in shown["steps"] if step["outcome"] != "ok")
    assert (found.kind, last["outcome"]) == ("unsupported", "unsupported")
    assert missing in last["missing"]


def test_generated_programs_do_not_diverge_through_the_tape(sides: tuple[EngineHandle, EngineHandle]) -> None:
    """Other orders of adding aside, an engine agrees with itself; what differs is a fault of the adapter."""
    programs = [case.program for case in generated_cases(3, 40)]
    theirs, ours = (side.run(programs) for side in sides)
    for program, a, b in zip(programs, theirs, ours, strict=True):
        assert isinstance(a, Trace)
        assert isinstance(b, Trace)
        found = judge(program, a, b, "required", sides[1].info.unread).verdict
        if found.differences and found.differences[0].kind == "grad":
            continue  # the gradient of what is not used is zeros there
        assert found.kind in ("conforms", "unsupported", "ill-conditioned"), found.differences


def test_shared_files_are_no_engines() -> None:
    with pytest.raises(EngineError):
        open_engine("_tape")
    assert (ADAPTERS / "_tape.py").exists()


def test_the_list_of_divergences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from conformance.cli import main
    from conformance.tests.engines_miniature import MINIATURES

    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))
    monkeypatch.chdir(tmp_path)
    assert main(["run", "module:tiny", "--families", "RETAIN", "--examples", "0", "--out", "out"]) == 1
    results = next(Path("out").glob("*.jsonl"))
    with open_engine("torch", in_process=True) as torch:
        rows = collect([read(results)], torch)
    assert rows
    assert len({(row.program, row.at) for row in rows}) == len(rows)
    assert all(row.statements <= 8 and row.engine == "tiny" and row.version == "0.1" for row in rows)
    assert to_json(rows)["engines"] == {"tiny 0.1": len(rows)}
    text = "\n".join(page(rows, "torch"))
    assert all(row.program in text for row in rows)
    assert main(["divergences", str(results), "--out", "found"]) == 0
    assert Path("found.md").read_text("utf-8").count("```python") == len(rows)
