"""A command's own streams: closed, full, narrow or read no more, they never decide how a run ends."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli.errors import UsageError, told
from conformance.tests.test_cli import CASE, RECORDED, ROOT

COMMAND = f"{shlex.quote(sys.executable)} -m conformance"


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    "streams", [">&-", "2>&-", "<&- >&- 2>&-", "2>&1 | head -c 1; exit ${PIPESTATUS[0]}"]
)
def test_a_run_does_not_need_its_streams(tmp_path: Path, streams: str) -> None:
    command = f"{COMMAND} run refimpl --oracle {RECORDED} --only {CASE} --out {tmp_path}"
    done = shell(f"{command} {streams}")
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == 0
    assert '"complete":true' in (tmp_path / "refimpl-cpu.jsonl").read_text("utf-8")


def test_text_that_got_lost_is_one_line_and_no_success() -> None:
    done = shell(f"{COMMAND} spec > /dev/full")
    assert done.stderr == "conformance: error: standard output: No space left on device\n"
    assert done.returncode == 2


def test_a_narrow_encoding_spells_characters_out() -> None:
    done = shell(f"{COMMAND} run --help", PYTHONIOENCODING="ascii", COLUMNS="200")
    assert done.returncode == 0
    assert "\\u2026" in done.stdout


@pytest.mark.parametrize("place", ["afile", "afile/deeper"])
def test_results_that_cannot_be_written_are_one_line(tmp_path: Path, place: str) -> None:
    (tmp_path / "afile").write_text("", "utf-8")
    done = shell(f"{COMMAND} run refimpl --oracle {RECORDED} --only {CASE} --out {tmp_path / place}")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"conformance: error: {tmp_path}/afile")


def test_a_page_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    shell(f"{COMMAND} run refimpl --oracle {RECORDED} --only {CASE} --out {tmp_path}")
    done = shell(f"{COMMAND} report {tmp_path} --out {tmp_path}")
    assert done.returncode == 2
    assert done.stderr.startswith(f"conformance: error: {tmp_path}: Is a directory")


def test_an_error_line_is_inert() -> None:
    line = told(UsageError("\x1b[31m\x00red", "here", "\u202e"))
    assert line == "conformance: error: here: ␛[31m␀red (\\u202e)"
