"""Recording the traces of a torch release for all fixtures.

    record("torch-2.13.0-cpu", python=...)

runs every fixture twice on real torch, which proves itself first, and writes one trace for each fixture and
a manifest with their hashes and the release's provenance. Nothing in a recording depends on the day or the
order of runs, so recording again on the same machine gives the same bytes. A recording that differs from the
one that is there is refused, with a summary of what differs, unless it is asked for: it is a change of the
oracle, to be reviewed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.engines import EngineHandle, EngineInfo, Failure, Trace, open_engine
from conformance.engines.identity import prove_torch
from conformance.fixtures import (
    FORM,
    MANIFEST,
    RECORDED,
    Fixture,
    FixtureError,
    forget,
    home,
    load_fixtures,
    recorded_bounds,
)
from conformance.programs import Program, canonical
from conformance.shadow import NoRule, shadow_trace

TRACES = "traces"
BUILD = ("git_version", "platform", "cpu_capability", "ATEN_CPU_CAPABILITY", "threads", "numpy")
Bounds = Callable[[Program], Mapping[str, Any] | None]


class RecordError(Exception):
    """A recording that was not made: where, what is wrong, and what to do."""

    def __init__(self, where: str, what: str, hint: str = "") -> None:
        super().__init__(where, what, hint)
        self.where = where
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" ({self.hint})" if self.hint else "")


@dataclass(frozen=True)
class Changes:
    """What a recording changes in the one that is there, by fixture id."""

    added: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()  # with the place of the first difference
    removed: tuple[str, ...] = ()
    same: int = 0

    @property
    def overwrites(self) -> bool:
        """True if something that was recorded would be lost."""
        return bool(self.changed or self.removed)

    def __str__(self) -> str:
        counts = (self.same, len(self.added), len(self.changed), len(self.removed))
        lines = ["{} the same, {} added, {} changed, {} removed".format(*counts)]
        lines += [f"  added    {name}" for name in self.added]
        lines += [f"  changed  {name}: {place}" for name, place in self.changed]
        lines += [f"  removed  {name}" for name in self.removed]
        return "\n".join(lines)


def record(
    release: str,
    engine: str = "module:torch",
    *,
    python: str | None = None,
    root: Path | None = None,
    bounds: Bounds = shadow_trace,
    update: bool = False,
    timeout: float = 60.0,
) -> Changes:
    """Record all fixtures on a release of torch, named such as torch-2.13.0-cpu.

    Raises EngineError if the engine cannot be opened or is not real torch, FixtureError for a fixture that is
    none, RecordError if the release is another one, a fixture gets no trace or two different ones, or
    (without `update`) the recording differs from the one that is there.
    """
    folder = (root or home()) / RECORDED / release
    fixtures = load_fixtures(root=root, hazards=True)
    device = release.rpartition("-")[2]
    with open_engine(engine, python=python, device=device, timeout=timeout, in_process=False) as handle:
        prove_torch(handle)
        _check_release(release, handle.info)
        traces = dict(zip((one.id for one in fixtures), _run_twice(handle, fixtures), strict=True))
        about = provenance(handle.info)
    for one in fixtures:
        try:
            add_bounds(traces[one.id], bounds(one.program))
        except NoRule as error:
            raise RecordError(
                one.id, f"its values have no bounds: {error}", "give the function a rule"
            ) from error
    changes = compare_with(folder, traces, release, root)
    if changes.overwrites and not update:
        raise RecordError(str(folder), f"the recording differs: {changes}", "--update overwrites it")
    write(folder, fixtures, traces, about)
    return changes


def _check_release(release: str, info: EngineInfo) -> None:
    found = f"torch-{info.version.partition('+')[0]}-{info.device}"
    if found != release:
        raise RecordError(release, f"the engine is {found}", "name the release that runs")


def _run_twice(handle: EngineHandle, fixtures: Sequence[Fixture]) -> Iterator[dict[str, Any]]:
    programs = [one.program for one in fixtures]
    for one, *replies in zip(fixtures, handle.run(programs), handle.run(programs), strict=True):
        first, second = (_trace(one, reply) for reply in replies)
        if first != second:
            place = first_difference(first, second)
            hint = "a fixture must not depend on chance"
            raise RecordError(one.id, f"two runs give two traces, at {place}", hint)
        yield first


def _trace(fixture: Fixture, reply: Trace | Failure) -> dict[str, Any]:
    if isinstance(reply, Failure):
        raise RecordError(fixture.id, f"no trace: {reply.kind}: {reply.detail}")
    return reply.json


def provenance(info: EngineInfo) -> dict[str, Any]:
    """What a recording says of the engine that made it; no paths, which belong to a machine."""
    return {
        "name": info.name,
        "version": info.version,
        "device": info.device,
        "python": info.python,
        "bytes_rung": info.bytes_rung,
        "build": {key: info.build[key] for key in BUILD if key in info.build},
    }


def add_bounds(trace: Any, shadow: Any) -> None:
    """Put the error bounds of a shadow's trace beside the values of a trace, in place.

    An exact value gets none, and neither does one that the shadow lacks or sees in another shape.
    """
    if isinstance(trace, dict) and isinstance(shadow, Mapping):
        bound = shadow.get("bound")
        same = all(trace.get(key) == shadow.get(key) for key in ("dtype", "shape"))
        if isinstance(bound, str) and isinstance(trace.get("bytes"), str) and same and bound.strip("0"):
            trace["bound"] = bound
        if shadow.get("undecided"):
            trace["undecided"] = True
        for key, part in trace.items():
            add_bounds(part, shadow.get(key))
    elif isinstance(trace, list) and isinstance(shadow, list) and len(trace) == len(shadow):
        for part, other in zip(trace, shadow, strict=True):
            add_bounds(part, other)


def first_difference(old: Any, new: Any, path: str = "") -> str:
    """Where two traces first differ, such as steps.3.value.1.bytes; empty if they do not."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in old or key not in new:
                return f"{path}{key}"
            found = first_difference(old[key], new[key], f"{path}{key}.")
            if found:
                return found
        return ""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (one, other) in enumerate(zip(old, new, strict=True)):
            found = first_difference(one, other, f"{path}{at}.")
            if found:
                return found
        return ""
    return "" if old == new and type(old) is type(new) else path.rstrip(".") or "the whole"


