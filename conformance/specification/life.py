"""The life of clauses: ids that never disappear, and suite versions that pin what they stood for.

`ids.txt` holds every id that was ever given, with the suite version that gave it; the loader refuses data
that lacks one of them or has one that is not there. `versions.json` pins, for each suite version, a hash of
the clauses and the hash of the corpus. `LIFE.md` says how a clause is added, corrected, deprecated and
disputed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

STATUSES = ("stands", "corrected", "deprecated", "disputed")
IDS = Path(__file__).with_name("ids.txt")
PINS = Path(__file__).with_name("versions.json")
COMMAND = "conformance spec pin"
_VERSION = re.compile(r"\d{4}\.\d+")


class LifeError(ValueError):
    """Data that breaks the life of a clause: what is wrong, and what to do."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what, hint)
        self.what = what
        self.hint = hint


@dataclass(frozen=True)
class Pin:
    """What a suite version stood for."""

    version: str
    clauses: int
    clause_set: str  # SHA-256 of ids, strengths, states and sentences
    corpus: str  # SHA-256 of all programs with their ids
    recordings: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # release: SHA-256 of its manifest


def is_version(text: object) -> bool:
    """True for a suite version such as 2026.1."""
    return isinstance(text, str) and _VERSION.fullmatch(text) is not None


def frozen(path: Path = IDS) -> Mapping[str, str]:
    """Every id that was ever given, with the suite version that gave it. Raises LifeError."""
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        name, _, version = line.partition(" ")
        if not is_version(version) or name in found:
            what = f"{path.name}, line {number}: {line!r} is no id with its version"
            raise LifeError(what, "such as `ACC-01 2026.1`")
        found[name] = version
    return found


def check_ids(clauses: Iterable[tuple[str, str]], known: Mapping[str, str] | None = None) -> None:
    """Hold ids with their versions against the frozen list. Raises LifeError for one that is lost, new or
    moved."""
    known = frozen() if known is None else known
    have = dict(clauses)
    lost = [name for name in known if name not in have]
    if lost:
        raise LifeError(f"{', '.join(lost)} is gone", "an id never disappears: deprecate the clause instead")
    new = [name for name in have if name not in known]
    if new:
        raise LifeError(f"{', '.join(new)} is new", f"add its line to {IDS.name}")
    for name, version in have.items():
        if known[name] != version:
            what = f"{name} is said to be of {version}, and was given in {known[name]}"
            raise LifeError(what, "restore `since`")


def clause_set_hash(clauses: Iterable[tuple[str, str, str, str]]) -> str:
    """The hash of a clause set: of id, strength, status and sentence of each clause."""
    lines = ("\t".join(clause) + "\n" for clause in clauses)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def pins(path: Path = PINS) -> Mapping[str, Pin]:
    """What each suite version stood for. Raises LifeError."""
    try:
        data = json.loads(path.read_text(encoding="ascii"))
        return {version: Pin(version, **pin) for version, pin in data.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise LifeError(f"{path.name} pins no versions: {error}", f"`{COMMAND}`") from error


def pin(now: Pin, path: Path = PINS) -> None:
    """Write what the suite version of today stands for; earlier versions are left as they are."""
    data = dict(pins(path)) if path.exists() else {}
    data[now.version] = now
    text = {
        version: {
            "clauses": one.clauses,
            "clause_set": one.clause_set,
            "corpus": one.corpus,
            "recordings": dict(sorted(one.recordings.items())),
        }
        for version, one in sorted(data.items())
    }
    path.write_text(json.dumps(text, indent=1) + "\n", encoding="ascii")
