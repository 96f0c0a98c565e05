"""Expected failures: a file that an engine's author keeps, one entry for each case id, with the reason.

    [[expected]]
    case = "ACC-07-second-backward-adds"
    reason = "accumulates out of place"
    link = "https://…"          # optional
    version = ">=0.3,<0.5"      # optional: only for these versions of the engine
    device = "cuda"             # optional: only on this device
    program = '''…'''           # of a generated case: its shortest program, which is run again each time

A file may stand on others: `extends = ["base.toml"]`, whose entries its own replace; `drop = ["CASE"]` takes
an entry of those away. Paths are relative to the file. `conformance xfail update` makes and updates the file.

The same as JSON: `{"expected": [{"case": …, "reason": …}]}`. An expected failure stays in the report with its
verdict; it only does not fail the run. An entry that passes, or that matches no case, does fail the run, so
that the list cannot go stale.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class ExpectedError(Exception):
    """A list of expected failures that cannot be used: what, where, and what to write."""

    def __init__(self, what: str, where: str, hint: str) -> None:
        super().__init__(f"{where}: {what} ({hint})")
        self.what, self.where, self.hint = what, where, hint


@dataclass(frozen=True)
class Expected:
    """One entry."""

    case: str
    reason: str
    link: str = ""
    version: str = ""
    device: str = ""
    program: str = ""

    @property
    def stored_case(self) -> str:
        """The id under which the stored program is run."""
        return f"{self.case}:shortest"


_SHAPE = 'write [[expected]] entries with case = "…" and reason = "…"'


_KEYS = ("case", "reason", "link", "version", "device", "program")
_BOUND = re.compile(r"\s*(>=|<=|==|!=|<|>)\s*([0-9][0-9A-Za-z.+]*)\s*", re.ASCII)


def load(path: Path) -> dict[str, Expected]:
    """The entries of a file and of those that it extends, by case id. Raises ExpectedError."""
    return _layered(path, ())


def _layered(path: Path, above: tuple[Path, ...]) -> dict[str, Expected]:
    """The entries of a file laid over those that it extends."""
    if path.resolve() in above:
        raise ExpectedError("it extends itself", str(path), "take it out of one of the lists called extends")
    layer = read_layer(path)
    entries: dict[str, Expected] = {}
    for base in layer.extends:
        entries.update(_layered(path.parent / base, (*above, path.resolve())))
    for case in layer.drop:
        if case not in entries:
            raise ExpectedError(
                f"drops {case}, which it does not extend", str(path), "drop what the lists below hold"
            )
        del entries[case]
    return {**entries, **layer.entries}


@dataclass(frozen=True)
class Layer:
    """One file."""

    entries: Mapping[str, Expected]
    extends: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


def read_layer(path: Path) -> Layer:
    """What stands in a file itself. Raises ExpectedError."""
    where = str(path)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ExpectedError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}", where, _SHAPE
        ) from error
    try:
        data: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ExpectedError(f"cannot be parsed: {error}", where, _SHAPE) from error
    rows = data.get("expected") if isinstance(data, Mapping) else None
    if not isinstance(rows, list) or not set(data) <= {"expected", "extends", "drop"}:
        what = "does not hold a list called expected, and nothing else but extends and drop"
        raise ExpectedError(what, where, _SHAPE)
    lists = {key: data.get(key, []) for key in ("extends", "drop")}
    for key, texts in lists.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ExpectedError(f"{key} is no list of texts", where, f'write {key} = ["…"]')
    entries: dict[str, Expected] = {}
    for number, row in enumerate(rows, 1):
        entry = _entry(row, f"{where}: entry {number}")
        if entry.case in entries:
            raise ExpectedError(
                f"{entry.case} stands twice", f"{where}: entry {number}", "keep one entry for each case"
            )
        entries[entry.case] = entry
    return Layer(entries, tuple(lists["extends"]), tuple(lists["drop"]))


def _entry(row: Any, where: str) -> Expected:
    if not isinstance(row, Mapping) or not all(isinstance(value, str) for value in row.values()):
        raise ExpectedError("is not a table of texts", where, _SHAPE)
    if unknown := sorted(set(row) - set(_KEYS)):
        raise ExpectedError(f"has an unknown key {unknown[0]!r}", where, f"the keys are {', '.join(_KEYS)}")
    missing = [key for key in ("case", "reason") if not row.get(key, "").strip()]
    if missing:
        raise ExpectedError(f"has no {missing[0]}", where, _SHAPE)
    for part in filter(None, row.get("version", "").split(",")):
        if _BOUND.fullmatch(part) is None:
            raise ExpectedError(f"{part!r} is no bound of a version", where, 'write version = ">=0.3,<0.5"')
    return Expected(**{key: row.get(key, "") for key in _KEYS})


def applicable(entries: Mapping[str, Expected], version: str, device: str) -> dict[str, Expected]:
    """The entries that hold for an engine's version and device, each also under its stored program's id."""
    found: dict[str, Expected] = {}
    for case, entry in entries.items():
        if entry.device and entry.device != device and entry.device != device.partition(":")[0]:
            continue
        if not all(_within(part, version) for part in filter(None, entry.version.split(","))):
            continue
        found[case] = entry
        if entry.program:
            found[entry.stored_case] = entry
    return found


def _within(bound: str, version: str) -> bool:
    """Whether a version lies within a bound; one that is no version lies within none."""
    found = _BOUND.fullmatch(bound)
    if found is None or not version[:1].isdigit():
        return False
    have, other = release_of(version), release_of(found.group(2))
    size = max(len(have), len(other))
    a, b = have + (0,) * (size - len(have)), other + (0,) * (size - len(other))
    sign = found.group(1)
    order = (a > b) - (a < b)
    return order in {">=": (0, 1), "<=": (-1, 0), "==": (0,), "!=": (-1, 1), "<": (-1,), ">": (1,)}[sign]


def release_of(version: str) -> tuple[int, ...]:
    """The numbers of a version: of 0.1.0a1, (0, 1, 0)."""
    return tuple(int(part) for part in re.findall(r"(?:^|\.)([0-9]+)", version.partition("+")[0]))


def stale(
    entries: Mapping[str, Expected], verdicts: Mapping[str, str], exists: Container[str]
) -> list[dict[str, str]]:
    """The entries that passed in this run, and those that name no case at all.

    `verdicts` are the run's, by case id; `exists` are the ids of every case, run or not.
    """
    found = []
    for case, entry in entries.items():
        if verdicts.get(case) == "conforms":
            found.append({"case": case, "why": "conforms now: remove the entry"})
        elif case not in verdicts and case not in exists and not entry.program:
            found.append({"case": case, "why": "matches no case: remove or correct the entry"})
    return found
