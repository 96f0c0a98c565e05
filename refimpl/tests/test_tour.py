"""The guided tour names functions that exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import refimpl

TOUR = (Path(str(refimpl.__file__)).parent / "TOUR.md").read_text("utf-8")
STOPS = sorted(set(re.findall(r"`([a-z_/]+):(\w+)`", TOUR)))


def test_the_tour_has_stops() -> None:
    assert len(STOPS) > 30


@pytest.mark.parametrize(("module", "name"), STOPS)
def test_a_stop_exists(module: str, name: str) -> None:
    assert hasattr(importlib.import_module(f"refimpl.{module.replace('/', '.')}"), name)


def test_the_tour_s_program_gives_what_it_says() -> None:
    program = TOUR.split("```python\n")[1].split("```")[0]
    scope: dict[str, object] = {}
    exec(program, scope)
    assert str(scope["x"].grad) == "tensor([4., 6.])"  # type: ignore[attr-defined]
