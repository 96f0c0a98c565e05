"""Sums round as torch's: bit for bit, for every layout. torch runs apart, with the kernels that need 32-byte
vectors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import numpy
import pytest

import refimpl as engine

reference: Any = engine

_SCRIPT = """
import json, sys
import numpy, torch
torch.set_num_threads(1)
found = []
for dtype, shape, order, step, dims, seed in json.load(sys.stdin):
    data = numpy.random.RandomState(seed).randn(*shape)
    tensor = torch.tensor(data.tolist(), dtype=getattr(torch, dtype)).permute(order)[::step]
    for name in ("sum", "mean"):
        result = getattr(tensor, name)(dims) if dims else getattr(tensor, name)()
        wide = torch.view_as_real(result) if result.is_complex() else result
        found.append([list(result.stride()), wide.double().reshape(-1).tolist()])
json.dump(found, sys.stdout)
"""


def _cases() -> list[Any]:
    draw = numpy.random.RandomState(5)
    sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 70]
    cases = []
    for seed in range(240):
        ndim = int(draw.randint(1, 5))
        shape = [int(draw.choice(sizes if ndim < 3 else sizes[:9])) for _ in range(ndim)]
        order = [int(axis) for axis in draw.permutation(ndim)] if draw.rand() < 0.5 else list(range(ndim))
        dims = [int(axis) for axis in draw.permutation(ndim)[: draw.randint(0, ndim + 1)]]
        dtype = str(draw.choice(["float32", "float64", "float16", "bfloat16", "complex64"]))
        cases.append([dtype, shape, order, int(draw.choice([1, 1, 2])), dims, seed])
    return cases


def test_sums_and_means_are_torchs_bit_for_bit() -> None:
    pytest.importorskip("torch")
    cases = _cases()
    environment = dict(os.environ, ATEN_CPU_CAPABILITY="default")
    reply = subprocess.run(
        [sys.executable, "-c", _SCRIPT], input=json.dumps(cases), capture_output=True, text=True, check=True,
        timeout=120, env=environment,
    )  # fmt: skip
    answers = iter(json.loads(reply.stdout))
    for dtype, shape, order, step, dims, seed in cases:
        data = numpy.random.RandomState(seed).randn(*shape)
        tensor = reference.tensor(data.tolist(), dtype=getattr(reference, dtype)).permute(order)[::step]
        for name in ("sum", "mean"):
            strides, numbers = next(answers)
            result = getattr(tensor, name)(dims) if dims else getattr(tensor, name)()
            wide = reference.view_as_real(result) if result.is_complex() else result
            assert list(result.stride()) == strides
            assert wide.double().reshape(-1).tolist() == numbers, (dtype, shape, order, step, dims, name)


def test_a_long_sum_cascades() -> None:
    """In one run of additions the small terms would be lost against the large one."""
    terms = [2.0**24] + [1.0] * 4095
    assert reference.tensor(terms).sum().item() == pytest.approx(2.0**24 + 4095, abs=600)
    assert reference.tensor(terms, dtype=reference.float64).sum().item() == 2.0**24 + 4095


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_empty_sums_are_zero(shape: tuple[int, ...]) -> None:
    empty = reference.zeros(*shape)
    assert empty.sum().item() == 0.0
    assert empty.sum(0).tolist() == [0.0] * (shape[1] if len(shape) > 1 else 1) or empty.sum(0).item() == 0.0
    assert numpy.isnan(empty.mean().item())
