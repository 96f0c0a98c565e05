"""Result files: JSON lines, so that a killed run leaves all that it found.

The first line is the header: who was measured against whom, on what, and how many programs were planned. One
line for each program follows, flushed as it is written. The last line is the footer with the run's health. A
file without a footer, or whose last line is cut off, is *incomplete* and says so; it is never read as a run
with fewer programs.

Whatever is shown of a run (exit status aside) is made from these files alone. The schema is
`results.schema.json`; `SCHEMA` is raised when a reader of the previous one would misread a file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import jsonschema

SCHEMA = 1

EXECUTED = ("conforms", "diverges", "flaky", "ill-conditioned", "crash", "timeout", "protocol error")
FAILING = ("diverges", "flaky", "crash", "timeout", "protocol error")

_LONGEST_TEXT = 65_536


class ResultsError(Exception):
    """A result file cannot be read: what is wrong, where, and what to do."""

    def __init__(self, what: str, where: str, hint: str) -> None:
        super().__init__(f"{where}: {what} ({hint})")
        self.what, self.where, self.hint = what, where, hint


@dataclass(frozen=True)
class Header:
    """What was run, on what, against what."""

    suite: str
    corpus: str
    engine: Mapping[str, Any]
    oracle: Mapping[str, Any]
    host: Mapping[str, Any]
    planned: Mapping[str, int | None]  # "fixtures" and "generated"; None where only the time was given
    settings: Mapping[str, Any]
    clauses: tuple[Mapping[str, Any], ...] = ()  # "id", "strength" and "sentence" of the specification
    started: str = ""
    schema: int = SCHEMA

    @property
    def planned_count(self) -> int | None:
        """How many programs a complete run has, or None where only the time was given."""
        counts = list(self.planned.values())
        return None if None in counts else sum(count or 0 for count in counts)


@dataclass(frozen=True)
class Failure:
    """What a person needs of a failure: the shortest program, both outcomes, the first difference."""

    program: Mapping[str, Any]
    source: str
    statements: int
    original: str | None = None  # the source before it was shortened, where that changed it
    difference: Mapping[str, Any] | None = None
    more: tuple[Mapping[str, Any], ...] = ()  # the other differences of the same statement
    oracle: Mapping[str, Any] | None = None  # the step at the first difference
    engine: Mapping[str, Any] | None = None
    script: str = ""
    group: str = ""  # failures of one fault share it


@dataclass(frozen=True)
class ProgramResult:
    """One program's verdict."""

    id: str
    hash: str
    family: str
    origin: str  # "fixture" or "generated"
    verdict: str
    clauses: tuple[str, ...] = ()
    title: str = ""
    reason: str = ""
    expected: str | None = None  # the reason given in the list of expected failures
    counts: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)  # statement kinds of the oracle's trace
    outcomes: Mapping[str, int] = field(default_factory=dict)  # ok, raised, skipped, unsupported
    gradient_at_end: bool = False
    failure: Failure | None = None

    @property
    def executed(self) -> bool:
        """True if the program ran on both sides and was compared, or the engine broke on it."""
        return self.verdict in EXECUTED

    @property
    def failing(self) -> bool:
        """True if this verdict fails a run, expected or not."""
        return self.verdict in FAILING


@dataclass(frozen=True)
class Footer:
    """How the run ended."""

    complete: bool
    programs: int
    seconds: float
    health: Mapping[str, Any]
    verdicts: Mapping[str, int]
    stale: tuple[Mapping[str, str], ...] = ()  # expected failures that passed, or that match nothing
    stopped: str = ""  # why the run ended before its plan


@dataclass(frozen=True)
class Results:
    """A result file that was read."""

    path: str
    header: Header
    programs: tuple[ProgramResult, ...]
    footer: Footer | None
    problem: str = ""  # why the file is incomplete

    @property
    def complete(self) -> bool:
        """True if the run did all that it planned and said so."""
        return not self.problem


class Writer:
    """Writes one result file; every line is on disk before the next program runs."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file: IO[str] = path.open("w", encoding="ascii", newline="\n")

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, record: Header | ProgramResult | Footer) -> None:
        """Append one record as a line and flush it."""
        name = {Header: "header", ProgramResult: "program", Footer: "footer"}[type(record)]
        line = {"record": name, **_clipped(asdict(record))}
        self._file.write(json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n")
        self._file.flush()


def exit_status(results: Results) -> int:
    """0: some programs were executed and conform, and none fails; 1: one fails; 2: nothing conforms or fails,
    or the run is incomplete. Expected failures do not count, stale entries of their list fail.
    Ill-conditioned programs neither pass nor fail a run: they are shown."""
    if any(program.failing and program.expected is None for program in results.programs):
        return 1
    if results.footer is not None and results.footer.stale:
        return 1
    conform = any(program.verdict == "conforms" for program in results.programs)
    expected = any(program.failing for program in results.programs)
    return 0 if (conform or expected) and results.complete else 2


def clip(text: str, longest: int = _LONGEST_TEXT) -> str:
    """A text of bounded length that says how much is left out."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]} … [{len(text) - longest:,} more characters]"


