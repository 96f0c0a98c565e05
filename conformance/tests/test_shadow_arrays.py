"""Bounded arrays: bounds hold against wider arithmetic, exactness is proven, views keep both in step."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import refimpl
from conformance.compare.entries import MULTIPLE, widest
from conformance.shadow import NoRule, namespace, state
from conformance.shadow.array import FUNCTIONS, METHODS, UFUNCS
from conformance.shadow.call import WHOLE_ARRAYS, size_of

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def bounded(values: Any, dtype: Any = F32) -> Any:
    return namespace.asarray(values, dtype=dtype)


def inexact(values: Any, dtype: Any = F32) -> Any:
    """Values with a bound of one rounding."""
    array = bounded(values, dtype)
    array.bound[...] = np.abs(array.value) * 2.0**-24
    return array


UNARY: tuple[Callable[[Any], Any], ...] = (
    np.exp, np.tanh, np.sin, np.cos, np.log, np.sqrt, np.negative, np.abs, np.square, np.log1p, np.expm1,
    np.arctan, np.sinh, np.arcsinh, np.reciprocal, lambda x: x * x * x,
    lambda x: np.sum(x, axis=-1, keepdims=True) + x,
)  # fmt: skip
BINARY: tuple[Callable[[Any, Any], Any], ...] = (
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.hypot, np.arctan2, np.logaddexp,
)  # fmt: skip


@pytest.mark.parametrize("dtype", [F32, F64, np.dtype(np.float16), BFLOAT16], ids=str)
def test_values_stay_within_their_bounds_of_wider_arithmetic(dtype: np.dtype[Any]) -> None:
    """Random chains of operations, each rounded to `dtype`, against the same chain in long double."""
    rng = np.random.default_rng(20)
    work = F32 if dtype.itemsize == 2 else dtype
    entries = ill = 0
    with np.errstate(all="ignore"):
        for _ in range(150):
            start = [(rng.integers(-8, 9, size=3) / 4).astype(dtype), rng.normal(size=3).astype(dtype)]
            arrays = [bounded(each, dtype) for each in start]
            truths = [each.astype(np.longdouble) for each in start]
            for _ in range(5):
                i, j = rng.integers(len(arrays)), rng.integers(len(arrays))
                if rng.random() < 0.4:
                    function = UNARY[rng.integers(len(UNARY))]
                    arrays.append(function(arrays[i].astype(work)).astype(dtype))
                    truths.append(function(truths[i]))
                else:
                    join = BINARY[rng.integers(len(BINARY))]
                    arrays.append(join(arrays[i].astype(work), arrays[j].astype(work)).astype(dtype))
                    truths.append(join(truths[i], truths[j]))
            for array, truth in zip(arrays, truths, strict=True):
                value, bound = array.value.astype(np.longdouble), size_of(array.bound)
                finite = np.isfinite(value) & np.isfinite(truth)
                assert (np.abs(value - truth)[finite] <= bound[finite] * (1 + 1e-6)).all(), (array, truth)
                entries += int(finite.sum())
                ill += int(
                    (MULTIPLE * bound > np.maximum(widest(str(dtype)) * np.abs(value), 1e-30))[finite].sum()
                )
    assert entries > 1500
    assert ill / entries < (0.08 if dtype.itemsize == 2 else 0.02)


def test_dyadic_sums_and_products_are_exact() -> None:
    a = bounded([0.5, 3.0, -1.25])
    assert not (a + 2 * a - a * a / 2).bound.any()
    assert not np.sum(a).bound.any()
    assert not np.prod(a).bound.any()
    assert not np.matmul(a, a).bound.any()


def test_a_sum_that_rounds_in_some_order_is_not_exact() -> None:
    a = bounded([2.0**24, 1.0, -(2.0**24)])
    assert np.sum(a).bound > 0


@pytest.mark.parametrize(
    ("a", "b"),
    [(0.1, 0.2), (1.0, 2.0**-30), (1e30, 1.0)],
)
def test_rounding_of_one_sum_is_noticed(a: float, b: float) -> None:
    total = bounded(a) + bounded(b)
    assert total.bound > 0
    assert total.bound <= np.abs(total.value) * 2.0**-24


def test_products_of_float64_are_checked_beyond_float64() -> None:
    assert (bounded(1 + 2.0**-30, F64) * bounded(1 + 2.0**-30, F64)).bound > 0
    assert (bounded(1 + 2.0**-26, F64) * bounded(1 + 2.0**-26, F64)).bound == 0


def test_cancellation_keeps_the_bound_of_the_terms() -> None:
    left = bounded(0.1) + bounded(0.7) - bounded(0.8)
    assert np.abs(left.value.astype(np.float64) - (0.1 + 0.7 - 0.8)) <= left.bound + 3 * 2.0**-25
    assert left.bound > 1e-8


def test_a_long_sum_in_half_precision_rounds_once() -> None:
    terms = bounded([0.1] * 1000, np.float16).astype(F32)
    total = np.sum(terms).astype(np.float16)
    assert total.bound >= 2.0**-11 * 64  # one rounding of the result
    assert total.bound <= 2.0**-11 * 128  # and little more: accumulated in float32
    truth = 1000 * float(np.float16(0.1))
    assert np.abs(float(total.value) - truth) <= total.bound


def test_views_share_the_bound_both_ways() -> None:
    base = bounded(np.zeros((3, 4)))
    view = base.T[1:3, ::2]
    view[...] = inexact(np.ones(view.shape))
    assert (base.bound > 0).sum() == view.size
    assert ((base.bound > 0) == (base.value > 0)).all()
    base[...] = 0.0
    assert not view.bound.any()


def test_restrided_memory_keeps_value_and_bound_in_step() -> None:
    base = bounded(np.arange(12.0))
    window = namespace.restride(base[2:], (3, 3), (2, 1), 1)
    window[0, 0] = inexact(7.0)
    assert base.value[3] == 7.0
    assert base.bound[3] > 0
    assert (base.bound > 0).sum() == 1
    outside = namespace.restride(base[4:5], (2,), (-4,))
    assert outside.value.tolist() == [4.0, 0.0]


def test_in_place_arithmetic_updates_the_bound() -> None:
    a = bounded([1.0, 2.0])
    view = a[:1]
    a += inexact([0.1, 0.1])
    assert (a.bound > 0).all()
    assert view.bound[0] == a.bound[0]
    np.multiply(a, 0.0, out=a)
    assert not a.bound.any()


def test_parts_of_complex_numbers_have_bounds_of_their_own() -> None:
    a = bounded([1 + 2j], np.complex64)
    a.real[...] = inexact([0.3])
    pairs = a.view(np.float32)
    assert pairs.bound[0] > 0
    assert pairs.bound[1] == 0
    pairs[1] = inexact(0.7)
    assert a.imag.bound[0] > 0


@pytest.mark.parametrize(
    ("a", "b", "decided"),
    [(1.0, 1.0, True), (1.0, 1.5, True), (1.0, 1.0 + 2.0**-23, False)],
)
def test_comparisons_closer_than_the_bounds_are_undecided(a: float, b: float, decided: bool) -> None:
    assert (not (inexact(a) < inexact(b)).bound.any()) is decided


def test_an_undecided_choice_may_be_either() -> None:
    near = inexact([1.0, 1.0])
    chosen = np.where(near < bounded([1.0 + 2.0**-23, 9.0]), bounded([10.0, 10.0]), bounded([20.0, 20.0]))
    assert chosen.bound.tolist() == [10.0, 0.0]


def test_a_decided_branch_stays_and_an_open_one_is_noted() -> None:
    with state.running() as run:
        assert bool(inexact(1.0) < 2.0)
        assert not run.undecided
        assert bool(inexact(1.0) < 1.0 + 2.0**-23)
        assert run.undecided


def test_infinities_are_exact_if_they_stay() -> None:
    with np.errstate(all="ignore"):
        assert (inexact(1.0) / 0.0).bound == 0
        assert (inexact(1.0) / inexact(0.0)).bound == 0
        zero = bounded(0.0)
        zero.bound[...] = 1e-9
        assert np.isinf((inexact(1.0) / zero).bound)
        assert np.log(bounded(0.0)).bound == 0
        assert np.isinf(np.log(zero).bound)
        assert np.exp(inexact(1e4)).bound == 0


def test_the_sign_of_a_zero_is_open_only_where_it_depends_on_order() -> None:
    negative = bounded([-0.0, -0.0])
    assert 0 < np.sum(negative).bound < 1e-300
    assert np.sum(bounded([1.0, -1.0])).bound == 0
    assert (negative + negative).bound.tolist() == [0.0, 0.0]
    assert 0 < np.maximum(bounded(-0.0), bounded(0.0)).bound < 1e-300


def test_the_largest_entry_equals_itself_but_a_near_rival_is_open() -> None:
    apart = inexact([1.0, 3.0, 2.0])
    assert not (apart == np.max(apart)).bound.any()
    place: Any = np.argmax(apart)
    assert place.bound == 0
    near = inexact([1.0, 3.0, 3.0 + 2.0**-22])
    assert (near == np.max(near)).bound.any()
    place = np.argmax(near)
    assert np.isinf(place.bound)


def test_reading_by_an_open_index_tells_nothing() -> None:
    near = inexact([1.0, 3.0, 3.0 + 2.0**-22])
    assert np.isinf(bounded([5.0, 6.0, 7.0])[np.argmax(near)].bound)


def test_numbers_read_out_keep_their_bound_as_operands() -> None:
    with state.running():
        number = inexact(0.3).item()
        assert type(number) is float
        assert (bounded(2.0) * number).bound > 0.3e-7
        assert (bounded(2.0) * 0.25).bound == 0


def test_adding_zero_and_scaling_by_powers_of_two_round_nothing() -> None:
    a = inexact([0.1, -0.3])
    assert (a + 0.0).bound.tolist() == a.bound.tolist()
    assert (a * 0.5 / 4).bound.tolist() == (a.bound / 8).tolist()
    assert (a * 3).bound[0] > 3 * a.bound[0]
    assert (a * 0.0).bound.tolist() == [0.0, 0.0]


def test_numbers_are_read_as_the_program_writes_them() -> None:
    written = namespace.asarray([0.1, 0.5])
    assert written.astype(F32).bound.tolist() == [0.0, 0.0]
    assert written.astype(F32).astype(np.float16).bound[0] > 0
    assert (written * 1.0).astype(F32).bound[0] > 0


def test_casts_round_only_what_they_lose() -> None:
    assert bounded([0.5, 2048.0]).astype(np.float16).bound.tolist() == [0.0, 0.0]
    assert (bounded([0.1, 2049.0]).astype(np.float16).bound > 0).all()
    assert bounded([2**53 + 1], np.int64).astype(F64).bound > 0
    assert bounded([70000.0]).astype(np.float16).bound.tolist() == [0.0]
    assert bounded([70000], np.int64).astype(np.float16).bound.tolist() == [0.0]
    assert inexact([2.9999998]).astype(np.int64).bound.tolist() == [1.0]


def test_inverses_solutions_and_determinants_stay_within_their_bounds() -> None:
    rng = np.random.default_rng(3)
    for size in (1, 2, 3, 5):
        for _ in range(20):
            a = rng.normal(size=(size, size))
            b = rng.normal(size=(size, 2))
            matrix, right = inexact(a), inexact(b)
            exact = a.astype(np.float32).astype(np.float64)
            functions: Any = np.linalg
            inverse, solved = functions.inv(matrix), functions.solve(matrix, right)
            det = functions.det(matrix)
            known = b.astype(np.float32).astype(np.float64)
            assert (np.abs(inverse.value - np.linalg.inv(exact)) <= inverse.bound).all()
            assert (np.abs(solved.value - np.linalg.solve(exact, known)) <= solved.bound).all()
            assert np.abs(det.value - np.linalg.det(exact)) <= det.bound
            assert det.bound <= 1e-4 * size**3 * max(float(np.linalg.norm(a)) ** size, 1e-3)
    singular: Any = np.linalg.det(bounded([[1.0, 2.0], [2.0, 4.0]]))
    assert np.abs(singular.value) <= singular.bound < 1e-4


def test_functions_without_a_rule_are_named() -> None:
    a = bounded([1.0])
    with pytest.raises(NoRule, match=r"numpy\.ldexp"):
        np.ldexp(a, 2)
    with pytest.raises(NoRule, match=r"numpy\.linalg\.eigvals"):
        np.linalg.eigvals(a)
    with pytest.raises(NoRule, match="making a plain array"):
        np.asarray(a)


def test_a_fault_of_a_rule_is_not_taken_for_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(call: Any) -> Any:
        raise ValueError("hm")

    monkeypatch.setitem(UFUNCS, "add", broken)
    with pytest.raises(NoRule, match=r"this call of add \(ValueError: hm\)"):
        bounded([1.0]) + 1
    with pytest.raises(ValueError, match="could not be broadcast"):
        bounded([1.0, 2.0]) * bounded([1.0, 2.0, 3.0])


# numpy's names in the reference engine that no bounded array reaches: types, constants, makers of arrays.
_WITHOUT_ARRAYS = frozenset(
    {
        "broadcast_shapes", "dtype", "finfo", "frompyfunc", "generic", "iinfo", "nan", "ndarray", "pi",
        "promote_types", "result_type", "seterr", "errstate", "e", "inf",
        "arange", "array", "asarray", "empty", "frombuffer", "full", "indices", "ones", "random", "zeros",
    }
)  # fmt: skip


def _numpy_functions() -> dict[str, Any]:
    """What `numpy.X` and `numpy.linalg.X` the reference engine's modules write."""
    found: dict[str, Any] = {}
    for path in Path(refimpl.__file__).parent.rglob("*.py"):
        nodes = ast.walk(ast.parse(path.read_text())) if "tests" not in path.parts else ()
        for node in nodes:
            text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if text.startswith("numpy.") and text.removeprefix("numpy.").split(".")[0] not in _WITHOUT_ARRAYS:
                target: Any = np
                for part in text.split(".")[1:]:
                    target = getattr(target, part, None)
                found[text] = target
    return found


def _has_rule(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return function.__name__ in UFUNCS or function.__name__ in WHOLE_ARRAYS
    if isinstance(function, (type, ModuleType)):
        return True
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return (owner.__name__, function.__name__) in METHODS
    return f"{function.__module__}.{function.__name__}" in FUNCTIONS


def test_every_function_of_numpy_that_the_reference_engine_uses_has_a_rule() -> None:
    functions = {name: function for name, function in _numpy_functions().items() if callable(function)}
    assert {"numpy.where", "numpy.exp", "numpy.concatenate"} <= set(functions)
    assert [name for name, function in functions.items() if not _has_rule(function)] == []
