"""The operation schema agrees with torch, with itself, and with the form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.operations import (
    ATTRIBUTES,
    CONSTANTS,
    CONTEXTS,
    DTYPES,
    FUNCTIONS,
    METHODS,
    OPERATORS,
    TABLE,
    Operation,
    runner_schema,
)
from conformance.operations.schema import inplace_of, op

RELEASES = ("1.2", "1.9", "2.13")
_NOT_OF_TENSORS = {"name", "register_prehook", "remove", "apply", "forward"}


def _resolve(torch: Any, target: str) -> Any:
    found = torch
    for part in target.removeprefix("torch.").split("."):
        found = getattr(found, part)
    return found


def _torch_names() -> list[str]:
    return sorted(name for name in FUNCTIONS if name.startswith("torch."))


@pytest.mark.parametrize("name", _torch_names())
def test_every_function_exists_in_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert callable(_resolve(torch, name))


def test_every_method_exists_in_torch() -> None:
    torch = pytest.importorskip("torch")
    groups = {"custom", "container"}
    of_tensors = {
        name
        for name, rows in METHODS.items()
        if not any(groups & set(row.groups) for row in rows) and name not in _NOT_OF_TENSORS
    }
    assert [name for name in sorted(of_tensors) if not hasattr(torch.Tensor, name)] == []
    context = torch.autograd.function.FunctionCtx
    of_contexts = {row.name for row in TABLE.values() if "custom" in row.groups} - _NOT_OF_TENSORS
    assert [name for name in sorted(of_contexts) if not hasattr(context, name)] == []


def test_every_constant_and_dtype_exists_in_torch() -> None:
    torch = pytest.importorskip("torch")
    for name in CONSTANTS:
        if "." in name:
            _resolve(torch, name)
    assert all(isinstance(getattr(torch, name), torch.dtype) for name in DTYPES)
    assert all(name in FUNCTIONS or "." not in name for name in CONTEXTS)


def test_nothing_random_and_nothing_of_the_system() -> None:
    parts = ("rand", "bernoulli", "normal_", "multinomial", "uniform", "compile", "jit", "_C.", "load")
    names = [*FUNCTIONS, *METHODS, *ATTRIBUTES]
    assert [name for name in names if any(part in name for part in parts)] == []
    assert [n for n in ATTRIBUTES if n.startswith("__")] == ["__name__"]
    assert not {"data_ptr", "untyped_storage", "id"} & {*METHODS, *FUNCTIONS, *ATTRIBUTES}


@pytest.mark.parametrize("row", TABLE.values(), ids=lambda row: row.name)
def test_rows_are_well_formed(row: Operation) -> None:
    assert row.targets
    assert row.since in RELEASES
    assert all(release in RELEASES and target in row.targets for target, release in row.later)
    assert len(set(row.kwargs)) == len(row.kwargs)
    assert len(set(row.dtypes)) == len(row.dtypes)
    assert set(row.dtypes) <= set(DTYPES)
    assert not (row.inplace and row.view and row.name not in ("as_strided_",))
    assert "out" not in row.kwargs or not row.inplace
    assert row.groups


# These need other arguments than ones in their domain.
_OTHER_ARGUMENTS = ("clamp", "clamp_min", "clamp_max", "clip", "where", "lerp", "prelu", "igamma")


def _pointwise(arity: int, prefix: str) -> list[Operation]:
    """The rows that can be called with that many tensors and nothing else."""
    return [
        row
        for row in TABLE.values()
        if row.arity == arity
        and "pointwise" in row.groups
        and prefix + row.name in row.targets
        and not row.inplace
        and row.name not in _OTHER_ARGUMENTS
    ]


UNARY = _pointwise(1, "Tensor.")
BINARY = _pointwise(2, "torch.")


def _ones(torch: Any, dtype: str, requires_grad: bool) -> Any:
    """Halves where they fit: inside every domain."""
    kind = getattr(torch, dtype)
    values = torch.ones(2, dtype=kind)
    if kind.is_floating_point or kind.is_complex:
        values = values / 2
    return values.requires_grad_(requires_grad)


def _differentiates(torch: Any, row: Operation, dtype: str, call: Any, arguments: list[Any]) -> None:
    result = call(*arguments)
    if row.differentiable and arguments[0].requires_grad and result.requires_grad:
        result.sum().backward(torch.ones((), dtype=result.dtype))
        assert arguments[0].grad is not None


@pytest.mark.parametrize("row", UNARY, ids=lambda row: row.name)
def test_unary_dtypes_are_those_of_torch(row: Operation) -> None:
    torch = pytest.importorskip("torch")
    for dtype in row.dtypes:
        wants = row.differentiable and getattr(torch, dtype).is_floating_point
        _differentiates(torch, row, dtype, getattr(torch.Tensor, row.name), [_ones(torch, dtype, wants)])


@pytest.mark.parametrize("row", BINARY, ids=lambda row: row.name)
def test_binary_dtypes_are_those_of_torch(row: Operation) -> None:
    torch = pytest.importorskip("torch")
    for dtype in row.dtypes:
        wants = row.differentiable and getattr(torch, dtype).is_floating_point
        arguments = [_ones(torch, dtype, wants), _ones(torch, dtype, False)]
        _differentiates(torch, row, dtype, getattr(torch, row.name), arguments)


def test_keywords_are_those_of_torch() -> None:
    """One call with all keywords of each kind shows that the names are torch's."""
    torch = pytest.importorskip("torch")
    x = torch.ones(2, 2)
    torch.add(input=x, other=x, alpha=2)
    torch.sum(input=x, dim=0, keepdim=True, dtype=torch.float64)
    torch.nn.functional.cross_entropy(
        input=x,
        target=torch.tensor([0, 1]),
        weight=None,
        ignore_index=-1,
        reduction="sum",
        label_smoothing=0.0,
    )
    with pytest.raises(TypeError):
        torch.add(input=x, other=x, bogus=2)
    for name in ("torch.add", "torch.sum", "torch.nn.functional.cross_entropy"):
        assert "bogus" not in runner_schema()["functions"][name]["kwargs"]
    assert {"input", "other", "alpha", "out"} == set(runner_schema()["functions"]["torch.add"]["kwargs"])
    assert {"other", "alpha"} == set(runner_schema()["methods"]["add"]["kwargs"])


