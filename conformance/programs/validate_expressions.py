"""The structure, names and sizes of expressions."""

from __future__ import annotations

import re
from typing import Any

from conformance.operations import (
    ATTRIBUTES,
    BITS,
    CLASS_METHODS,
    CONSTANTS,
    CONTEXTS,
    DEVICES,
    DTYPES,
    FUNCTIONS,
    METHODS,
)
from conformance.programs import limits
from conformance.programs.names import close, fail, identifier, parameters
from conformance.programs.sizes import check_power, check_repeated_literal, check_sizes
from conformance.programs.tree import Path

BINARY = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^")
UNARY = ("-", "~", "not")
COMPARE = ("==", "!=", "<", "<=", ">", ">=", "is", "is-not", "in", "not-in")

_LENGTHS = {
    "float": 2,
    "complex": 3,
    "name": 2,
    "list": 2,
    "tuple": 2,
    "dict": 2,
    "star": 2,
    "slice": 4,
    "ellipsis": 1,
    "dtype": 2,
    "device": 2,
    "const": 2,
    "bits": 3,
    "call": 4,
    "method": 5,
    "apply": 4,
    "attr": 3,
    "item": 3,
    "binary": 4,
    "unary": 3,
    "compare": 4,
    "lambda": 3,
}
_CALLABLE = ("name", "item", "apply", "call", "method", "lambda")
_HEX = re.compile(r"(?:[0-9a-f]{2})*")
_KWARG = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FORM_CONTEXTS = tuple(name for name in CONTEXTS if "." not in name)


def check_expression(expression: Any, at: Path, *, context: bool = False) -> None:
    """Checks an expression, or (``context``) one that stands in ``with``. Raises Problem."""
    if context and not (isinstance(expression, list) and expression[:1] == ["call"]):
        fail(at, "with takes a context of the table", "such as torch.no_grad()")
    _Checker(at).check(expression, 1, context=context)


def check_target(target: Any, at: Path, *, allow_tuple: bool, depth: int = 1) -> None:
    """Checks what is assigned to: a name, an attribute, an item, or (``allow_tuple``) a tuple of these."""
    tag = target[0] if isinstance(target, list) and target else None
    if tag == "tuple" and allow_tuple and len(target) == 2 and isinstance(target[1], list) and target[1]:
        if depth > limits.NESTING:
            fail(at, "targets nested too deeply")
        for part in target[1]:
            check_target(part, at, allow_tuple=True, depth=depth + 1)
        return
    if tag not in ("name", "attr", "item"):
        fail(
            at,
            "no target",
            "a target is a name, x.grad, x[0]" + (" or a tuple of these" if allow_tuple else ""),
        )
    if tag == "name" and len(target) == 2:
        identifier(target[1], at)
    check_expression(target, at)


