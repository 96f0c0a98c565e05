"""What changed in `backward()` between two recorded releases of torch, clause by clause.

Two traces of a fixture are compared as an engine is compared with its oracle, texts included, the newer
release being the oracle and its recorded bounds the tolerance. Version counters that were only seen in
passing are left out: the version of a stored gradient is nobody's promise (ACC-37), and programs that are
about versions read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.compare import compare
from conformance.fixtures import Fixture, load_fixtures, provenance, recorded_bounds, recorded_trace
from conformance.specification import Clause, load_clauses

SAME, CHANGED, ABSENT, UNKNOWN = "the same", "changed", "absent", "not recorded"
_LONGEST = 220


@dataclass(frozen=True)
class Change:
    """One fixture on which two releases differ."""

    fixture: str
    kind: str  # `changed`, or `absent` where the older release lacks something
    at: int | str
    path: str
    level: str
    old: str
    new: str

    def __str__(self) -> str:
        if self.kind == ABSENT:
            return f"{self.fixture}: {self.old}"
        place = "at the end" if self.at == "end" else f"statement {int(self.at) + 1}"
        return f"{self.fixture}, {place}, {self.path}: {self.old} became {self.new}"


@dataclass(frozen=True)
class ClauseDrift:
    """A clause, and what its fixtures show of it on two releases."""

    clause: Clause
    kind: str
    fixtures: int
    changes: tuple[Change, ...]


def drift(old: str, new: str, fixtures: Sequence[Fixture] | None = None) -> list[ClauseDrift]:
    """What two recorded releases show of each clause, in the order of the specification.

    A clause is judged by the fixtures of its own family; where it has none there, by all that name it.
    Raises FixtureError for a release that is not recorded.
    """
    provenance(old), provenance(new)
    everything = load_fixtures(hazards=True) if fixtures is None else fixtures
    found = {one.id: change_of(one, old, new) for one in everything}
    return [_clause(clause, everything, found) for clause in load_clauses()]


def _clause(clause: Clause, fixtures: Iterable[Fixture], found: Mapping[str, Change | str]) -> ClauseDrift:
    tagged = [one for one in fixtures if clause.id in one.program.clauses]
    own = [one for one in tagged if one.family == clause.family] or tagged
    results = [found[one.id] for one in own]
    changes = tuple(result for result in results if isinstance(result, Change))
    if any(change.kind == CHANGED for change in changes):
        kind = CHANGED
    elif changes:
        kind = ABSENT
    elif SAME in results:
        kind = SAME
    else:
        kind = UNKNOWN
    return ClauseDrift(clause, kind, len(own), changes)


def change_of(fixture: Fixture, old: str, new: str) -> Change | str:
    """How two releases differ on a fixture; `the same` if they do not, `not recorded` if one lacks it."""
    before, after = recorded_trace(fixture.id, old), recorded_trace(fixture.id, new)
    if before is None or after is None:
        return UNKNOWN
    verdict = compare(
        fixture.program,
        _without_versions(after),
        _without_versions(before),
        strength="torch-specific",
        bounds=_without_versions(recorded_bounds(fixture.id, new)),
    )
    if verdict.kind in ("unsupported", "not run"):
        reason = verdict.reason if verdict.kind == "unsupported" else f"absent in {new}"
        return Change(fixture.id, ABSENT, 0, "", "", _clip(reason.replace("the engine", old)), "")
    if not verdict.differences:
        return SAME
    first = verdict.differences[0]
    shown = (_clip(str(first.engine)), _clip(str(first.oracle)))
    return Change(fixture.id, CHANGED, first.at, first.path, first.level, *shown)


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _without_versions(part: Any) -> Any:
    if isinstance(part, dict):
        return {key: _without_versions(value) for key, value in part.items() if key != "version"}
    return [_without_versions(each) for each in part] if isinstance(part, list) else part


def to_json(found: Sequence[ClauseDrift], old: str, new: str) -> dict[str, Any]:
    """The drift as data."""
    return {
        "old": {"release": old, "provenance": dict(provenance(old))},
        "new": {"release": new, "provenance": dict(provenance(new))},
        "counts": counts(found),
        "clauses": [
            {
                "id": one.clause.id,
                "kind": one.kind,
                "fixtures": one.fixtures,
                "changes": [vars(change) for change in one.changes],
            }
            for one in found
        ],
    }


def counts(found: Sequence[ClauseDrift]) -> dict[str, int]:
    """How many clauses there are of each kind."""
    return {kind: sum(one.kind == kind for one in found) for kind in (SAME, CHANGED, ABSENT, UNKNOWN)}


def page(found: Sequence[ClauseDrift], old: str, new: str) -> Iterator[str]:
    """The drift as lines of Markdown."""
    yield f"# From {old} to {new}"
    yield ""
    yield f"Made by `conformance drift {old} {new}` from the recorded traces. Each line is the first"
    yield "difference of one fixture; texts of errors and warnings, names of nodes and layouts count."
    yield ""
    yield "| clauses | |"
    yield "|---|---|"
    for kind, count in counts(found).items():
        yield f"| {kind} | {count} |"
    family = ""
    for one in found:
        if not one.changes:
            continue
        if one.clause.family != family:
            family = one.clause.family
            yield ""
            yield f"## {family}"
        yield ""
        yield f"**{one.clause.id}** ({one.clause.strength}, {one.kind}) {one.clause.sentence}"
        yield ""
        for change in one.changes:
            yield f"- `{change.fixture}`" + _inert(str(change)[len(change.fixture) :])


def _inert(text: str) -> str:
    """A text in which Markdown sees no markup."""
    text = " ".join(text.split())
    for character in "\\`*_<>[]|":
        text = text.replace(character, "\\" + character)
    return text
