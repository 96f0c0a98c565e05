"""The pytest plugin: the suite for any engine, and nothing at all for other projects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pytest_plugin import asks_for_suite

ROOT = Path(__file__).resolve().parents[2]
RECORDED = "recorded:torch-2.13.0-cpu"


def run_pytest(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run pytest elsewhere, with the entry point as an installed package has it."""
    path = os.pathsep.join([str(folder), str(ROOT)])
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conformance.pytest_plugin", "-p", "no:cacheprovider", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_project_with_options_of_the_same_names_is_not_disturbed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--engine')\n"
        "    parser.addoption('--device', default='gpu')\n"
    )
    (tmp_path / "test_own.py").write_text(
        "import sys\n"
        "def test_own(request):\n"
        "    assert request.config.getoption('--engine') == 'postgres'\n"
        "    assert request.config.getoption('--device') == 'gpu'\n"
        "    loaded = {name.split('.')[0] for name in sys.modules}\n"
        "    assert not loaded & {'numpy', 'torch', 'hypothesis', 'refimpl', 'jinja2'}\n"
    )
    done = run_pytest(tmp_path, "-q", "--engine", "postgres")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "conformance" not in done.stdout


def suite(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the suite as an engine's author does, on the recorded oracle and one family."""
    fixed = ("--pyargs", "conformance", "--oracle", RECORDED, "--families", "RETAIN", "-rs")
    return run_pytest(folder, *fixed, *words)


def test_the_installed_suite_measures_an_engine(tmp_path: Path) -> None:
    done = suite(tmp_path, "--engine", "refimpl", "--device", "cpu", "--examples", "1")
    found = re.search(r"(\d+) passed, (\d+) skipped", done.stdout)
    assert found is not None, done.stdout + done.stderr
    assert int(found.group(1)) >= 5
    assert "deselected" not in done.stdout
    assert f"conformance: refimpl on cpu, oracle {RECORDED}" in done.stdout
    assert "a generated program needs a live oracle" in done.stdout


def test_an_engine_that_lies_fails_with_its_program(tmp_path: Path) -> None:
    (tmp_path / "toy_engine.py").write_text(
        "import refimpl\nfrom refimpl import *\n"
        "def tensor(data, *args, **kwargs):\n"
        "    made = refimpl.tensor(data, *args, **kwargs)\n"
        "    made.data.add_(1.0)\n"
        "    return made\n"
    )
    done = suite(tmp_path, "--engine", "module:toy_engine", "--examples", "0")
    assert done.returncode == 1
    assert "diverges" in done.stdout
    assert "torch.tensor(" in done.stdout
    assert "needs only PyTorch" in done.stdout


def test_nothing_executed_is_no_success(tmp_path: Path) -> None:
    done = suite(tmp_path, "--engine", "refimpl", "--examples", "3", "-k", "generated")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "nothing was executed, 3 cases were skipped" in done.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--engine", "no-such-engine"), "no-such-engine"),
        (("--engine", "refimpl", "--device", "cuda"), "cuda"),
        (("--engine", "refimpl", "--families", "NONE"), "no family is called 'NONE'"),
    ],
)
def test_what_cannot_run_says_so(tmp_path: Path, words: tuple[str, ...], line: str) -> None:
    done = run_pytest(
        tmp_path, "-q", "--pyargs", "conformance", "--oracle", RECORDED, "--examples", "0", *words
    )
    assert done.returncode != 0
    assert line in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_another_plugin_with_the_same_option_is_named(tmp_path: Path) -> None:
    (tmp_path / "browser_plugin.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--device')\n"
    )
    done = run_pytest(tmp_path, "-p", "browser_plugin", "--pyargs", "conformance", "--engine", "refimpl")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--device belongs to another pytest plugin" in done.stderr


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        (["--pyargs", "conformance"], True),
        (["--pyargs", "conformance.tests.test_suite"], True),
        (["--pyargs", "conformance::test"], True),
        ([str(ROOT / "conformance" / "tests")], True),
        (["conformance"], False),
        (["--pyargs", "conformances"], False),
        (["--engine", "refimpl"], False),
        ([], False),
    ],
)
def test_the_suite_is_loaded_only_when_it_is_named(tmp_path: Path, words: list[str], asks: bool) -> None:
    assert asks_for_suite(words, tmp_path) is asks
