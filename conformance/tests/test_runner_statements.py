"""What the runner says of a statement before it runs it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import runner
from conformance.operations import runner_schema
from conformance.programs import parse

BEFORE = "x = torch.ones(2)\ny = x * 1\nm = [x]\ndef f(a):\n    return a\n"


def last(source: str) -> dict[str, Any]:
    """The last statement of a program that has some names."""
    return parse(BEFORE + source).body[-1]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("z = torch.zeros(3)", "create"),
        ('z = bits("f32", "00000000")', "create"),
        ("z = torch.ones_like(x)", "create"),
        ("z = x * 2 + 1", "operation"),
        ("z = torch.sin(x)", "operation"),
        ("x.mul_(2)", "in-place"),
        ("x += 1", "in-place"),
        ("x.requires_grad_()", "in-place"),
        ("z = x[0]", "view"),
        ("z = x.view(2, 1)", "view"),
        ("a, b = x[0], x[1]", "view"),
        ("z = x.data", "view"),
        ("x[0] = 1.0", "setitem"),
        ("x[0] += 1.0", "setitem"),
        ("x[0], x[1] = x[1], x[0]", "setitem"),
        ("del x", "delete"),
        ("y.sum().backward()", "backward"),
        ("torch.autograd.backward([y])", "backward"),
        ("g = torch.autograd.grad(y, x)[0]", "grad"),
        ("h = x.register_hook(lambda g: g * 2)", "hook"),
        ("y.retain_grad()", "hook"),
        ("x.grad", "observe"),
        ("x * 2", "observe"),
        ("print(x[0])", "observe"),
        ("with torch.no_grad():\n    z = x * 2", "block"),
        ("for _ in range(2):\n    x.mul_(2)", "block"),
        ("def g(a):\n    return a", "define"),
        (
            "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
            "        return a",
            "define",
        ),
        ("x.grad = None", "set"),
    ],
)
def test_kind(source: str, kind: str) -> None:
    assert runner.kind(last(source)) == kind


@pytest.mark.parametrize(
    ("source", "touched", "required"),
    [
        ("z = x + y", ["z", "x", "y"], ["x", "y"]),
        ("z = z2 = x", ["z", "z2", "x"], ["x"]),
        ("x[y] = m", ["x", "y", "m"], ["x", "y", "m"]),
        ("x += y", ["x", "y"], ["x", "y"]),
        ("a, b = x, a2 = y, x", ["a", "b", "x", "a2", "y"], ["y", "x"]),
        ("h = x.register_hook(lambda g: g * y)", ["h", "x", "y"], ["x"]),
        ("with torch.no_grad():\n    z = x\n    w = z", ["z", "x", "w"], ["x"]),
        ("for i in range(2):\n    z = x * i", ["i", "z", "x"], ["x"]),
        ("def g(a):\n    return a * y", [], []),
        ("del x", ["x"], ["x"]),
        ("x.sum(dim=y)", ["x", "y"], ["x", "y"]),
    ],
)
def test_names(source: str, touched: list[str], required: list[str]) -> None:
    statement = last(source)
    assert list(runner.touched(statement)) == touched
    assert list(runner.required_names(statement)) == required


@pytest.mark.parametrize(
    ("source", "all_names"),
    [
        ("y.backward()", True),
        ("z = torch.autograd.grad(y, x)", True),
        ("z = f(x)", True),
        ("with torch.no_grad():\n    for _ in range(2):\n        y.backward()", True),
        ("z = torch.autograd.functional.hessian(f, x)", True),
        ("z = x * y", False),
        ("h = x.register_hook(lambda g: g.sum().backward())", False),
        ("def g(a):\n    a.backward()", False),
    ],
)
def test_sees_all(source: str, all_names: bool) -> None:
    assert runner.sees_all(last(source)) is all_names


def test_the_runners_own_tables_are_those_of_the_schema() -> None:
    schema = runner_schema()
    named = {**{name.rpartition(".")[2]: entry for name, entry in schema["methods"].items()}}
    functions = {name: entry for name, entry in schema["functions"].items() if "." in name}
    named.update({name.rpartition(".")[2]: entry for name, entry in functions.items()})
    torch_names = {name.rpartition(".")[2] for name in functions if name.startswith("torch.")}
    known = {name for name in named if name in torch_names or name in schema["methods"]}
    assert {name for name in known if named[name]["view"]} == runner.VIEWS
    assert {name for name in known if "creation" in named[name]["groups"]} == runner.CREATIONS
    hooks = {
        name for name in known if "hook" in named[name]["groups"] and "mode" not in named[name]["groups"]
    }
    assert hooks == runner.HOOKS
    in_place = {name for name in known if named[name]["inplace"]}
    assert in_place == {name for name in known if name.endswith("_")} | {"increment_version"}
    backward = {name for name, entry in functions.items() if entry["backward"]}
    assert backward == runner.BACKWARD_FUNCTIONS | runner.GRAD_FUNCTIONS
    assert {name for name, entry in schema["methods"].items() if entry["backward"]} == {"backward", "apply"}


def test_every_function_of_the_table_that_is_not_torchs_is_the_runners() -> None:
    schema = runner_schema()
    python = {name for name in schema["functions"] if not name.startswith("torch.")}
    assert python - set(runner.BUILTINS) == {"log", "thread_name"}
    assert set(schema["exceptions"]) <= set(runner.EXCEPTIONS)
    assert set(schema["bits"]) == set(runner.BITS)
    constants = {name for name in schema["constants"] if "." not in name}
    assert constants == set(runner.TYPES)
