"""The shortest program that still fails: what a person would have written.

Every candidate is a valid program, smaller than the one before by one fixed measure, so that reducing ends
and two runs give the same result. Names are never changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from conformance.operations import FUNCTIONS, METHODS
from conformance.programs.edit import (
    Body,
    Place,
    expression_places,
    get,
    operand_places,
    put,
    splice,
    statement_places,
)
from conformance.programs.model import FORM, Expression, Program, canonical
from conformance.programs.validate import check

Candidates = Callable[[Body], Iterator[Body]]

_FLOATS = ("1.0", "2.0", "0.0", "3.0")


def reduce(program: Program, still_fails: Callable[[Program], bool], *, budget: int = 500) -> Program:
    """A smaller program for which ``still_fails`` holds, found with at most ``budget`` calls of it.

    The program itself comes back when nothing smaller fails. What ``still_fails`` raises is not caught.
    """
    return _Reducer(program, still_fails, budget).run()


class _Exhausted(Exception):
    """The budget is spent."""


class _Reducer:
    def __init__(self, program: Program, still_fails: Callable[[Program], bool], budget: int) -> None:
        self.program = program
        self.body: Body = list(program.body)
        self.still_fails = still_fails
        self.left = budget
        self.tried = {canonical(self.body)}

    def run(self) -> Program:
        passes = (
            drop_chunks,
            drop_inner,
            unwrap,
            inline,
            shrink_repeats,
            drop_parts,
            use_operand,
            shrink_sizes,
            numbers,
        )
        try:
            while sum(self.exhaust(candidates) for candidates in passes):
                pass
        except _Exhausted:
            pass
        return self.program.with_body(tuple(self.body))

    def exhaust(self, candidates: Candidates) -> bool:
        """Takes candidates of one kind until none is accepted; says whether one was."""
        changed = False
        while any(self.accept(candidate) for candidate in candidates(self.body)):
            changed = True
        return changed

    def accept(self, candidate: Body) -> bool:
        text = canonical(candidate)
        if text in self.tried:
            return False
        self.tried.add(text)
        if measure(candidate) >= measure(self.body) or not _is_valid(candidate):
            return False
        if self.left <= 0:
            raise _Exhausted
        self.left -= 1
        if not self.still_fails(self.program.with_body(tuple(candidate))):
            return False
        self.body = candidate
        return True


def _is_valid(body: Body) -> bool:
    return bool(body) and check({"form": FORM, "body": body}) is None


def measure(body: Body) -> tuple[int, int, float, str]:
    """The order of programs: statements, then expressions, then how odd their numbers are, then the text."""
    statements = sum(1 for _ in statement_places(body))
    places = list(expression_places(body))
    oddness = sum(_oddness(get(body, place)) for place in places)
    repeats = sum(get(body, place).get("times", 0) for place in statement_places(body))
    keywords = sum(len(get(body, place).get("decorators", ())) for place in statement_places(body))
    return statements, len(places) + keywords, oddness + repeats, canonical(body)


def _oddness(expression: Expression) -> float:
    if type(expression) is int:
        return min(abs(expression), 50) + (0.5 if expression < 0 else 0)
    if isinstance(expression, str):
        return 1
    if isinstance(expression, list) and expression[0] == "float":
        text: str = expression[1]
        if text in _FLOATS:
            return _FLOATS.index(text)
        value = float(text)
        is_small = math.isfinite(value) and value == round(value) and abs(value) <= 10
        return abs(value) + 4.5 if is_small else 20 + len(text)
    return 0


def _repaired(body: Body) -> Body | None:
    """The body without the statements that read names which nothing gives; None where that is no cure."""
    while body:
        problem = check({"form": FORM, "body": body})
        if problem is None:
            return body
        if not problem.at or "nothing before gives it" not in problem.what:
            return None
        body = [s for index, s in enumerate(body) if index != problem.at[0]]
    return None


def drop_chunks(body: Body) -> Iterator[Body]:
    """Runs of top-level statements, long ones first and from the end, with what depends on them."""
    size = len(body)
    while size:
        for start in range(len(body) - size, -1, -max(1, size // 2)):
            rest = body[:start] + body[start + size :]
            if repaired := _repaired(rest):
                yield repaired
        size //= 2


def drop_inner(body: Body) -> Iterator[Body]:
    """Statements inside blocks, functions and classes; ``pass`` where a body would be empty."""
    for place in reversed(list(statement_places(body))):
        if len(place) == 1:
            continue
        siblings = get(body, place[:-1])
        needs_one = len(siblings) == 1 and place[-2] == "body"
        if needs_one and siblings[0]["do"] == "pass":
            continue
        yield splice(body, place, [{"do": "pass"}] if needs_one else [])


def unwrap(body: Body) -> Iterator[Body]:
    """A block's statements in the place of the block."""
    for place in statement_places(body):
        statement = get(body, place)
        if statement["do"] in ("with", "repeat", "if"):
            yield splice(body, place, statement["body"])
        if statement.get("orelse"):
            yield splice(body, place, statement["orelse"])
            yield put(body, (*place, "orelse"), [])


