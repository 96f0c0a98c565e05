"""The list of distinct divergences of several engines, made from the result files of their runs.

Each stands for one shortest program on one engine, with the clause that it touches, what torch shows and what
the engine shows. Nothing is listed twice for an engine; programs of more than eight statements are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from conformance.compare.grouping import nameless
from conformance.engines.model import EngineHandle, Trace
from conformance.programs import Program
from conformance.results import ProgramResult, Results
from conformance.specification import load_clauses
from conformance.specification.predicates import touches

LONGEST = 8
"""Statements of the longest program that is listed."""
KINDS = ("diverges", "crash", "timeout")
_SHOWN = 160


@dataclass(frozen=True)
class Divergence:
    """One row of the list."""

    engine: str
    version: str
    clause: str
    verdict: str
    level: str
    at: str  # the observation, without the program's names
    torch: str
    shown: str  # by the engine
    statements: int
    program: str
    case: str  # where it was found


def collect(runs: Iterable[Results], oracle: EngineHandle) -> list[Divergence]:
    """The distinct divergences of runs, in the order of engines, clauses and lengths.

    `oracle` is real torch, which shows what a shortest program touches.
    """
    found = [(run, result, touched) for run in runs for result, touched in _touched(run, oracle)]
    common = Counter(clause for _, _, touched in found for clause in touched)
    rows: dict[tuple[str, ...], Divergence] = {}
    for run, result, touched in found:
        row = _row(run, result, clause_of(result, touched, common))
        key = (row.engine, row.version, row.verdict, row.clause, row.at, row.torch, row.shown)
        known = rows.get(key)
        if known is None or row.statements < known.statements:
            rows[key] = row
    unique = {(row.engine, row.version, row.program, row.at): row for row in rows.values()}
    order = sorted(unique.values(), key=lambda row: (row.engine, row.version, row.clause, row.statements))
    return order


def _listed(result: ProgramResult) -> bool:
    if result.verdict not in KINDS or result.failure is None or result.failure.statements > LONGEST:
        return False
    return result.verdict != "diverges" or result.failure.difference is not None


def _touched(run: Results, oracle: EngineHandle) -> Iterator[tuple[ProgramResult, list[str]]]:
    """The results that are listed, each with the clauses that its shortest program touches on torch."""
    chosen = [result for result in run.programs if _listed(result)]
    programs = [Program.from_json(dict(result.failure.program)) for result in chosen if result.failure]
    clauses = load_clauses()
    for result, program, reply in zip(chosen, programs, oracle.run(programs), strict=True):
        yield result, touches(program, reply.json, clauses) if isinstance(reply, Trace) else []


def clause_of(result: ProgramResult, touched: Sequence[str], common: Mapping[str, int]) -> str:
    """The clause that a shortest program shows: that of the text that differs, else the rarest it touches.

    A program is made shorter as long as it fails alike; it may then touch another clause than at first.
    """
    difference = result.failure.difference if result.failure is not None else None
    if difference is not None and difference.get("clause"):
        return str(difference["clause"])
    named = [clause for clause in result.clauses if clause in touched]
    return min(named or touched, key=lambda clause: common.get(clause, 0), default="")


def _row(run: Results, result: ProgramResult, clause: str) -> Divergence:
    failure, engine = result.failure, run.header.engine
    if failure is None:
        raise ValueError(f"{result.id} has no failure to list")
    difference = failure.difference or {}
    error = (failure.engine or {}).get("error") or {}
    shown = str(difference.get("engine", result.reason))
    if difference.get("path") == "outcome" and shown == "raised":
        shown = f"raised {error.get('type', '')}: {error.get('text', '')}"
    theirs = str(difference.get("oracle", "a result"))
    if difference.get("path") == "outcome" and theirs == "raised":
        raised = (failure.oracle or {}).get("error") or {}
        theirs = f"raised {raised.get('type', '')}: {raised.get('text', '')}"
    name = str(engine["name"])
    return Divergence(
        engine=name,
        version=str(engine["version"]),
        clause=clause,
        verdict=result.verdict,
        level=str(difference.get("level", "")),
        at=nameless(str(difference.get("path", ""))),
        torch=_short(theirs),
        shown=_short(shown),
        statements=failure.statements,
        program=failure.source.strip(),
        case=result.id,
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def to_json(rows: Sequence[Divergence]) -> dict[str, Any]:
    """The list as JSON."""
    return {"count": len(rows), "engines": _counts(rows), "divergences": [asdict(row) for row in rows]}


def _counts(rows: Sequence[Divergence]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        name = f"{row.engine} {row.version}"
        counts[name] = counts.get(name, 0) + 1
    return counts


def page(rows: Sequence[Divergence], oracle: str) -> Iterator[str]:
    """The list as a page of Markdown."""
    counts = _counts(rows)
    yield f"# Divergences from {oracle}"
    yield ""
    yield f"{len(rows)} distinct programs on {len(counts)} engines, made by `conformance divergences`."
    yield "A difference is no verdict on an engine that promises something else than torch does."
    yield ""
    yield "| engine | divergences |"
    yield "|---|---|"
    for name, count in counts.items():
        yield f"| {name} | {count} |"
    last = ""
    for row in rows:
        name = f"{row.engine} {row.version}"
        if name != last:
            yield from ("", f"## {name}")
            last = name
        yield from ("", f"### {row.clause or 'no single clause'}: {row.at or row.verdict}", "")
        yield "```python"
        yield from row.program.splitlines()
        yield "```"
        yield ""
        yield f"- torch: {_code(row.torch)}"
        yield f"- {row.engine}: {_code(row.shown)}"


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39)) or ' '}`"
