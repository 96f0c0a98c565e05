"""The fixtures: programs kept as torch source, with the traces that releases of torch left.

    fixtures/<FAMILY>/<slug>.py              what shows a clause of this family
    fixtures/seeds/, cases/                  user documents and reported cases, as programs
    fixtures/hazards/                        what torch does and nobody should copy: recorded, never judged
    fixtures/recorded/<release>/<FAMILY>/<slug>.json, and a MANIFEST.json with the hashes

A fixture's id is its slug, unique over all families. Recorded traces are data: a trace whose bytes are not
those of the manifest, or that belongs to another program, is refused by name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from conformance.programs import Program, ProgramError, parse, to_source
from conformance.specification import load_clauses, strength_of

HAZARDS = "hazards"
RECORDED = "recorded"
NEWEST = "torch-2.13.0-cpu"
MANIFEST = "MANIFEST.json"
FORM = 1


class FixtureError(ValueError):
    """A fixture or a recorded trace that is none: where, what is wrong, and what to do."""

    def __init__(self, where: str, what: str, hint: str = "") -> None:
        super().__init__(where, what, hint)
        self.where = where
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" ({self.hint})" if self.hint else "")


@dataclass(frozen=True)
class Fixture:
    """A program with an id and a place."""

    id: str
    family: str
    program: Program
    path: Path

    @property
    def strength(self) -> str:
        """How strongly it binds an engine: as its strongest clause does; a hazard never does."""
        return "excluded" if self.family == HAZARDS else strength_of(self.program.clauses)


def home() -> Path:
    """The folder of the fixtures: inside the installed package, or beside it in a checkout.

    Raises FixtureError if there is none.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_fixtures", package.parent / "fixtures"):
        if folder.is_dir():
            return folder
    raise FixtureError(str(package.parent / "fixtures"), "there are no fixtures", "install the package again")


def load_fixtures(
    families: Iterable[str] | None = None, root: Path | None = None, *, hazards: bool = False
) -> list[Fixture]:
    """The fixtures of some families (all by default; hazards only if asked for), by family and slug.

    Raises FixtureError for a family without fixtures, an id used twice, or a file that is no program.
    """
    everything = _load_all(home() if root is None else root)
    if families is None:
        return [found for found in everything if hazards or found.family != HAZARDS]
    wanted = set(families)
    unknown = sorted(wanted - {found.family for found in everything})
    if unknown:
        known = ", ".join(sorted({found.family for found in everything}))
        raise FixtureError(", ".join(unknown), "there is no such family of fixtures", f"there are {known}")
    return [found for found in everything if found.family in wanted]


@cache
def _load_all(root: Path) -> tuple[Fixture, ...]:
    found: dict[str, Fixture] = {}
    for path in sorted(root.glob("*/*.py")):
        fixture = read_fixture(path)
        if fixture.id in found:
            raise FixtureError(str(path), f"the id {fixture.id!r} is used twice", str(found[fixture.id].path))
        found[fixture.id] = fixture
    return tuple(found.values())


