"""`conformance spec`: list, search and show clauses, with the fixtures that show them."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence

from conformance.cli.errors import UsageError
from conformance.fixtures import Fixture, load_fixtures
from conformance.specification import Clause, load_clauses, load_families

_WIDTH = 100


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="WHAT",
        help="a clause (ACC-02), a family (ACC), or words to search for; the families by default",
    )
    parser.add_argument("--cases", action="store_true", help="list the ids of all fixtures")


def execute(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    fixtures = load_fixtures()
    if args.cases:
        lines: Iterator[str] = (f"{found.family:<12} {found.id}" for found in fixtures)
    elif not args.what:
        lines = _families(fixtures)
    else:
        lines = _found(args.what, fixtures)
    for line in lines:
        print(line)
    return 0


def _families(fixtures: Sequence[Fixture]) -> Iterator[str]:
    shown = {clause for fixture in fixtures for clause in fixture.program.clauses}
    for family in load_families():
        excluded = sum(clause.strength == "excluded" for clause in family.clauses)
        covered = sum(clause.id in shown for clause in family.clauses)
        without = f", {excluded} excluded" if excluded else ""
        yield (
            f"{family.name:<12} {len(family.clauses):>3} clauses, {covered:>3} with a fixture{without}: "
            f"{family.title}"
        )


def _found(words: Sequence[str], fixtures: Sequence[Fixture]) -> Iterator[str]:
    clauses = load_clauses()
    name = words[0].upper()
    if len(words) == 1 and any(clause.id == name for clause in clauses):
        return _clause(next(clause for clause in clauses if clause.id == name), fixtures)
    found = [clause for clause in clauses if clause.family == name] if len(words) == 1 else []
    if not found:
        wanted = [word.lower() for word in words]
        found = [
            clause
            for clause in clauses
            if all(word in f"{clause.id} {clause.sentence} {clause.source}".lower() for word in wanted)
        ]
    if not found:
        raise UsageError(
            f"no clause is called or speaks of {' '.join(words)!r}",
            "conformance spec",
            "`conformance spec` lists the families",
        )
    return (
        line
        for clause in found
        for line in textwrap.wrap(
            f"{clause.id:<15} {clause.sentence}", _WIDTH, subsequent_indent=" " * 16, break_long_words=False
        )
    )


def _clause(clause: Clause, fixtures: Sequence[Fixture]) -> Iterator[str]:
    yield f"{clause.id} ({clause.strength}; {', '.join(clause.levels)})"
    yield from textwrap.wrap(clause.sentence, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    for release, what in clause.releases.items():
        yield f"  torch {release}: {what}"
    for title, text in (
        ("source", clause.source),
        ("note", clause.note),
        ("excluded", clause.reason),
        ("left out", clause.left_out),
    ):
        if text:
            yield from textwrap.wrap(
                f"{title}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    "
            )
    for fixture in fixtures:
        if clause.id in fixture.program.clauses:
            yield ""
            yield f"  {fixture.id}: {fixture.program.title}"
            text = fixture.path.read_text("utf-8")
            yield from (f"    {line}" for line in text.splitlines() if not line.startswith("# "))
            yield f"  conformance replay {fixture.id} refimpl"
