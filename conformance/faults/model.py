"""A fault, its seam, and how it is planted.

A seam is a place of the reference engine that is looked up each time it is used: ``module:name``,
``module:Class.name`` or ``refimpl.operations.table:TABLE[key].formulas[0]``. The engine knows nothing of
faults: a fault exchanges what stands at the seam, from outside, for as long as it is planted.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_SEAM = re.compile(r"^(?P<module>[\w.]+):(?P<path>.+)$")
_PART = re.compile(r"\.?(?P<name>\w+)|\[(?P<key>[^\]]+)\]")


class FaultError(Exception):
    """A fault cannot be planted: its seam is not there, or it changes nothing."""


@dataclass(frozen=True)
class Fault:
    """One deliberate error. ``plant`` takes what stands at the seam and gives what stands there instead."""

    id: str
    clause: str
    seam: str
    what: str
    plant: Callable[[Any], Any]
    blind: bool = False


@dataclass(frozen=True)
class Place:
    """The last step on the way to a seam."""

    owner: Any
    key: str | int
    item: bool

    def get(self) -> Any:
        """What stands there now, unbound: of a class its own attribute, not what access through it makes of
        it.
        """
        if self.item:
            return self.owner[self.key]
        if not isinstance(self.owner, (type, ModuleType)):
            return getattr(self.owner, str(self.key))
        return vars(self.owner)[str(self.key)]

    def put(self, value: Any) -> None:
        """Exchange it."""
        if self.item:
            self.owner[self.key] = value
        else:
            setattr(self.owner, str(self.key), value)


def place_of(seam: str) -> Place:
    """Find a seam. Raises FaultError if it does not exist."""
    match = _SEAM.match(seam)
    if match is None:
        raise FaultError(f"{seam!r} is no seam: write module:name")
    try:
        found: Any = importlib.import_module(match["module"])
        steps = [(part["name"], part["key"]) for part in _PART.finditer(match["path"])]
        for name, key in steps[:-1]:
            found = found[int(key) if key.isdigit() else key] if key else getattr(found, name)
        name, key = steps[-1]
        place = Place(found, (int(key) if key.isdigit() else key) if key else name, bool(key))
        place.get()
    except (ImportError, AttributeError, KeyError, IndexError, TypeError) as error:
        raise FaultError(f"the seam {seam} does not exist: {type(error).__name__}: {error}") from error
    return place


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Run the body with the fault in the reference engine.

    Raises FaultError, before anything is changed, if the seam does not exist or the fault puts back what
    was there.
    """
    place = place_of(fault.seam)
    before = place.get()
    after = fault.plant(before)
    if after is before:
        raise FaultError(f"fault {fault.id} changes nothing at {fault.seam}")
    place.put(after)
    try:
        yield
    finally:
        place.put(before)
