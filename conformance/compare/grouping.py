"""Failures that are one finding: the key by which they are grouped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from conformance.compare.verdict import Verdict


class HasClauses(Protocol):
    """What grouping needs of a program."""

    @property
    def clauses(self) -> Sequence[str]:
        """The clauses that the program is about."""


class Group(NamedTuple):
    """What failures of one fault have in common."""

    kind: str  # of the first differing statement
    level: str
    path: str  # without the program's names and without indices
    clause: str


_INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)")
_NAME = re.compile(r"^(seen|end)\.[^.]+")


def nameless(path: str) -> str:
    """A path without the program's names: `seen.x.grad.bytes` becomes `seen.*.grad.bytes`."""
    return _INDEX.sub("#", _NAME.sub(r"\1.*", path))


def group(program: HasClauses, verdict: Verdict) -> Group:
    """The key of a verdict: its first difference, or its kind and reason where it has none.

    The clause is that of the message where a text differs, else the program's if it names one alone: a
    program about several, such as a generated one, does not tell which of them failed.
    """
    clause = program.clauses[0] if len(program.clauses) == 1 else ""
    if not verdict.differences:
        return Group(verdict.kind, "", verdict.reason, clause)
    first = verdict.differences[0]
    return Group(first.kind, first.level, nameless(first.path), first.clause or clause)
