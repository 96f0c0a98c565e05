"""The catalogue of known engines, and their environments."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.engines import EngineError, catalogue, install, open_engine
from conformance.engines.catalogue import ADAPTERS, Known

KNOWN = catalogue.catalogue()
SMALL = ("raxis", "micrograd")


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(catalogue.ROOT_VARIABLE, str(tmp_path / "engines"))
    return tmp_path / "engines"


def test_the_engines_that_are_promised_are_known() -> None:
    promised = {
        "raxis", "candle-python", "paddlepaddle", "tinygrad", "mygrad", "mlx", "autograd", "micrograd",
        "torch-compile-eager", "torch-compile-aot-eager", "torch-compile-inductor", "torch-compiled-autograd",
        "torch-func-vjp", "torch-1.2.0", "torch-1.9.0", "torch-1.12.1",
    }  # fmt: skip
    assert promised <= set(KNOWN)


@pytest.mark.parametrize("known", KNOWN.values(), ids=lambda known: known.name)
def test_a_table_says_all_that_is_needed(known: Known) -> None:
    assert known.licence
    assert known.homepage.startswith("https://")
    assert any(install.supports(known.python, version) for version in install.VERSIONS)
    assert known.in_process or install.supports(known.python, known.prefers)
    assert known.in_process == (not known.requires)
    assert all("==" in need for need in known.requires)
    assert known.in_process or any(need.endswith("==" + known.version) for need in known.requires)


@pytest.mark.parametrize("path", sorted(ADAPTERS.glob("*.py")), ids=lambda path: path.name)
def test_an_adapter_can_be_read_by_old_pythons(path: Path) -> None:
    ast.parse(path.read_text("utf-8"), feature_version=(3, 6))


def test_small_adapters_are_small() -> None:
    for name in SMALL:
        assert len(KNOWN[name].adapter.read_text("utf-8").splitlines()) <= 120


@pytest.mark.parametrize(
    ("wanted", "version", "fits"),
    [
        (">=3.10,<3.15", "3.10", True),
        (">=3.10,<3.15", "3.9", False),
        (">=3.10,<3.15", "3.15", False),
        ("<=3.9,>3.7", "3.8", True),
        ("==3.7", "3.8", False),
        ("", "3.6", True),
    ],
)
def test_ranges_of_versions(wanted: str, version: str, fits: bool) -> None:
    assert install.supports(wanted, version) is fits


def test_a_bound_that_is_none_is_refused() -> None:
    with pytest.raises(EngineError, match=r"'~=3\.10' is no bound"):
        install.supports("~=3.10", "3.11")


def test_an_engine_that_is_not_installed_says_how() -> None:
    with pytest.raises(EngineError) as caught:
        open_engine("raxis")
    assert (caught.value.what, caught.value.hint) == (
        "it is not installed",
        "conformance engines install raxis",
    )


def test_an_interpreter_is_found_and_tried() -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    known = Known("x", "1", ("x==1",), f"=={here}", here, "MIT", "", "", Path("x.py"))
    found = subprocess.run([install.find_python(known), "--version"], capture_output=True, text=True)
    assert here in found.stdout


def test_a_python_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = Known("x", "1", ("x==1",), ">=3.6,<3.7", "3.6", "MIT", "", "", Path("x.py"))
    monkeypatch.setattr(install, "_candidates", lambda version: iter(["/no/such/python"]))
    with pytest.raises(EngineError, match=r"it needs Python >=3\.6,<3\.7, and none is found"):
        install.find_python(hidden)


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(EngineError, match="it needs g"):
        install.install(KNOWN["torch-compile-inductor"])


def local(name: str) -> Known:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Known(name, "1", ("no-such-thing==1",), f"=={here}", here, "MIT", "", "", Path("x.py"))


def test_an_install_that_fails_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = install._run

    def offline(command: list[str], where: str, what: str) -> None:
        run([*command, "--no-index"] if what == "pip" else [*command, "--without-pip"], where, what)

    monkeypatch.setattr(install, "_run", offline)
    with pytest.raises(EngineError, match="pip failed"):
        install.install(local("broken"))
    assert not (root / "broken").exists()


def test_an_install_is_isolated_and_removed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        env = options["env"]
        assert isinstance(env, dict)
        seen.append(env)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(install, "find_python", lambda known: sys.executable)
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("PIP_TARGET", "/somewhere/else")
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    place = install.install(local("good"))
    assert place == root / "good"
    assert not catalogue.unfinished(root / "good")
    assert len(seen) == 2
    assert not any(name in env for env in seen for name in ("PIP_TARGET", "PYTHONPATH", "VIRTUAL_ENV"))
    with pytest.raises(EngineError, match="it is installed already"):
        install.install(local("good"))
    assert install.remove(local("good"))
    assert not install.remove(local("good"))


def test_a_link_is_removed_and_not_what_it_points_to(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    root.mkdir()
    (root / "linked").symlink_to(elsewhere)
    assert install.remove(local("linked"))
    assert elsewhere.exists()


def test_an_unfinished_environment_is_not_installed(root: Path) -> None:
    python = catalogue.interpreter(KNOWN["raxis"])
    python.parent.mkdir(parents=True)
    python.write_text("")
    assert catalogue.installed(KNOWN["raxis"])
    (root / "raxis" / "unfinished").write_text("")
    assert not catalogue.installed(KNOWN["raxis"])


def test_the_list_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engines"]) == 0
    out = capsys.readouterr().out
    assert all(any(line.startswith(name + " ") for line in out.splitlines()) for name in KNOWN)
    assert main(["engines", "remove", "raxis"]) == 0
    assert capsys.readouterr().out == "raxis: was not installed\n"
    assert main(["engines", "install", "no-such-engine"]) == 2
    assert "the catalogue has no such engine (known are autograd," in capsys.readouterr().err
    assert main(["engines", "install"]) == 2
    assert main(["engines", "install", "torch-func-vjp"]) == 0
    assert "nothing to install" in capsys.readouterr().out
