"""What result files add up to: who was measured, family by family, clause by clause, failure by failure.

Verdict kinds stay apart everywhere. There is no overall mark: engines are shown beside each other, not
ranked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from conformance.results import FAILING, ProgramResult, Results

# In the order in which cells name them.
OTHER_KINDS = (
    "diverges",
    "flaky",
    "crash",
    "timeout",
    "protocol error",
    "ill-conditioned",
    "unsupported",
    "not run",
)
GROUPS_SHOWN = 100
# Programs that lack the same name lack it at different places.
_PLACE = re.compile(r"^statement \d+: ")
CASES_NAMED = 12


@dataclass(frozen=True)
class Cell:
    """Programs of one row on one engine."""

    passed: int = 0
    executed: int = 0
    all: int = 0
    others: tuple[tuple[str, int], ...] = ()  # kinds apart from `conforms`, with their counts
    expected: int = 0  # of the failing ones: those in the list of expected failures

    @property
    def state(self) -> str:
        """How the cell is marked: `fails`, `passes`, or `nothing` where no program was executed."""
        if any(kind in FAILING for kind, _ in self.others):
            return "fails"
        return "passes" if self.executed else "nothing"


@dataclass(frozen=True)
class Row:
    """A family or a clause with its cell for each engine."""

    name: str
    cells: tuple[Cell, ...]
    strength: str = ""
    sentence: str = ""

    @property
    def unchecked(self) -> bool:
        """True if some engine executed nothing for it."""
        return any(not cell.executed for cell in self.cells)


@dataclass(frozen=True)
class Group:
    """Failures that share a first difference; the shortest stands for all."""

    key: str
    anchor: str
    shown: ProgramResult
    cases: tuple[str, ...]
    count: int
    expected: int


@dataclass(frozen=True)
class Column:
    """One result file."""

    label: str
    anchor: str
    results: Results
    total: Cell
    groups: tuple[Group, ...]
    hidden_groups: int
    reasons: tuple[tuple[str, str, int], ...]  # of what was not judged: kind, reason, count


@dataclass(frozen=True)
class Summary:
    """All that the report shows."""

    columns: tuple[Column, ...]
    families: tuple[Row, ...]
    clauses: tuple[tuple[str, tuple[Row, ...]], ...]  # by family
    unchecked: tuple[Row, ...] = field(default=())


def summarize(runs: Sequence[Results]) -> Summary:
    """Add up result files, in the order given."""
    columns = tuple(_column(index, results) for index, results in enumerate(runs))
    clauses = _clause_rows(runs)
    return Summary(
        columns=columns,
        families=tuple(_family_rows(runs)),
        clauses=_by_family(clauses),
        unchecked=tuple(row for row in clauses if row.unchecked and row.strength != "excluded"),
    )


def cell(programs: Iterable[ProgramResult]) -> Cell:
    """Count verdicts, each kind apart."""
    programs = list(programs)
    kinds = Counter(program.verdict for program in programs)
    return Cell(
        passed=kinds["conforms"],
        executed=sum(program.executed for program in programs),
        all=len(programs),
        others=tuple((kind, kinds[kind]) for kind in OTHER_KINDS if kinds[kind]),
        expected=sum(program.failing and program.expected is not None for program in programs),
    )


def label(results: Results) -> str:
    """How an engine is called in the tables."""
    engine = results.header.engine
    return f"{engine['name']} {engine['version']} on {engine['device']}"


def _column(index: int, results: Results) -> Column:
    groups = _groups(results, f"run{index}")
    reasons = Counter(
        (program.verdict, _PLACE.sub("", program.reason) or "no reason given")
        for program in results.programs
        if not program.executed or program.verdict == "ill-conditioned"
    )
    return Column(
        label=label(results),
        anchor=f"run{index}",
        results=results,
        total=cell(results.programs),
        groups=tuple(groups[:GROUPS_SHOWN]),
        hidden_groups=max(0, len(groups) - GROUPS_SHOWN),
        reasons=tuple((kind, reason, count) for (kind, reason), count in reasons.most_common(20)),
    )


def _groups(results: Results, anchor: str) -> list[Group]:
    found: dict[str, list[ProgramResult]] = {}
    for program in results.programs:
        if program.failing:
            key = program.failure.group if program.failure else program.verdict
            found.setdefault(key, []).append(program)
    groups = []
    for number, (key, members) in enumerate(found.items()):
        shortest = min(members, key=_length)
        names = [member.id for member in members]
        groups.append(
            Group(
                key,
                f"{anchor}-failure{number}",
                shortest,
                tuple(names[:CASES_NAMED]),
                len(names),
                sum(member.expected is not None for member in members),
            )
        )
    return groups


def _length(program: ProgramResult) -> tuple[int, int]:
    failure = program.failure
    return (failure.statements, len(failure.source)) if failure else (10**9, 0)


def _family_rows(runs: Sequence[Results]) -> Iterable[Row]:
    names = dict.fromkeys(program.family for results in runs for program in results.programs)
    generated = [name for name in names if name == "generated"]
    for name in [*sorted(set(names) - {"generated"}), *generated]:
        yield Row(
            name,
            tuple(
                cell(program for program in results.programs if program.family == name) for results in runs
            ),
        )


def _clause_rows(runs: Sequence[Results]) -> list[Row]:
    known = {str(clause["id"]): clause for results in runs for clause in results.header.clauses}
    by_run: list[dict[str, list[ProgramResult]]] = []
    for results in runs:
        programs: dict[str, list[ProgramResult]] = {}
        for program in results.programs:
            for clause in program.clauses:
                programs.setdefault(clause, []).append(program)
        by_run.append(programs)
    named = dict.fromkeys(clause for programs in by_run for clause in programs)
    return [
        Row(
            name,
            tuple(cell(programs.get(name, ())) for programs in by_run),
            strength=str(known.get(name, {}).get("strength", "")),
            sentence=str(known.get(name, {}).get("sentence", "")),
        )
        for name in sorted({**known, **named}, key=_natural)
    ]


def _natural(name: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _by_family(rows: Iterable[Row]) -> tuple[tuple[str, tuple[Row, ...]], ...]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.name.rpartition("-")[0] or row.name, []).append(row)
    return tuple((family, tuple(members)) for family, members in found.items())
