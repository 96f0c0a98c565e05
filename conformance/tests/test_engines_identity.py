"""Only real torch is believed: what a module is called proves nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from conformance.engines import EngineError, EngineHandle, open_engine
from conformance.engines.identity import prove_behaviour, prove_torch
from conformance.tests.engines_miniature import MINIATURES, speaker


def refusal(engine: EngineHandle) -> str:
    with pytest.raises(EngineError) as caught:
        prove_torch(engine)
    assert "\n" not in str(caught.value)
    assert caught.value.hint
    return caught.value.what


@pytest.mark.parametrize("in_process", [True, False])
def test_real_torch_is_believed(in_process: bool) -> None:
    pytest.importorskip("torch")
    with open_engine("torch", in_process=in_process) as engine:
        prove_torch(engine)


def test_the_module_itself_is_believed() -> None:
    prove_torch(pytest.importorskip("torch"))


def test_the_reference_engine_is_not_believed() -> None:
    import refimpl

    with pytest.raises(EngineError, match="the module is 'refimpl', not the imported 'torch'"):
        prove_torch(refimpl)
    with open_engine("refimpl") as engine:
        assert "not the imported 'torch'" in refusal(engine)


def test_a_command_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))
    with open_engine(speaker("none")) as engine:
        assert "a command cannot prove that it is torch" in refusal(engine)


def fake(root: Path, **files: str) -> Path:
    """A package called torch, made of the tiny engine and what else is said."""
    package = root / "torch"
    package.mkdir()
    shutil.copy(MINIATURES / "tiny.py", package / "tiny.py")
    start = "from torch.tiny import *\nfrom torch.tiny import Tensor, tensor, __version__\n"
    for name, text in {"__init__": start, **files}.items():
        (package / f"{name}.py").write_text(text if name != "__init__" else start + text)
    return package


LIES = (
    "__version__ = '2.13.0'\n"
    "import types, sys\n"
    "version = types.SimpleNamespace(git_version='0123456789abcdef0123456789abcdef01234567')\n"
)


def test_a_package_called_torch_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with open_engine("module:torch") as engine:
        assert engine.info.build["module"] == "torch"
        assert "it has no C++ core torch._C" in refusal(engine)


OPEN = """
from conformance.engines import EngineError, open_engine
try:
    open_engine("torch", in_process=True)
except EngineError as error:
    print(error.what)
"""


def test_an_impostor_is_refused_before_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import os\nos._exit(0)\n")
    path = os.pathsep.join((str(tmp_path), *filter(None, sys.path)))
    done = subprocess.run(
        [sys.executable, "-c", OPEN], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.stdout == "not real torch: it has no C++ core torch._C\n"


def test_a_core_in_python_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake(tmp_path, __init__=LIES + "from torch import _C\n", _C="")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with open_engine("module:torch") as engine:
        assert "its core _C.py is no shared library inside the package" in refusal(engine)


def a_shared_library() -> Path | None:
    """Some extension module of this Python."""
    folders = [sysconfig.get_path("platstdlib") + "/lib-dynload", sysconfig.get_path("purelib")]
    return next((path for folder in folders for path in Path(folder).rglob("*.so")), None)


@pytest.mark.skipif(a_shared_library() is None, reason="this Python has no extension module to copy")
def test_a_shared_library_beside_a_python_tensor_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = fake(
        tmp_path, __init__=LIES + "from torch import _C\n_C.__file__ = _C.__file__[:-3] + '.so'\n", _C=""
    )
    shutil.copy(str(a_shared_library()), package / "_C.so")
    (package / "_C.so").rename(package / "held.so")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (package / "__init__.py").write_text(
        (package / "__init__.py")
        .read_text()
        .replace("_C.__file__[:-3] + '.so'", "__file__.replace('__init__.py', 'held.so')")
    )
    with open_engine("module:torch") as engine:
        assert engine.info.build["core_is_library"] is True
        assert "torch.Tensor is not made by its C++ core" in refusal(engine)


def test_a_module_in_the_place_of_torch_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("import sys, refimpl\nsys.modules['torch'] = refimpl\n")
    root = Path(__file__).parent.parent.parent
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{root}")
    with open_engine("module:torch") as engine:
        assert "the module is 'refimpl'" in refusal(engine)


def test_the_probe_finds_another_behaviour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(MINIATURES))
    with open_engine("module:tiny") as engine, pytest.raises(EngineError, match="the probe"):
        prove_behaviour(engine)
