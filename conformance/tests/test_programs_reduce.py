"""The reducer finds what a person would write, within its budget, and never an invalid program."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.programs import Program, parse, reduce, to_source, validate
from conformance.programs.reduce import measure
from conformance.tests.programs_strategy import programs

LONG = """\
# title: kept
# clauses: ACC-01
X = torch.tensor([4.0, 3.0, 2.5], dtype=torch.float64, requires_grad=True)
W = torch.ones(3, 3)
unused = torch.arange(7)
a = X * 2 + 1
b = a.sin().exp() + W.sum()
with torch.no_grad():
    c = a.detach() * 17.25
for i in range(5):
    b = b * 2 + X
    if i > 2:
        b = b.relu()
def hook(g):
    log(g)
    return g * 2
b.register_hook(hook)
c.sum()
b.sum().backward(retain_graph=True, create_graph=False)
X.grad
b.sum().backward()
X.grad
"""


def _contains(*parts: str) -> Callable[[Program], bool]:
    return lambda program: all(part in to_source(program) for part in parts)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("X.grad",), "X = None\nX.grad\n"),
        (("17.25",), "17.25\n"),
        ((".relu()", "backward"), "None.relu().backward()\n"),
        (("for i in range(", "relu"), "for i in range(1):\n    None.relu()\n"),
        (("return g",), "def hook(g):\n    return g\n"),
    ],
)
def test_only_what_matters_is_left(parts: tuple[str, ...], expected: str) -> None:
    program = parse(LONG)
    reduced = reduce(program, _contains(*parts))
    lines = to_source(reduced).splitlines(keepends=True)
    assert lines[:2] == ["# title: kept\n", "# clauses: ACC-01\n"]
    text = "".join(lines[2:])
    assert len(text.splitlines()) <= len(expected.splitlines()), text
    assert all(part in text for part in parts)


def test_sizes_shrink_together() -> None:
    program = parse(
        "x = torch.tensor([1.5, 7.0, 3.0, 9.0], requires_grad=True)\n"
        "w = torch.zeros(4, 4)\n(x * w).sum().backward(torch.tensor(3.25))\n"
    )

    def same_extent(candidate: Program) -> bool:
        """The list and the matrix have one extent: what would broadcast otherwise does not fail."""
        text = to_source(candidate)
        extent = text.partition("]")[0].count(".") - 1
        parts = ("torch.tensor([", f"torch.zeros({extent}, {extent})", "x * w", "backward")
        return all(part in text for part in parts)

    assert same_extent(program)
    text = to_source(reduce(program, same_extent))
    assert "torch.tensor([1.0])" in text
    assert "torch.zeros(1, 1)" in text
    assert "7.0" not in text


def test_numbers_become_plain() -> None:
    program = parse("x = 3.14159\ny = -77\nx + y\n")
    text = to_source(reduce(program, lambda p: "+" in to_source(p) and "x = " in to_source(p)))
    assert "3.14159" not in text
    assert "77" not in text


def test_repeats_shrink() -> None:
    program = parse("x = 1\nfor _ in range(900):\n    x\n")
    text = to_source(reduce(program, lambda p: p.body[-1].get("times", 0) >= 3))
    assert "range(3)" in text


def test_the_budget_bounds_the_calls() -> None:
    calls: list[Program] = []

    def fails(program: Program) -> bool:
        calls.append(program)
        return len(program.body) > 3

    reduce(parse(LONG), fails, budget=7)
    assert len(calls) == 7
    assert reduce(parse(LONG), fails, budget=0) == parse(LONG)


def test_no_candidate_is_tried_twice_and_all_are_valid() -> None:
    seen: set[str] = set()

    def fails(program: Program) -> bool:
        validate(program.to_json())
        assert program.hash not in seen
        seen.add(program.hash)
        return "backward" in to_source(program)

    first = reduce(parse(LONG), fails)
    seen.clear()
    assert reduce(parse(LONG), fails) == first


def test_a_program_that_does_not_fail_comes_back() -> None:
    program = parse(LONG)
    assert reduce(program, lambda _: False) is not None
    assert reduce(program, lambda _: False) == program


def test_an_error_of_the_predicate_is_not_swallowed() -> None:
    def fails(program: Program) -> bool:
        raise OSError("engine lost")

    with pytest.raises(OSError, match="engine lost"):
        reduce(parse(LONG), fails)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs, st.integers(0, 5))
def test_reducing_anything_gives_a_smaller_valid_program(program: Program, salt: int) -> None:
    """The predicate is arbitrary: only the contract of the reducer is checked."""
    reduced = reduce(program, lambda p: (int(p.hash[:4], 16) + salt) % 3 != 0, budget=60)
    validate(reduced.to_json())
    assert measure(list(reduced.body)) <= measure(list(program.body))
    assert parse(to_source(reduced)) == reduced
