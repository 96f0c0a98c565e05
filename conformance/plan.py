"""What a run executes: the fixtures, then generated programs, each with an id that never changes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import hypothesis

from conformance import fixtures, generate
from conformance.programs import Program

GENERATED = "generated"

# Seeds whose programs repeat each other this often are as good as exhausted.
_TRIES_PER_PROGRAM = 50


class PlanError(Exception):
    """What was asked for does not exist: what, where, and what there is instead."""

    def __init__(self, what: str, where: str, hint: str) -> None:
        super().__init__(f"{where}: {what} ({hint})")
        self.what, self.where, self.hint = what, where, hint


@dataclass(frozen=True)
class Case:
    """One program with its name in reports."""

    id: str
    family: str
    origin: str  # "fixture" or "generated"
    program: Program


def fixture_cases(families: Sequence[str] | None = None, root: Path | None = None) -> list[Case]:
    """The fixtures of some families (all by default) as cases, in the order of their files.

    Raises FixtureError for a fixture that is none, PlanError for a family without fixtures.
    """
    cases = [
        Case(found.id, found.family, "fixture", found.program) for found in fixtures.load_fixtures(root=root)
    ]
    if families is None:
        return cases
    known = dict.fromkeys(case.family for case in cases)
    for family in families:
        if family not in known and family != GENERATED:
            raise PlanError(
                f"no family is called {family!r}",
                "--families",
                f"one of {', '.join([*known, GENERATED])}",
            )
    return [case for case in cases if case.family in families]


def generated_cases(seed: int, count: int | None) -> Iterator[Case]:
    """Distinct generated programs, the same for a seed on every machine; without a count they never end."""
    seen: set[str] = set()
    index = tries = 0
    while count is None or len(seen) < count:
        program = generate.decode(generate.random_choices(seed, index))
        index += 1
        name = f"gen-{program.hash[:16]}"
        if name in seen:
            tries += 1
            if tries > _TRIES_PER_PROGRAM * (len(seen) + 1):
                raise PlanError(
                    f"seed {seed} gives only {len(seen)} different programs", "--examples", "ask for fewer"
                )
            continue
        seen.add(name)
        yield Case(name, GENERATED, GENERATED, program)


def hypothesis_cases(seed: int, count: int) -> list[Case]:
    """Distinct programs that Hypothesis draws; the same for the same seed and version of Hypothesis."""
    if not count:
        return []
    drawn: dict[str, Case] = {}

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=count, deadline=None, database=None, phases=[hypothesis.Phase.generate])
    @hypothesis.given(generate.programs())
    def draw(program: Program) -> None:
        name = f"gen-{program.hash[:16]}"
        drawn.setdefault(name, Case(name, GENERATED, GENERATED, program))

    draw()
    return list(drawn.values())


def only(cases: Iterable[Case], wanted: str) -> list[Case]:
    """The case with this id, or the one whose id begins with it.

    Raises PlanError if there is none, or if a beginning fits several.
    """
    cases = list(cases)
    exact = [case for case in cases if case.id == wanted]
    if exact:
        return exact
    found = [case for case in cases if case.id.startswith(wanted)]
    if len(found) == 1:
        return found
    names = [case.id for case in found or cases]
    close = names[:3] if found else difflib.get_close_matches(wanted, names, n=3, cutoff=0.4)
    hint = f"did you mean {', '.join(close)}?" if close else "`conformance spec` lists what there is"
    raise PlanError(
        f"{len(found) or 'no'} case{'s begin with' if found else ' is called'} {wanted!r}", "--only", hint
    )
