"""The specification: numbered clauses as data, one file for each family, in `clauses/`.

A clause states one observable fact of `torch.Tensor.backward()` and its surroundings. Its id never changes.
Its *strength* says who is bound by it: `required` (any engine that claims torch's semantics),
`torch-specific` (texts, node names, quirks) or `excluded` (undefined, racy or bound to a platform: described,
never judged).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from conformance.specification.life import STATUSES, LifeError, check_ids, is_version

STRENGTHS = ("required", "torch-specific", "excluded")
LEVELS = ("values", "state", "errors", "layout")
RELEASES = ("2.13.0", "1.12.1", "1.9.0", "1.2.0")
HOLDS = "holds"

FAMILIES = (
    "SEED", "ACC", "RETAIN", "CREATE", "INPUTS", "LEAF", "VIEW", "INPLACE", "HOOK", "MODE", "LAYOUT", "DTYPE",
    "ERROR", "MULTI", "HIGHER", "FUNC", "DEVICE", "CONCURRENCY", "GRAD", "SUBGRAD",
    "LIFETIME",
)  # fmt: skip


class SpecificationError(ValueError):
    """A clause file that is none: where, what is wrong, and what is allowed."""

    def __init__(self, where: str, what: str, hint: str = "") -> None:
        super().__init__(where, what, hint)
        self.where = where
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" ({self.hint})" if self.hint else "")


@dataclass(frozen=True)
class Clause:
    """One numbered sentence of the specification."""

    id: str
    family: str
    sentence: str
    strength: str
    levels: tuple[str, ...]
    source: str
    probed: bool
    releases: Mapping[str, str] = field(hash=False)  # release: "holds", or what that release does instead
    note: str = ""
    reason: str = ""  # why it is excluded
    sketch: str = ""  # a program that would show it where no fixture can, in torch source
    left_out: str = ""  # what of the sentence no program shows
    touched: tuple[str, ...] = ()  # conditions over program and trace that say that a run touched it
    faults: tuple[str, ...] = ()  # planted faults, beyond those planted for it, that make the sentence false
    unbroken: str = ""  # why no planted fault breaks it
    since: str = ""  # the suite version that added it
    status: str = STATUSES[0]
    history: tuple[str, ...] = ()  # what was corrected, deprecated or disputed, `VERSION: what and why`

    def holds(self, release: str) -> bool:
        """True if the clause was seen to hold in this release of torch."""
        return self.releases.get(release) == HOLDS


@dataclass(frozen=True)
class Family:
    """The clauses about one subject."""

    name: str
    title: str
    clauses: tuple[Clause, ...]


_REQUIRED = {
    "id": str,
    "sentence": str,
    "strength": str,
    "levels": list,
    "source": str,
    "probed": bool,
    "releases": dict,
    "since": str,
    "status": str,
}
_OPTIONAL = {
    "note": str,
    "reason": str,
    "sketch": str,
    "left_out": str,
    "touched": list,
    "faults": list,
    "unbroken": str,
    "history": list,
}
_LISTS = ("levels", "touched", "faults", "history")
_ID = re.compile(r"([A-Z]+)-(\d{2})")


def read_family(data: Any, name: str) -> Family:
    """The family that a clause file holds, validated. Raises SpecificationError."""
    where = f"{name}.json"
    if not isinstance(data, dict) or set(data) != {"family", "title", "clauses"}:
        raise SpecificationError(where, "a clause file is an object with family, title and clauses")
    if data["family"] != name:
        raise SpecificationError(where, f"family is {data['family']!r}", f"it is the file's name, {name!r}")
    clauses = tuple(_read_clause(item, name, where) for item in data["clauses"])
    for number, clause in enumerate(clauses, 1):
        if clause.id != f"{name}-{number:02}":
            what = f"{clause.id} is in the place of {name}-{number:02}"
            raise SpecificationError(where, what, "ids go up by one")
    return Family(name, str(data["title"]), clauses)


def _read_clause(item: Any, family: str, where: str) -> Clause:
    if not isinstance(item, dict):
        raise SpecificationError(where, "a clause is an object")
    where = f"{where}, {item.get('id', 'a clause without id')}"
    for key, kind in _REQUIRED.items():
        if not isinstance(item.get(key), kind) or item[key] in ("", [], {}):
            raise SpecificationError(where, f"{key} is missing, empty or not a {kind.__name__}")
    for key in item.keys() - _REQUIRED.keys():
        if key not in _OPTIONAL:
            hint = f"one of {', '.join((*_REQUIRED, *_OPTIONAL))}"
            raise SpecificationError(where, f"{key!r} is not a key of a clause", hint)
        if not isinstance(item[key], _OPTIONAL[key]) or not item[key]:
            raise SpecificationError(where, f"{key} is empty or not a {_OPTIONAL[key].__name__}")
    match = _ID.fullmatch(item["id"])
    if match is None or match.group(1) != family:
        raise SpecificationError(where, f"{item['id']!r} is not an id of this family", f"such as {family}-01")
    if item["strength"] not in STRENGTHS:
        raise SpecificationError(where, f"strength is {item['strength']!r}", f"one of {', '.join(STRENGTHS)}")
    if (item["strength"] == "excluded") != ("reason" in item):
        raise SpecificationError(where, "an excluded clause has a reason, and no other has", "reason")
    unknown = [level for level in item["levels"] if level not in LEVELS]
    if unknown:
        raise SpecificationError(where, f"{unknown[0]!r} is no level", f"one of {', '.join(LEVELS)}")
    said = item["releases"]
    if tuple(said) != RELEASES or not all(isinstance(what, str) and what for what in said.values()):
        raise SpecificationError(where, "releases does not say what each release does", ", ".join(RELEASES))
    _check_life(item, where)
    read: dict[str, Any] = {key: tuple(value) if key in _LISTS else value for key, value in item.items()}
    return Clause(family=family, **read)


def _check_life(item: Any, where: str) -> None:
    for key in _LISTS:
        if not all(isinstance(entry, str) and entry for entry in item.get(key, ())):
            raise SpecificationError(where, f"{key} holds something that is no text")
    if not is_version(item["since"]):
        raise SpecificationError(where, f"since is {item['since']!r}", "a suite version, such as 2026.1")
    if item["status"] not in STATUSES:
        raise SpecificationError(where, f"status is {item['status']!r}", f"one of {', '.join(STATUSES)}")
    entries = item.get("history", ())
    if (item["status"] != STATUSES[0]) != bool(entries):
        what = "a clause has a history if, and only if, it does not simply stand"
        raise SpecificationError(where, what, "history")
    for entry in entries:
        version, colon, why = entry.partition(": ")
        if not is_version(version) or not colon or not why:
            hint = "`VERSION: what and why`, such as `2026.2: …`"
            raise SpecificationError(where, f"history: {entry!r}", hint)


@cache
def load_families() -> tuple[Family, ...]:
    """All families in the order of the specification. Raises SpecificationError."""
    folder = files(__name__) / "clauses"
    found = {entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json")}
    if found != set(FAMILIES):
        strange = sorted(found ^ set(FAMILIES))
        raise SpecificationError("clauses/", f"{', '.join(strange)}: a file is missing, or one too many")
    families = tuple(_load(name, (folder / f"{name}.json").read_text(encoding="utf-8")) for name in FAMILIES)
    try:
        check_ids((clause.id, clause.since) for family in families for clause in family.clauses)
    except LifeError as error:
        raise SpecificationError("clauses/", error.what, error.hint) from error
    return families


def _load(name: str, text: str) -> Family:
    try:
        return read_family(json.loads(text), name)
    except json.JSONDecodeError as error:
        raise SpecificationError(f"{name}.json, line {error.lineno}", f"not JSON: {error.msg}") from error


def load_clauses() -> tuple[Clause, ...]:
    """All clauses in the order of the specification. Raises SpecificationError."""
    return tuple(_clauses())


def strength_of(names: Iterable[str]) -> str:
    """The strength with which a program that shows these clauses binds an engine: that of the strongest.

    A program that names no clause binds every engine. Raises KeyError for a name that is no clause.
    """
    strengths = _strengths()
    return min((strengths[name] for name in names), key=STRENGTHS.index, default=STRENGTHS[0])


@cache
def _strengths() -> Mapping[str, str]:
    return {clause.id: clause.strength for clause in _clauses()}


def _clauses() -> Iterator[Clause]:
    for family in load_families():
        yield from family.clauses
