"""The book: the specification as pages, one for each family, made from the data and the recorded traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.fixtures import NEWEST, Fixture, load_fixtures, recorded_trace, slots
from conformance.programs import Program, to_source
from conformance.reports.steps import value_text
from conformance.specification import Clause, Family, load_families
from conformance.specification.coverage import shown_by
from conformance.specification.support import faults_in

FOLDER = Path(__file__).with_name("book")
COMMAND = "conformance spec book"
_LONGEST = 400


def pages() -> Mapping[str, str]:
    """The text of each page by its file's name."""
    shown = shown_by(load_fixtures(hazards=True))
    families = load_families()
    found = {f"{family.name}.md": "\n".join(_page(family, shown)) + "\n" for family in families}
    return {"README.md": "\n".join(_contents(families)) + "\n", **found}


def write(folder: Path = FOLDER) -> list[str]:
    """Write the book; the names of the pages that changed."""
    folder.mkdir(exist_ok=True)
    changed = []
    made = pages()
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            changed.append(name)
    for path in folder.glob("*.md"):
        if path.name not in made:
            path.unlink()
            changed.append(path.name)
    return changed


def _contents(families: Sequence[Family]) -> Iterator[str]:
    yield "# The specification of `torch.Tensor.backward()`"
    yield ""
    yield f"Suite version {__version__}. Made by `{COMMAND}` from the clause data and the recorded traces;"
    yield "do not edit."
    for device, recorded in slots().items():
        yield f"Recorded on {device}: {recorded}."
    yield "How a clause is added, corrected, deprecated and disputed: [LIFE.md](../LIFE.md)."
    yield ""
    yield "| family | clauses | |"
    yield "|---|---|---|"
    for family in families:
        yield f"| [{family.name}]({family.name}.md) | {len(family.clauses)} | {family.title} |"


def _page(family: Family, shown: Mapping[str, Sequence[Fixture]]) -> Iterator[str]:
    yield f"# {family.name}: {family.title}"
    yield ""
    yield f"Made by `{COMMAND}`; do not edit. Outputs are those of {NEWEST}."
    for clause in family.clauses:
        yield ""
        yield f"## {clause.id}"
        yield ""
        yield inert(clause.sentence)
        yield ""
        yield from _facts(clause)
        for fixture in shown[clause.id][:1]:
            yield ""
            yield f"`{fixture.id}`: {inert(fixture.program.title)}"
            yield ""
            yield "```python"
            yield from session(fixture)
            yield "```"
        more = [f"`{fixture.id}`" for fixture in shown[clause.id][1:]]
        if more:
            yield ""
            yield f"More: {', '.join(more)}."


def _facts(clause: Clause) -> Iterator[str]:
    yield f"- {clause.strength}; {', '.join(clause.levels)}; {clause.status}, since {clause.since}"
    holding = [release for release in clause.releases if clause.holds(release)]
    if holding:
        yield f"- holds in torch {', '.join(holding)}"
    for release, what in clause.releases.items():
        if not clause.holds(release):
            yield f"- torch {release}: {inert(what)}"
    yield f"- source: {inert(clause.source)}"
    faults = faults_in(clause)
    if faults:
        yield f"- broken by the planted faults {', '.join(f'`{name}`' for name in faults)}"
    for title, text in (
        ("no fault breaks it", clause.unbroken),
        ("note", clause.note),
        ("excluded", clause.reason),
        ("not shown", clause.left_out),
        *(("history", entry) for entry in clause.history),
    ):
        if text:
            yield f"- {title}: {inert(text)}"


def session(fixture: Fixture) -> Iterator[str]:
    """A fixture as a session at the prompt, with what the newest release showed."""
    trace = recorded_trace(fixture.id)
    for index, statement in enumerate(fixture.program.body):
        lines = to_source(Program((statement,))).splitlines()
        yield from (f"{'...' if number else '>>>'} {line}".rstrip() for number, line in enumerate(lines))
        if trace is not None:
            yield from _outputs(trace["steps"][index])


def _outputs(step: Mapping[str, Any]) -> Iterator[str]:
    for entry in step["log"]:
        yield f"[{entry['in']}] {_clip(value_text(entry['value']))}"
    for category, text in step["warnings"]:
        yield f"{category}: {_clip(text)}"
    if step["outcome"] == "raised":
        yield f"{step['error']['type']}: {_clip(step['error']['text'])}"
    elif step["outcome"] == "unsupported":
        yield f"not recorded: {step['missing']} is missing"
    elif "value" in step and (step["value"] is not None or step["kind"] == "observe"):
        yield _clip(value_text(step["value"]))


def inert(text: str) -> str:
    """A text in which Markdown sees no markup but code between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = ["'".join(parts)]
    for number in range(0, len(parts), 2):
        for character in "\\*_<[|":
            parts[number] = parts[number].replace(character, "\\" + character)
    return "`".join(parts)


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
