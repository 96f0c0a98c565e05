"""A run: verdicts, flaky findings, shortening, expected failures, and what is left when it is cut short."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.engines import EngineError, EngineHandle, EngineInfo, Failure, Reply, Trace
from conformance.expected import Expected
from conformance.health import Health
from conformance.oracles import Absent, Answer, Opening
from conformance.plan import Case
from conformance.programs import Program, parse
from conformance.results import ProgramResult, Results, Writer, exit_status, read
from conformance.run import Settings, Sides, evaluate, not_run
from conformance.run import run as run_all
from conformance.tests.runs import header

Behaviour = Callable[[Program], Reply]


def step(at: int, **fields: Any) -> dict[str, Any]:
    return {"at": at, "kind": "create", "outcome": "ok", "log": [], "warnings": [], "seen": {}, **fields}


def honest(program: Program) -> Trace:
    """A trace in which each statement shows a number and nothing else."""
    steps = [step(at, value=["float", "1.0"]) for at in range(len(program.body))]
    return Trace({"form": 1, "program": program.hash, "steps": steps, "end": {}, "leaks": []})


def lying(where: str) -> Behaviour:
    """Another number for each statement whose text holds `where`."""

    def behave(program: Program) -> Trace:
        trace = honest(program)
        for at, statement in enumerate(program.body):
            if where in json.dumps(statement):
                trace.json["steps"][at]["value"] = ["float", "2.0"]
        return trace

    return behave


class Fake(EngineHandle):
    """An engine that does as it is told."""

    def __init__(self, behave: Behaviour) -> None:
        self.name = "fake"
        self.info = EngineInfo("fake", "1", "3.11", "known", "lists", "cpu")
        self.behave = behave
        self.asked: list[Program] = []

    def run(self, programs: Sequence[Program]) -> list[Reply]:
        self.asked += programs
        return [self.behave(program) for program in programs]

    def close(self) -> None:
        pass


class FakeOracle:
    """An oracle that does as it is told."""

    concurrent = False

    def __init__(self, behave: Callable[[Program], Answer] = honest, *, live: bool = True) -> None:
        self.live, self.behave = live, behave

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        return [self.behave(case.program) for case in cases]

    def describe(self) -> Mapping[str, Any]:
        return {}

    def close(self) -> None:
        pass


class Ears:
    """Keeps what a run says."""

    def __init__(self) -> None:
        self.heard: list[ProgramResult] = []

    def result(self, result: ProgramResult) -> None:
        self.heard.append(result)


SOURCES = {
    "plain": "x = torch.ones(2)\ny = x * 2",
    "sine": "x = torch.ones(2)\na = x + 1\ny = x.sin()\nz = a * y",
    "sine-too": "x = torch.ones(2)\ny = x.sin()",
    "cosine": "x = torch.ones(2)\ny = x.cos()",
}
CASES = [Case(name, "ACC", "fixture", parse(text)) for name, text in SOURCES.items()]


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Results]:
    """Run cases on a fake engine; the fresh process behaves like the first unless told otherwise."""

    def run(
        behave: Behaviour,
        *,
        again: Behaviour | None = None,
        oracle: FakeOracle | None = None,
        cases: Sequence[Case] = CASES,
        **settings: Any,
    ) -> Results:
        monkeypatch.setattr(Opening, "open", lambda opening: Fake(again or behave))
        sides = Sides(Opening("fake"), Fake(behave), oracle or FakeOracle())
        path = tmp_path / "run.jsonl"
        with Writer(path) as writer:
            run_all(
                sides,
                cases,
                header(len(cases)),
                writer,
                Ears(),
                Settings(**settings),
                {case.id for case in CASES},
            )
        return read(path)

    return run


def verdicts(results: Results) -> dict[str, str]:
    return {program.id: program.verdict for program in results.programs}


def only(results: Results, name: str) -> ProgramResult:
    (found,) = [program for program in results.programs if program.id == name]
    return found


Go = Callable[..., Results]


def test_an_honest_engine_conforms(go: Go) -> None:
    results = go(honest)
    assert set(verdicts(results).values()) == {"conforms"}
    assert exit_status(results) == 0


def test_a_difference_is_reported_with_the_shortest_program(go: Go) -> None:
    results = go(lying("sin"))
    assert verdicts(results) == {
        "plain": "conforms",
        "sine": "diverges",
        "sine-too": "diverges",
        "cosine": "conforms",
    }
    assert exit_status(results) == 1
    failure = only(results, "sine").failure
    assert failure is not None
    assert failure.statements <= 2
    assert failure.source.count("\n") < SOURCES["sine"].count("\n")
    assert failure.original is not None
    assert failure.difference is not None
    assert "sin" in failure.source.splitlines()[failure.difference["at"]]
    assert (failure.difference["oracle"], failure.difference["engine"]) == (
        "['float', '1.0']",
        "['float', '2.0']",
    )
    assert failure.oracle is not None
    assert failure.oracle["value"] == ["float", "1.0"]
    assert "import torch" in failure.script


def test_one_fault_is_one_group(go: Go) -> None:
    groups = {program.failure.group for program in go(lying("sin")).programs if program.failure}
    assert len(groups) == 1


def test_only_some_of_a_group_are_shortened(go: Go) -> None:
    many = [replace(CASES[1], id=f"sine{number}") for number in range(6)]
    results = go(lying("sin"), cases=many, shortened_per_group=2)
    shortened = [program.failure.original is not None for program in results.programs if program.failure]
    assert shortened == [True, True, False, False, False, False]


def test_what_conforms_when_run_again_is_flaky(go: Go) -> None:
    results = go(lying("sin"), again=honest)
    assert verdicts(results)["sine"] == "flaky"
    found = only(results, "sine")
    assert "conformed when it was run again" in found.reason
    assert found.failure is not None
    assert found.failure.difference is not None
    assert exit_status(results) == 1


def test_where_no_fresh_process_can_be_had_the_same_one_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(opening: Opening) -> EngineHandle:
        raise EngineError("in process only", "fake")

    monkeypatch.setattr(Opening, "open", refuse)
    engine = Fake(lying("cos"))
    with Writer(tmp_path / "run.jsonl") as writer:
        sides = Sides(Opening("fake"), engine, FakeOracle())
        run_all(sides, CASES, header(4), writer, Ears(), Settings(shorten_budget=0), ())
    assert verdicts(read(tmp_path / "run.jsonl"))["cosine"] == "diverges"
    assert [program.hash for program in engine.asked].count(CASES[3].program.hash) >= 2


@pytest.mark.parametrize("kind", ["crash", "timeout", "protocol error"])
def test_a_broken_engine_keeps_its_own_verdict(go: Go, kind: Any) -> None:
    def behave(program: Program) -> Reply:
        return Failure(kind, "signal 11") if "sin" in json.dumps(program.body) else honest(program)

    results = go(behave)
    assert verdicts(results)["sine"] == kind
    assert verdicts(results)["plain"] == "conforms"
    assert only(results, "sine").reason == "signal 11"
    assert exit_status(results) == 1


def test_a_crash_is_shortened_and_a_hang_is_not(go: Go) -> None:
    def behave(kind: Any) -> Behaviour:
        return lambda program: Failure(kind, "bad") if "sin" in json.dumps(program.body) else honest(program)

    crash = only(go(behave("crash")), "sine").failure
    hang = only(go(behave("timeout")), "sine").failure
    assert crash is not None
    assert hang is not None
    assert crash.original is not None
    assert hang.original is None


def test_a_crash_of_the_oracle_is_survived(go: Go) -> None:
    def crashing(program: Program) -> Answer:
        return Failure("crash", "signal 11") if "cos" in json.dumps(program.body) else honest(program)

    results = go(honest, oracle=FakeOracle(crashing))
    assert verdicts(results)["cosine"] == "not run"
    assert only(results, "cosine").reason == "the oracle gave no trace: crash: signal 11"
    assert verdicts(results)["plain"] == "conforms"
    assert exit_status(results) == 0


def test_what_the_oracle_does_not_know_is_not_run_and_not_asked(go: Go) -> None:
    engine = Fake(honest)
    oracle = FakeOracle(lambda program: Absent("nothing is recorded"), live=False)
    judged = evaluate(Sides(Opening("fake"), engine, oracle), CASES, "required")
    assert {found.verdict.kind for found in judged} == {"not run"}
    assert engine.asked == []
    results = go(honest, oracle=oracle)
    assert exit_status(results) == 2


def test_the_engine_s_replies_stay_with_their_programs(go: Go) -> None:
    def knows(program: Program) -> Answer:
        return Absent("unknown") if "cos" in json.dumps(program.body) else honest(program)

    results = go(lying("cos"), oracle=FakeOracle(knows), cases=[CASES[3], *CASES[:3]])
    assert verdicts(results) == {
        "cosine": "not run",
        "plain": "conforms",
        "sine": "conforms",
        "sine-too": "conforms",
    }


def test_without_a_live_oracle_nothing_is_shortened(go: Go) -> None:
    failure = only(go(lying("sin"), oracle=FakeOracle(live=False)), "sine").failure
    assert failure is not None
    assert failure.original is None


def test_an_expected_failure_does_not_fail_the_run_nor_is_it_shortened(go: Go) -> None:
    known = {name: Expected(name, "known") for name in ("sine", "sine-too")}
    results = go(lying("sin"), expected=known)
    found = only(results, "sine")
    assert (found.verdict, found.expected) == ("diverges", "known")
    assert found.failure is not None
    assert found.failure.original is None
    assert exit_status(results) == 0


@pytest.mark.parametrize(("name", "why"), [("plain", "conforms now"), ("no-such-case", "matches no case")])
def test_a_stale_entry_fails_the_run(go: Go, name: str, why: str) -> None:
    results = go(honest, expected={name: Expected(name, "known")})
    assert results.footer is not None
    assert [entry["case"] for entry in results.footer.stale] == [name]
    assert why in results.footer.stale[0]["why"]
    assert exit_status(results) == 1


def test_fail_fast_stops_and_says_so(go: Go) -> None:
    results = go(lying("sin"), fail_fast=True, batch=1)
    assert list(verdicts(results)) == ["plain", "sine"]
    assert results.problem == "stopped at the first failure, sine"
    assert exit_status(results) == 1


def test_fail_fast_passes_over_expected_failures(go: Go) -> None:
    results = go(lying("cos"), fail_fast=True, expected={"cosine": Expected("cosine", "known")})
    assert results.complete


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (EngineError("it does not start any more", "fake"), "start any more"),
        (ZeroDivisionError("a bug"), "a defect of the suite: ZeroDivisionError: a bug"),
    ],
)
def test_a_run_that_breaks_off_keeps_what_it_found(
    go: Go, tmp_path: Path, error: BaseException, problem: str
) -> None:
    def behave(program: Program) -> Reply:
        if "cos" in json.dumps(program.body):
            raise error
        return honest(program)

    with pytest.raises(type(error)):
        go(behave, batch=1)
    results = read(tmp_path / "run.jsonl")
    assert list(verdicts(results)) == ["plain", "sine", "sine-too"]
    assert problem in results.problem
    assert not results.complete


def test_a_trace_in_another_form_is_a_protocol_error(go: Go) -> None:
    def behave(program: Program) -> Reply:
        trace = honest(program)
        trace.json["steps"][0]["seen"] = 7
        return trace

    class Foreign(Fake):
        runs_runner = False

    engine = Foreign(behave)
    found = evaluate(Sides(Opening("fake"), engine, FakeOracle()), CASES[:1], "required")[0]
    assert found.verdict.kind == "protocol error"
    assert "steps/0/seen" in found.verdict.reason


def test_health_says_what_was_looked_at(go: Go) -> None:
    footer = go(honest).footer
    assert footer is not None
    statements = sum(len(case.program.body) for case in CASES)
    assert footer.health["kinds"] == {"create": statements}
    assert footer.health["executed"] == 4
    assert footer.health["entries"] == statements
    assert "no gradient entry was compared" in footer.health["warnings"]


def test_health_counts_gradients_at_the_end_and_warns(go: Go) -> None:
    health = Health()
    base = go(honest).programs[0]
    for number in range(10):
        health.add(replace(base, origin="generated", gradient_at_end=number < 6))
    report = health.report()
    assert report["gradient_at_end_share"] == 0.6
    assert any("60% of the generated programs" in warning for warning in report["warnings"])
    health.add(replace(base, counts={"entries": 100, "ill_conditioned": 50, "gradients": 1}))
    assert any("ill-conditioned" in warning for warning in health.report()["warnings"])


def test_raised_and_skipped_are_shares_of_statements() -> None:
    health = Health()
    result = ProgramResult(
        "a", "", "ACC", "fixture", "conforms", outcomes={"ok": 2, "raised": 1, "skipped": 1}
    )
    health.add(result)
    assert (health.report()["raised_share"], health.report()["skipped_share"]) == (0.25, 0.25)


def test_a_run_that_could_not_start_names_the_reason_for_every_case(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Writer(path) as writer:
        not_run(header(4), CASES, "there is no CUDA device", writer, Ears())
    results = read(path)
    assert set(verdicts(results).values()) == {"not run"}
    assert {program.reason for program in results.programs} == {"there is no CUDA device"}
    assert results.complete
    assert exit_status(results) == 2
