"""Environments for engines: each in a directory of its own, with the Python it needs and pinned versions.

Nothing is ever installed into the environment of the user, and nothing of it is seen by an engine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.engines.catalogue import Known, catalogue, interpreter, root, unfinished
from conformance.engines.model import EngineError

VERSIONS = tuple(f"3.{minor}" for minor in range(14, 5, -1))
"""The Pythons that are looked for, newest first."""
FOREIGN = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_ROOT", "VIRTUAL_ENV")
"""What would lead pip or an engine out of its environment."""
LIMIT = 3600.0
"""Seconds that one step may take: the largest engine is a download of 800 MB."""


def known_engine(name: str) -> Known:
    """The engine of the catalogue. Raises EngineError."""
    found = catalogue().get(name)
    if found is None:
        raise EngineError(
            "the catalogue has no such engine", f"engine {name!r}", f"known are {', '.join(catalogue())}"
        )
    return found


def install(known: Known, directory: str | None = None) -> Path | None:
    """Make the engine's environment; None if it needs none. Raises EngineError; then nothing is left."""
    where = f"engine {known.name!r}"
    for tool in known.tools:
        if shutil.which(tool) is None:
            raise EngineError(f"it needs {tool}, which is not on PATH", where, f"install {tool}")
    if known.in_process:
        return None
    place = root(directory) / known.name
    if place.exists() and not unfinished(place):
        raise EngineError(
            f"it is installed already, in {place}", where, f"conformance engines remove {known.name}"
        )
    python = find_python(known)
    remove(known, directory)
    try:
        place.mkdir(parents=True)
        mark = place / "unfinished"
        mark.write_text("conformance engines install was here\n", "utf-8")
        _run([python, "-m", "venv", str(place)], where, "making the environment")
        pip = [str(interpreter(known, directory)), "-m", "pip", "install", "--disable-pip-version-check"]
        _run([*pip, "--quiet", "--no-input", *known.requires], where, "pip")
        mark.unlink()
    except BaseException:
        remove(known, directory)
        raise
    return place


def remove(known: Known, directory: str | None = None) -> bool:
    """Remove the engine's environment; false if there was none. Raises EngineError if it cannot be."""
    place = root(directory) / known.name
    try:
        if place.is_symlink():
            place.unlink()
        elif place.exists():
            shutil.rmtree(place)
        else:
            return False
    except OSError as error:
        raise EngineError(
            f"it cannot be removed: {error.strerror or error}", str(place), "check who owns it"
        ) from None
    return True


def _run(command: list[str], where: str, what: str) -> None:
    """Run a step. Raises EngineError with the last line that says why."""
    env = {key: value for key, value in os.environ.items() if key not in FOREIGN}
    try:
        done = subprocess.run(
            command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{what} failed: {error}", where, "try again") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
        said = errors[-1] if errors else f"status {done.returncode}"
        raise EngineError(f"{what} failed: {said[:300]}", where, "check the network and the disk")


def supports(wanted: str, version: str) -> bool:
    """Whether a version such as 3.11 is in a range such as ``>=3.10,<3.15``."""
    have = _numbers(version)
    for part in filter(None, wanted.split(",")):
        sign, bound = split_bound(part)
        other = _numbers(bound)
        order = (have > other) - (have < other)
        if order not in {">=": (0, 1), "<=": (-1, 0), "==": (0,), "<": (-1,), ">": (1,)}[sign]:
            return False
    return True


def split_bound(text: str) -> tuple[str, str]:
    """A bound such as ``>=3.10`` in two. Raises EngineError."""
    found = re.fullmatch(r"\s*(>=|<=|==|<|>)\s*([0-9.]+)\s*", text, re.ASCII)
    if found is None:
        raise EngineError(f"{text!r} is no bound of a version", "an adapter's table", "write >=3.10,<3.15")
    return found.group(1), found.group(2)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def find_python(known: Known) -> str:
    """An interpreter that the engine supports: the version it was tried with, or the newest.

    Raises EngineError.
    """
    wanted = [version for version in VERSIONS if supports(known.python, version)]
    for version in sorted(wanted, key=lambda each: each != known.prefers):
        for candidate in _candidates(version):
            if _is(candidate, version):
                return candidate
    hint = f"install Python {known.prefers or wanted[0]} with pyenv, uv or the system's packages"
    raise EngineError(f"it needs Python {known.python}, and none is found", f"engine {known.name!r}", hint)


def _candidates(version: str) -> Iterator[str]:
    """Where a version may be: this Python, PATH, pyenv, uv."""
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        yield getattr(sys, "_base_executable", sys.executable) or sys.executable
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser() / "versions"
    for found in sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True):
        yield str(found)
    if uv := shutil.which("uv"):
        done = subprocess.run([uv, "python", "find", version], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.strip():
            yield done.stdout.strip()


def _is(candidate: str, version: str) -> bool:
    """Whether an interpreter runs, is of this version, and can make environments."""
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([candidate, "-c", code], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == version
