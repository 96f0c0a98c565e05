"""Minimality: no statement of a fixture can go unnoticed.

A statement is needed if without it the program breaks, a clause of the fixture is no longer touched, a fault
planted in a clause of the fixture escapes, another statement shows something else, or an observation is lost
that no neighbour makes. That the hash of the program changes is no reason. The first three are the *strict*
reasons; the next two say that the statement belongs to what the fixture tells its reader.

Some statements are there because they have no effect: a hook that must not run, a second `remove()`, a root
that is not reached. They are listed, reviewed, in `without_effect.json`; an entry that no longer fits is
told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.faults import BY_ID, Fault
from conformance.fixtures import Fixture
from conformance.programs import Program, ProgramError
from conformance.specification import Clause, load_clauses
from conformance.specification.facts import facts
from conformance.specification.predicates import holds
from conformance.specification.support import Matrix, faults_in

BREAKS, UNTOUCHED, ESCAPES = "breaks", "no longer touched", "escapes"
CHANGED, UNSHOWN = "another statement shows something else", "an observation is lost"
POINTLESS = "it has no effect, which is its point"
DATA = Path(__file__).with_name("without_effect.json")
STRICT = (BREAKS, UNTOUCHED, ESCAPES)
_SHOWN = ("outcome", "error", "value", "log", "warnings")


@dataclass(frozen=True)
class Needed:
    """One statement, and what notices that it is dropped; nothing if nothing does."""

    fixture: str
    at: int
    why: str  # one of the five, with what it is about, or empty

    @property
    def noticed(self) -> bool:
        """True if dropping the statement is noticed."""
        return bool(self.why)


def dropped(program: Program, at: int) -> Program:
    """The program without a statement. Raises ProgramError if that is no program."""
    data = program.to_json()
    data["body"] = [statement for index, statement in enumerate(data["body"]) if index != at]
    return Program.from_json(data)


@cache
def without_effect() -> Mapping[str, Sequence[int]]:
    """The statements, counted from 1, of which each fixture says that they have no effect."""
    found: Mapping[str, Sequence[int]] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def stale(found: Iterable[Needed]) -> list[str]:
    """The entries of `without_effect.json` that do not fit what was found of their fixtures."""
    needed = {(one.fixture, one.at + 1): one.why for one in found}
    known = {name for name, _ in needed}
    return [
        f"{name}, statement {at}: {needed.get((name, at)) or 'there is none'}"
        for name, places in without_effect().items()
        for at in places
        if name in known and needed.get((name, at)) != POINTLESS
    ]


class Minimality:
    """Drops statements of fixtures on the reference engine."""

    def __init__(self, fixtures: Sequence[Fixture], clauses: Iterable[Clause] | None = None) -> None:
        self.fixtures = fixtures
        self._clauses = {clause.id: clause for clause in (load_clauses() if clauses is None else clauses)}
        self._matrix = Matrix(fixtures)

    def judge(self, fixture: Fixture) -> Iterator[Needed]:
        """Each statement of a fixture, and what notices that it is dropped."""
        trace = self._matrix.plain(fixture)
        steps = facts(fixture.program, trace)
        clauses = [self._clauses[name] for name in fixture.program.clauses if name in self._clauses]
        touched = [clause for clause in clauses if holds(clause.touched, steps)]
        found = [BY_ID[name] for clause in clauses for name in faults_in(clause)]
        faults: list[Fault] | None = None
        expected = without_effect().get(fixture.id, ())
        for at in range(len(fixture.program.body)):
            why = self._cheap(fixture, at, trace, touched)
            if why.partition(":")[0] not in STRICT:
                if faults is None:
                    faults = [fault for fault in found if self._matrix.notices(fault, fixture)]
                shorter = dropped(fixture.program, at)
                escaped = next((one for one in faults if not self._matrix.shows(one, shorter)), None)
                why = why if escaped is None else f"{ESCAPES}: {escaped.id}"
            yield Needed(fixture.id, at, why or (POINTLESS if at + 1 in expected else ""))

    def _cheap(self, fixture: Fixture, at: int, trace: Mapping[str, Any], touched: Sequence[Clause]) -> str:
        try:
            shorter = dropped(fixture.program, at)
        except ProgramError as error:
            return f"{BREAKS}: {error.what}"
        after = self._matrix.trace_of(shorter)
        before = [step for index, step in enumerate(trace["steps"]) if index != at]
        for old, new in zip(before, after["steps"], strict=True):
            if new["outcome"] in ("skipped", "unsupported") and old["outcome"] != new["outcome"]:
                return f"{BREAKS}: a later statement is {new['outcome']}"
        steps = facts(shorter, after)
        for clause in touched:
            if not holds(clause.touched, steps):
                return f"{UNTOUCHED}: {clause.id}"
        for old, new in zip(before, after["steps"], strict=True):
            if any(old.get(key) != new.get(key) for key in _SHOWN):
                return CHANGED
        return UNSHOWN if _observes_alone(fixture.program.body, trace["steps"], at) else ""


def _observes_alone(body: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]], at: int) -> bool:
    """True if a statement shows something, and no neighbour that only observes shows the same."""
    step = steps[at]
    shows_nothing = step.get("value") is None and step["kind"] != "observe"
    if step["outcome"] == "ok" and shows_nothing and not step["log"] and not step["warnings"]:
        return False
    for index in range(at - 1, -1, -1):
        if steps[index]["kind"] != "observe":
            break
        if body[index] == body[at]:
            return False
    return True
