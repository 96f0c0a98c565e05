"""The README tells the truth: its commands are those of the CI, they parse, and the places it names exist."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from conformance import cli, plan, specification
from conformance.cli import spec
from conformance.compare import KINDS, LEVELS, STRENGTHS
from conformance.expected import load

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"

pytestmark = [
    pytest.mark.checkout,
    pytest.mark.skipif(not README.exists(), reason="needs the repository: README.md is not in the wheel"),
]


def text() -> str:
    return README.read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text(), re.DOTALL | re.MULTILINE)


def marked(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n```sh\n(.*?)```", text(), re.DOTALL)
    assert found is not None
    return found.group(1).strip()


def command_lines() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("conformance ")]


def test_the_two_commands_set_up_the_same_way_with_the_pinned_torch() -> None:
    report, tests = marked("report").split(" && "), marked("tests").split(" && ")
    assert report[:2] == tests[:2] == ["python3 -m venv .venv", ".venv/bin/pip install --quiet torch==2.13.0"]
    assert report[2] == ".venv/bin/pip install --quiet -e ."
    assert tests[2:] == [".venv/bin/pip install --quiet -e '.[dev]'", ".venv/bin/python -m pytest"]


def test_the_first_command_is_a_run_that_writes_where_the_readme_says() -> None:
    words = shlex.split(marked("report").split(" && ")[-1])
    assert words[0] == ".venv/bin/conformance"
    arguments = cli.parse(words[1:])
    assert (arguments.command, arguments.engine, str(arguments.out)) == ("run", "refimpl", "reports")
    assert "`reports/refimpl-cpu.html`" in text()


def test_the_ci_runs_the_readme_s_own_command() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert 'tests="$(block tests)"' in script
    assert script.rstrip().splitlines()[-1] == 'bash -euo pipefail -c "$tests"'
    assert "ruff check" in script
    assert "mypy" in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_there_are_command_lines() -> None:
    assert {shlex.split(line)[1] for line in command_lines()} >= {"run", "replay", "report", "spec", "cuda"}


@pytest.mark.parametrize("line", command_lines() if README.exists() else [])
def test_every_command_line_parses(line: str) -> None:
    arguments = cli.parse(shlex.split(line)[1:])
    assert callable(arguments.execute)


def test_every_clause_family_and_case_that_commands_name_exists() -> None:
    cases = {case.id: case.family for case in plan.fixture_cases()}
    clauses = {clause.id for clause in specification.load_clauses()}
    for line in command_lines():
        arguments = cli.parse(shlex.split(line)[1:])
        if arguments.command == "replay":
            assert arguments.case in cases
        if arguments.command == "spec":
            named = {word for word in arguments.what if word.upper() == word}
            assert named <= clauses
            assert arguments.what[0] in named or arguments.what[0] in spec.ACTIONS
        if arguments.command == "run":
            assert arguments.only is None or arguments.only in cases
            assert set(arguments.families or ()) <= set(cases.values())


def test_every_command_is_named() -> None:
    for name in cli.COMMANDS:
        assert f"conformance {name}" in text()


def test_the_files_and_folders_it_names_exist() -> None:
    names = re.findall(r"`((?:refimpl|conformance|fixtures|\.ci)/[A-Za-z_/.]*)`", text())
    assert len(names) > 10
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_example_of_expected_failures_is_one(tmp_path: Path) -> None:
    (block,) = [block for block in blocks("toml") if "[[expected]]" in block]
    path = tmp_path / "expected.toml"
    path.write_text(block, "utf-8")
    assert set(load(path)) <= {case.id for case in plan.fixture_cases()}


def test_the_entry_point_group_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (example,) = [tomllib.loads(block) for block in blocks("toml") if "entry-points" in block]
    assert set(example["project"]["entry-points"]) <= set(project["entry-points"])
    assert project["optional-dependencies"]["torch"] == ["torch==2.13.0"]


def test_every_verdict_level_and_strength_is_explained() -> None:
    for word in (*KINDS, *LEVELS, *STRENGTHS, "excluded"):
        assert word in text()


def test_the_count_of_clauses_is_right() -> None:
    assert f"{len(specification.load_clauses())} numbered clauses" in text()
