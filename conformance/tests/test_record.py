"""Recording: what is written, what is refused, and that nothing in it depends on the run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance import fixtures
from conformance import record as recording
from conformance.engines import EngineError, EngineHandle, EngineInfo, Failure, Reply, Trace
from conformance.programs import Program
from conformance.record import RecordError, add_bounds, first_difference, record

PROGRAM = (
    "# title: a sum\n# clauses: ACC-01\nx = torch.ones(2, requires_grad=True)\nx.sum().backward()\nx.grad\n"
)
RELEASE = "torch-9.9-cpu"


class Engine(EngineHandle):
    """A handle whose replies a test chooses."""

    def __init__(self, reply: Callable[[Program], Reply]) -> None:
        self.name = "torch"
        self.info = EngineInfo(
            "torch", "9.9+cpu", "CPython", "known", "ctypes", "cpu", {"threads": 1, "file": "/secret/place"}
        )
        self.reply = reply

    def run(self, programs: Sequence[Program]) -> list[Reply]:
        return [self.reply(program) for program in programs]

    def close(self) -> None:
        pass


def trace(program: Program, **more: Any) -> Trace:
    return Trace({"form": 1, "program": program.hash, "steps": [], "end": {}, "leaks": [], **more})


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "ACC" / "one.py"
    place.parent.mkdir()
    place.write_text(PROGRAM)
    yield tmp_path
    fixtures.forget()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    made = Engine(trace)
    monkeypatch.setattr(recording, "open_engine", lambda *_, **__: made)
    monkeypatch.setattr(recording, "prove_torch", lambda _: None)
    return made


def contents(root: Path) -> dict[str, bytes]:
    folder = root / fixtures.RECORDED
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.json")}


def test_a_recording_is_written_with_its_manifest(root: Path, engine: Engine) -> None:
    changes = record(RELEASE, root=root)
    assert changes.added == ("one",)
    assert set(contents(root)) == {f"{RELEASE}/ACC/one.json", f"{RELEASE}/MANIFEST.json"}
    assert fixtures.releases(root) == [RELEASE]
    assert fixtures.recorded_trace("one", RELEASE, root) is not None
    assert fixtures.provenance(RELEASE, root)["build"] == {"threads": 1}


def test_recording_again_gives_the_same_bytes(root: Path, engine: Engine) -> None:
    record(RELEASE, root=root)
    before = contents(root)
    changes = record(RELEASE, root=root)
    assert (changes.same, changes.added, changes.overwrites) == (1, (), False)
    assert contents(root) == before


def test_another_recording_is_refused_and_shown(root: Path, engine: Engine) -> None:
    record(RELEASE, root=root)
    before = contents(root)
    engine.reply = lambda program: trace(program, leaks=["grad mode"])
    with pytest.raises(RecordError, match=r"1 changed, 0 removed\n  changed  one: leaks.*--update") as caught:
        record(RELEASE, root=root)
    assert caught.value.where.endswith(RELEASE)
    assert contents(root) == before
    assert record(RELEASE, root=root, update=True).changed == (("one", "leaks"),)
    assert contents(root) != before


def test_a_changed_program_is_another_recording(root: Path, engine: Engine) -> None:
    record(RELEASE, root=root)
    (root / "ACC" / "one.py").write_text(PROGRAM.replace("ones(2", "ones(3"))
    fixtures.forget()
    with pytest.raises(RecordError, match="one: another program"):
        record(RELEASE, root=root)


def test_a_removed_fixture_is_not_forgotten_silently(root: Path, engine: Engine) -> None:
    (root / "ACC" / "two.py").write_text(PROGRAM)
    record(RELEASE, root=root)
    (root / "ACC" / "two.py").unlink()
    fixtures.forget()
    with pytest.raises(RecordError, match="removed  two"):
        record(RELEASE, root=root)
    record(RELEASE, root=root, update=True)
    assert f"{RELEASE}/ACC/two.json" not in contents(root)


def test_a_damaged_recording_is_not_compared_with(root: Path, engine: Engine) -> None:
    record(RELEASE, root=root)
    path = root / fixtures.RECORDED / RELEASE / "ACC" / "one.json"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(RecordError, match=r"one\.json: not the trace that was recorded.*restore it first"):
        record(RELEASE, root=root, update=True)


def test_another_release_is_refused(root: Path, engine: Engine) -> None:
    with pytest.raises(RecordError, match=r"torch-9\.8-cpu: the engine is torch-9\.9-cpu"):
        record("torch-9.8-cpu", root=root)


def test_a_failure_names_the_fixture(root: Path, engine: Engine) -> None:
    engine.reply = lambda _: Failure("crash", "signal 11")
    with pytest.raises(RecordError, match="one: no trace: crash: signal 11"):
        record(RELEASE, root=root)
    assert contents(root) == {}


def test_a_trace_that_comes_and_goes_is_refused(root: Path, engine: Engine) -> None:
    numbers = iter(range(9))
    engine.reply = lambda program: trace(program, end={"x": next(numbers)})
    with pytest.raises(RecordError, match=r"one: two runs give two traces, at end\.x"):
        record(RELEASE, root=root)


def test_what_is_not_torch_is_no_oracle(root: Path) -> None:
    with pytest.raises(EngineError):
        record("torch-2.13.0-cpu", "module:json", python=sys.executable, root=root)


def test_live_torch_is_recorded(root: Path) -> None:
    torch = pytest.importorskip("torch")
    release = f"torch-{torch.__version__.partition('+')[0]}-cpu"
    record(release, python=sys.executable, root=root)
    found = fixtures.recorded_trace("one", release, root)
    assert found is not None
    assert found["steps"][2]["value"][1]["bytes"] == "0000803f0000803f"
    about = json.dumps(dict(fixtures.provenance(release, root)))
    assert "cpu_capability" in about
    assert sys.prefix not in about


def test_first_difference() -> None:
    old = {"steps": [{"value": ["tensor", {"bytes": "00"}]}]}
    assert first_difference(old, old) == ""
    assert (
        first_difference(old, {"steps": [{"value": ["tensor", {"bytes": "01"}]}]}) == "steps.0.value.1.bytes"
    )
    assert first_difference(old, {"steps": []}) == "steps"
    assert first_difference(old, {"steps": old["steps"], "end": {}}) == "end"
    assert first_difference({"a": 1}, {"a": True}) == "a"


def test_bounds_are_put_beside_the_values_that_need_them() -> None:
    def tensor(bound: str | None = None, shape: int = 1) -> list[Any]:
        fields: dict[str, Any] = {"dtype": "float32", "shape": [shape], "bytes": "00000000"}
        return ["tensor", fields if bound is None else {**fields, "bound": bound}]

    seen: dict[str, Any] = {"steps": [{"value": tensor()}, {"value": tensor()}, {"value": tensor()}]}
    shadow = {
        "steps": [
            {"value": tensor("000000000000f03f")},
            {"value": tensor("0000000000000000"), "undecided": True},
            {"value": tensor("000000000000f03f", shape=2)},
        ]
    }
    add_bounds(seen, shadow)
    assert seen["steps"][0]["value"][1]["bound"] == "000000000000f03f"
    assert "bound" not in seen["steps"][1]["value"][1]
    assert seen["steps"][1]["undecided"] is True
    assert "bound" not in seen["steps"][2]["value"][1]
