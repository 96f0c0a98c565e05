"""Predicates: each holds on its clause's own fixture, and not without the decisive statement."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.fixtures import Fixture, load_fixtures, recorded_trace
from conformance.generate import sequence
from conformance.programs import Program, ProgramError, parse
from conformance.specification import Clause, SpecificationError, load_clauses
from conformance.specification.coverage import shown_by
from conformance.specification.facts import facts
from conformance.specification.minimal import dropped
from conformance.specification.predicates import condition, holds, touches
from conformance.specification.support import Matrix

# Clauses whose predicate no single statement decides, with the reason.
UNDECIDED: Mapping[str, str] = {}


@pytest.fixture(scope="module")
def shown() -> Mapping[str, list[Fixture]]:
    return shown_by(load_fixtures(hazards=True))


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    return Matrix([])


def _probed() -> list[Clause]:
    return [clause for clause in load_clauses() if clause.probed]


def test_every_clause_with_a_fixture_has_a_predicate(shown: Mapping[str, list[Fixture]]) -> None:
    assert [clause.id for clause in load_clauses() if shown[clause.id] and not clause.touched] == []


def test_each_predicate_holds_on_its_own_fixture(shown: Mapping[str, list[Fixture]]) -> None:
    missed = []
    for clause in load_clauses():
        if shown[clause.id]:
            first = shown[clause.id][0]
            trace = recorded_trace(first.id)
            assert trace is not None
            if not holds(clause.touched, facts(first.program, trace)):
                missed.append((clause.id, first.id))
    assert missed == []


def _part(clause: Clause, program: Program, matrix: Matrix) -> Program:
    """The smallest part of a fixture on which the predicate holds: no statement that could go is left."""
    for at in range(len(program.body) - 1, -1, -1):
        try:
            shorter = dropped(program, at)
        except ProgramError:
            continue
        if holds(clause.touched, facts(shorter, matrix.trace_of(shorter))):
            program = shorter
    return program


def _decided(clause: Clause, fixture: Fixture, matrix: Matrix) -> bool:
    """True if a statement of that part can go so that a program is left, which the predicate refuses."""
    part = _part(clause, fixture.program, matrix)
    for at in range(len(part.body) - 1, -1, -1):
        try:
            shorter = dropped(part, at)
        except ProgramError:
            continue
        if not holds(clause.touched, facts(shorter, matrix.trace_of(shorter))):
            return True
    return False


def test_each_predicate_fails_without_a_decisive_statement(
    shown: Mapping[str, list[Fixture]], matrix: Matrix
) -> None:
    found = set()
    for clause in _probed():
        for fixture in shown[clause.id][:1]:
            whole = facts(fixture.program, matrix.trace_of(fixture.program))
            if holds(clause.touched, whole) and not _decided(clause, fixture, matrix):
                found.add(clause.id)
    assert found == set(UNDECIDED)


def test_most_fixtures_touch_few_clauses_that_they_do_not_name() -> None:
    counts = []
    for fixture in load_fixtures():
        trace = recorded_trace(fixture.id)
        assert trace is not None
        counts.append(len(touches(fixture.program, trace)))
    assert sorted(counts)[len(counts) // 2] <= 60


def test_generated_programs_touch_clauses_by_what_they_do(matrix: Matrix) -> None:
    touched = set[str]()
    for _, program in sequence(0, 0, 40):
        touched.update(touches(program, matrix.trace_of(program)))
    assert {"SEED-01", "ACC-01", "RETAIN-04"} <= touched


def test_the_order_of_conditions_counts() -> None:
    steps = [{"a"}, {"b"}]
    assert holds(["backward", "ok"], [{"backward"}, {"ok"}])
    assert not holds(["ok", "backward"], [{"backward"}, {"ok"}])
    assert not holds(["backward", "backward"], [{"backward"}])
    assert holds(["backward", "backward"], [{"backward", "repeat"}])
    assert not holds([], steps)


def test_a_condition_is_alternatives_of_conjunctions() -> None:
    assert holds(["backward & ok | raised"], [{"raised"}])
    assert not holds(["backward & ok"], [{"backward"}, {"ok"}])
    assert holds(["backward & no ok"], [{"backward"}])
    assert not holds(["backward & no ok"], [{"backward", "ok"}])
    assert holds(["raised RuntimeError: Mismatch"], [{"raised RuntimeError: Mismatch in shape"}])
    assert not holds(["raised RuntimeError: Mismatch"], [{"raised TypeError: Mismatch in shape"}])


@pytest.mark.parametrize("text", ["backwards", "ok & nonsense", "raised in nowhere", "kind of"])
def test_a_word_that_is_no_fact_is_refused(text: str) -> None:
    with pytest.raises(SpecificationError, match="is no fact"):
        condition(text)


def test_facts_of_a_pass(matrix: Matrix) -> None:
    program = parse(
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "y = x * x\n"
        "y.backward(torch.ones(3))\n"
        "y.backward(torch.tensor([0.0, 1.0]), True)\n"
        "x.grad is None\n"
    )
    steps: list[set[str]] = facts(program, matrix.trace_of(program))
    assert {"tensor", "tensor(requires_grad=True)", "requires grad", "leaf", "grad None"} <= steps[0]
    assert {"*", "reuses", "non-leaf", "grad_fn MulBackward0"} <= steps[1]
    assert {"backward(gradient)", "pass", "raised", "root vector", "seed expression"} <= steps[2]
    assert any(fact.startswith("raised RuntimeError: Mismatch in shape") for fact in steps[2])
    assert {"backward(retain_graph=True)", "ok", "grad", "backward(-inputs)"} <= steps[3]
    assert {"is", "reads .grad", "shows False", "kind observe"} <= steps[4]
