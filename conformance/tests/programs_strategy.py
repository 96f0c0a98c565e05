"""Arbitrary valid programs, for tests of the form itself: everything that the form can say, sense or not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from conformance.operations import ATTRIBUTES, CONSTANTS, CONTEXTS, DTYPES, EXCEPTIONS, FUNCTIONS, METHODS
from conformance.programs import Program
from conformance.programs.validate_expressions import BINARY, COMPARE, UNARY

NAMES = ("x", "y", "_z", "hook", "F")
_PREAMBLE: tuple[dict[str, Any], ...] = tuple(
    {"do": "assign", "targets": [["name", name]], "value": index} for index, name in enumerate(NAMES)
)
_plain_functions = sorted(
    name
    for name, rows in FUNCTIONS.items()
    if not any(row.sizes for row in rows) and name not in ("float", "complex")
)
_plain_methods = sorted(name for name, rows in METHODS.items() if not any(row.sizes for row in rows))

names = st.sampled_from(NAMES)
floats = st.floats(allow_nan=True, allow_infinity=True, width=64).map(lambda value: ["float", repr(value)])
texts = st.text(max_size=8)
numbers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3))
leaves = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    texts,
    floats,
    st.tuples(floats, floats).map(lambda pair: ["complex", pair[0][1], pair[1][1]]),
    names.map(lambda name: ["name", name]),
    st.sampled_from(DTYPES).map(lambda name: ["dtype", name]),
    st.sampled_from(("main", "other", "host", "meta")).map(lambda name: ["device", name]),
    st.sampled_from(CONSTANTS).map(lambda name: ["const", name]),
    st.binary(max_size=2).map(lambda data: ["bits", "f32", data.hex() * 4]),
)


def _kwargs(allowed: list[str], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(allowed), inner, max_size=2) if allowed else st.just({})


def _calls(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    arguments = st.lists(st.one_of(inner, inner.map(lambda e: ["star", e])), max_size=3)

    def function(name: str) -> st.SearchStrategy[Any]:
        words = [word for row in FUNCTIONS[name] for word in row.kwargs]
        return st.builds(lambda args, kwargs: ["call", name, args, kwargs], arguments, _kwargs(words, inner))

    def method(name: str) -> st.SearchStrategy[Any]:
        words = [word for row in METHODS[name] for word in row.kwargs]
        return st.builds(
            lambda value, args, kwargs: ["method", _value(value), name, args, kwargs],
            inner,
            arguments,
            _kwargs(words, inner),
        )

    callee = st.one_of(names.map(lambda name: ["name", name]), inner.map(lambda e: ["item", e, 0]))
    return st.one_of(
        st.sampled_from(_plain_functions).flatmap(function),
        st.sampled_from(_plain_methods).flatmap(method),
        st.builds(
            lambda f, args, kwargs: ["apply", f, args, kwargs], callee, arguments, _kwargs(["k"], inner)
        ),
    )


def _compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    items = st.lists(st.one_of(inner, inner.map(lambda e: ["star", e])), max_size=3)
    optional = st.one_of(st.none(), inner)
    part = st.one_of(
        inner,
        st.builds(lambda *parts: ["slice", *parts], optional, optional, optional),
        st.just(["ellipsis"]),
    )
    index = st.one_of(part.map(_index), st.lists(part, max_size=3).map(lambda parts: ["tuple", parts]))
    return st.one_of(
        items.map(lambda parts: ["list", parts]),
        items.map(lambda parts: ["tuple", parts]),
        st.lists(st.tuples(inner, inner).map(list), max_size=2).map(lambda pairs: ["dict", pairs]),
        st.builds(lambda e, name: ["attr", _value(e), name], inner, st.sampled_from(ATTRIBUTES)),
        st.builds(lambda e, at: ["item", e, at], inner, index),
        st.builds(lambda op, a, b: ["compare", op, a, b], st.sampled_from(COMPARE), inner, inner),
        st.builds(_binary, st.sampled_from(BINARY), inner, inner),
        st.builds(_unary, st.sampled_from(UNARY), inner),
        st.builds(lambda rest, e: ["lambda", ["x", "*_z"] if rest else ["y"], e], st.booleans(), inner),
        _calls(inner),
    )


def _value(expression: Any) -> Any:
    """Constants of the table have no attributes: torch.float32.data would read as a longer name."""
    is_constant = isinstance(expression, list) and expression[0] in ("const", "dtype")
    return ["name", "x"] if is_constant else expression


def _index(expression: Any) -> Any:
    """A starred tuple is no index."""
    is_tuple = isinstance(expression, list) and expression[0] == "tuple"
    starred = is_tuple and any(isinstance(part, list) and part[0] == "star" for part in expression[1])
    return ["name", "x"] if starred else expression


def _unary(operator: str, value: Any) -> Any:
    """A sign is folded into a literal: the form has no other way to say it."""
    if operator == "-" and type(value) is int and value > 0:
        return -value
    if operator == "-" and isinstance(value, list) and value[0] == "float" and value[1][0] not in "-ni":
        return ["float", "-" + value[1]]
    return ["unary", operator, value]


def _binary(operator: str, left: Any, right: Any) -> Any:
    """Powers and repeats of literals are bounded, so they get a name instead."""
    if operator in ("**", "*") and not (isinstance(left, list) and left[0] in ("name", "attr", "item")):
        return ["binary", operator, ["name", "x"], ["name", "y"]]
    return ["binary", operator, left, right]


expressions = st.recursive(leaves, _compound, max_leaves=6)
places = st.one_of(
    names.map(lambda name: ["name", name]),
    st.builds(lambda e, name: ["attr", _value(e), name], expressions, st.sampled_from(ATTRIBUTES)),
    st.builds(lambda e, at: ["item", e, _index(at)], expressions, expressions),
)
targets = st.one_of(places, st.lists(places, min_size=1, max_size=3).map(lambda parts: ["tuple", parts]))
_contexts = sorted(name for name in CONTEXTS if "." in name)


def _context(name: str) -> st.SearchStrategy[Any]:
    words = [word for row in FUNCTIONS[name] for word in row.kwargs]
    return st.builds(
        lambda args, kwargs: ["call", name, args, kwargs],
        st.lists(expressions, max_size=1),
        _kwargs(words, expressions),
    )


_items = st.one_of(
    st.lists(
        st.tuples(st.sampled_from(_contexts).flatmap(_context), st.one_of(st.none(), names)).map(list),
        min_size=1,
        max_size=2,
    ),
    st.just([[["call", "warnings_once", [], {}], None]]),
)
simple = st.one_of(
    st.builds(
        lambda goals, value: {"do": "assign", "targets": goals, "value": value},
        st.lists(targets, min_size=1, max_size=2),
        expressions,
    ),
    st.builds(
        lambda op, target, value: {"do": "augment", "op": op, "target": target, "value": value},
        st.sampled_from(BINARY),
        places,
        expressions,
    ),
    expressions.map(lambda value: {"do": "expr", "value": value}),
    expressions.map(lambda value: {"do": "print", "value": value}),
    st.lists(places, min_size=1, max_size=2).map(lambda goals: {"do": "delete", "targets": goals}),
    st.builds(
        lambda name, text: {"do": "raise", "type": name, "text": text}, st.sampled_from(EXCEPTIONS), texts
    ),
    st.just({"do": "pass"}),
)


def _blocks(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    body = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.builds(lambda items, block: {"do": "with", "items": items, "body": block}, _items, body),
        st.builds(
            lambda times, var, block: {"do": "repeat", "times": times, "var": var, "body": block},
            st.integers(0, 9),
            st.one_of(st.none(), names),
            body,
        ),
        st.builds(
            lambda test, block, orelse: {"do": "if", "test": test, "body": block, "orelse": orelse},
            expressions,
            body,
            st.one_of(st.just([]), body),
        ),
    )


def _define(body: list[Any], value: Any, rest: bool, decorators: list[str]) -> dict[str, Any]:
    block = [{"do": "global", "names": ["hook"]}, *body, {"do": "return", "value": value}]
    params = ["ctx", "*y"] if rest else ["ctx"]
    statement: dict[str, Any] = {"do": "define", "name": "F", "params": params, "body": block}
    return {**statement, "decorators": decorators} if decorators else statement


_inner = st.recursive(simple, _blocks, max_leaves=4)
_bodies = st.lists(_inner, min_size=1, max_size=3)
defines = st.builds(_define, _bodies, expressions, st.booleans(), st.sampled_from([[], ["torch.no_grad()"]]))
classes = st.builds(
    lambda forward, backward: {
        "do": "class",
        "name": "F",
        "methods": [{**forward, "name": "forward"}, {**backward, "name": "backward"}],
    },
    st.builds(_define, _bodies, expressions, st.booleans(), st.just(["staticmethod"])),
    st.builds(_define, _bodies, expressions, st.booleans(), st.just(["staticmethod", "once_differentiable"])),
)
threads = st.builds(
    lambda call, body: {"do": "with", "items": [[["call", *call, {}], None]], "body": body},
    st.sampled_from([("thread", ["a"]), ("threads", [2])]),
    _bodies,
)
lines = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12)


def _program(body: list[Any], title: str, clauses: list[str], note: list[str]) -> Program:
    return Program(body=(*_PREAMBLE, *body), title=title, clauses=tuple(clauses), note="\n".join(note))


programs = st.builds(
    _program,
    st.lists(st.one_of(_inner, defines, classes, threads), max_size=4),
    st.one_of(st.just(""), lines),
    st.lists(st.sampled_from(["ACC-01", "SUBGRAD-113"]), max_size=2),
    st.lists(lines, max_size=2),
)
