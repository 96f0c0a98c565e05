"""The matrix: which faults the fixtures find, and which generated programs, after how many, and at which
level.

A program counts only if the reference engine conforms on it without a fault; then whatever differs is the
fault's doing. The oracle is real torch where it is installed (live for generated programs, recorded for
fixtures), else the reference engine itself without the fault.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance import runner
from conformance.compare import Verdict, compare
from conformance.faults.model import Fault, planted
from conformance.fixtures import HAZARDS, load_fixtures, recorded_trace
from conformance.generate import sequence
from conformance.operations import runner_schema
from conformance.programs import Program
from conformance.shadow import NoRule, shadow_trace

Trace = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """How a fault was found: by which program, the how many-th, and what differed there first."""

    after: int
    program: str
    level: str
    strength: str
    at: int | str
    path: str


@dataclass(frozen=True)
class Row:
    """One fault, and how each source of programs fared with it; None: not found."""

    fault: Fault
    fixtures: Found | None
    generated: Found | None


@dataclass
class Cases:
    """Programs on which the reference engine conforms, twice in a row, each with its oracle's trace."""

    source: str
    cases: list[tuple[str, Program, Trace]] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)


class Bench:
    """The reference engine in this process, and an oracle beside it."""

    def __init__(self, oracle: str | None = None) -> None:
        """``oracle`` is a module's name; default: torch where it is installed. Raises ImportError if it is
        not there.
        """
        self.schema = runner_schema()
        if oracle is None:
            oracle = "torch" if importlib.util.find_spec("torch") is not None else "refimpl"
        self.oracle_name = oracle
        self._oracle = runner.Engine(importlib.import_module(oracle), oracle)
        self._engine = runner.Engine(importlib.import_module("refimpl"), "refimpl")
        self._shadows: dict[str, dict[str, Any]] = {}

    def engine_trace(self, program: Program) -> dict[str, Any]:
        """The reference engine's trace, with whatever fault is planted."""
        return _quiet(program, self._engine, self.schema)

    def oracle_trace(self, program: Program) -> dict[str, Any]:
        """The oracle's trace."""
        return _quiet(program, self._oracle, self.schema)

    def verdict(self, program: Program, oracle: Trace, engine: Trace) -> Verdict:
        """What the suite says. The shadow is evaluated without a fault: call this outside `planted`."""
        try:
            return compare(
                program,
                dict(oracle),
                dict(engine),
                strength="torch-specific",
                bounds=lambda: self._shadow(program),
            )
        except NoRule as error:
            return Verdict("ill-conditioned", reason=f"no rule of bounds for {error}")

    def _shadow(self, program: Program) -> dict[str, Any]:
        key = program.hash
        if key not in self._shadows:
            self._shadows[key] = shadow_trace(program)
        return self._shadows[key]

    def conforming(self, source: str, given: Iterable[tuple[str, Program, Trace]]) -> Cases:
        """Those of the programs on which the engine without a fault agrees with the oracle."""
        cases = Cases(source)
        for name, program, trace in given:
            kinds = {self.verdict(program, trace, self.engine_trace(program)).kind for _ in range(2)}
            if kinds == {"conforms"}:
                cases.cases.append((name, program, trace))
            else:
                cases.excluded.append(name)
        return cases

    def generated(self, seed: int, count: int) -> Cases:
        """The first programs of a seed."""
        programs = ((str(index), program) for index, program in sequence(seed, 0, count))
        return self.conforming("generated", ((name, p, self.oracle_trace(p)) for name, p in programs))

    def fixtures(self) -> Cases:
        """All fixtures but the hazards, with the trace recorded from the newest torch."""
        given = []
        for fixture in load_fixtures():
            trace = recorded_trace(fixture.id) if fixture.family != HAZARDS else None
            if trace is not None:
                given.append((fixture.id, fixture.program, trace))
        return self.conforming("fixtures", given)

    def find(self, fault: Fault, cases: Cases) -> Found | None:
        """The first program that shows the fault; among fixtures those of the fault's clause and family
        come first.
        """
        for count, (name, program, oracle) in enumerate(_nearest(fault, cases), 1):
            try:
                with planted(fault):
                    trace = self.engine_trace(program)
            except (
                RecursionError,
                AttributeError,
                TypeError,
                ValueError,
                RuntimeError,
                IndexError,
                KeyError,
            ) as error:
                return Found(
                    count, name, "state", "required", "end", f"the engine broke: {type(error).__name__}"
                )
            verdict = self.verdict(program, oracle, trace)
            if verdict.kind == "diverges":
                first = verdict.differences[0]
                return Found(count, name, first.level, first.strength, first.at, first.path)
        return None


def _nearest(fault: Fault, cases: Cases) -> list[tuple[str, Program, Trace]]:
    if cases.source != "fixtures":
        return cases.cases
    family = fault.clause.partition("-")[0] + "-"

    def distance(case: tuple[str, Program, Trace]) -> int:
        clauses = case[1].clauses
        if fault.clause in clauses:
            return 0
        return 1 if any(clause.startswith(family) for clause in clauses) else 2

    return sorted(cases.cases, key=distance)


def _quiet(program: Program, engine: runner.Engine, schema: dict[str, Any]) -> dict[str, Any]:
    with warnings.catch_warnings():
        return runner.run(program.to_json(), engine, schema)


def run_matrix(
    faults: Sequence[Fault] | None = None,
    *,
    seed: int = 0,
    programs: int = 500,
    fixtures: bool = True,
    oracle: str | None = None,
    started: Callable[[Cases | None, Cases], None] | None = None,
) -> Iterator[Row]:
    """One row for each fault, in the order of the catalogue.

    ``started`` is told what the faults are tried on: the conforming fixtures (None if they are left out)
    and generated programs. Raises FaultError where a fault's seam does not exist.
    """
    from conformance.faults import CATALOGUE

    bench = Bench(oracle)
    kept = bench.fixtures() if fixtures else None
    generated = bench.generated(seed, programs)
    if started is not None:
        started(kept, generated)
    for fault in CATALOGUE if faults is None else faults:
        yield Row(fault, None if kept is None else bench.find(fault, kept), bench.find(fault, generated))
