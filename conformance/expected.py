"""Expected failures: a file that an engine's author keeps, one entry for each case id, with the reason.

    [[expected]]
    case = "ACC-07-second-backward-adds"
    reason = "accumulates out of place"
    link = "https://…"          # optional

The same as JSON: `{"expected": [{"case": …, "reason": …}]}`. An expected failure stays in the report with its
verdict; it only does not fail the run. An entry that passes, or that matches no case, does fail the run, so
that the list cannot go stale.
"""

from __future__ import annotations

import json
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


_SHAPE = 'write [[expected]] entries with case = "…" and reason = "…"'


def load(path: Path) -> dict[str, Expected]:
    """The entries of a file, by case id. Raises ExpectedError."""
    where = str(path)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ExpectedError(
            f"cannot be read: {getattr(error, 'strerror', None) or error}", where, _SHAPE
        ) from error
    try:
        data: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise ExpectedError(f"cannot be parsed: {error}", where, _SHAPE) from error
    rows = data.get("expected") if isinstance(data, Mapping) else None
    if not isinstance(rows, list) or set(data) != {"expected"}:
        raise ExpectedError("does not hold a list called expected and nothing else", where, _SHAPE)
    entries: dict[str, Expected] = {}
    for number, row in enumerate(rows, 1):
        entry = _entry(row, f"{where}: entry {number}")
        if entry.case in entries:
            raise ExpectedError(
                f"{entry.case} stands twice", f"{where}: entry {number}", "keep one entry for each case"
            )
        entries[entry.case] = entry
    return entries


def _entry(row: Any, where: str) -> Expected:
    if not isinstance(row, Mapping) or not all(isinstance(value, str) for value in row.values()):
        raise ExpectedError("is not a table of texts", where, _SHAPE)
    if unknown := sorted(set(row) - {"case", "reason", "link"}):
        raise ExpectedError(f"has an unknown key {unknown[0]!r}", where, "the keys are case, reason and link")
    missing = [key for key in ("case", "reason") if not row.get(key, "").strip()]
    if missing:
        raise ExpectedError(f"has no {missing[0]}", where, _SHAPE)
    return Expected(row["case"], row["reason"], row.get("link", ""))


def stale(
    entries: Mapping[str, Expected], verdicts: Mapping[str, str], exists: Container[str]
) -> list[dict[str, str]]:
    """The entries that passed in this run, and those that name no case at all.

    `verdicts` are the run's, by case id; `exists` are the ids of every case, run or not.
    """
    found = []
    for case in entries:
        if verdicts.get(case) == "conforms":
            found.append({"case": case, "why": "conforms now: remove the entry"})
        elif case not in verdicts and case not in exists:
            found.append({"case": case, "why": "matches no case: remove or correct the entry"})
    return found
