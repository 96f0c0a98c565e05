"""The two libraries under test: refimpl always, torch where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest

import refimpl

ENGINES = ["refimpl", *(["torch"] if importlib.util.find_spec("torch") else [])]


def load(name: str) -> Any:
    """The library of this name."""
    return refimpl if name == "refimpl" else importlib.import_module(name)


both = pytest.mark.parametrize("torch", [load(name) for name in ENGINES], ids=ENGINES)
"""Run a test on each library: what it asserts was seen on real torch and must hold here."""
