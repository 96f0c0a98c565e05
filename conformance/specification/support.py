"""Which fixture supports which clause: shown by planted faults, not by tags.

A fixture supports a clause only if a fault in that clause changes what the suite sees of it, and a fault of
another clause does not. The matrix of faults and fixtures is computed by `conformance spec support` on the
reference engine and kept as data in `support.json`; a sample of it is computed anew by the tests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.faults import CATALOGUE, Fault, planted
from conformance.faults.matrix import Bench
from conformance.fixtures import Fixture, load_fixtures
from conformance.programs import Program
from conformance.specification import Clause, SpecificationError, load_clauses

DATA = Path(__file__).with_name("support.json")
COMMAND = "conformance spec support --write"

# What an engine with a fault may break with instead of giving a trace.
_BREAKS = (RecursionError, AttributeError, TypeError, ValueError, RuntimeError, LookupError)


@dataclass(frozen=True)
class Support:
    """A clause, the faults that make it false, and the fixtures that notice them."""

    clause: Clause
    faults: tuple[str, ...]
    fixtures: tuple[str, ...]  # that support the clause
    tagged: tuple[str, ...]  # that name it

    @property
    def broken(self) -> bool:
        """True if a planted fault in the clause changes a fixture that supports it."""
        return bool(self.fixtures)


class Matrix:
    """The reference engine beside itself with a fault, on all fixtures."""

    def __init__(self, fixtures: Sequence[Fixture] | None = None) -> None:
        self.fixtures = load_fixtures() if fixtures is None else fixtures
        self._bench = Bench("refimpl")
        self._plain = {one.id: self._bench.engine_trace(one.program) for one in self.fixtures}

    def changes(self, fault: Fault, fixtures: Iterable[Fixture] | None = None) -> list[str]:
        """The ids of the fixtures on which the suite tells the engine with the fault from the one without."""
        return [one.id for one in fixtures or self.fixtures if self.notices(fault, one)]

    def notices(self, fault: Fault, fixture: Fixture) -> bool:
        """True if the fault changes the fixture's trace in a way that is judged."""
        return self._differs(fault, fixture.program, self._plain[fixture.id])

    def shows(self, fault: Fault, program: Program) -> bool:
        """The same for a program that is no fixture."""
        return self._differs(fault, program, self.trace_of(program))

    def _differs(self, fault: Fault, program: Program, plain: Mapping[str, Any]) -> bool:
        try:
            with planted(fault):
                trace = self._bench.engine_trace(program)
        except _BREAKS:
            return True
        return trace != plain and self._bench.verdict(program, plain, trace).kind == "diverges"

    def plain(self, fixture: Fixture) -> Mapping[str, Any]:
        """A fixture's trace without a fault."""
        return self._plain[fixture.id]

    def trace_of(self, program: Program) -> Mapping[str, Any]:
        """The trace of any program without a fault."""
        return self._bench.engine_trace(program)


def state_of(fixtures: Iterable[Fixture], faults: Iterable[Fault]) -> str:
    """A hash of what a matrix was computed from: programs, and the places and meanings of faults."""
    lines = sorted(f"{one.id} {one.program.hash}" for one in fixtures)
    lines += sorted(f"{fault.id} {fault.clause} {fault.seam} {fault.what}" for fault in faults)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@cache
def stored(path: Path = DATA) -> Mapping[str, tuple[str, ...]]:
    """The fixtures that each fault changes, as computed last. Raises SpecificationError."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        return {name: tuple(found) for name, found in data["changes"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SpecificationError(path.name, f"is no matrix of support: {error}", f"`{COMMAND}`") from error


def stored_state(path: Path = DATA) -> str:
    """The hash of what the stored matrix was computed from. Raises SpecificationError."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["state"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SpecificationError(path.name, f"is no matrix of support: {error}", f"`{COMMAND}`") from error


def write(changes: Mapping[str, Sequence[str]], state: str, path: Path = DATA) -> None:
    """Store a matrix, one line for each fault, so that a change reads as one."""
    rows = ",\n".join(f'  "{name}": {json.dumps(list(found))}' for name, found in sorted(changes.items()))
    path.write_text(f'{{\n "state": "{state}",\n "changes": {{\n{rows}\n }}\n}}\n', encoding="utf-8")
    stored.cache_clear()


def faults_in(clause: Clause, catalogue: Sequence[Fault] = CATALOGUE) -> tuple[str, ...]:
    """The faults that make the clause false: those planted for it, and others that the clause names."""
    own = [fault.id for fault in catalogue if fault.clause == clause.id]
    return tuple(dict.fromkeys([*own, *clause.faults]))


def support(
    changes: Mapping[str, Sequence[str]],
    fixtures: Sequence[Fixture],
    clauses: Sequence[Clause] | None = None,
    catalogue: Sequence[Fault] = CATALOGUE,
) -> Iterator[Support]:
    """What the matrix says of each clause."""
    changed = {name: frozenset(found) for name, found in changes.items()}
    for clause in load_clauses() if clauses is None else clauses:
        own = faults_in(clause, catalogue)
        tagged = tuple(one.id for one in fixtures if clause.id in one.program.clauses)
        supporting = tuple(
            name
            for name in tagged
            if any(name in changed.get(fault, ()) for fault in own)
            and any(name not in found for fault, found in changed.items() if fault not in own)
        )
        yield Support(clause, own, supporting, tagged)
