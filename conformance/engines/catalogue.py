"""The engines that the suite knows: each is one file of `adapters/`, whose `ENGINE` table says what it is.

The file is read here without being run, as its engine lives in an environment of its own.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from conformance.engines.model import EngineError

ADAPTERS = Path(__file__).resolve().parent / "adapters"
ROOT_VARIABLE = "AUTOGRAD_CONFORMANCE_ENGINES"


@dataclass(frozen=True)
class Known:
    """An engine of the catalogue."""

    name: str
    version: str
    requires: tuple[str, ...]  # what pip installs, pinned; nothing where the engine runs with this Python
    python: str  # the versions it supports, as packages write them
    prefers: str  # the version that the suite was run with
    licence: str
    reached: str  # how, in words
    homepage: str
    adapter: Path
    module: str = ""  # the module to import where torch's own names are enough
    tools: tuple[str, ...] = ()  # programs that must be on PATH
    environment: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()  # what an engine without an adapter lacks, though the name is there
    in_process: bool = False  # it lives in the Python of the suite, beside the oracle's torch
    note: str = ""

    @property
    def target(self) -> str:
        """What the runner is given: a module, or the adapter's file."""
        return self.module or str(self.adapter)


@cache
def catalogue() -> Mapping[str, Known]:
    """The known engines by name. Raises EngineError for an adapter without a readable table."""
    files = [path for path in sorted(ADAPTERS.glob("*.py")) if not path.name.startswith("_")]
    rows = [row for path in files for row in _rows(path)]
    return {row.name: row for row in sorted(rows, key=lambda row: row.name)}


def _rows(path: Path) -> list[Known]:
    """The engine of a file, or its variants: the same adapter with some of the table otherwise."""
    tables: dict[str, Any] = {}
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in ("ENGINE", "VARIANTS"):
                tables[name] = ast.literal_eval(node.value)
    if "ENGINE" not in tables:
        raise EngineError("has no ENGINE table", str(path), "see the other files of its directory")
    variants = tables.get("VARIANTS") or {tables["ENGINE"]["name"]: {}}
    return [_row(path, {**tables["ENGINE"], "name": name, **other}) for name, other in variants.items()]


def _row(path: Path, table: dict[str, Any]) -> Known:
    table.update({key: tuple(table.get(key, ())) for key in ("requires", "tools", "absent")})
    return Known(adapter=path, **table)


def root(given: str | None = None) -> Path:
    """Where engines are installed: `given`, the environment variable, or the user's cache directory."""
    chosen = given or os.environ.get(ROOT_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().resolve()
    cache_home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache_home).expanduser() / "autograd-conformance" / "engines"


def interpreter(known: Known, directory: str | None = None) -> Path:
    """The Python of an engine's environment, whether it is there or not."""
    return root(directory) / known.name / "bin" / "python"


def installed(known: Known, directory: str | None = None) -> bool:
    """True if the engine's environment is there; one that needs none is."""
    python = interpreter(known, directory)
    return known.in_process or (python.exists() and not unfinished(python.parent.parent))


def unfinished(place: Path) -> bool:
    """True where making an environment was broken off."""
    return (place / "unfinished").exists()