def read_fixture(path: Path) -> Fixture:
    """The fixture in a file. Raises FixtureError."""
    try:
        program = parse(path.read_text(encoding="utf-8"), name=str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FixtureError(str(path), f"cannot be read: {error}") from error
    except ProgramError as error:
        raise FixtureError(error.where, error.what, error.hint) from error
    return Fixture(path.stem, path.parent.name, replace(program, id=path.stem), path)


def corpus_hash(root: Path | None = None) -> str:
    """The SHA-256 of all programs with their ids, in order."""
    lines = (f"{found.family}/{found.id} {found.program.hash}\n" for found in _load_all(root or home()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def releases(root: Path | None = None) -> list[str]:
    """The releases of which traces are recorded, such as torch-2.13.0-cpu."""
    return sorted(path.parent.name for path in ((root or home()) / RECORDED).glob(f"*/{MANIFEST}"))


def slots(root: Path | None = None) -> dict[str, str]:
    """What is recorded of each kind of device: the releases, or `not recorded`."""
    found: dict[str, list[str]] = {"cpu": [], "cuda": []}
    for release in releases(root):
        name, _, device = release.rpartition("-")
        found.setdefault(device.partition(":")[0], []).append(name)
    return {device: ", ".join(names) or "not recorded" for device, names in found.items()}


@dataclass(frozen=True)
class Entry:
    """What a manifest says of one fixture."""

    path: str  # of the trace, relative to the manifest
    trace: str  # SHA-256 of the file
    program: str  # hash of the program that was run


@cache
def _manifest(folder: Path) -> tuple[Mapping[str, Entry], Mapping[str, Any]]:
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        entries = {name: Entry(**entry) for name, entry in data["traces"].items()}
        provenance = dict(data["provenance"])
    except FileNotFoundError as error:
        raise FixtureError(str(path), "nothing is recorded for this release", "conformance record") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FixtureError(str(path), f"is no manifest: {error!r}", "restore it, or record anew") from error
    return entries, provenance


def manifest_hash(release: str, root: Path | None = None) -> str:
    """The SHA-256 of a release's manifest, which holds the hashes of its traces. Raises FixtureError."""
    path = (root or home()) / RECORDED / release / MANIFEST
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise FixtureError(str(path), "nothing is recorded for this release", "conformance record") from error


def provenance(release: str, root: Path | None = None) -> Mapping[str, Any]:
    """What a release was recorded with: version, build, CPU capability, threads. Raises FixtureError."""
    return _manifest((root or home()) / RECORDED / release)[1]


def recorded_ids(release: str, root: Path | None = None) -> list[str]:
    """The ids of the fixtures that are recorded on a release. Raises FixtureError."""
    return list(_manifest((root or home()) / RECORDED / release)[0])


def recorded_trace(fixture_id: str, release: str = NEWEST, root: Path | None = None) -> dict[str, Any] | None:
    """The trace of a fixture on a release, as the engine gave it; None if it was not recorded.

    Raises FixtureError for a trace that is missing, corrupted, edited by hand, or of another program.
    """
    trace = recorded_bounds(fixture_id, release, root)
    if trace is not None:
        _drop_bounds(trace)
    return trace


def _drop_bounds(part: Any) -> None:
    if isinstance(part, dict):
        part.pop("bound", None)
        part.pop("undecided", None)
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _drop_bounds(each)


def recorded_bounds(
    fixture_id: str, release: str = NEWEST, root: Path | None = None
) -> dict[str, Any] | None:
    """The same with an error bound beside each value that is not exact: what `compare` takes as bounds."""
    folder = (root or home()) / RECORDED / release
    entry = _manifest(folder)[0].get(fixture_id)
    if entry is None:
        return None
    path = folder / entry.path
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise FixtureError(str(path), f"the trace is missing: {error.strerror}", "restore it") from error
    if hashlib.sha256(raw).hexdigest() != entry.trace:
        raise FixtureError(
            str(path), "not the trace that was recorded: corrupted, truncated or edited", "restore it"
        )
    trace: dict[str, Any] = json.loads(raw)
    if trace.get("program") != entry.program:
        raise FixtureError(str(path), "the trace belongs to another program", "record anew")
    return trace


def forget() -> None:
    """Read fixtures and recordings anew from now on: something was written."""
    _load_all.cache_clear()
    _manifest.cache_clear()


def observes(trace: Mapping[str, Any]) -> bool:
    """True if a trace shows what could be otherwise: a value (None too, where a statement asks for it), an
    error, a log, a warning or a gradient."""
    return any(
        step["outcome"] != "ok"
        or step["kind"] == "observe"
        or step.get("value") is not None
        or step["log"]
        or step["warnings"]
        or any(_has_gradient(seen) for seen in step["seen"].values())
        for step in trace["steps"]
    )


def _has_gradient(seen: Any) -> bool:
    return isinstance(seen, list) and seen[:1] == ["tensor"] and seen[1].get("grad") is not None


def lint(root: Path | None = None) -> list[str]:
    """What is wrong with the fixtures, a line each: names, clauses, form, observations, stale recordings.

    Raises FixtureError for what cannot be read at all.
    """
    return list(_problems(root or home()))


def _problems(root: Path) -> Iterator[str]:
    clauses = {clause.id: clause for clause in load_clauses()}
    fixtures = _load_all(root)
    for one in fixtures:
        unknown = [name for name in one.program.clauses if name not in clauses]
        if unknown:
            yield f"{one.path}: there is no clause {', '.join(unknown)}"
        if not one.program.clauses or not one.program.title:
            yield f"{one.path}: a fixture has a title and names its clauses"
        if one.path.read_text(encoding="utf-8") != to_source(one.program):
            yield f"{one.path}: not in the printed form of programs"
    shown = {name for one in fixtures for name in one.program.clauses}
    for clause in clauses.values():
        if clause.id not in shown and not clause.sketch and clause.strength != "excluded":
            yield f"{clause.id}: no fixture shows it, and it is not excluded"
    for release in releases(root):
        yield from _stale(root, release, fixtures)


def _stale(root: Path, release: str, fixtures: Iterable[Fixture]) -> Iterator[str]:
    recorded = set(recorded_ids(release, root))
    for one in fixtures:
        if one.id not in recorded:
            yield f"{one.path}: nothing is recorded for it on {release}"
            continue
        trace = recorded_trace(one.id, release, root)
        if trace is None or trace["program"] != one.program.hash:
            yield f"{one.path}: {release} was recorded for another program"
        elif release == NEWEST and not observes(trace):
            yield f"{one.path}: it observes nothing that could be otherwise"
    for name in sorted(recorded - {one.id for one in fixtures}):
        yield f"{release}: {name} was recorded, and is no fixture"
