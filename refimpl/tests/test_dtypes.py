"""Data types: promotion, casting and limits, against torch's own tables."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy
import pytest

import refimpl as engine
from refimpl import dtypes

reference: Any = engine

NAMES = [each.name for each in dtypes.ALL]


def test_names_and_kinds() -> None:
    assert repr(reference.float32) == str(reference.float32) == "torch.float32"
    assert reference.half is reference.float16
    assert reference.bfloat16.is_floating_point
    assert not reference.complex64.is_floating_point
    assert reference.complex64.to_real() is reference.float32
    assert reference.float64.to_complex() is reference.complex128
    assert pickle.loads(pickle.dumps(reference.bfloat16)) is reference.bfloat16
    with pytest.raises(TypeError, match="no complex counterpart"):
        reference.int64.to_complex()
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type numpy\.object_"):
        dtypes.of(numpy.dtype(object))


def test_default_dtype_decides_what_floats_become() -> None:
    try:
        reference.set_default_dtype(reference.float64)
        assert reference.tensor(1.5).dtype is reference.float64
        assert reference.tensor(1.5j).dtype is reference.complex128
        assert (reference.tensor(1) / 2).dtype is reference.float64
    finally:
        reference.set_default_dtype(reference.float32)
    assert reference.tensor(1.5).dtype is reference.float32
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        reference.set_default_dtype(reference.int64)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(NAMES, NAMES)))
def test_promotion_and_casting_as_torch(first: str, second: str) -> None:
    torch = pytest.importorskip("torch")
    theirs = getattr(torch, first), getattr(torch, second)
    mine = getattr(reference, first), getattr(reference, second)
    assert str(reference.promote_types(*mine)) == str(torch.promote_types(*theirs))
    assert reference.can_cast(*mine) == torch.can_cast(*theirs)


NUMBERS: tuple[Any, ...] = (True, 2, 2.5, 1j)


@pytest.mark.parametrize("dtype", NAMES)
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_numbers_promote_by_category(dtype: str, number: Any, shape: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    if dtype == "float16" and number == 1j:
        pytest.skip("torch's complex32 does not exist here")
    theirs = torch.result_type(torch.ones(shape, dtype=getattr(torch, dtype)), number)
    made = reference.ones(shape, dtype=getattr(reference, dtype))
    assert str(reference.result_type(made, number)) == str(theirs)


@pytest.mark.parametrize(("zero_dim", "dimensioned"), list(itertools.product(NAMES, NAMES)))
def test_dimensions_win_over_zero_dim(zero_dim: str, dimensioned: str) -> None:
    torch = pytest.importorskip("torch")
    if "float16" in (zero_dim, dimensioned) and "complex" in zero_dim + dimensioned:
        pytest.skip("torch's complex32 does not exist here")
    theirs = torch.result_type(
        torch.ones((), dtype=getattr(torch, zero_dim)), torch.ones(2, dtype=getattr(torch, dimensioned))
    )
    mine = reference.result_type(
        reference.ones((), dtype=getattr(reference, zero_dim)),
        reference.ones(2, dtype=getattr(reference, dimensioned)),
    )
    assert str(mine) == str(theirs)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_limits_of_floats(name: str) -> None:
    torch = pytest.importorskip("torch")
    theirs, mine = torch.finfo(getattr(torch, name)), reference.finfo(getattr(reference, name))
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(mine, field) == getattr(theirs, field), field


def test_limits_of_integers() -> None:
    assert reference.iinfo(reference.int8).max == 127
    assert reference.iinfo(reference.uint8).min == 0
    with pytest.raises(TypeError, match=r"torch.finfo\(\) requires a floating point input type"):
        reference.finfo(reference.int8)
    with pytest.raises(TypeError, match=r"torch.iinfo\(\) requires an integer input type"):
        reference.iinfo(reference.float32)
