"""Every rule of comparing is tripped by one planted fault, at its level and strength; and what must not
trip, does not."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from conformance.compare import MISSING, Strength, Verdict, compare
from conformance.compare.walk import tensors
from conformance.tests.plants import PLANTS, Mutate, Plant, Trace, seen
from conformance.tests.traces import made


def mutated(mutate: Mutate, strength: Strength) -> Verdict:
    case = made()
    engine = copy.deepcopy(case.trace)
    mutate(engine)
    assert json.dumps(engine) != json.dumps(case.trace)
    return compare(case.program, case.trace, engine, strength=strength)


def test_the_unmutated_trace_conforms() -> None:
    case = made()
    for strength in ("required", "torch-specific"):
        verdict = compare(case.program, case.trace, copy.deepcopy(case.trace), strength=strength)
        assert verdict.kind == "conforms"
        assert verdict.differences == ()
        assert verdict.counts.entries == verdict.counts.exact == 54
        assert verdict.counts.gradients == 12


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.what)
def test_a_planted_fault_trips_its_rule(plant: Plant) -> None:
    verdict = mutated(plant.mutate, "torch-specific")
    assert verdict.kind == "diverges"
    first = verdict.differences[0]
    shown = (first.at, first.path, first.level, first.strength)
    assert shown == (plant.at, plant.path, plant.level, plant.strength)
    assert len(verdict.differences) == 1 or plant.what in SHOW_MORE, verdict.differences
    assert (verdict.tainted_from is not None) == plant.taints


# Faults that make the oracle's trace none of the program.
REFUSED = {"steps cut off", "a step too much", "another program", "bytes cut short", "bytes that are none"}

# Faults that cannot be planted without a second difference: the outcome's fields come and go with it.
SHOW_MORE = {"skipped"}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.what)
def test_required_sees_what_is_required_and_nothing_else(plant: Plant) -> None:
    verdict = mutated(plant.mutate, "required")
    assert verdict.kind == ("diverges" if plant.strength == "required" else "conforms")


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.what)
def test_comparing_is_symmetric(plant: Plant) -> None:
    case = made()
    oracle = copy.deepcopy(case.trace)
    plant.mutate(oracle)
    if plant.what in REFUSED:
        with pytest.raises(ValueError, match="oracle"):
            compare(case.program, oracle, case.trace)
        return
    verdict = compare(case.program, oracle, case.trace, strength="torch-specific")
    assert (verdict.kind, verdict.differences[0].path) == ("diverges", plant.path)


@pytest.mark.parametrize("flag", ["requires_grad", "is_leaf", "retains_grad"])
def test_one_is_not_true(flag: str) -> None:
    def mutate(trace: Trace) -> None:
        seen(trace, 2, "x")[flag] = int(seen(trace, 2, "x")[flag])

    (difference,) = mutated(mutate, "required").differences
    assert difference.path == f"seen.x.{flag}"


def test_one_is_not_true_as_a_grad_mode_or_in_a_log_either() -> None:
    assert mutated(lambda t: t["steps"][2].update(grad_mode=1), "required").kind == "diverges"
    case = made()
    oracle, engine = copy.deepcopy(case.trace), copy.deepcopy(case.trace)
    oracle["steps"][2]["log"][1]["value"] = True
    engine["steps"][2]["log"][1]["value"] = 1
    assert compare(case.program, oracle, engine).kind == "diverges"


def test_missing_keys_are_shown_as_missing() -> None:
    (difference,) = mutated(lambda t: seen(t, 2, "x").pop("is_leaf"), "required").differences
    assert difference.engine is MISSING
    assert difference.oracle is True


def test_several_differences_of_one_statement_are_all_reported_and_the_next_statement_is_not() -> None:
    def mutate(trace: Trace) -> None:
        seen(trace, 2, "x").update(grad=None, is_leaf=False)
        seen(trace, 3, "x").update(grad=None)

    verdict = mutated(mutate, "required")
    assert [(d.at, d.path) for d in verdict.differences] == [(2, "seen.x.is_leaf"), (2, "seen.x.grad")]
    assert verdict.tainted_from == 3


def test_after_a_difference_that_does_not_taint_comparing_goes_on() -> None:
    def mutate(trace: Trace) -> None:
        seen(trace, 2, "x").update(strides=[2])
        seen(trace, 4, "x").update(grad=None)

    verdict = mutated(mutate, "required")
    assert [(d.at, d.level) for d in verdict.differences] == [(2, "layout"), (4, "values")]
    assert verdict.tainted_from == 5


def test_a_taint_in_the_last_statement_leaves_only_the_end() -> None:
    verdict = mutated(lambda t: t["steps"][5].update(value=None), "required")
    assert verdict.tainted_from == "end"


def test_class_numbers_do_not_matter_only_what_they_hold_together() -> None:
    def mutate(trace: Trace) -> None:
        for fields in tensors(trace):
            fields.update(id=10 + fields["id"], storage=[9 - fields["storage"][0], fields["storage"][1]])

    assert mutated(mutate, "torch-specific").kind == "conforms"


def without_ids(part: Any) -> None:
    if isinstance(part, dict):
        part.pop("id", None)
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            without_ids(each)


def test_an_engine_of_unknown_identity_conforms_and_the_dropped_comparisons_are_counted() -> None:
    verdict = mutated(without_ids, "torch-specific")
    assert verdict.kind == "conforms"
    assert verdict.counts.identities_dropped == 19


def test_an_id_lacking_in_one_place_only_is_a_difference() -> None:
    (difference,) = mutated(lambda t: seen(t, 2, "x").pop("id"), "required").differences
    assert (difference.path, difference.level) == ("seen.x.id", "state")


def test_fields_that_an_engine_declares_to_lack_are_dropped_and_counted_and_no_others() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    for fields in tensors(engine):
        fields.pop("is_leaf")
        fields["strides"] = [7]
    unread = frozenset({"is_leaf", "strides"})
    verdict = compare(case.program, case.trace, engine, unread=unread)
    assert (verdict.kind, verdict.counts.fields_dropped) == ("conforms", 38)
    assert compare(case.program, case.trace, engine, unread=frozenset({"is_leaf"})).kind == "diverges"
    assert compare(case.program, case.trace, engine).kind == "diverges"
    seen(engine, 2, "x")["grad"] = None
    (difference,) = compare(case.program, case.trace, engine, unread=unread).differences
    assert difference.path == "seen.x.grad"
