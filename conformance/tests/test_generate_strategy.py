"""The decoder under Hypothesis: healthy without suppression, without discards, and shrinking well."""

from __future__ import annotations

from hypothesis import HealthCheck, find, given, settings

from conformance.generate import decode, programs
from conformance.programs import Program, validate

ran = 0


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=())
@given(programs())
def _in_the_form(program: Program) -> None:
    global ran
    ran += 1
    validate(program.to_json())


def test_hypothesis_is_healthy_and_discards_nothing() -> None:
    """All health checks are on; every example that is drawn runs the body."""
    global ran
    ran = 0
    assert settings.default is not None
    assert HealthCheck.filter_too_much in HealthCheck
    _in_the_form()
    assert ran >= 150


def test_the_strategy_varies() -> None:
    seen: set[str] = set()

    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(programs())
    def collect(program: Program) -> None:
        seen.add(program.hash)

    collect()
    assert len(seen) >= 80


def test_everything_shrinks_to_the_shortest_program() -> None:
    found = find(programs(), lambda program: True, settings=settings(database=None, deadline=None))
    assert found.body == decode([]).body


def test_a_wanted_statement_is_found_and_little_else_is_left() -> None:
    def retains(program: Program) -> bool:
        return any("retain_grad" in str(statement) for statement in program.body)

    found = find(programs(), retains, settings=settings(database=None, deadline=None, max_examples=2000))
    assert len(found.body) <= 9