def shrink_repeats(body: Body) -> Iterator[Body]:
    """Fewer repeats: one, two, half, one less."""
    for place in statement_places(body):
        times = get(body, place).get("times", 0)
        for fewer in sorted({1, 2, times // 2, times - 1}):
            if 0 < fewer < times:
                yield put(body, (*place, "times"), fewer)


def _without(items: list[Any]) -> Iterator[list[Any]]:
    """The items with one half gone, then with one gone, from the end."""
    if len(items) > 3:
        half = len(items) // 2
        yield items[:half]
        yield items[half:]
    for index in reversed(range(len(items))):
        yield items[:index] + items[index + 1 :]


def drop_parts(body: Body) -> Iterator[Body]:
    """Keyword arguments, entries of lists, arguments, contexts, decorators, targets."""
    for place in statement_places(body):
        statement = get(body, place)
        for key in ("items", "targets", "names"):
            if len(statement.get(key, ())) > 1:
                for fewer in _without(statement[key]):
                    yield put(body, (*place, key), fewer)
        for fewer in _without(statement.get("decorators", [])):
            rest = {key: value for key, value in statement.items() if key != "decorators"}
            yield put(body, place, {**rest, "decorators": fewer} if fewer else rest)
    for place in expression_places(body):
        expression = get(body, place)
        tag = expression[0] if isinstance(expression, list) else None
        if tag in ("call", "method", "apply"):
            kwargs = expression[-1]
            for key in sorted(kwargs):
                less = {other: value for other, value in kwargs.items() if other != key}
                yield put(body, place, [*expression[:-1], less])
            for fewer in _without(expression[-2]):
                yield put(body, place, [*expression[:-2], fewer, kwargs])
        elif tag in ("list", "tuple", "dict"):
            for fewer in _without(expression[1]):
                # An empty list makes a tensor of no elements: small, and not what a person would write.
                if fewer or tag != "list":
                    yield put(body, place, [tag, fewer])


def use_operand(body: Body) -> Iterator[Body]:
    """One of its operands in the place of an expression."""
    for place in expression_places(body):
        expression = get(body, place)
        for operand in operand_places(expression):
            inner = get(expression, operand)
            if isinstance(inner, list) and inner[0] in ("slice", "ellipsis", "star"):
                inner = inner[1] if inner[0] == "star" else None
            if inner is not None:
                yield put(body, place, inner)


def inline(body: Body) -> Iterator[Body]:
    """What a name was given, in the place of the name: all of its uses for another name, else its one use."""
    for index in reversed(range(len(body))):
        statement = body[index]
        if statement["do"] != "assign" or [target[0] for target in statement["targets"]] != ["name"]:
            continue
        name, value = statement["targets"][0], statement["value"]
        rest = body[:index] + body[index + 1 :]
        uses = [place for place in expression_places(rest) if get(rest, place) == name]
        if len(uses) == 1 or (uses and isinstance(value, list) and value[0] == "name"):
            for use in uses:
                rest = put(rest, use, value)
            yield rest


def _is_literal_list(expression: Expression) -> bool:
    return isinstance(expression, list) and expression[0] == "list" and len(expression[1]) > 0


def _size_places(body: Body) -> list[Place]:
    """The integers that are sizes of what a creation makes."""
    found: list[Place] = []
    for place in expression_places(body):
        expression = get(body, place)
        if not (isinstance(expression, list) and expression[0] in ("call", "method")):
            continue
        rows = (FUNCTIONS if expression[0] == "call" else METHODS).get(expression[len(expression) - 3], ())
        if not any(row.sizes or "shape" in row.groups for row in rows):
            continue
        for operand in operand_places(expression):
            inner = get(expression, operand)
            if type(inner) is int:
                found.append((*place, *operand))
            elif isinstance(inner, list) and inner[0] in ("list", "tuple"):
                found += [
                    (*place, *operand, 1, index) for index, size in enumerate(inner[1]) if type(size) is int
                ]
    return found


def shrink_sizes(body: Body) -> Iterator[Body]:
    """One extent everywhere: lists of that length become shorter, and sizes that name it follow."""
    lists = [place for place in expression_places(body) if _is_literal_list(get(body, place))]
    sizes = _size_places(body)
    extents = {len(get(body, place)[1]) for place in lists} | {get(body, place) for place in sizes}
    for extent in sorted((extent for extent in extents if extent > 1), reverse=True):
        for smaller in sorted({1, 2, extent - 1} - {extent}):
            candidate: Body = body
            for place in sizes:
                if get(body, place) == extent:
                    candidate = put(candidate, place, smaller)
            # Inner lists first: an outer list that is cut afterwards takes its cut entries along.
            for place in sorted(lists, key=len, reverse=True):
                if len(get(body, place)[1]) == extent and place not in sizes:
                    candidate = put(candidate, place, ["list", get(candidate, place)[1][:smaller]])
            yield candidate


def numbers(body: Body) -> Iterator[Body]:
    """Plainer numbers: 1.0, 2.0, 0.0, whole ones; small integers. All of a list at once, then one by one."""
    places = list(expression_places(body))
    for place in places:
        expression = get(body, place)
        if _is_literal_list(expression) and all(_plainer(item) for item in expression[1]):
            yield put(body, place, ["list", [_plainer(item)[0] for item in expression[1]]])
    for place in places:
        for plain in _plainer(get(body, place)):
            yield put(body, place, plain)


def _plainer(expression: Expression) -> list[Expression]:
    """Numbers in the place of a number, the plainest first."""
    candidates: list[Expression] = []
    if type(expression) is int:
        candidates = [value for value in (0, 1, 2, expression // 2) if _oddness(value) < _oddness(expression)]
    elif isinstance(expression, list) and expression[0] == "float":
        texts = list(_FLOATS)
        if math.isfinite(float(expression[1])) and abs(float(expression[1])) < 1e15:
            texts.append(repr(float(round(float(expression[1])))))
        candidates = [["float", text] for text in texts]
        candidates = [value for value in candidates if _oddness(value) < _oddness(expression)]
    return candidates
