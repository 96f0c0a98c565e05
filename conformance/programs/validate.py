"""Is this JSON a program? Structure, closed names, scopes and limits, one clear error.

`program.schema.json` says the structure for readers and other languages; a test keeps both together. Nothing
here recurses deeper than the limits allow, so hostile input ends in a ProgramError too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from conformance.operations import DECORATORS, EXCEPTIONS
from conformance.programs import limits
from conformance.programs.model import FORM, ProgramError, canonical
from conformance.programs.names import Problem, close, fail, identifier, parameters
from conformance.programs.scope import check_scopes
from conformance.programs.source import Printer
from conformance.programs.tree import Path
from conformance.programs.validate_expressions import BINARY, check_expression, check_target

_CLAUSE = re.compile(r"[A-Z][A-Z0-9]*-[0-9]{2,}")
_KEYS = {
    "assign": ("targets", "value"),
    "augment": ("op", "target", "value"),
    "expr": ("value",),
    "print": ("value",),
    "delete": ("targets",),
    "with": ("items", "body"),
    "repeat": ("times", "var", "body"),
    "if": ("test", "body", "orelse"),
    "define": ("name", "params", "body"),
    "class": ("name", "methods"),
    "return": ("value",),
    "raise": ("type", "text"),
    "global": ("names",),
    "pass": (),
}
# Source longer than this cannot come from fewer JSON nodes, so that printing to measure is rare.
_MEASURE_FROM = 1_000


def validate(program_json: Mapping[str, Any]) -> None:
    """Checks a program's JSON.

    Raises ProgramError for the first fault, in the order: labels, structure and names, scopes, size.
    """
    problem = check(program_json)
    if problem is not None:
        raise ProgramError(_place(problem), problem.what, problem.hint)


def _place(problem: Problem) -> str:
    if problem.at:
        return "statement " + ".".join(str(index) for index in problem.at)
    return problem.label or "program"


def check(program_json: Any) -> Problem | None:
    """The first fault of a program's JSON, or None."""
    try:
        nodes = _measure(program_json)
        _labels(program_json)
        checker = _Checker()
        checker.block(program_json["body"], (), empty=True)
        check_scopes(program_json["body"])
        if nodes > _MEASURE_FROM:
            _source_length(program_json["body"])
    except Problem as problem:
        return problem
    return None


def _measure(data: Any) -> int:
    """Counts JSON nodes without recursion. Raises Problem for what is no JSON or too large."""
    stack: list[tuple[Any, int]] = [(data, 0)]
    nodes = 0
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > limits.JSON_DEPTH:
            raise Problem((), "nested too deeply", "give parts of the expression a name")
        if nodes > limits.JSON_NODES:
            raise Problem((), "more JSON than any program within the limits")
        if isinstance(value, dict):
            for key, part in value.items():
                if not isinstance(key, str):
                    raise Problem((), f"a key that is no text: {_show(key)}")
                stack.append((part, depth + 1))
        elif isinstance(value, list):
            stack.extend((part, depth + 1) for part in value)
        elif isinstance(value, float):
            raise Problem((), f"a bare float {value!r}", f'write ["float", "{value!r}"]')
        elif not (value is None or isinstance(value, bool | int | str)):
            raise Problem((), f"a {type(value).__name__} is not JSON")
    return nodes


def _labels(data: Any) -> None:
    if not isinstance(data, dict):
        raise Problem((), "a program is a JSON object", '{"form": 1, "body": […]}')
    unknown = sorted(set(data) - {"form", "title", "clauses", "note", "body"})
    if unknown:
        raise Problem((), f"unknown key {_show(unknown[0])}", "allowed: form, title, clauses, note, body")
    if type(data.get("form")) is not int or data["form"] != FORM:
        raise Problem(
            (), f"form {_show(data.get('form'))} is not understood", f"this suite reads form {FORM}"
        )
    if not isinstance(data.get("body"), list):
        raise Problem((), "body is not a list of statements")
    for key in ("title", "note"):
        text = data.get(key, "")
        lines = text.split("\n") if isinstance(text, str) and key == "note" else [text]
        for line in lines:
            _label_line(key, line, required=len(lines) > 1)
    clauses = data.get("clauses", [])
    if not isinstance(clauses, list):
        raise Problem((), "clauses is not a list", label="clauses")
    for clause in clauses:
        if not isinstance(clause, str) or not _CLAUSE.fullmatch(clause):
            raise Problem((), f"{_show(clause)} is no clause id", "such as ACC-01", label="clauses")


def _label_line(key: str, line: Any, *, required: bool) -> None:
    if not isinstance(line, str):
        raise Problem((), f"{key} is not a text", label=key)
    if len(line) > limits.TEXT:
        raise Problem((), f"{key} has {len(line)} characters; the limit is {limits.TEXT}", label=key)
    if line != line.strip() or not line.isprintable() or (required and not line):
        raise Problem(
            (), f"{key} must be printable, without space at its ends and without empty lines", label=key
        )


def _source_length(body: list[dict[str, Any]]) -> None:
    printer = Printer()
    length = 0
    for index, statement in enumerate(body):
        length += sum(len(line) + 1 for line in printer.statement(statement))
        if length > limits.SOURCE:
            raise Problem((index,), f"more than {limits.SOURCE} characters of source")


def _show(value: Any) -> str:
    """A foreign value in an error: never long."""
    text = (
        repr(value)
        if isinstance(value, str)
        else canonical(value)
        if _is_json(value)
        else type(value).__name__
    )
    return text if len(text) <= 60 else text[:57] + "..."


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, bool | int)


