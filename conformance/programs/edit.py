"""Editing programs as JSON: places of statements and expressions, and replacing what stands there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.programs.model import Expression, Statement

Place = tuple[int | str, ...]
"""Keys and indices that lead from a body to a part of it."""
Body = list[Statement]


def get(data: Any, place: Place) -> Any:
    """What stands at a place."""
    for key in place:
        data = data[key]
    return data


def put(data: Any, place: Place, value: Any) -> Any:
    """A copy of the data with another value at the place; everything beside the way there is shared."""
    if not place:
        return value
    copy: Any = dict(data) if isinstance(data, dict) else list(data)
    copy[place[0]] = put(data[place[0]], place[1:], value)
    return copy


def splice(body: Body, place: Place, statements: Body) -> Body:
    """A copy of the body with the statement at the place replaced by others."""
    parent, index = place[:-1], int(place[-1])
    siblings = get(body, parent)
    edited: Body = put(body, parent, [*siblings[:index], *statements, *siblings[index + 1 :]])
    return edited


def statement_places(body: Body, prefix: Place = ()) -> Iterator[Place]:
    """The places of all statements, outer before inner."""
    for index, statement in enumerate(body):
        here = (*prefix, index)
        yield here
        for key in ("body", "orelse", "methods"):
            if key in statement:
                yield from statement_places(statement[key], (*here, key))


def _roots(statement: Statement) -> Iterator[Place]:
    """The places of a statement's own expressions; a target counts by what stands inside it."""
    do = statement["do"]
    if do == "with":
        for index in range(len(statement["items"])):
            for operand in operand_places(statement["items"][index][0]):
                yield ("items", index, 0, *operand)
    elif do == "if":
        yield ("test",)
    elif do != "raise" and "value" in statement:
        yield ("value",)
    for key in ("target", "targets"):
        if key in statement:
            for target in [(key,)] if key == "target" else [(key, i) for i in range(len(statement[key]))]:
                for operand in operand_places(get(statement, target)):
                    yield (*target, *operand)


def operand_places(expression: Expression) -> list[Place]:
    """Where the operands of an expression stand in it, in the order of `tree.operands`."""
    if not isinstance(expression, list):
        return []
    tag = expression[0]
    if tag in ("list", "tuple"):
        return [(1, index) for index in range(len(expression[1]))]
    if tag == "dict":
        return [(1, index, part) for index in range(len(expression[1])) for part in (0, 1)]
    if tag in ("star", "attr"):
        return [(1,)]
    if tag in ("item", "slice"):
        return [(index,) for index in range(1, len(expression))]
    if tag in ("call", "method", "apply"):
        first = [] if tag == "call" else [(1,)]
        args, kwargs = len(expression) - 2, len(expression) - 1
        return [
            *first,
            *((args, index) for index in range(len(expression[args]))),
            *((kwargs, key) for key in sorted(expression[kwargs])),
        ]
    if tag in ("binary", "compare"):
        return [(2,), (3,)]
    return [(2,)] if tag in ("unary", "lambda") else []


def expression_places(body: Body) -> Iterator[Place]:
    """The places of all expressions in a body, outer before inner."""
    for place in statement_places(body):
        statement = get(body, place)
        for root in _roots(statement):
            yield from _inside(get(statement, root), (*place, *root))


def _inside(expression: Expression, place: Place) -> Iterator[Place]:
    yield place
    for operand in operand_places(expression):
        yield from _inside(get(expression, operand), (*place, *operand))
