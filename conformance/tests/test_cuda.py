"""What needs a GPU. Elsewhere each test is skipped with its reason, and the command says `not run`."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance import cli
from conformance.engines import EngineError
from conformance.oracles import Opening
from conformance.results import read


@cache
def no_cuda() -> str:
    """Why there is no CUDA here, or nothing."""
    if find_spec("torch") is None:
        return "not run: torch is not installed"
    try:
        Opening("torch", device="cuda", in_process=False).open().close()
    except EngineError as error:
        return f"not run: {error}"
    return ""


@pytest.fixture
def cuda() -> None:
    """A CUDA device."""
    if no_cuda():
        pytest.skip(no_cuda())


@pytest.mark.cuda
@pytest.mark.usefixtures("cuda")
def test_torch_on_cuda_against_torch_on_cpu(tmp_path: Path) -> None:
    cli.main(["run", "torch", "--device", "cuda", "--examples", "200", "--out", str(tmp_path)])
    results = read(tmp_path / "torch-cuda.jsonl")
    assert results.complete
    executed = [found for found in results.programs if found.executed]
    conforming = [found for found in executed if found.verdict == "conforms"]
    assert len(executed) > 0.9 * len(results.programs)
    assert len(conforming) > 0.9 * len(executed)


@pytest.mark.parametrize("words", [["cuda"], ["run", "torch", "--device", "cuda"]])
def test_without_a_device_every_program_is_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    if find_spec("torch") is None or not no_cuda():
        pytest.skip("torch is not installed" if no_cuda() else "there is a CUDA device here")
    oracle = "recorded:torch-2.13.0-cpu"
    assert cli.main([*words, "--oracle", oracle, "--families", "RETAIN", "--out", str(tmp_path)]) == 2
    shown = capsys.readouterr()
    assert "cuda" in shown.err.lower()
    assert "not run" in shown.out
    results = read(tmp_path / "torch-cuda.jsonl")
    assert results.programs
    assert {found.verdict for found in results.programs} == {"not run"}
    assert all("cuda" in found.reason.lower() for found in results.programs)
    assert "not run" in (tmp_path / "torch-cuda.html").read_text("utf-8")
