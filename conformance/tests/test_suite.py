"""The suite itself: every fixture and many generated programs, against the engine under test."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from conformance.generate import programs
from conformance.plan import Case
from conformance.programs import Program
from conformance.results import FAILING
from conformance.session import Session, generated


def test_fixture(conformance_fixture: Case, conformance_session: Session) -> None:
    conformance_session.check(conformance_fixture)


def test_generated(conformance_generated: Case, conformance_session: Session) -> None:
    conformance_session.check(conformance_generated)


def test_hypothesis(conformance_session: Session) -> None:
    """Hypothesis draws and shrinks; the engine runs in a process of its own, outside of any deadline."""
    if not conformance_session.sides.oracle.live:
        pytest.skip("not run: generated programs need a live oracle")

    @settings(max_examples=100, deadline=None, derandomize=True, database=None)
    @given(programs())
    def check(program: Program) -> None:
        found = conformance_session.judge(program)
        assert found.verdict.kind not in FAILING, conformance_session.explain(generated(program), found)

    check()
