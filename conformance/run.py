"""One run: every program on the oracle and on the engine, compared, confirmed, shortened, written down.

A program that diverges is run again, the engine in a fresh process where it can have one: what comes and goes
is `flaky`. What stays is shortened to the shortest program that shows the same. Each result is written before
the next batch runs, so that a killed run keeps what it found.
"""

from __future__ import annotations

import json
import platform
import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any, Protocol

import jsonschema
import numpy

from conformance import __version__, fixtures, specification
from conformance.compare import Strength, Verdict, compare
from conformance.engines import EngineError, EngineHandle, Failure, Reply, Trace
from conformance.expected import Expected, stale
from conformance.failures import describe, group_name, shorten
from conformance.health import Health, clauses_of, ends_in_gradient, kinds_of, outcomes_of
from conformance.oracles import Absent, Answer, Opening, Oracle
from conformance.plan import Case
from conformance.programs import Program
from conformance.results import Footer, Header, ProgramResult, Writer, clip
from conformance.shadow import NoRule, bounds_of


class Listener(Protocol):
    """Who is told how a run goes on."""

    def result(self, result: ProgramResult) -> None:
        """One program is done."""


@dataclass(frozen=True)
class Settings:
    """What a run is asked to do."""

    strength: Strength = "required"
    fail_fast: bool = False
    expected: Mapping[str, Expected] = field(default_factory=dict)
    batch: int = 64
    shorten_budget: int = 300  # candidates tried for one program
    shortened_per_group: int = 2  # failures of one group beyond this keep their length


@dataclass(frozen=True)
class Sides:
    """The engine, how it is opened once more, and the oracle."""

    opening: Opening
    engine: EngineHandle
    oracle: Oracle


@dataclass(frozen=True)
class Judged:
    """A program's verdict with the traces that it rests on."""

    verdict: Verdict
    oracle: Mapping[str, Any] | None = None
    engine: Mapping[str, Any] | None = None


def judge(
    program: Program,
    oracle: Answer,
    engine: Reply | None,
    strength: Strength,
    unread: frozenset[str] = frozenset(),
) -> Judged:
    """The verdict on one program; the shadow is evaluated only if bits differ."""
    if isinstance(oracle, Absent):
        return Judged(Verdict("not run", reason=oracle.reason))
    if isinstance(oracle, Failure):
        return Judged(Verdict("not run", reason=f"the oracle gave no trace: {oracle.kind}: {oracle.detail}"))
    if engine is None:
        raise ValueError("an engine's reply is missing though the oracle answered")
    if isinstance(engine, Failure):
        return Judged(Verdict(engine.kind, reason=engine.detail), oracle.json)
    try:
        verdict = compare(
            program,
            oracle.json,
            engine.json,
            strength=strength,
            bounds=lambda: bounds_of(program),
            unread=unread,
        )
    except NoRule as error:
        verdict = Verdict(
            "ill-conditioned", reason=f"bits differ, and there is no rule of bounds for {error}"
        )
    return Judged(verdict, oracle.json, engine.json)


def evaluate(sides: Sides, cases: Sequence[Case], strength: Strength) -> list[Judged]:
    """Run cases on both sides, at the same time where they have a process each, and judge them."""
    if not sides.oracle.concurrent:
        answers = sides.oracle.answers(cases)
        asked = [not isinstance(answer, Absent) for answer in answers]
        programs = [case.program for case, ask in zip(cases, asked, strict=True) if ask]
        replies = iter(sides.engine.run(programs) if programs else ())
        aligned = [next(replies) if ask else None for ask in asked]
    else:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(sides.oracle.answers, cases)
            aligned = list(sides.engine.run([case.program for case in cases]))
            answers = waiting.result()
    if not sides.engine.runs_runner:
        aligned = [_in_form(reply) for reply in aligned]
    unread = sides.engine.info.unread
    return [
        judge(case.program, answer, reply, strength, unread)
        for case, answer, reply in zip(cases, answers, aligned, strict=True)
    ]


