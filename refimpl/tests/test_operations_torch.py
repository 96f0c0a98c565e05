"""Every operation against real torch: values, dtypes, shapes, strides, flags, node names, first and second
derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

import refimpl as engine

from .operation_cases import CASES, evaluate, operands, values

reference: Any = engine

torch = pytest.importorskip("torch")

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# The second derivatives of these are recorded through other nodes than torch's (same values).
OTHER_NODES = ("prelu", "logcumsumexp", "trace", "cumprod", "kl_div", "as_strided((2, 2)", "conj")


def _seed(module: Any, tensor: Any) -> Any:
    count = math.prod(tensor.shape)
    numbers = [0.5 + (7 * index % 11) / 8 for index in range(count)]
    data: list[Any] = [complex(a, 1 - a) for a in numbers] if tensor.is_complex() else numbers
    return module.tensor(data, dtype=tensor.dtype).reshape(tuple(tensor.shape))


def _seen(tensor: Any) -> dict[str, Any]:
    node = tensor.grad_fn
    return {
        "dtype": str(tensor.dtype),
        "shape": tuple(tensor.shape),
        "strides": tuple(tensor.stride()),
        "requires_grad": tensor.requires_grad,
        "node": None if node is None else type(node).__name__,
    }


def _run(module: Any, case: str, dtype: str) -> dict[str, Any]:
    names = operands(module, dtype)
    results = [each for each in evaluate(module, case, names) if hasattr(each, "grad_fn")]
    found: dict[str, Any] = {
        "results": [_seen(each) for each in results],
        "values": [values(e) for e in results],
    }
    roots = [each for each in results if each.requires_grad]
    if not roots:
        return found
    leaves = {name: each for name, each in names.items() if getattr(each, "requires_grad", False)}
    seeds = [_seed(module, root) for root in roots]
    grads = module.autograd.grad(roots, list(leaves.values()), seeds, create_graph=True, allow_unused=True)
    known = {name: grad for name, grad in zip(leaves, grads, strict=True) if grad is not None}
    found["gradients"] = {name: _seen(grad) for name, grad in known.items()}
    found["first"] = {name: values(grad) for name, grad in known.items()}
    curved = [grad for grad in known.values() if grad.requires_grad]
    if curved:
        seeds = [_seed(module, grad) for grad in curved]
        again = module.autograd.grad(curved, list(leaves.values()), seeds, allow_unused=True)
        # torch's sign has an unmaterialized zero as its gradient, which cannot be listed
        found["second"] = {
            name: values(grad * 1 + 0) for name, grad in zip(leaves, again, strict=True) if grad is not None
        }
    return found


def _assert_close(mine: Any, theirs: Any, unit: float, what: str) -> None:
    assert mine.shape == theirs.shape, what
    nan = numpy.isnan(theirs)
    assert numpy.array_equal(numpy.isnan(mine), nan), what
    scale = numpy.max(numpy.abs(theirs[numpy.isfinite(theirs)]), initial=1.0)
    with numpy.errstate(invalid="ignore"):
        apart = numpy.abs(numpy.where(nan | (mine == theirs), 0, mine - theirs))
    assert numpy.all(apart <= 64 * unit * scale), f"{what}: {mine} instead of {theirs}"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_like_torch(case: str, dtype: str) -> None:
    theirs, mine = _run(torch, case, dtype), _run(reference, case, dtype)
    assert mine["results"] == theirs["results"]
    for index, value in enumerate(theirs["values"]):
        _assert_close(mine["values"][index], value, EPSILON[dtype], f"value {index}")
    assert set(mine) == set(theirs)
    if "first" not in theirs:
        return
    if not any(part in case for part in OTHER_NODES):
        assert mine["gradients"] == theirs["gradients"]
    for order in ("first", "second"):
        if order not in theirs:
            continue
        known = mine[order]
        for name, value in theirs[order].items():
            got = known.get(name, numpy.zeros_like(value))
            _assert_close(got, value, 8 * EPSILON[dtype], f"{order} derivative for {name}")
        assert all(not numpy.any(value) for name, value in known.items() if name not in theirs[order])


@pytest.mark.parametrize("case", CASES[:150])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_reduced_types_round_as_torch(case: str, dtype: str) -> None:
    try:
        names = operands(torch, dtype)
        theirs = [each for each in evaluate(torch, case, names) if hasattr(each, "grad_fn")]
    except (RuntimeError, NotImplementedError) as error:
        with pytest.raises(type(error)):
            evaluate(reference, case, operands(reference, dtype))
        return
    mine = [
        each for each in evaluate(reference, case, operands(reference, dtype)) if hasattr(each, "grad_fn")
    ]
    for index, (got, wanted) in enumerate(zip(mine, theirs, strict=True)):
        assert _seen(got) == _seen(wanted)
        _assert_close(values(got), values(wanted), EPSILON[dtype] / 32, f"value {index}")


FREED = """
x + 1; x - y; -x; x.sum(); x.mean(0); x.view(-1); v.expand(2, 3); torch.cat([x, y]); torch.stack([x, y])
x.clone()
x.double(); x.cumsum(0); x.unbind(); x.floor(); x.sign(); x.round(); x[0]; x * 2; x / 2; 2 / x; x * y; x[i]
x.relu()
x.max(); x.max(0); x.abs(); x.sqrt(); x.prod(); torch.where(m, x, y); x.clamp(0, 1); x.gather(1, k)
x.masked_fill(m, 0.0)
x @ s; x.norm(); x.std(); x.sigmoid(); x ** 1; x ** 0; x.logsumexp(0); x.softmax(0); x.exp()
torch.complex(v, v)
"""


@pytest.mark.parametrize(
    "case", [part.strip() for line in FREED.strip().splitlines() for part in line.split(";")]
)
def test_what_a_second_backward_may_do(case: str) -> None:
    """RETAIN-02: whether a node can run again depends on whether it kept a tensor."""

    def runs_twice(module: Any) -> bool:
        names = operands(module)
        root = evaluate(module, case, names)[0]
        leaves = [each for each in names.values() if getattr(each, "requires_grad", False)]
        module.autograd.grad(root, leaves, _seed(module, root), allow_unused=True)
        try:
            module.autograd.grad(root, leaves, _seed(module, root), allow_unused=True)
        except RuntimeError as error:
            if "second time" not in str(error):
                raise
            return False
        return True

    assert runs_twice(reference) == runs_twice(torch)