class _Checker:
    """Checks one expression at one statement; ``check`` goes down, one method for each tag."""

    def __init__(self, at: Path) -> None:
        self.at = at

    def check(
        self, e: Any, depth: int, *, star: bool = False, index: bool = False, context: bool = False
    ) -> None:
        """``star``: a ``*e`` may stand here; ``index``: a slice or an ellipsis may."""
        if depth > limits.EXPRESSION_DEPTH:
            fail(
                self.at,
                f"an expression of more than {limits.EXPRESSION_DEPTH} levels",
                "give parts of it a name",
            )
        if e is None or isinstance(e, bool):
            return
        if isinstance(e, int):
            if not -limits.INTEGER <= e < limits.INTEGER:
                fail(self.at, "an integer beyond 64 bits")
            return
        if isinstance(e, str):
            if len(e) > limits.TEXT:
                fail(self.at, f"a text of {len(e)} characters; the limit is {limits.TEXT}")
            return
        tag = e[0] if isinstance(e, list) and e else None
        if not isinstance(tag, str) or tag not in _LENGTHS:
            fail(self.at, "not an expression", "a list begins with one of: " + " ".join(_LENGTHS))
        if len(e) != _LENGTHS[tag]:
            fail(self.at, f"{tag} has {len(e) - 1} parts", f"wanted: {_LENGTHS[tag] - 1}")
        if tag == "star" and not star:
            fail(self.at, "* stands outside a list, a tuple or arguments")
        if tag in ("slice", "ellipsis") and not index:
            fail(self.at, f"{tag} stands outside an index", "write x[a:b] or x[..., 0]")
        if tag == "call":
            self._call(e, depth, context)
        else:
            getattr(self, "_" + tag)(e, depth)

    def _many(self, items: Any, depth: int) -> None:
        if not isinstance(items, list):
            fail(self.at, "a list of expressions is wanted")
        if len(items) > limits.ELEMENTS:
            fail(self.at, f"a literal of {len(items)} elements; the limit is {limits.ELEMENTS}")
        for item in items:
            self.check(item, depth + 1, star=True)

    def _arguments(self, args: Any, kwargs: Any, depth: int) -> None:
        self._many(args, depth)
        if not isinstance(kwargs, dict):
            fail(self.at, "keyword arguments are not an object")
        for key in kwargs:
            if not _KWARG.fullmatch(key) or key.startswith("__") or len(key) > limits.NAME:
                fail(self.at, f"{key[: limits.NAME]!r} is no keyword")
            self.check(kwargs[key], depth + 1)

    def _known(self, kwargs: dict[str, Any], rows: Any, name: str) -> None:
        allowed = [word for row in rows for word in row.kwargs]
        for key in kwargs:
            if key not in allowed:
                fail(self.at, f"{name} has no keyword {key!r}", close(key, allowed))

    def _texts(self, *values: Any) -> None:
        if not all(isinstance(value, str) for value in values):
            fail(self.at, "a text is wanted")

    def _number(self, text: Any) -> None:
        self._texts(text)
        try:
            canonical = len(text) <= limits.NAME and repr(float(text)) == text
        except ValueError:
            canonical = False
        if not canonical:
            fail(
                self.at, f"{text[:40]!r} is not a float's shortest text", "such as 2.0, 1e-05, -0.0, nan, inf"
            )

    def _float(self, e: Any, depth: int) -> None:
        self._number(e[1])

    def _complex(self, e: Any, depth: int) -> None:
        self._number(e[1])
        self._number(e[2])

    def _name(self, e: Any, depth: int) -> None:
        self._texts(e[1])
        if e[1] in FUNCTIONS:
            fail(self.at, f"{e[1]} as a value is not part of the form", f"write lambda x: {e[1]}(x)")
        identifier(e[1], self.at)

    def _list(self, e: Any, depth: int) -> None:
        self._many(e[1], depth)

    _tuple = _list

    def _dict(self, e: Any, depth: int) -> None:
        if not isinstance(e[1], list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in e[1]):
            fail(self.at, "dict takes a list of pairs")
        for key, value in e[1]:
            self.check(key, depth + 1)
            self.check(value, depth + 1)

    def _star(self, e: Any, depth: int) -> None:
        self.check(e[1], depth + 1)

    def _slice(self, e: Any, depth: int) -> None:
        for part in e[1:]:
            self.check(part, depth + 1)

    def _ellipsis(self, e: Any, depth: int) -> None:
        pass

    def _closed(self, name: Any, allowed: Any, what: str) -> None:
        self._texts(name)
        if name not in allowed:
            fail(self.at, f"{name[: limits.NAME * 2]!r} is no {what} of the table", close(name, allowed))

    def _dtype(self, e: Any, depth: int) -> None:
        self._closed(e[1], DTYPES, "dtype")

    def _device(self, e: Any, depth: int) -> None:
        self._texts(e[1])
        if e[1] not in DEVICES:
            fail(
                self.at, f"{e[1][:40]!r} is no device", f"allowed, and bound by the run: {', '.join(DEVICES)}"
            )

    def _const(self, e: Any, depth: int) -> None:
        self._texts(e[1])
        if e[1] not in CONSTANTS:
            known = (*CONSTANTS, *(f"torch.{dtype}" for dtype in DTYPES))
            fail(self.at, f"{e[1][: limits.NAME * 2]!r} is no constant of the table", close(e[1], known))

    def _bits(self, e: Any, depth: int) -> None:
        self._texts(e[1], e[2])
        if e[1] not in BITS:
            fail(self.at, f"{e[1][:40]!r} is no element type", f"allowed: {' '.join(BITS)}")
        if not _HEX.fullmatch(e[2]) or len(e[2]) // 2 % BITS[e[1]]:
            fail(
                self.at,
                "bits takes lower-case hex digits of whole elements",
                'such as bits("f32", "0000803f")',
            )
        if len(e[2]) // 2 // BITS[e[1]] > limits.ELEMENTS:
            fail(self.at, f"more than {limits.ELEMENTS} elements")

    def _call(self, e: Any, depth: int, context: bool) -> None:
        _, name, args, kwargs = e
        self._texts(name)
        if context and name not in CONTEXTS:
            fail(self.at, f"{name[:80]} is no context of the table", close(name, CONTEXTS))
        if name in _FORM_CONTEXTS:
            if not context:
                fail(self.at, f"{name} stands outside with", f"write with {name}(…):")
            self._form_context(name, args, kwargs)
            return
        if name not in FUNCTIONS:
            fail(self.at, f"{name[:80]} is not in the table", close(name, FUNCTIONS))
        self._arguments(args, kwargs, depth)
        self._known(kwargs, FUNCTIONS[name], name)
        if name == "float" and len(args) == 1 and isinstance(args[0], str):
            fail(self.at, "float of a text", 'write ["float", "2.0"]')
        check_sizes(FUNCTIONS[name], args, kwargs, self.at)

    def _form_context(self, name: str, args: Any, kwargs: Any) -> None:
        if kwargs != {} or not isinstance(args, list):
            fail(self.at, f"{name} takes no keywords")
        if name == "warnings_once":
            if args:
                fail(self.at, "warnings_once takes no arguments")
        elif name == "thread":
            if len(args) != 1 or not isinstance(args[0], str) or not _KWARG.fullmatch(args[0]):
                fail(self.at, "thread takes one name", 'write with thread("a"):')
        elif len(args) != 1 or type(args[0]) is not int or not 1 <= args[0] <= limits.THREADS:
            fail(self.at, f"threads takes a number from 1 to {limits.THREADS}", "write with threads(2):")

    def _method(self, e: Any, depth: int) -> None:
        _, value, name, args, kwargs = e
        self._texts(name)
        if name not in METHODS and name not in CLASS_METHODS:
            fail(self.at, f"the method {name[:80]!r} is not in the table", close(name, METHODS))
        self._owner(value, name)
        self.check(value, depth + 1)
        self._arguments(args, kwargs, depth)
        self._known(kwargs, METHODS.get(name, ()), name)
        check_sizes(METHODS.get(name, ()), args, kwargs, self.at)

    def _apply(self, e: Any, depth: int) -> None:
        tag = e[1][0] if isinstance(e[1], list) and e[1] else None
        if tag not in _CALLABLE:
            fail(
                self.at,
                "what is called is no function of the program",
                "write f(x), hooks[0](x) or F.apply(x)",
            )
        self.check(e[1], depth + 1)
        self._arguments(e[2], e[3], depth)

    def _attr(self, e: Any, depth: int) -> None:
        self._texts(e[2])
        if e[2] not in ATTRIBUTES:
            hint = f"call it: x.{e[2]}()" if e[2] in METHODS else close(e[2], ATTRIBUTES)
            fail(self.at, f"the attribute {e[2][:80]!r} is not in the table", hint)
        self._owner(e[1], e[2])
        self.check(e[1], depth + 1)

    def _owner(self, value: Any, name: str) -> None:
        """A constant has no attributes and methods: torch.float32.data would read as one longer name."""
        if isinstance(value, list) and value[:1] in (["const"], ["dtype"]):
            fail(self.at, f"{name[:80]!r} of a constant", "constants have no attributes here")

    def _item(self, e: Any, depth: int) -> None:
        self.check(e[1], depth + 1)
        index = e[2]
        if isinstance(index, list) and len(index) == 2 and index[0] == "tuple" and isinstance(index[1], list):
            for part in index[1]:
                self.check(part, depth + 2, index=True)
        else:
            self.check(index, depth + 1, index=True)

    def _binary(self, e: Any, depth: int) -> None:
        if e[1] not in BINARY:
            fail(self.at, f"{e[1]!r} is no operator"[:80], f"allowed: {' '.join(BINARY)}")
        self.check(e[2], depth + 1)
        self.check(e[3], depth + 1)
        if e[1] == "**":
            check_power(e[2], e[3], self.at)
        if e[1] == "*":
            check_repeated_literal(e[2], e[3], self.at)

    def _unary(self, e: Any, depth: int) -> None:
        if e[1] not in UNARY:
            fail(self.at, f"{e[1]!r} is no operator"[:80], f"allowed: {' '.join(UNARY)}")
        self.check(e[2], depth + 1)
        value = e[2]
        positive = type(value) is int and value > 0
        if isinstance(value, list) and value[0] == "float":
            positive = value[1][0] not in "-ni"
        if e[1] == "-" and positive:
            fail(self.at, "a negative literal folds its sign", 'write -1 or ["float", "-1.0"]')

    def _compare(self, e: Any, depth: int) -> None:
        if e[1] not in COMPARE:
            fail(self.at, f"{e[1]!r} is no comparison"[:80], f"allowed: {' '.join(COMPARE)}")
        self.check(e[2], depth + 1)
        self.check(e[3], depth + 1)

    def _lambda(self, e: Any, depth: int) -> None:
        parameters(e[1], self.at)
        self.check(e[2], depth + 1)
