"""The faults: each has a seam, is taken out again without trace, and shows in a trace."""

from __future__ import annotations

from typing import Any

import pytest

import refimpl  # noqa: F401  (fills the table in which seams are found)
from conformance.faults import BY_ID, CATALOGUE, Fault, FaultError, place_of, planted
from conformance.faults.frozen import FROZEN
from conformance.faults.matrix import Bench, Cases
from conformance.specification import load_clauses


def _clauses() -> set[str]:
    return {clause.id for clause in load_clauses()}


def test_there_are_enough_and_their_names_differ() -> None:
    assert len(CATALOGUE) >= 80
    assert len(BY_ID) == len(CATALOGUE)


def test_a_third_is_blind_and_says_what_was_frozen() -> None:
    blind = [fault for fault in CATALOGUE if fault.blind]
    assert len(blind) >= 27
    assert [(fault.id, fault.clause, fault.what) for fault in blind] == list(FROZEN)


def test_every_fault_belongs_to_a_clause_of_the_specification() -> None:
    known = _clauses()
    assert [fault.id for fault in CATALOGUE if fault.clause not in known] == []


@pytest.mark.parametrize("fault", CATALOGUE, ids=lambda fault: fault.id)
def test_planting_exchanges_the_seam_and_puts_it_back(fault: Fault) -> None:
    place = place_of(fault.seam)
    before = place.get()
    with planted(fault):
        assert place.get() is not before
    assert place.get() is before


def test_the_seam_is_restored_when_the_body_raises() -> None:
    fault = CATALOGUE[0]
    place = place_of(fault.seam)
    before = place.get()
    with pytest.raises(KeyError), planted(fault):
        raise KeyError("inside")
    assert place.get() is before


@pytest.mark.parametrize(
    "seam",
    [
        "refimpl.engine:no_such_function",
        "refimpl.no_such_module:name",
        "refimpl.graph:Node.no_such_method",
        "refimpl.operations.table:TABLE[no_such_operation].formulas[0]",
        "refimpl.operations.table:TABLE[mul].formulas[7]",
        "no seam at all",
    ],
)
def test_a_missing_seam_is_an_error(seam: str) -> None:
    fault = Fault("x", "ACC-01", seam, "nothing", lambda original: None)
    with pytest.raises(FaultError), planted(fault):
        raise AssertionError("the body must not run")


def test_a_fault_that_changes_nothing_is_an_error() -> None:
    fault = Fault("x", "ACC-01", "refimpl.engine:add_gradients", "nothing", lambda original: original)
    with pytest.raises(FaultError, match="changes nothing"), planted(fault):
        raise AssertionError("the body must not run")


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(oracle="refimpl")


@pytest.fixture(scope="module")
def cases(bench: Bench) -> Cases:
    """Fixtures with the engine's own traces: what is asked here is whether a fault shows, not whether the
    engine is right.
    """
    from conformance.fixtures import HAZARDS, load_fixtures

    given = [
        (fixture.id, fixture.program, bench.engine_trace(fixture.program))
        for fixture in load_fixtures()
        if fixture.family != HAZARDS
    ]
    return bench.conforming("fixtures", given)


@pytest.fixture(scope="module")
def generated(bench: Bench) -> Cases:
    return bench.generated(seed=17, count=400)


@pytest.mark.parametrize("fault", CATALOGUE, ids=lambda fault: fault.id)
def test_every_fault_shows(fault: Fault, bench: Bench, cases: Cases, generated: Cases) -> None:
    assert bench.find(fault, cases) or bench.find(fault, generated)


def test_nothing_is_found_without_a_fault(bench: Bench, cases: Cases) -> None:
    for _, program, oracle in cases.cases[:60]:
        verdict: Any = bench.verdict(program, oracle, bench.engine_trace(program))
        assert verdict.kind == "conforms"
