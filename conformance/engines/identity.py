"""The oracle's proof: a module is believed only after it showed that it is real torch.

Names prove nothing: a clone may be installed as ``torch``, and one package on PyPI is. The proof has three
parts: where the module and its C++ core lie, what its build says, and a probe with numbers drawn at this
moment.
"""

from __future__ import annotations

import importlib.util
import re
import secrets
import struct
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from types import ModuleType
from typing import Any

from conformance import runner
from conformance.engines.inprocess import InProcess
from conformance.engines.model import EngineError, EngineHandle, Trace
from conformance.programs import Program

HINT = "install PyTorch (pip install torch) in the Python that the oracle runs in"


def prove_torch(engine: EngineHandle | ModuleType) -> None:
    """Raise EngineError, saying what is not right, unless this is real torch."""
    if isinstance(engine, ModuleType):
        build: Mapping[str, Any] = runner.build_of(engine)
        version = str(getattr(engine, "__version__", ""))
        _prove_build(build, version)
        prove_behaviour(InProcess(runner.Engine(engine)))
        return
    if not engine.runs_runner:
        raise _refuse("a command cannot prove that it is torch", engine.info.build)
    _prove_build(engine.info.build, engine.info.version)
    prove_behaviour(engine)


def find_torch() -> None:
    """Raise EngineError if `import torch` would run a package that has no C++ core beside it.

    Nothing is imported: an impostor could end the process before it can be judged."""
    if "torch" in sys.modules:
        return
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return
    cores = [file for file in Path(found.origin).parent.glob("_C.*") if file.suffix in (".so", ".pyd")]
    if not cores:
        raise _refuse("it has no C++ core torch._C", {"file": found.origin})


def _prove_build(build: Mapping[str, Any], version: str) -> None:
    if build.get("module") != "torch" or build.get("imported") is not True:
        raise _refuse(f"the module is {build.get('module')!r}, not the imported 'torch'", build)
    file, core = PurePath(str(build.get("file"))), PurePath(str(build.get("core")))
    if file.name != "__init__.py" or file.parent.name != "torch":
        raise _refuse("it does not lie in a package torch/", build)
    if build.get("core") is None:
        raise _refuse("it has no C++ core torch._C", build)
    if (
        core.parent != file.parent
        or core.suffix not in (".so", ".pyd")
        or build.get("core_is_library") is not True
    ):
        raise _refuse(f"its core {core.name} is no shared library inside the package", build)
    if build.get("tensor_is_native") is not True:
        raise _refuse("torch.Tensor is not made by its C++ core", build)
    if not re.match(r"\d+\.\d+", version):
        raise _refuse(f"its version is {version!r}", build)
    if not re.fullmatch(r"[0-9a-f]{40}", str(build.get("git_version"))):
        raise _refuse("torch.version.git_version is no commit", build)


def prove_behaviour(engine: EngineHandle) -> None:
    """Run a probe with secret numbers. Raises EngineError where an answer is not torch's."""
    leaf, seed = ([float(secrets.randbelow(1000) + 1) for _ in range(3)] for _ in range(2))
    factor = secrets.randbelow(50) + 2
    (reply,) = engine.run([_probe(leaf, seed, factor)])
    if not isinstance(reply, Trace):
        raise _refuse(f"the probe ended with {reply.kind}: {reply.detail}", engine.info.build)
    steps = reply.json["steps"]
    once = [2.0 * factor * x * s for x, s in zip(leaf, seed, strict=True)]
    try:
        seen = {
            "the gradient": steps[3]["seen"]["x"][1]["grad"][1]["bytes"] == _bytes(once),
            "accumulation": steps[4]["seen"]["x"][1]["grad"][1]["bytes"] == _bytes([2 * g for g in once]),
            "the error of a freed graph": steps[5]["error"]["type"] == "RuntimeError"
            and "a second time" in steps[5]["error"]["text"],
            "a node's name": steps[2]["seen"]["y"][1]["grad_fn"].startswith("MulBackward"),
        }
    except (KeyError, IndexError, TypeError, AttributeError):
        raise _refuse("the probe's trace lacks what torch shows", engine.info.build) from None
    if wrong := [what for what, right in seen.items() if not right]:
        raise _refuse(f"the probe found another behaviour: {', '.join(wrong)}", engine.info.build)


def _bytes(values: list[float]) -> str:
    return struct.pack(f"<{len(values)}d", *values).hex()


def _probe(leaf: list[float], seed: list[float], factor: int) -> Program:
    """x a leaf, s a seed, y = x * x * factor; y.backward(s, retain), y.backward(s), y.backward(s)."""

    def made(name: str, values: list[float], kwargs: dict[str, Any]) -> dict[str, Any]:
        numbers = ["list", [["float", repr(value)] for value in values]]
        call = ["call", "torch.tensor", [numbers], {"dtype": ["dtype", "float64"], **kwargs}]
        return {"do": "assign", "targets": [["name", name]], "value": call}

    x = ["name", "x"]
    product = ["binary", "*", ["binary", "*", x, x], factor]

    def backward(kwargs: dict[str, Any]) -> dict[str, Any]:
        return {"do": "expr", "value": ["method", ["name", "y"], "backward", [["name", "s"]], kwargs]}

    return Program(
        (
            made("x", leaf, {"requires_grad": True}),
            made("s", seed, {}),
            {"do": "assign", "targets": [["name", "y"]], "value": product},
            backward({"retain_graph": True}),
            backward({}),
            backward({}),
        )
    )


def _refuse(what: str, build: Mapping[str, Any]) -> EngineError:
    where = f"the oracle, {build.get('file') or 'of unknown place'}"
    return EngineError(f"not real torch: {what}", where, HINT)
