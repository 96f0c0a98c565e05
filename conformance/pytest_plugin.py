"""The entry point for pytest. It does nothing until the suite is asked for.

`pytest --pyargs conformance --engine E --device D` runs the suite against an engine. The options are added
only to such a run, so that a project whose own tests have an option `--device` is not disturbed by having the
suite installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

SUITE = "conformance.pytest_suite"
_HERE = Path(__file__).resolve().parent


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Load the suite's part of pytest, with its options, if this run collects the suite."""
    manager = early_config.pluginmanager
    if manager.has_plugin(SUITE) or not asks_for_suite(args, early_config.invocation_params.dir):
        return
    taken = [name for name in ("engine", "device") if hasattr(early_config.option, name)]
    if taken:
        raise pytest.UsageError(
            f"--{taken[0]} belongs to another pytest plugin here; turn that one off with -p no:NAME"
        )
    manager.import_plugin(SUITE)


def asks_for_suite(args: Sequence[str], directory: Path) -> bool:
    """True if a command line names the suite: the package with `--pyargs`, or a path in it."""
    for argument in args:
        name = argument.split("::")[0]
        if "--pyargs" in args and (name == "conformance" or name.startswith("conformance.")):
            return True
        if not name.startswith("-") and _inside(directory / name):
            return True
    return False


def _inside(path: Path) -> bool:
    try:
        return path.exists() and path.resolve().is_relative_to(_HERE)
    except OSError:
        return False
