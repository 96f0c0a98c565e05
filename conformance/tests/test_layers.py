"""Data flows one way: nothing imports what comes after it, and the reference engine stands alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance
import refimpl

CONFORMANCE, REFIMPL = (Path(str(package.__file__)).parent for package in (conformance, refimpl))

# Each room and what it may import of the others. `runner` is sent alone to other interpreters.
ROOMS: dict[str, set[str]] = {
    "runner": set(),
    "operations": set(),
    "specification/__init__": set(),  # the clauses; beside them, what relates them to all that follows
    "programs": {"operations", "runner"},
    "fixtures": {"programs", "operations", "specification"},
    "generate": {"programs", "operations", "runner"},
    "engines": {"programs", "operations", "runner"},
    "compare": {"programs", "operations"},
    "shadow": {"programs", "operations", "runner", "compare"},
    "results": set(),
    "reports": {"results"},
}


def imports(path: Path) -> Iterator[str]:
    """The rooms of the suite that a file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "conformance":
                names = [f"conformance.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("conformance."):
                yield name.split(".")[1]


def files(room: str) -> list[Path]:
    folder = CONFORMANCE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [CONFORMANCE / f"{room}.py"]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_nothing_of_what_comes_after_it(room: str) -> None:
    assert files(room)
    allowed = ROOMS[room] | {room.partition("/")[0], "__version__"}
    found = {
        (path.relative_to(CONFORMANCE).as_posix(), name) for path in files(room) for name in imports(path)
    }
    assert {entry for entry in found if entry[1] not in allowed} == set()


def test_the_reference_engine_imports_nothing_of_the_suite() -> None:
    sources = [path for path in REFIMPL.rglob("*.py") if "tests" not in path.parts]
    assert len(sources) > 10
    assert [path.name for path in sources if "conformance" in path.read_text("utf-8").split()] == []
    assert [(path.name, name) for path in sources for name in imports(path)] == []


def test_a_report_needs_no_engine(tmp_path: Path) -> None:
    code = (
        "import sys, conformance.reports, conformance.results\n"
        "print(sorted({'torch', 'refimpl', 'conformance.engines', 'conformance.run'} & set(sys.modules)))"
    )
    root = str(CONFORMANCE.parent)
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
