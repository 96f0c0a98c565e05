"""Walking programs: the parts of statements and expressions, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.programs.model import Expression, Statement

Path = tuple[int, ...]
"""A statement's place: its index in the body, then in the block's statements (``body``, then ``orelse``)."""


def blocks(statement: Statement) -> tuple[str, ...]:
    """The keys under which a statement keeps statements."""
    return tuple(key for key in ("body", "orelse", "methods") if key in statement)


def children(statement: Statement) -> list[Statement]:
    """The statements directly inside a statement; a class's are its methods."""
    return [child for key in blocks(statement) for child in statement[key]]


def walk(body: list[Statement] | tuple[Statement, ...], at: Path = ()) -> Iterator[tuple[Path, Statement]]:
    """Every statement with its place, outer before inner."""
    for index, statement in enumerate(body):
        here = (*at, index)
        yield here, statement
        yield from walk(children(statement), here)


def expressions(statement: Statement) -> Iterator[Expression]:
    """The expressions directly in a statement, targets included, in the order of evaluation."""
    do = statement["do"]
    if do == "assign":
        yield statement["value"]
        yield from statement["targets"]
    elif do == "augment":
        yield statement["target"]
        yield statement["value"]
    elif do in ("expr", "print", "return"):
        yield statement["value"]
    elif do == "delete":
        yield from statement["targets"]
    elif do == "with":
        for item in statement["items"]:
            yield item[0]
    elif do == "if":
        yield statement["test"]


def operands(expression: Expression) -> list[Expression]:
    """The expressions directly inside an expression, in the order of evaluation."""
    if not isinstance(expression, list):
        return []
    tag = expression[0]
    if tag in ("list", "tuple"):
        return list(expression[1])
    if tag == "dict":
        return [part for pair in expression[1] for part in pair]
    if tag in ("star", "attr"):
        return [expression[1]]
    if tag in ("item", "slice"):
        return list(expression[1:])
    if tag == "call":
        return [*expression[2], *_by_key(expression[3])]
    if tag == "method":
        return [expression[1], *expression[3], *_by_key(expression[4])]
    if tag == "apply":
        return [expression[1], *expression[2], *_by_key(expression[3])]
    if tag in ("binary", "compare"):
        return list(expression[2:4])
    if tag in ("unary", "lambda"):
        return [expression[2]]
    return []


def _by_key(kwargs: dict[str, Any]) -> list[Expression]:
    return [kwargs[key] for key in sorted(kwargs)]


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it."""
    yield expression
    for part in operands(expression):
        yield from subexpressions(part)