def test_the_runner_schema_is_json_and_marks_what_matters() -> None:
    schema = json.loads(json.dumps(runner_schema(), allow_nan=False))
    functions, methods = schema["functions"], schema["methods"]
    assert functions["torch.zeros"]["factory"]
    assert not functions["torch.zeros_like"]["factory"]
    assert {name for name, entry in functions.items() if entry["backward"]} == {
        "torch.Tensor.backward",
        "torch.autograd.backward",
        "torch.autograd.grad",
        "torch.autograd.gradcheck",
        *(
            f"torch.autograd.functional.{name}"
            for name in ("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp")
        ),
    }
    assert {name for name, entry in methods.items() if entry["backward"]} == {"backward", "apply"}
    assert methods["view"]["view"]
    assert methods["add_"]["inplace"]
    assert not methods["add"]["inplace"]
    assert schema["bits"]["c128"] == 16


def test_operators_belong_to_operations() -> None:
    assert [row.name for row in OPERATORS["x + y"]] == ["add"]
    assert [row.name for row in OPERATORS["x += y"]] == ["add_"]
    assert [row.name for row in OPERATORS["-x"]] == ["neg"]
    assert len(OPERATORS) == 11 + 7 + 6 + 2


def test_short_notation() -> None:
    row = op("foo", "f, m, n, x + y", "input out", "pointwise", later="m@1.9", flags="diff")
    assert row.targets == ("torch.foo", "Tensor.foo", "torch.nn.functional.foo", "x + y")
    assert (row.since_of("Tensor.foo"), row.since_of("torch.foo")) == ("1.9", "1.2")
    assert list(row.spellings("operator")) == ["x + y"]
    assert inplace_of(row).kwargs == ("input",)
    with pytest.raises(ValueError, match="unknown flags"):
        op("foo", "f", flags="dif")
