"""The corpus as JSON, for engines that are written in any language.

DIR/README.md            how to read the rest
DIR/manifest.json        every file with its SHA-256, the suite version, the corpus hash, the releases
DIR/clauses.json         the specification
DIR/operations.json      the closed table of names that programs use
DIR/schemas/             JSON Schemas of programs and traces
DIR/programs/<id>.json   each program, with its id, family, strength and source
DIR/traces/<release>/<id>.json   what a release of torch showed, error bounds beside inexact values
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.fixtures import corpus_hash, load_fixtures, provenance, recorded_bounds, releases
from conformance.operations import runner_schema
from conformance.programs import to_source
from conformance.specification import load_families

README = "EXPORT.md"
SCHEMAS = ("program.schema.json", "trace.schema.json")


class ExportError(Exception):
    """The corpus was not written: where, what is wrong, and what to do."""

    def __init__(self, where: str, what: str, hint: str) -> None:
        super().__init__(f"{where}: {what} ({hint})")
        self.where, self.what, self.hint = where, what, hint


def export(folder: Path) -> int:
    """Write the corpus; the number of files. Raises ExportError for a folder that is not empty."""
    if folder.exists() and any(folder.iterdir()):
        raise ExportError(str(folder), "it is not empty", "name a new folder")
    written: dict[str, str] = {}

    def put(name: str, text: str) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = text.encode("utf-8")
        path.write_bytes(raw)
        written[name] = hashlib.sha256(raw).hexdigest()

    put("README.md", resources.files(__package__).joinpath(README).read_text("utf-8"))
    for name in SCHEMAS:
        put(f"schemas/{name}", resources.files("conformance.programs").joinpath(name).read_text("utf-8"))
    put("schemas/FORM.md", resources.files("conformance.programs").joinpath("FORM.md").read_text("utf-8"))
    put("operations.json", _dump(runner_schema()))
    put("clauses.json", _dump([dataclasses.asdict(family) for family in load_families()]))
    fixtures = load_fixtures(hazards=True)
    for one in fixtures:
        entry = {
            "id": one.id,
            "family": one.family,
            "strength": one.strength,
            "hash": one.program.hash,
            "program": one.program.to_json(),
            "source": to_source(one.program),
        }
        put(f"programs/{one.id}.json", _dump(entry))
    for release in releases():
        for one in fixtures:
            trace = recorded_bounds(one.id, release)
            if trace is not None:
                put(f"traces/{release}/{one.id}.json", _dump(trace))
    manifest = {
        "suite": __version__,
        "corpus": corpus_hash(),
        "releases": {release: dict(provenance(release)) for release in releases()},
        "files": written,
    }
    (folder / "manifest.json").write_text(_dump(manifest), encoding="utf-8")
    return len(written) + 1


def check(folder: Path) -> list[str]:
    """What is wrong with an exported corpus, a line each: files that are lost, changed or strange."""
    try:
        files: Any = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
        listed = dict(files)
    except (OSError, ValueError, KeyError, TypeError) as error:
        return [f"{folder / 'manifest.json'}: is no manifest: {error!r}"]
    found = []
    for name, digest in listed.items():
        path = folder / name
        if not path.is_file():
            found.append(f"{path}: is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(f"{path}: is not what was exported: corrupted, truncated or edited")
    here = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    found += [
        f"{folder / name}: is not in the manifest" for name in sorted(here - {*listed, "manifest.json"})
    ]
    return found


def _dump(data: Any) -> str:
    return json.dumps(data, sort_keys=True, indent=1, ensure_ascii=True) + "\n"
