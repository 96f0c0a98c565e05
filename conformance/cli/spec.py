"""`conformance spec`: the clauses, and what is made from them.

conformance spec                               the families
conformance spec list --family ACC             clauses of a family, of a strength
conformance spec search retain graph           clauses that speak of all these words
conformance spec show ACC-02 --run torch refimpl   one clause; its programs side by side
conformance spec support | minimal             what planted faults and dropped statements show
conformance spec book | pin                    write the book; pin the suite version
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence

from conformance.cli import spec_checks
from conformance.cli.errors import UsageError
from conformance.fixtures import Fixture, load_fixtures, slots
from conformance.specification import FAMILIES, STRENGTHS, Clause, load_clauses, load_families

_WIDTH = 100
ACTIONS = ("list", "search", "show", *spec_checks.ACTIONS)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="WHAT",
        help=f"{', '.join(ACTIONS)}; or at once a clause (ACC-02), a family (ACC), or words to search for",
    )
    parser.add_argument("--family", metavar="F", help=f"one of {', '.join(FAMILIES)}")
    parser.add_argument("--strength", choices=STRENGTHS, help="clauses of this strength alone")
    parser.add_argument(
        "--run", nargs="+", metavar="ENGINE", default=[], help="with show: run its programs side by side"
    )
    parser.add_argument("--cases", action="store_true", help="list the ids of all fixtures")
    spec_checks.arguments(parser)


def execute(args: argparse.Namespace) -> int:
    """Print what was asked for."""
    known = bool(args.what) and args.what[0] in ACTIONS
    action, words = (args.what[0], args.what[1:]) if known else ("", args.what)
    if action in spec_checks.ACTIONS:
        return spec_checks.execute(action, words, args)
    fixtures = load_fixtures()
    chosen = _chosen(args)
    if args.cases:
        lines: Iterator[str] = (f"{found.family:<12} {found.id}" for found in fixtures)
    elif action == "show":
        lines = (line for word in words or [""] for line in _shown(_named(word), fixtures))
    elif action == "list" or (not words and (args.family or args.strength)):
        lines = _listed(_only(chosen, words))
    elif action == "search":
        lines = _listed(_searched(chosen, words))
    elif not words:
        lines = _families(fixtures)
    else:
        lines = _found(words, chosen, fixtures)
    for line in lines:
        print(line)
    return _run(action, words, args.run, fixtures) if args.run else 0


def _chosen(args: argparse.Namespace) -> list[Clause]:
    if args.family is not None and args.family.upper() not in FAMILIES:
        raise UsageError(f"there is no family {args.family!r}", "--family", f"one of {', '.join(FAMILIES)}")
    return [
        clause
        for clause in load_clauses()
        if (args.family is None or clause.family == args.family.upper())
        and (args.strength is None or clause.strength == args.strength)
    ]


def _only(clauses: Sequence[Clause], words: Sequence[str]) -> list[Clause]:
    """The clauses of the families that are named; all if none is."""
    names = {word.upper() for word in words}
    for name in names - set(FAMILIES):
        raise UsageError(
            f"there is no family {name!r}", "conformance spec list", f"one of {', '.join(FAMILIES)}"
        )
    return [clause for clause in clauses if not names or clause.family in names]


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
    for device, recorded in slots().items():
        yield f"recorded on {device}: {recorded}"


def _found(words: Sequence[str], clauses: Sequence[Clause], fixtures: Sequence[Fixture]) -> Iterator[str]:
    name = words[0].upper()
    if len(words) == 1 and any(clause.id == name for clause in clauses):
        return _shown(_named(name), fixtures)
    family = [clause for clause in clauses if clause.family == name] if len(words) == 1 else []
    return _listed(family or _searched(clauses, words))


def _searched(clauses: Sequence[Clause], words: Sequence[str]) -> list[Clause]:
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
    return found


def _named(name: str) -> Clause:
    for clause in load_clauses():
        if clause.id == name.upper():
            return clause
    raise UsageError(
        f"no clause is called {name!r}", "conformance spec show", "`conformance spec list` lists them"
    )


def _listed(clauses: Sequence[Clause]) -> Iterator[str]:
    for clause in clauses:
        yield from textwrap.wrap(
            f"{clause.id:<15} {clause.sentence}", _WIDTH, subsequent_indent=" " * 16, break_long_words=False
        )


def _shown(clause: Clause, fixtures: Sequence[Fixture]) -> Iterator[str]:
    state = f"{clause.status}, since {clause.since}"
    yield f"{clause.id} ({clause.strength}; {', '.join(clause.levels)}; {state})"
    yield from textwrap.wrap(clause.sentence, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    for release, what in clause.releases.items():
        yield f"  torch {release}: {what}"
    for title, text in (
        ("source", clause.source),
        ("note", clause.note),
        ("excluded", clause.reason),
        ("left out", clause.left_out),
        ("touched by", "; then ".join(clause.touched)),
        ("broken by", ", ".join(spec_checks.faults_of(clause))),
        ("no fault breaks it", clause.unbroken),
        *((f"history {number}", entry) for number, entry in enumerate(clause.history, 1)),
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


def _run(action: str, words: Sequence[str], engines: Sequence[str], fixtures: Sequence[Fixture]) -> int:
    """Run the fixtures of the clauses that were shown, and print what each engine shows."""
    if not words or action not in ("show", ""):
        raise UsageError("nothing is named to run", "--run", "`conformance spec show ACC-02 --run refimpl`")
    wanted = {_named(word).id for word in words}
    chosen = [one for one in fixtures if wanted & set(one.program.clauses)]
    if not chosen:
        raise UsageError(f"no fixture shows {', '.join(sorted(wanted))}", "--run", "its sketch needs more")
    return spec_checks.side_by_side(chosen, engines)
