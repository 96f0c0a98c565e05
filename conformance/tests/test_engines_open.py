"""Opening engines: every way in, and one clear line for everything that can go wrong."""

from __future__ import annotations

import ast
import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from conformance import runner
from conformance.engines import EngineError, Failure, Trace, host, known_engines, open_engine, registry
from conformance.engines.inprocess import open_in_process
from conformance.fixtures import load_fixtures
from conformance.tests.engines_miniature import GOOD, MINIATURES, OTHER


@pytest.fixture
def miniatures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))
    monkeypatch.syspath_prepend(str(MINIATURES))


def refusal(spec: str, **options: Any) -> EngineError:
    with pytest.raises(EngineError) as caught:
        open_engine(spec, **options)
    assert "\n" not in str(caught.value)
    assert caught.value.where
    assert caught.value.hint
    return caught.value


def test_known_engines() -> None:
    assert {"torch", "refimpl"} <= set(known_engines())


@pytest.mark.parametrize(
    ("spec", "what", "hint"),
    [
        ("torhc", "no engine has this name", "did you mean torch"),
        ("statistics", "no engine has this name", "write module:statistics"),
        ("zzzzzz", "no engine has this name", "known are "),
        ("module:", "nothing stands after module:", "module:NAME"),
        ("command:", "nothing stands after command:", "module:NAME"),
        ("module:a-b", "'a-b' is no module's name", "module:NAME"),
        (
            "module:no_such_module_here",
            "no_such_module_here cannot be imported: ModuleNotFoundError",
            "import",
        ),
        ("command:/no/such/program", "'/no/such/program' cannot be run: No such file", "path"),
        ("command:'open", "the command cannot be split into words", "quotes"),
        ("command:true", "no hello: it ended with status 0", "by hand"),
    ],
)
def test_refusals(spec: str, what: str, hint: str) -> None:
    error = refusal(spec)
    assert what in error.what
    assert hint in error.hint
    assert spec in error.where


@pytest.mark.usefixtures("miniatures")
@pytest.mark.parametrize(
    ("spec", "what"),
    [
        ("module:broken", "broken cannot be imported: RuntimeError: the shared library is missing"),
        ("module:exits", "exits cannot be imported: SystemExit: no licence"),
        ("module:leaves", "no hello: it ended with status 5"),
        ("module:nothing", "nothing has no tensor"),
    ],
)
def test_modules_that_are_no_engine(spec: str, what: str) -> None:
    assert what in refusal(spec).what


@pytest.mark.usefixtures("miniatures")
def test_a_module_that_never_finishes_its_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host.ProcessEngine.__init__, "__kwdefaults__", {
        **(host.ProcessEngine.__init__.__kwdefaults__ or {}), "start_timeout": 1.0,
    })  # fmt: skip
    assert "did not say hello within 1 s" in refusal("module:stuck", timeout=1).what


@pytest.mark.usefixtures("miniatures")
def test_a_module_that_prints_is_heard_all_the_same() -> None:
    with open_engine("module:chatty") as engine:
        assert isinstance(engine.run([GOOD])[0], Trace)


def test_options_that_exclude_each_other() -> None:
    assert "another Python" in refusal("torch", python=sys.executable, in_process=True).what
    assert "process of its own" in refusal("command:true", in_process=True).what
    assert "its own interpreter" in refusal("command:true", python=sys.executable).what
    assert "no Python at /no/python" in refusal("module:tiny", python="/no/python").what


@pytest.mark.parametrize("in_process", [True, False])
def test_a_device_that_is_not_there(in_process: bool) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        assert "no device cuda:9999" in refusal("torch", device="cuda:9999", in_process=in_process).what
        return
    error = refusal("torch", device="cuda", in_process=in_process)
    assert error.what == f"no device cuda in torch {torch.__version__}"
    assert "--device cpu" in error.hint
    assert "no device cuda in refimpl" in refusal("refimpl", device="cuda", in_process=in_process).what


class Entry:
    """An entry point that needs no installed package."""

    group = registry.GROUP

    def __init__(self, name: str, loads: Callable[[], object]) -> None:
        self.name, self.value, self._loads = name, f"package:{name}", loads

    def load(self) -> object:
        return self._loads()


