"""The command line: what it writes, how it ends, and one clear line for each thing that can go wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance import cli, plan
from conformance.cli.errors import told
from conformance.cli.progress import Bar, Lines, progress
from conformance.fixtures import Fixture, FixtureError, load_fixtures, read_fixture
from conformance.results import Writer, read
from conformance.tests.runs import failure, footer, header, program

ROOT = Path(__file__).resolve().parents[2]
RECORDED = "recorded:torch-2.13.0-cpu"
CASE = "accumulate-sums"

Captured = pytest.CaptureFixture[str]
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def conformance(*words: object) -> int:
    return cli.main([str(word) for word in words])


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path of engines' processes."""
    folder = tmp_path / "engines"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
    return folder


def run(out: Path, *words: object) -> int:
    return conformance("run", *words, "--oracle", RECORDED, "--out", out)


def one_line(captured: Captured) -> str:
    """The error of a command: exactly one line on stderr that says so, and no traceback anywhere."""
    shown = captured.readouterr()
    assert "Traceback" not in shown.out + shown.err
    errors = [line for line in shown.err.splitlines() if "error:" in line]
    assert len(errors) == 1
    assert errors[0].startswith("conformance: error: ")
    return errors[0]


def test_a_run_writes_results_and_report_and_says_what_it_found(tmp_path: Path, capsys: Captured) -> None:
    assert run(tmp_path, "refimpl", "--only", CASE) == 0
    text = capsys.readouterr().out
    assert "executed 1 of 1 planned: 1 conform" in text
    assert "against torch (recorded) 2.13.0+cpu" in text
    assert "gradient" in text.split("health:")[1]
    results = read(tmp_path / "refimpl-cpu.jsonl")
    assert results.complete
    assert results.programs[0].id == CASE
    assert results.header.engine["build"]["file"] == "refimpl/__init__.py"  # no directory of the machine
    assert (tmp_path / "refimpl-cpu.html").read_text("utf-8").startswith("<!doctype html>")


def test_report_joins_result_files(tmp_path: Path, capsys: Captured) -> None:
    assert run(tmp_path / "a", "refimpl", "--only", CASE) == 0
    assert conformance("report", tmp_path / "a", "--out", tmp_path / "all.html") == 0
    assert CASE in (tmp_path / "all.html").read_text("utf-8") or "1/1" in (tmp_path / "all.html").read_text()
    assert "report:" in capsys.readouterr().out


