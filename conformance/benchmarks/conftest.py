"""Benchmarks are collected only where a command names them."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave this folder out of a run that does not name it."""
    return None if any("benchmarks" in given for given in config.args) else True
