"""The program as a value, its canonical JSON and its error."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

FORM = 1

Expression = Any
"""JSON: null, a boolean, an integer, a string, or a list that begins with a tag (see FORM.md)."""
Statement = dict[str, Any]
"""JSON: an object with ``do`` (see FORM.md)."""


class ProgramError(ValueError):
    """A program that is refused: where, what is wrong, and what to write instead."""

    def __init__(self, where: str, what: str, hint: str = "") -> None:
        super().__init__(where, what, hint)
        self.where = where
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" ({self.hint})" if self.hint else "")


def canonical(value: Any) -> str:
    """The canonical JSON text: sorted keys, no spaces, ASCII.

    Raises ValueError for what JSON cannot say (NaN, foreign objects).
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True, eq=False)
class Program:
    """A list of statements with its title, the clauses that it shows, and a note.

    Two programs are equal when title, clauses, note and canonical body are; ``id`` (a fixture's file name, a
    generated program's hash) is a label and does not count. The body is JSON and must not be changed.
    """

    body: tuple[Statement, ...]
    title: str = ""
    clauses: tuple[str, ...] = ()
    note: str = ""
    id: str = field(default="")

    @cached_property
    def _canonical_body(self) -> str:
        return canonical(list(self.body))

    @cached_property
    def hash(self) -> str:
        """Hex SHA-256 of the canonical body."""
        return hashlib.sha256(self._canonical_body.encode("ascii")).hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        labels = (self.title, self.clauses, self.note) == (other.title, other.clauses, other.note)
        return labels and self._canonical_body == other._canonical_body

    def __hash__(self) -> int:
        return hash((self._canonical_body, self.title, self.clauses, self.note))

    def with_body(self, body: tuple[Statement, ...]) -> Program:
        """The same labels over another body."""
        return replace(self, body=body)

    def to_json(self) -> dict[str, Any]:
        """The normative form; empty labels are left out."""
        data: dict[str, Any] = {"form": FORM}
        if self.title:
            data["title"] = self.title
        if self.clauses:
            data["clauses"] = list(self.clauses)
        if self.note:
            data["note"] = self.note
        data["body"] = list(self.body)
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any], *, id: str = "") -> Program:
        """The program of a JSON object. Raises ProgramError where it is not a valid program."""
        from conformance.programs.validate import validate

        validate(data)
        return cls(
            body=tuple(data["body"]),
            title=data.get("title", ""),
            clauses=tuple(data.get("clauses", ())),
            note=data.get("note", ""),
            id=id,
        )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ProgramError("JSON", f"the key {key[:40]!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(text: str) -> Any:
    raise ProgramError("JSON", f"{text} is not JSON", 'write ["float", "nan"] or ["float", "inf"]')


def loads(text: str, *, id: str = "") -> Program:
    """The program of a JSON text. Raises ProgramError, also for text that is not JSON."""
    try:
        data = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except ProgramError:
        raise
    except RecursionError:
        raise ProgramError("JSON", "nested too deeply") from None
    except ValueError as error:
        raise ProgramError("JSON", f"not JSON: {error}") from None
    return Program.from_json(data, id=id)