def compare_with(folder: Path, traces: Mapping[str, Any], release: str, root: Path | None) -> Changes:
    """What the traces change in the recording in a folder. Raises FixtureError if that one is corrupted."""
    if not (folder / MANIFEST).exists():
        return Changes(added=tuple(traces))
    before = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))[TRACES]
    added, changed, same = [], [], 0
    for name, trace in traces.items():
        old = _old_trace(name, release, root) if name in before else None
        if old is None:
            added.append(name)
        elif old["program"] != trace["program"]:
            changed.append((name, "another program"))
        else:
            place = first_difference(old, trace)
            same += not place
            changed += [(name, place)] if place else []
    return Changes(tuple(added), tuple(changed), tuple(sorted(before.keys() - traces.keys())), same)


def _old_trace(name: str, release: str, root: Path | None) -> Mapping[str, Any] | None:
    try:
        return recorded_bounds(name, release, root)
    except FixtureError as error:
        raise RecordError(error.where, error.what, "restore it first, to see what changes") from error


def write(
    folder: Path, fixtures: Sequence[Fixture], traces: Mapping[str, Any], about: Mapping[str, Any]
) -> None:
    """Write a recording, and remove the traces that it no longer has."""
    entries = {}
    for one in fixtures:
        path = f"{one.family}/{one.id}.json"
        raw = (canonical(traces[one.id]) + "\n").encode("ascii")
        (folder / one.family).mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(raw)
        entries[one.id] = {
            "path": path,
            "trace": hashlib.sha256(raw).hexdigest(),
            "program": one.program.hash,
        }
    kept = {entry["path"] for entry in entries.values()}
    for found in folder.glob("*/*.json"):
        if found.relative_to(folder).as_posix() not in kept:
            found.unlink()
    manifest = {"form": FORM, "provenance": about, TRACES: entries}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    forget()