class _Checker:
    """Checks statements; keeps what is counted over the whole program."""

    def __init__(self) -> None:
        self.count = 0

    def block(
        self,
        body: Any,
        at: Path,
        *,
        empty: bool = False,
        start: int = 0,
        repeats: int = 1,
        kind: str = "body",
    ) -> None:
        if not isinstance(body, list):
            fail(at, f"{kind} is not a list of statements")
        if not body and not empty:
            fail(at, "an empty block", "write pass")
        for index, statement in enumerate(body):
            self.statement(statement, (*at, start + index), repeats)

    def statement(self, s: Any, at: Path, repeats: int) -> None:
        self.count += 1
        if self.count > limits.STATEMENTS:
            fail(at, f"more than {limits.STATEMENTS} statements")
        if len(at) > limits.NESTING:
            fail(at, f"more than {limits.NESTING} levels of blocks")
        if not isinstance(s, dict) or not isinstance(s.get("do"), str) or s["do"] not in _KEYS:
            fail(at, "not a statement", f"do is one of: {' '.join(_KEYS)}")
        wanted = {"do", *_KEYS[s["do"]]}
        missing, unknown = sorted(wanted - set(s)), sorted(set(s) - wanted)
        if s["do"] == "define" and "decorators" in unknown:
            unknown.remove("decorators")
        if missing or unknown:
            what = f"no key {missing[0]!r}" if missing else f"the unknown key {_show(unknown[0])}"
            fail(at, f"{s['do']} has {what}", f"keys: {', '.join(sorted(wanted))}")
        getattr(self, "_do_" + s["do"])(s, at, repeats)

    def _targets(self, targets: Any, at: Path, *, allow_tuple: bool) -> None:
        if not isinstance(targets, list) or not targets:
            fail(at, "targets is an empty list or none")
        for target in targets:
            check_target(target, at, allow_tuple=allow_tuple)

    def _do_assign(self, s: Any, at: Path, repeats: int) -> None:
        self._targets(s["targets"], at, allow_tuple=True)
        check_expression(s["value"], at)

    def _do_augment(self, s: Any, at: Path, repeats: int) -> None:
        if s["op"] not in BINARY:
            fail(at, f"{_show(s['op'])} is no operator", f"allowed: {' '.join(BINARY)}")
        check_target(s["target"], at, allow_tuple=False)
        check_expression(s["value"], at)

    def _do_expr(self, s: Any, at: Path, repeats: int) -> None:
        check_expression(s["value"], at)

    _do_print = _do_return = _do_expr

    def _do_delete(self, s: Any, at: Path, repeats: int) -> None:
        self._targets(s["targets"], at, allow_tuple=False)

    def _do_with(self, s: Any, at: Path, repeats: int) -> None:
        items = s["items"]
        if not isinstance(items, list) or not items:
            fail(at, "with needs a context")
        for item in items:
            if not isinstance(item, list) or len(item) != 2:
                fail(at, "an item of with is [expression, name or null]")
            check_expression(item[0], at, context=True)
            name = item[0][1]
            if name in ("thread", "threads") and (len(items) > 1 or item[1] is not None):
                fail(at, f"{name} stands alone in its with", "nest the blocks")
            if item[1] is not None:
                identifier(item[1], at)
        self.block(s["body"], at, repeats=repeats)

    def _do_repeat(self, s: Any, at: Path, repeats: int) -> None:
        times = s["times"]
        if type(times) is not int or times < 0:
            fail(at, f"times is {_show(times)}", "a number of repeats: 0, 1, 2, …")
        # max(1, …): a loop that runs no time does not make room for a larger one inside it.
        product = repeats * max(1, times)
        if product > limits.REPEATS:
            fail(
                at,
                f"{product} repeats; the limit is {limits.REPEATS}"
                if product < 10**30
                else "too many repeats",
            )
        if s["var"] is not None:
            identifier(s["var"], at)
            if s["var"] == "_":
                fail(at, "the loop variable _ is written as null")
        self.block(s["body"], at, repeats=product)

    def _do_if(self, s: Any, at: Path, repeats: int) -> None:
        check_expression(s["test"], at)
        self.block(s["body"], at, repeats=repeats)
        self.block(s["orelse"], at, empty=True, start=len(s["body"]), repeats=repeats, kind="orelse")

    def _do_define(self, s: Any, at: Path, repeats: int) -> None:
        identifier(s["name"], at)
        parameters(s["params"], at)
        if "decorators" in s:
            decorators = s["decorators"]
            if not isinstance(decorators, list) or not decorators:
                fail(at, "decorators is an empty list or none", "leave the key out")
            for decorator in decorators:
                if not isinstance(decorator, str) or decorator not in DECORATORS:
                    fail(
                        at,
                        f"{_show(decorator)} is no decorator of the form",
                        f"allowed: {', '.join(DECORATORS)}",
                    )
        # A body runs once for each call, so its loops start a product of their own.
        self.block(s["body"], at)

    def _do_class(self, s: Any, at: Path, repeats: int) -> None:
        identifier(s["name"], at)
        methods = s["methods"]
        self.block(methods, at, kind="methods")
        for index, method in enumerate(methods):
            if method["do"] != "define":
                fail((*at, index), "a class has methods only")

    def _do_raise(self, s: Any, at: Path, repeats: int) -> None:
        if not isinstance(s["type"], str) or s["type"] not in EXCEPTIONS:
            fail(at, f"{_show(s['type'])} is no exception of the form", close(s["type"], EXCEPTIONS))
        check_expression(s["text"] if isinstance(s["text"], str) else None, at)
        if not isinstance(s["text"], str):
            fail(at, "the text of raise is not a text")

    def _do_global(self, s: Any, at: Path, repeats: int) -> None:
        if not isinstance(s["names"], list) or not s["names"]:
            fail(at, "global needs names")
        for name in s["names"]:
            identifier(name, at)

    def _do_pass(self, s: Any, at: Path, repeats: int) -> None:
        pass