def _clipped(value: Any) -> Any:
    if isinstance(value, str):
        return clip(value)
    if isinstance(value, Mapping):
        return {key: _clipped(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clipped(item) for item in value]
    return value


@functools.cache
def _validators() -> Mapping[str, jsonschema.Draft202012Validator]:
    schema = json.loads(resources.files("conformance").joinpath("results.schema.json").read_text("utf-8"))
    return {
        name: jsonschema.Draft202012Validator({**schema["$defs"][name], "$defs": schema["$defs"]})
        for name in ("header", "program", "footer")
    }


def read(path: str | Path) -> Results:
    """Read a result file, whole or cut off.

    Raises ResultsError if there is no such file, if it is none of results, if it was made by a later version,
    or if anything but its end is damaged.
    """
    where = str(path)
    try:
        lines = Path(path).read_bytes().split(b"\n")
    except OSError as error:
        hint = "give a .jsonl file that `conformance run` wrote"
        raise ResultsError(f"cannot be read: {error.strerror or error}", where, hint) from error
    records, cut = _records(lines, where)
    name, first = next(records, ("", {}))
    if name != "header":
        raise ResultsError(
            "is not a result file: it does not begin with a header",
            where,
            "give a .jsonl file that `conformance run` wrote",
        )
    programs, footer = _rest(records, where)
    header = _header(first)
    problem = _incomplete(header, len(programs), footer, cut=cut)
    return Results(where, header, tuple(programs), footer, problem)


def _records(lines: list[bytes], where: str) -> tuple[Iterator[tuple[str, dict[str, Any]]], bool]:
    """The records of a file, lazily, and whether its last line is cut off."""
    cut = bool(lines[-1].strip())
    body = lines[:-1]

    def each() -> Iterator[tuple[str, dict[str, Any]]]:
        for number, line in enumerate(body, 1):
            yield _record(line, f"{where}:{number}")

    return each(), cut


def _record(line: bytes, where: str) -> tuple[str, dict[str, Any]]:
    hint = "the file was edited or damaged; run again"
    try:
        record = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ResultsError("is not a line of JSON", where, hint) from error
    name = record.pop("record", "") if isinstance(record, dict) else ""
    if not isinstance(name, str) or name not in _validators():
        raise ResultsError("is neither header, program nor footer", where, hint)
    schema = record.get("schema", SCHEMA)
    if name == "header" and isinstance(schema, int) and schema > SCHEMA:
        raise ResultsError(
            f"was written with results schema {schema}; this version reads up to {SCHEMA}",
            where,
            "read it with the version of autograd-conformance that wrote it, or a later one",
        )
    problem = next(iter(_validators()[name].iter_errors(record)), None)
    if problem is not None:
        at = "/".join(str(part) for part in problem.absolute_path) or "the line"
        raise ResultsError(f"is not a valid {name} record: {at}: {clip(problem.message, 200)}", where, hint)
    return name, record


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def _header(record: dict[str, Any]) -> Header:
    return Header(**{**record, "clauses": tuple(record["clauses"])})


def _program(record: dict[str, Any]) -> ProgramResult:
    failure = record["failure"]
    if failure is not None:
        failure = Failure(**{**failure, "more": tuple(failure["more"])})
    return ProgramResult(**{**record, "clauses": tuple(record["clauses"]), "failure": failure})


def _rest(
    records: Iterable[tuple[str, dict[str, Any]]], where: str
) -> tuple[list[ProgramResult], Footer | None]:
    programs: dict[str, ProgramResult] = {}
    footer: Footer | None = None
    for name, record in records:
        if footer is not None or name == "header":
            raise ResultsError(
                f"holds more than one run: a {name} follows", where, "give each run a file of its own"
            )
        if name == "footer":
            footer = Footer(**{**record, "stale": tuple(record["stale"])})
            continue
        result = _program(record)
        if result.id in programs:
            raise ResultsError(
                f"has two results for {result.id}", where, "the file was edited or damaged; run again"
            )
        programs[result.id] = result
    return list(programs.values()), footer


def _incomplete(header: Header, programs: int, footer: Footer | None, *, cut: bool) -> str:
    """Why a file is incomplete, or nothing."""
    planned = header.planned_count
    of = "" if planned is None else f" of {planned}"
    if cut:
        return f"the last line is cut off after {programs}{of} programs: the run was killed"
    if footer is None:
        return f"there is no footer after {programs}{of} programs: the run was killed"
    if not footer.complete:
        return footer.stopped or f"the run stopped after {programs}{of} programs"
    if footer.programs != programs or (planned is not None and planned != programs):
        return f"there are {programs}{of} programs, the footer counts {footer.programs}"
    return ""
