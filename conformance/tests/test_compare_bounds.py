"""The derived tolerance in a verdict: what a bound allows, what it may not hide, and when it is asked for."""

from __future__ import annotations

import copy
import struct
from typing import Any

import numpy as np
import pytest

from conformance.compare import Verdict, compare
from conformance.compare.entries import MULTIPLE, ill_conditioned, judge, widest
from conformance.tests.plants import seen
from conformance.tests.traces import Made, bound, data, gradient, made, tensor

Trace = dict[str, Any]
GRADIENT = [2.0, 20.0, 0.1]


def with_bounds(case: Made, bounds: list[float]) -> Trace:
    """The case's trace as a shadow that gives every tensor zero bounds, but these to the gradient of x."""
    shadow = copy.deepcopy(case.trace)

    def widen(part: Any) -> None:
        if isinstance(part, dict):
            if "bytes" in part:
                part["bound"] = bound([0.0] * (len(part["bytes"]) // 8))
            if isinstance(part.get("grad"), list):
                part["grad"][1]["bound"] = bound(bounds)
            for key, each in part.items():
                if key != "grad":
                    widen(each)
        elif isinstance(part, list):
            for each in part:
                widen(each)

    widen(shadow)
    return shadow


def verdict(values: list[float], bounds: list[float], *, lazy: bool = False) -> Verdict:
    """Compare with an engine whose gradient of x has these values, everywhere."""
    case = made()
    engine = copy.deepcopy(case.trace)
    for place in [*(step["seen"] for step in engine["steps"]), engine["end"]]:
        if "x" in place and place["x"][1]["grad"] is not None:
            place["x"][1]["grad"][1]["bytes"] = data(values)
    shadow = with_bounds(case, bounds)
    return compare(case.program, case.trace, engine, bounds=(lambda: shadow) if lazy else shadow)


def test_within_the_allowance_an_entry_conforms() -> None:
    found = verdict([2.0, 20.000002, 0.1], [0.0, 1e-6, 0.0])
    assert found.kind == "conforms"
    assert found.counts.tolerated == 4
    assert found.counts.ill_conditioned == 0


def ulps(value: float, count: int) -> float:
    bits = struct.unpack("<i", struct.pack("<f", value))[0]
    return float(struct.unpack("<f", struct.pack("<i", bits + count))[0])


@pytest.mark.parametrize("lazy", [False, True])
def test_one_unit_in_the_last_place_beyond_the_allowance_is_found(lazy: bool) -> None:
    unit = 2.0**-19  # of 20.0 in float32
    allowed = [0.0, 3 * unit / MULTIPLE, 0.0]
    assert verdict([2.0, ulps(20.0, 3), 0.1], allowed, lazy=lazy).kind == "conforms"
    found = verdict([2.0, ulps(20.0, 4), 0.1], allowed, lazy=lazy)
    assert [(d.at, d.path, d.level) for d in found.differences] == [(2, "seen.x.grad.bytes", "values")]
    assert "entry 1: 20.0 against 20.00000" in found.differences[0].note


def test_an_exact_entry_beside_an_inexact_one_compares_bit_by_bit() -> None:
    assert verdict([ulps(2.0, 1), 20.0, 0.1], [0.0, 1e-3, 0.0]).kind == "diverges"


def test_an_error_of_one_per_cent_is_found_in_every_entry_that_is_not_ill_conditioned() -> None:
    widest_bound = [0.99999 * widest("float32") * each / MULTIPLE for each in GRADIENT]
    for entry in range(3):
        wrong = list(GRADIENT)
        wrong[entry] *= 1.01
        assert verdict(wrong, widest_bound).kind == "diverges"


@pytest.mark.parametrize(("dtype", "error"), [("float32", 0.01), ("float16", 0.05), ("bfloat16", 0.05)])
def test_the_error_is_found_even_if_the_right_value_has_used_up_its_allowance(
    dtype: str, error: float
) -> None:
    oracle = np.array([1.0])
    bounds = np.array([widest(dtype) / MULTIPLE])
    assert not ill_conditioned(oracle, bounds, dtype).any()
    for honest in (1.0 - 0.999999 * widest(dtype), 1.0 + 0.999999 * widest(dtype)):
        assert not judge(oracle, np.array([honest]), bounds, dtype).wrong.any()
        for factor in (1 + error, 1 - error):
            away = honest * factor
            if abs(away - 1.0) > abs(honest - 1.0):
                assert judge(oracle, np.array([away]), bounds, dtype).wrong.any()


def test_entries_with_wider_bounds_are_ill_conditioned_and_an_error_beyond_the_bound_is_still_found() -> None:
    wide = [0.0, 1.0, 0.0]
    found = verdict([2.0, 20.5, 0.1], wide)
    assert found.kind == "ill-conditioned"
    assert found.counts.ill_conditioned == 4
    assert found.counts.undecided == 0
    assert verdict([2.0, 23.0, 0.1], wide).kind == "diverges"


def test_ill_conditioned_entries_that_agree_leave_the_program_conforming() -> None:
    found = verdict(GRADIENT, [0.0, 1.0, 0.0])
    assert found.kind == "conforms"
    assert found.counts.ill_conditioned == 4
    assert found.counts.ill_conditioned_share == 4 / found.counts.entries


def test_entries_without_a_finite_bound_are_not_judged() -> None:
    found = verdict([2.0, -5.0, 0.1], [0.0, np.inf, 0.0])
    assert found.kind == "ill-conditioned"
    assert found.counts.undecided == 4


def test_bounds_are_asked_for_only_if_bits_differ() -> None:
    case = made()
    asked = []

    def shadow() -> Trace:
        asked.append(1)
        return with_bounds(case, [0.0, 1e-6, 0.0])

    assert compare(case.program, case.trace, case.trace, bounds=shadow).kind == "conforms"
    assert asked == []
    engine = copy.deepcopy(case.trace)
    for at in (2, 3):
        seen(engine, at, "x")["grad"][1]["bytes"] = data([2.0, 20.000002, 0.1])
    assert compare(case.program, case.trace, engine, bounds=shadow).kind == "conforms"
    assert asked == [1]


def test_without_bounds_all_entries_compare_bit_by_bit() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    seen(engine, 2, "x")["grad"][1]["bytes"] = data([2.0, ulps(20.0, 1), 0.1])
    assert compare(case.program, case.trace, engine).kind == "diverges"


def test_a_place_that_the_shadow_lacks_compares_bit_by_bit_and_says_so() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    seen(engine, 2, "x")["grad"][1]["bytes"] = data([2.0, ulps(20.0, 1), 0.1])
    shadow = with_bounds(case, [0.0, 1.0, 0.0])
    shadow["steps"][2]["seen"]["x"][1]["grad"] = None
    (difference,) = compare(case.program, case.trace, engine, bounds=shadow).differences
    assert "no bound" in difference.note


def test_python_floats_have_bounds_too() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    engine["steps"][2]["log"][1]["value"] = ["float", "2.5000001"]
    shadow = with_bounds(case, [0.0, 0.0, 0.0])
    assert compare(case.program, case.trace, engine, bounds=shadow).kind == "diverges"
    shadow["steps"][2]["log"][1]["value"] = ["float", "2.5", bound([1e-6])]
    assert compare(case.program, case.trace, engine, bounds=shadow).kind == "conforms"


def test_from_an_undecided_statement_on_nothing_is_judged() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    shadow = with_bounds(case, [0.0, 0.0, 0.0])
    for step in shadow["steps"][3:]:
        step["undecided"] = True
    engine["steps"][3].update(outcome="ok")
    seen(engine, 4, "x")["requires_grad"] = False
    found = compare(case.program, case.trace, engine, bounds=shadow)
    assert found.kind == "ill-conditioned"
    seen(engine, 2, "x")["requires_grad"] = False
    assert compare(case.program, case.trace, engine, bounds=shadow).kind == "diverges"


def test_the_sign_of_a_zero_is_free_where_the_shadow_says_so() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    shadow = copy.deepcopy(case.trace)
    seen(engine, 0, "x")["bytes"] = data([4.0, 0.0, 2.0])
    seen(shadow, 0, "x")["bound"] = bound([0.0, 5e-324, 0.0])
    assert compare(case.program, case.trace, engine, bounds=shadow).kind == "conforms"
    seen(shadow, 0, "x")["bound"] = bound([0.0, 0.0, 0.0])
    assert compare(case.program, case.trace, engine, bounds=shadow).kind == "diverges"


NAN = "0000c07f"


@pytest.mark.parametrize("other", ["0000c0ff", "0100a07f", "0100c07f"])
def test_any_nan_is_a_nan_but_in_programs_that_spell_bits(other: str) -> None:
    case = made()
    oracle, engine = copy.deepcopy(case.trace), copy.deepcopy(case.trace)
    seen(oracle, 0, "x")["bytes"] = NAN * 3
    seen(engine, 0, "x")["bytes"] = other * 3
    assert compare(case.program, oracle, engine, strength="torch-specific").kind == "conforms"
    body = [dict(case.program.body[0], value=["bits", "f32", other]), *case.program.body[1:]]
    spelled = type(case.program)(tuple(body), case.program.clauses)
    assert compare(spelled, oracle, engine).kind == "conforms"
    (difference,) = compare(spelled, oracle, engine, strength="torch-specific").differences
    assert (difference.level, difference.note) == ("values", "another NaN")


@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_differs_from_what_is_within_any_finite_bound(wrong: float) -> None:
    assert verdict([2.0, wrong, 0.1], [0.0, 1.0, 0.0]).kind == "diverges"


def test_infinities_must_match() -> None:
    oracle = np.array([np.inf, -np.inf, np.inf])
    found = judge(oracle, np.array([np.inf, np.inf, 1e30]), np.array([0.0, 0.0, 1e-3]), "float64")
    assert found.wrong.tolist() == [False, True, True]


def test_complex_entries_are_judged_by_distance() -> None:
    oracle = np.array([1 + 1j], np.complex64)
    engine = np.array([1.0003 + 1.0004j], np.complex64)
    assert not judge(oracle, engine, np.array([0.00026]), "complex64").wrong.any()
    assert judge(oracle, engine, np.array([0.00024]), "complex64").wrong.any()


def test_integers_beyond_two_to_the_53_compare_exactly() -> None:
    oracle = np.array([2**53 + 1])
    assert judge(oracle, np.array([2**53]), None, "int64").wrong.all()
    assert not judge(oracle, np.array([2**53]), np.array([0.5]), "int64").wrong.any()


def test_numbers_in_another_dtype_differ_in_layout_alone() -> None:
    case = made()
    engine = copy.deepcopy(case.trace)
    shown = gradient([2.0, 20.0, 0.1])[1]
    seen(engine, 2, "x")["grad"][1].update(dtype="float64", bytes=struct.pack("<3d", 2.0, 20.0, 0.1).hex())
    assert shown["bytes"] == data([2.0, 20.0, 0.1])
    found = compare(case.program, case.trace, engine)
    assert [(d.path, d.level) for d in found.differences] == [("seen.x.grad.dtype", "layout")]
    seen(engine, 2, "x")["grad"][1].update(bytes=struct.pack("<3d", 2.0, 20.1, 0.1).hex())
    found = compare(case.program, case.trace, engine)
    assert [d.level for d in found.differences] == ["layout", "values"]


def test_tensors_of_reduced_dtypes_are_read() -> None:
    case = made()
    oracle, engine = copy.deepcopy(case.trace), copy.deepcopy(case.trace)
    for trace, bits in ((oracle, "803f"), (engine, "813f")):
        trace["steps"][0]["seen"]["x"] = tensor([1.0])
        seen(trace, 0, "x").update(dtype="bfloat16", bytes=bits)
    (difference,) = compare(case.program, oracle, engine).differences
    assert (difference.oracle, difference.engine) == (["1"], ["1.00781"])
