"""From an engine's name to a handle: known engines, modules, commands, entry points of other packages."""

from __future__ import annotations

import difflib
import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

from conformance import runner
from conformance.engines.catalogue import Known, catalogue, installed, interpreter
from conformance.engines.host import ProcessEngine
from conformance.engines.identity import find_torch
from conformance.engines.inprocess import open_in_process
from conformance.engines.model import EngineError, EngineHandle

GROUP = "autograd_conformance.engines"
BUILT_IN = {"torch": "module:torch", "refimpl": "module:refimpl"}
"""Engines that are known by name; they run in this process unless another Python is asked for."""

# A path on the command line, and not `python runner.py`: that would put the directory of this package first
# on
# `sys.path`, where its modules would hide others of the same name.
_START = "import runpy, sys; runpy.run_path({path!r}, run_name='__main__')"


def known_engines() -> list[str]:
    """The names that can be given: built in, and registered by other packages."""
    return sorted({*BUILT_IN, *catalogue(), *(entry.name for entry in entry_points(group=GROUP))})


def open_engine(
    spec: str,
    *,
    python: str | None = None,
    device: str = "cpu",
    timeout: float = 30.0,
    in_process: bool | None = None,
    memory: int | None = None,
) -> EngineHandle:
    """Open an engine: ``torch``, ``refimpl``, ``module:NAME``, ``command:…`` or a registered name.

    ``python`` is the interpreter that a module is imported in; ``timeout`` the seconds that one program may
    take, ``memory`` the bytes that an engine's process may use. Raises EngineError.
    """
    if spec in BUILT_IN:
        here = in_process if in_process is not None else python is None
        return _module(BUILT_IN[spec].partition(":")[2], spec, python, device, timeout, here, memory)
    sort, colon, rest = spec.partition(":")
    if colon and not rest.strip():
        raise EngineError(
            f"nothing stands after {sort}:",
            f"engine {spec!r}",
            "write module:NAME or command:PROGRAM ARGUMENTS",
        )
    if sort == "module" and colon:
        return _module(rest, spec, python, device, timeout, bool(in_process), memory)
    if sort == "command" and colon:
        if in_process or python is not None:
            what = (
                "a command has a process of its own"
                if in_process
                else "a command chooses its own interpreter"
            )
            raise EngineError(what, f"engine {spec!r}", "leave out --python and in_process")
        return _command(rest, spec, device, timeout, memory)
    if spec in catalogue():
        return _known(catalogue()[spec], python, device, timeout, bool(in_process), memory)
    return _registered(spec, python, device, timeout, in_process, memory)


def _module(
    name: str, spec: str, python: str | None, device: str, timeout: float, here: bool, memory: int | None
) -> EngineHandle:
    where = f"engine {spec!r}"
    if not all(part.isidentifier() for part in name.split(".")):
        raise EngineError(f"{name!r} is no module's name", where, "write module:NAME as in `import NAME`")
    if here:
        if python is not None:
            raise EngineError("another Python is another process", where, "leave out --python or in_process")
        if name == "torch":
            find_torch()
        return open_in_process(name, where=where, device=device)
    if python is not None and shutil.which(python) is None:
        raise EngineError(
            f"there is no Python at {python}", where, "give --python the path of an interpreter"
        )
    return ProcessEngine(
        _command_of(python or sys.executable, name),
        where=where if python is None else f"{where} with {python}",
        device=device,
        timeout=timeout,
        env=_environment(name),
        memory=memory,
        runs_runner=True,
    )


def _known(
    known: Known, python: str | None, device: str, timeout: float, here: bool, memory: int | None
) -> EngineHandle:
    """An engine of the catalogue, in its own environment, or in the Python that is given."""
    where = f"engine {known.name!r}"
    if here and known.in_process:
        return open_in_process(known.target, where=where, device=device)
    if here:
        raise EngineError("it lives in an environment of its own", where, "leave out in_process")
    if python is None and not installed(known):
        raise EngineError("it is not installed", where, f"conformance engines install {known.name}")
    chosen = python or (sys.executable if known.in_process else str(interpreter(known)))
    return ProcessEngine(
        _command_of(chosen, known.target),
        where=where,
        device=device,
        timeout=timeout,
        env={**_environment(""), **known.environment},
        memory=memory,
        absent=known.absent,
        runs_runner=True,
    )


def _command_of(python: str, target: str) -> list[str]:
    """The command that runs the runner for a module, or for an adapter's file."""
    return [python, "-c", _START.format(path=str(Path(runner.__file__).resolve())), target]


def _environment(name: str) -> dict[str, str]:
    """The environment of a runner's process. An engine of a source tree is found also from other
    directories."""
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    if name == "refimpl":
        found = importlib.util.find_spec(name)
        root = str(Path(found.origin).resolve().parent.parent) if found is not None and found.origin else ""
        if root and not root.endswith(("site-packages", "dist-packages")):
            env["PYTHONPATH"] = os.pathsep.join(part for part in (root, env.get("PYTHONPATH", "")) if part)
    return env


def _command(text: str, spec: str, device: str, timeout: float, memory: int | None) -> EngineHandle:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise EngineError(
            f"the command cannot be split into words: {error}", f"engine {spec!r}", "check the quotes"
        ) from None
    return ProcessEngine(words, where=f"engine {spec!r}", device=device, timeout=timeout, memory=memory)


def _registered(
    spec: str, python: str | None, device: str, timeout: float, in_process: bool | None, memory: int | None
) -> EngineHandle:
    """An engine of another package: its entry point is a spec, or a function that makes a handle or a
    spec."""
    where = f"engine {spec!r}"
    found = [entry for entry in entry_points(group=GROUP) if entry.name == spec]
    if not found:
        raise EngineError("no engine has this name", where, _nearest(spec))
    try:
        made: object = found[0].load()
        if callable(made):
            maker: Callable[..., object] = made
            made = maker(python=python, device=device, timeout=timeout)
    except EngineError:
        raise
    except Exception as error:
        what = f"its entry point {found[0].value!r} fails: {type(error).__name__}: {error}"
        raise EngineError(what, where, "reinstall the package that registers it") from None
    if isinstance(made, EngineHandle):
        return made
    if isinstance(made, str) and made.partition(":")[0] in ("module", "command"):
        return open_engine(
            made, python=python, device=device, timeout=timeout, in_process=in_process, memory=memory
        )
    hint = "it has to be 'module:NAME', 'command:…', or a function that gives one or a handle"
    raise EngineError(f"its entry point {found[0].value!r} gave {type(made).__name__}", where, hint)


def _nearest(spec: str) -> str:
    names = known_engines()
    near = difflib.get_close_matches(spec, names, n=3, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if spec.isidentifier() and importlib.util.find_spec(spec) is not None:
        return f"for the module {spec}, write module:{spec}"
    return f"known are {', '.join(names)}, module:NAME and command:…"