@cache
def _trace_validator() -> jsonschema.Draft202012Validator:
    text = resources.files("conformance.programs").joinpath("trace.schema.json").read_text("utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def _in_form(reply: Reply | None) -> Reply | None:
    """The reply, or a protocol error where a foreign engine's trace is none."""
    if not isinstance(reply, Trace):
        return reply
    problem = next(iter(_trace_validator().iter_errors(reply.json)), None)
    if problem is None:
        return reply
    at = "/".join(str(part) for part in problem.absolute_path)
    return Failure("protocol error", f"not a trace: {at}: {clip(problem.message, 200)}")


class Run:
    """A run in progress; `go` does the work."""

    def __init__(self, sides: Sides, settings: Settings, writer: Writer, listener: Listener) -> None:
        self.sides, self.settings = sides, settings
        self.writer, self.listener = writer, listener
        self.health = Health()
        self._verdicts: dict[str, str] = {}  # of the cases that are expected to fail
        self._shortened: Counter[str] = Counter()
        self._stopped = ""
        self._started = time.monotonic()

    def go(self, cases: Iterable[Case], exists: Container[str]) -> Footer:
        """Run all cases and write the footer, also when the run is cut short.

        `exists` holds the ids of all cases there are, for the expected failures that match nothing.
        Raises EngineError if a side can no longer run; the results so far are kept.
        """
        complete = False
        try:
            for batch in batches(cases, self.settings.batch):
                self._batch(batch)
                if self._stopped:
                    break
            complete = not self._stopped
        except KeyboardInterrupt:
            self._stopped = "interrupted from the keyboard"
            raise
        except EngineError as error:
            self._stopped = str(error)
            raise
        except Exception as error:
            self._stopped = f"a defect of the suite: {type(error).__name__}: {clip(str(error), 500)}"
            raise
        finally:
            footer = Footer(
                complete=complete,
                programs=self.health.programs,
                seconds=round(time.monotonic() - self._started, 2),
                health=self.health.report(),
                verdicts=dict(sorted(self.health.verdicts.items())),
                stale=tuple(stale(self.settings.expected, self._verdicts, exists)) if complete else (),
                stopped=self._stopped,
            )
            self.writer.write(footer)
        return footer

    def _batch(self, cases: Sequence[Case]) -> None:
        judged = evaluate(self.sides, cases, self.settings.strength)
        judged = self._confirmed(cases, judged)
        for case, found in zip(cases, judged, strict=True):
            result = self._result(case, found)
            self.health.add(result)
            if case.id in self.settings.expected:
                self._verdicts[case.id] = result.verdict
            self.writer.write(result)
            self.listener.result(result)
            if self.settings.fail_fast and result.failing and result.expected is None:
                self._stopped = f"stopped at the first failure, {case.id}"
                return

    def _confirmed(self, cases: Sequence[Case], judged: list[Judged]) -> list[Judged]:
        """Run what diverges once more; what conforms then is flaky."""
        again = [index for index, found in enumerate(judged) if found.verdict.kind == "diverges"]
        if not again:
            return judged
        with self._another_engine() as engine:
            sides = Sides(self.sides.opening, engine, self.sides.oracle)
            second = evaluate(sides, [cases[index] for index in again], self.settings.strength)
        confirmed = list(judged)
        for index, other in zip(again, second, strict=True):
            if other.verdict.kind in ("conforms", "ill-conditioned"):
                first = judged[index]
                reason = "it diverged, and conformed when it was run again"
                verdict = Verdict(
                    "flaky",
                    first.verdict.differences,
                    first.verdict.tainted_from,
                    first.verdict.counts,
                    reason,
                )
                confirmed[index] = Judged(verdict, first.oracle, first.engine)
        return confirmed

    def _another_engine(self) -> EngineHandle | _Borrowed:
        """The engine in a fresh process, or the one there is where it cannot have a process of its own."""
        opening = self.sides.opening
        try:
            return Opening(
                opening.spec, opening.python, opening.device, opening.timeout, in_process=False
            ).open()
        except EngineError:
            if opening.in_process is False:
                raise
            return _Borrowed(self.sides.engine)

    def _result(self, case: Case, found: Judged) -> ProgramResult:
        verdict, oracle = found.verdict, found.oracle
        expected = self.settings.expected.get(case.id)
        failing = verdict.kind in ("diverges", "flaky", "crash", "timeout", "protocol error")
        return ProgramResult(
            id=case.id,
            hash=case.program.hash,
            family=case.family,
            origin=case.origin,
            verdict=verdict.kind,
            clauses=clauses_of(case.program, case.origin, oracle),
            title=case.program.title,
            reason=verdict.reason,
            expected=expected.reason if expected is not None else None,
            counts=asdict(verdict.counts),
            kinds=kinds_of(oracle) if oracle is not None else {},
            outcomes=outcomes_of(oracle) if oracle is not None else {},
            gradient_at_end=oracle is not None and ends_in_gradient(case.program, oracle, verdict),
            failure=self._failure(case, found, shorten_it=expected is None) if failing else None,
        )

    def _failure(self, case: Case, found: Judged, *, shorten_it: bool) -> Any:
        """What is shown of a failure. Hangs and what comes and goes keep their length."""
        name = group_name(case.program, found.verdict)
        shortest, shown = case.program, found
        may = shorten_it and self.sides.oracle.live and found.verdict.kind in ("diverges", "crash")
        if may and self._shortened[name] < self.settings.shortened_per_group:
            self._shortened[name] += 1
            shortest = shorten(case.program, found.verdict, self._verdict_of, self.settings.shorten_budget)
            if shortest is not case.program:
                shown = self._judge_one(shortest)
        return describe(case.program, shortest, shown.verdict, shown.oracle, shown.engine)

    def _judge_one(self, program: Program) -> Judged:
        case = Case("candidate", "", "generated", program)
        return evaluate(self.sides, [case], self.settings.strength)[0]

    def _verdict_of(self, program: Program) -> Verdict:
        return self._judge_one(program).verdict


class _Borrowed:
    """A handle that is not closed by who uses it."""

    def __init__(self, handle: EngineHandle) -> None:
        self._handle = handle

    def __enter__(self) -> EngineHandle:
        return self._handle

    def __exit__(self, *error: object) -> None:
        return None


def batches(cases: Iterable[Case], size: int) -> Iterator[list[Case]]:
    """Cases in lists of a size, the last one shorter."""
    waiting = iter(cases)
    while batch := list(islice(waiting, size)):
        yield batch


def host() -> dict[str, Any]:
    """The machine and interpreter of this process."""
    return {
        "platform": platform.platform(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
    }


def make_header(
    engine: Mapping[str, Any],
    oracle: Mapping[str, Any],
    planned: Mapping[str, int | None],
    settings: Mapping[str, Any],
) -> Header:
    """The header of a run that begins now."""
    return Header(
        suite=__version__,
        corpus=fixtures.corpus_hash(),
        engine=engine,
        oracle=oracle,
        host=host(),
        planned=planned,
        settings=settings,
        clauses=tuple(
            {"id": clause.id, "strength": clause.strength, "sentence": clause.sentence}
            for clause in specification.load_clauses()
        ),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def run(
    sides: Sides,
    cases: Iterable[Case],
    header: Header,
    writer: Writer,
    listener: Listener,
    settings: Settings,
    exists: Container[str],
) -> Footer:
    """Write a whole results file. Raises EngineError if a side can no longer run; what was found is kept."""
    writer.write(header)
    return Run(sides, settings, writer, listener).go(cases, exists)


def not_run(header: Header, cases: Iterable[Case], reason: str, writer: Writer, listener: Listener) -> Footer:
    """Write the results of a run that could not start: every case `not run`, with the reason."""
    writer.write(header)
    health = Health()
    for case in cases:
        result = ProgramResult(
            id=case.id,
            hash=case.program.hash,
            family=case.family,
            origin=case.origin,
            verdict="not run",
            clauses=tuple(case.program.clauses),
            title=case.program.title,
            reason=reason,
        )
        health.add(result)
        writer.write(result)
        listener.result(result)
    footer = Footer(
        complete=True,
        programs=health.programs,
        seconds=0.0,
        health=health.report(),
        verdicts=dict(health.verdicts),
        stopped="",
    )
    writer.write(footer)
    return footer


__all__ = [
    "Judged",
    "Listener",
    "Run",
    "Settings",
    "Sides",
    "Trace",
    "evaluate",
    "host",
    "judge",
    "make_header",
    "not_run",
    "run",
]