@pytest.mark.usefixtures("miniatures")
def test_engines_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> object:
        raise ImportError("no numpy")

    def handle(**_: object) -> object:
        return open_in_process("tiny", where="here")

    entries = [
        Entry("spec", lambda: "module:tiny"),
        Entry("maker", lambda: handle),
        Entry("fails", fails),
        Entry("odd", lambda: 7),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    assert {"spec", "maker", "fails", "odd"} <= set(known_engines())
    for name in ("spec", "maker"):
        with open_engine(name) as engine:
            assert engine.name == "tiny"
    assert "fails: ImportError: no numpy" in refusal("fails").what
    assert "gave int" in refusal("odd").what
    assert refusal("makr").hint == "did you mean maker?"


@pytest.mark.usefixtures("miniatures")
def test_in_process_and_out_of_process_give_the_same_bytes() -> None:
    for spec in ("module:tiny",):
        with open_engine(spec, in_process=True) as here, open_engine(spec) as there:
            assert dumped(here.run([GOOD, OTHER])) == dumped(there.run([GOOD, OTHER]))
            assert here.info.bytes_rung == there.info.bytes_rung == "lists"


@pytest.mark.parametrize("name", ["torch", "refimpl"])
def test_the_whole_corpus_in_process_and_out_of_process(name: str) -> None:
    pytest.importorskip(name)
    programs = [fixture.program for fixture in load_fixtures()]
    with open_engine(name, in_process=True) as here, open_engine(name, in_process=False) as there:
        ours, theirs = dumped(here.run(programs)), dumped(there.run(programs))
    differing = [fixture.id for fixture, a, b in zip(load_fixtures(), ours, theirs, strict=True) if a != b]
    assert differing == []


def dumped(replies: list[Any]) -> list[str]:
    return [runner.dumps(reply.json) if isinstance(reply, Trace) else str(reply) for reply in replies]


# -- other interpreters


def test_the_runner_is_written_in_the_syntax_of_python_3_6() -> None:
    for path in (Path(runner.__file__), *MINIATURES.glob("*.py")):
        ast.parse(path.read_text("utf-8"), feature_version=(3, 6))


@lru_cache
def python_3_6() -> str | None:
    """An interpreter of Python 3.6: CONFORMANCE_PYTHON36, on the path, or of pyenv."""
    root = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    found = [
        os.environ.get("CONFORMANCE_PYTHON36"),
        *sorted(glob.glob(f"{root}/versions/3.6*/bin/python")),
        shutil.which("python3.6"),
    ]
    return next((path for path in found if path and runs_3_6(path)), None)


def runs_3_6(path: str) -> bool:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return done.returncode == 0 and "Python 3.6." in done.stdout + done.stderr


@pytest.mark.usefixtures("miniatures")
@pytest.mark.skipif(python_3_6() is None, reason="no Python 3.6 here (set CONFORMANCE_PYTHON36 to one)")
def test_under_python_3_6_the_traces_are_the_same() -> None:
    errors = GOOD.with_body((
        *GOOD.body, {"do": "expr", "value": ["method", ["name", "x"], "sum", [], {"dim": 0}]},
        {"do": "expr", "value": ["method", ["name", "x"], "view", [3], {}]},
        {"do": "expr", "value": ["call", "torch.zeros", [3], {}]},
        {"do": "with", "items": [[["call", "threads", [2], {}], None]], "body": [
            {"do": "expr", "value": ["binary", "*", ["name", "x"], 2]},
        ]},
    ))  # fmt: skip
    with open_engine("module:tiny", python=python_3_6()) as old, open_engine("module:tiny") as new:
        assert old.info.python.startswith("CPython 3.6")
        replies = old.run([GOOD, OTHER, errors])
        assert dumped(replies) == dumped(new.run([GOOD, OTHER, errors]))
    assert not any(isinstance(reply, Failure) for reply in replies)


def test_modules_of_the_user_are_not_hidden_by_those_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("operations", "results", "run", "runner", "fixtures"):
        shutil.copy(MINIATURES / "tiny.py", tmp_path / f"{name}.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for name in ("operations", "results", "run", "runner", "fixtures"):
        with open_engine(f"module:{name}") as engine:
            assert Path(engine.info.build["file"]).parent == tmp_path
            assert isinstance(engine.run([GOOD])[0], Trace)


def test_the_runner_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    shutil.copy(MINIATURES / "tiny.py", tmp_path)
    shutil.copy(runner.__file__, tmp_path / "sent.py")
    code = "import sys, runpy; runpy.run_path('sent.py', run_name='__main__')"
    talk = b'{"do":"hello","protocol":1,"schema":{"functions":{},"methods":{}}}\n{"do":"bye"}\n'
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", "import sys; sys.path.insert(0, ''); " + code, "tiny"],
        input=talk,
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b'{"hello":')
    assert done.stdout.endswith(b'{"bye":true}\n')


@pytest.mark.usefixtures("miniatures")
def test_a_module_may_bring_its_own_adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "adapted.py").write_text(
        "import tiny\n"
        "def conformance_engine(runner, device):\n"
        "    class Adapter(runner.Engine):\n"
        "        def node_name(self, node):\n"
        "            return 'Adapted'\n"
        "    return Adapter(tiny, 'adapted', absent=['torch.sum'])\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(MINIATURES)]))
    with open_engine("module:adapted") as engine:
        assert engine.name == "adapted"
        assert engine.info.capabilities["absent"] == ["torch.sum"]
        assert isinstance(engine.run([GOOD])[0], Trace)