def test_a_truncated_results_file_is_reported_as_incomplete(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "run.jsonl"
    with Writer(path) as writer:
        for record in (header(2), program("a"), program("b", "diverges", failure=failure()), footer(2)):
            writer.write(record)
    path.write_bytes(path.read_bytes()[:-40])
    assert conformance("report", path, "--out", tmp_path / "report.html") == 0
    assert "incomplete: the last line is cut off after 2 of 2 programs" in capsys.readouterr().err
    assert "incomplete: the last line is cut off" in (tmp_path / "report.html").read_text("utf-8")


def test_a_damaged_results_file_is_one_clear_line(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("{}\n")
    assert conformance("report", path) == 2
    assert f"{path}" in one_line(capsys)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "required: COMMAND"),
        (("no-such-command",), "invalid choice: 'no-such-command'"),
        (("run",), "required: ENGINE"),
        (("run", "refimpl", "--bogus"), "unrecognized arguments: --bogus"),
        (("run", "refimpl", "--examples", "-3"), "--examples"),
        (("run", "refimpl", "--examples", "many"), "'many' is not a count"),
        (("run", "refimpl", "--timeout", "0"), "'0' is not a number of seconds"),
        (("run", "refimpl", "--strength", "weak"), "invalid choice: 'weak'"),
        (("run", "refimpl", "--only", "accumulate-smus"), "did you mean accumulate-sums"),
        (("run", "refimpl", "--families", "NONE"), "no family is called 'NONE'"),
        (("run", "refimpl", "--oracle", "recorded:torch-0.1"), "no traces are recorded for 'torch-0.1'"),
        (
            ("run", "refimpl", "--oracle", RECORDED, "--examples", "5"),
            "need a live oracle",
        ),
        (("run", "refimpl", "--expected-failures", "none.toml"), "none.toml: cannot be read"),
        (("run", "no-such-engine", "--oracle", RECORDED), "no-such-engine"),
        (("run", "module:no_such_module", "--oracle", RECORDED), "no_such_module"),
        (("run", "module:os.path; rm", "--oracle", RECORDED), "no module's name"),
        (("run", "command:/no/such/program", "--oracle", RECORDED), "cannot be run"),
        (("run", "refimpl", "--python", "/no/such/python", "--oracle", RECORDED), "no Python at"),
        (("replay", "none.py"), "none.py: cannot be read"),
        (("replay", "no-such-case"), "no case is called 'no-such-case'"),
        (("report", "none.jsonl"), "none.jsonl: cannot be read"),
        (("spec", "zzzz"), "no clause is called or speaks of 'zzzz'"),
        pytest.param(("record", "torch-0.1-cpu"), "torch-0.1-cpu", marks=needs_torch),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_run_ends_with_2_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, words: tuple[str, ...], what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert conformance(*words) == 2
    assert what in one_line(capsys)


ENGINES = {
    "prints on stdout": ("import sys\nprint('hello')\nfrom refimpl import *\n", 0, ""),
    "fails to import": ("raise ValueError('broken at import')\n", 2, "broken at import"),
    "exits at once": ("import os\nos._exit(3)\n", 2, "no hello"),
}


@pytest.mark.parametrize("name", ENGINES)
def test_a_misbehaving_module_is_named(tmp_path: Path, engine: Path, capsys: Captured, name: str) -> None:
    source, status, what = ENGINES[name]
    (engine / "toy_engine.py").write_text(source)
    assert run(tmp_path, "module:toy_engine", "--only", CASE) == status
    if status:
        assert what in one_line(capsys)
        results = read(tmp_path / "module-toy-engine-cpu.jsonl")
        assert {found.verdict for found in results.programs} == {"not run"}
    else:
        assert "1 conform" in capsys.readouterr().out


HANGING = """
import os, time
import refimpl
from refimpl import *
def tensor(data, *args, **kwargs):
    if data == [7.0]:
        time.sleep(60)
    if data == [8.0]:
        os._exit(1)
    return refimpl.tensor(data, *args, **kwargs)
"""


@needs_torch
def test_a_hang_and_a_crash_cost_one_program_each(
    tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (engine / "toy_engine.py").write_text(HANGING)
    sources = {"fine": "[1.0]", "hang": "[7.0]", "crash": "[8.0]", "fine-too": "[2.0]"}
    folder = tmp_path / "fixtures" / "ACC"
    folder.mkdir(parents=True)
    for name, data in sources.items():
        (folder / f"{name}.py").write_text(f"# clauses: ACC-01\nx = torch.tensor({data})\nx\n")
    monkeypatch.setattr("conformance.fixtures.home", lambda: tmp_path / "fixtures")
    out = tmp_path / "out"
    status = conformance("run", "module:toy_engine", "--examples", 0, "--timeout", 2, "--out", out)
    found = {result.id: result.verdict for result in read(out / "module-toy-engine-cpu.jsonl").programs}
    assert found == {"crash": "crash", "fine": "conforms", "fine-too": "conforms", "hang": "timeout"}
    assert status == 1
    assert "Traceback" not in capsys.readouterr().err


def test_a_fixture_with_a_forbidden_form_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    folder = tmp_path / "ACC"
    folder.mkdir()
    (folder / "bad.py").write_text("# clauses: ACC-01\nx = torch.ones(2)\nx.sum().backward()\nimport os\n")
    monkeypatch.setattr("conformance.fixtures.home", lambda: tmp_path)
    assert conformance("run", "refimpl", "--oracle", RECORDED) == 2
    line = one_line(capsys)
    assert "bad.py" in line
    assert "4" in line


@needs_torch
def test_an_engine_that_diverges_ends_with_1_and_its_program(
    tmp_path: Path, engine: Path, capsys: Captured
) -> None:
    (engine / "toy_engine.py").write_text(
        "import refimpl\nfrom refimpl import *\n"
        "def ones(*sizes, **kwargs):\n    return refimpl.full(sizes, 2.0, **kwargs)\n"
    )
    expected = tmp_path / "expected.toml"
    expected.write_text(f'[[expected]]\ncase = "{CASE}"\nreason = "ones are twos"\n')
    path = tmp_path / "p.py"
    path.write_text("x = torch.ones(2)\nx\n")
    assert conformance("replay", path, "module:toy_engine", "--oracle", "torch") == 1
    shown = capsys.readouterr().out
    assert ">>> x = torch.ones(2)" in shown
    assert "module:toy_engine: diverges" in shown


def test_replay_of_a_case_that_conforms(capsys: Captured) -> None:
    assert conformance("replay", CASE, "refimpl", "--oracle", RECORDED) == 0
    text = capsys.readouterr().out
    assert ">>> " in text
    assert text.rstrip().endswith("refimpl: conforms")


def test_spec_lists_searches_and_shows(capsys: Captured) -> None:
    assert conformance("spec") == 0
    assert "ACC " in capsys.readouterr().out
    assert conformance("spec", "acc-02") == 0
    assert "accumulate-in-place" in capsys.readouterr().out
    assert conformance("spec", "version", "counter") == 0
    assert "INPLACE-11" in capsys.readouterr().out
    assert conformance("spec", "--cases") == 0
    assert len(capsys.readouterr().out.splitlines()) == len(load_fixtures())


@needs_torch
def test_a_killed_run_leaves_a_readable_incomplete_file(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "conformance", "run", "refimpl", "--time", "600", "--out", str(tmp_path)]
    path = tmp_path / "refimpl-cpu.jsonl"
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 120
            while (not path.exists() or path.read_bytes().count(b"\n") < 3) and time.monotonic() < deadline:
                time.sleep(0.05)
            process.send_signal(signal.SIGKILL)
        finally:
            process.kill()
    results = read(path)
    assert not results.complete
    assert "killed" in results.problem
    assert results.programs


def test_help_needs_no_engine(capsys: Captured) -> None:
    for name in cli.COMMANDS:
        with pytest.raises(SystemExit) as ended:
            conformance(name, "--help")
        assert ended.value.code == 0
        assert "usage: conformance" in capsys.readouterr().out


class Terminal:
    """A stream that is a terminal, or not."""

    def __init__(self, tty: bool) -> None:
        self.tty, self.text = tty, ""

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def test_a_bar_on_a_terminal_and_lines_elsewhere() -> None:
    terminal, pipe = Terminal(True), Terminal(False)
    assert isinstance(progress(2, terminal), Bar)  # type: ignore[arg-type]
    with progress(2, pipe) as lines:  # type: ignore[arg-type]
        assert isinstance(lines, Lines)
        lines.result(program("a"))
        lines.result(program("b", "crash"))
        lines.result(program("c", "diverges", expected="known"))
    assert pipe.text == "crash: b\nexpected diverges: c\n"


def test_only_errors_of_the_suite_are_told() -> None:
    assert told(KeyError("x")) is None
    line = told(FixtureError("a.py: line 3", "no\nname", "write one"))
    assert line == "conformance: error: a.py: line 3: no name (write one)"
    assert len(told(FixtureError("a", "x" * 10_000)) or "") < 700


def test_a_defect_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.cli.spec.load_fixtures", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        conformance("spec", "ACC-01")


def test_the_plan_is_the_same_for_a_seed() -> None:
    first, second = (list(plan.generated_cases(5, 20)) for _ in range(2))
    assert [case.id for case in first] == [case.id for case in second]
    assert [json.dumps(case.program.to_json()) for case in first] == [
        json.dumps(case.program.to_json()) for case in second
    ]
    assert len({case.id for case in first}) == 20
    assert {case.id for case in plan.generated_cases(6, 20)}.isdisjoint(case.id for case in first)


def test_only_takes_an_id_or_its_beginning() -> None:
    cases = [
        plan.Case(name, "ACC", "fixture", found.program)
        for name, found in zip(("abc", "abd", "x"), load_fixtures(), strict=False)
    ]
    assert [case.id for case in plan.only(cases, "abc")] == ["abc"]
    assert [case.id for case in plan.only(cases, "x")] == ["x"]
    with pytest.raises(plan.PlanError, match="2 cases begin with 'ab'"):
        plan.only(cases, "ab")


def test_fixtures_are_found_by_family() -> None:
    assert {case.family for case in plan.fixture_cases(["ACC", "RETAIN"])} == {"ACC", "RETAIN"}
    found: Fixture = read_fixture(load_fixtures()[0].path)
    assert plan.fixture_cases()[0].id == found.id


def test_hypothesis_draws_the_same_programs_for_a_seed() -> None:
    first, second = plan.hypothesis_cases(3, 10), plan.hypothesis_cases(3, 10)
    assert first == second
    assert len(first) > 3
    assert plan.hypothesis_cases(3, 0) == []


@needs_torch
def test_a_run_of_programs_that_hypothesis_draws(tmp_path: Path) -> None:
    words = ("run", "refimpl", "--families", "generated", "--driver", "hypothesis", "--examples", 5)
    conformance(*words, "--out", tmp_path)
    results = read(tmp_path / "refimpl-cpu.jsonl")
    assert results.complete
    assert {found.origin for found in results.programs} == {"generated"}


def test_faults_are_listed_and_unknown_ones_refused(capsys: Captured) -> None:
    assert conformance("faults", "--list") == 0
    listed = capsys.readouterr().out.splitlines()
    name = listed[0].split()[0]
    assert len(listed) > 50
    assert conformance("faults", name[:-1] + "zz") == 2
    assert f"did you mean {name}" in one_line(capsys)


def test_a_fault_that_nothing_shows_ends_with_1(capsys: Captured) -> None:
    assert conformance("faults", "acc-assign-any-shape", "--no-fixtures", "--examples", 1) == 1
    shown = capsys.readouterr().out
    assert "found by nothing: acc-assign-any-shape" in shown
    assert conformance("faults", "retain-free-at-end", "--examples", 3) == 0
    assert "1 found by fixtures" in capsys.readouterr().out
