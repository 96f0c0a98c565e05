"""From a program to torch source that a person would type. `parse` reads it back without loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.programs.model import Expression, Program, Statement

_LAMBDA, _NOT, _COMPARE, _OR, _XOR, _AND, _SUM, _PRODUCT, _UNARY, _POWER, _NUMBER, _PRIMARY, _ATOM = range(13)

_BINARY = {
    "|": _OR,
    "^": _XOR,
    "&": _AND,
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "//": _PRODUCT,
    "%": _PRODUCT,
    "@": _PRODUCT,
    "**": _POWER,
}
_WORDS = {"is-not": "is not", "not-in": "not in"}

Devices = Callable[[str], str]
"""How a symbolic device is written."""


def quote(text: str) -> str:
    """A string literal, in double quotes where possible, printable in any file."""
    if '"' in text:
        return repr(text)
    return '"' + repr("'" + text)[2:]


def number(text: str) -> str:
    """A float literal from its text in the form."""
    return f'float("{text}")' if text.lstrip("-") in ("nan", "inf") else text


def symbolic(device: str) -> str:
    """A device as programs write it."""
    return f'torch.device("{device}")'


class Printer:
    """Prints expressions and statements; ``device`` decides how symbolic devices read."""

    def __init__(self, device: Devices = symbolic) -> None:
        self.device = device

    def expression(self, expression: Expression, level: int = _LAMBDA) -> str:
        """The source of an expression, in parentheses where it binds less tightly than ``level``."""
        text, own = self._expression(expression)
        return f"({text})" if own < level else text

    def _expression(self, expression: Expression) -> tuple[str, int]:
        if expression is None or isinstance(expression, bool):
            return repr(expression), _ATOM
        if isinstance(expression, int):
            # A number needs parentheses before a dot: (1).real.
            return repr(expression), _UNARY if expression < 0 else _NUMBER
        if isinstance(expression, str):
            return quote(expression), _ATOM
        return getattr(self, "_" + expression[0])(*expression[1:])  # type: ignore[no-any-return]

    def _float(self, text: str) -> tuple[str, int]:
        if text.lstrip("-") in ("nan", "inf"):
            return number(text), _PRIMARY
        return text, _UNARY if text.startswith("-") else _NUMBER

    def _complex(self, real: str, imag: str) -> tuple[str, int]:
        return f"complex({number(real)}, {number(imag)})", _PRIMARY

    def _name(self, name: str) -> tuple[str, int]:
        return name, _ATOM

    def _list(self, items: list[Expression]) -> tuple[str, int]:
        return f"[{', '.join(map(self.expression, items))}]", _ATOM

    def _tuple(self, items: list[Expression]) -> tuple[str, int]:
        comma = "," if len(items) == 1 else ""
        return f"({', '.join(map(self.expression, items))}{comma})", _ATOM

    def _dict(self, pairs: list[list[Expression]]) -> tuple[str, int]:
        texts = [f"{self.expression(key, _NOT)}: {self.expression(value)}" for key, value in pairs]
        return f"{{{', '.join(texts)}}}", _ATOM

    def _star(self, value: Expression) -> tuple[str, int]:
        return f"*{self.expression(value, _OR)}", _ATOM

    def _slice(self, *parts: Expression) -> tuple[str, int]:
        start, stop, step = ("" if part is None else self.expression(part, _NOT) for part in parts)
        return f"{start}:{stop}" + (f":{step}" if step else ""), _LAMBDA

    def _ellipsis(self) -> tuple[str, int]:
        return "...", _ATOM

    def _dtype(self, name: str) -> tuple[str, int]:
        return f"torch.{name}", _PRIMARY

    def _device(self, name: str) -> tuple[str, int]:
        return self.device(name), _PRIMARY

    def _const(self, name: str) -> tuple[str, int]:
        return name, _PRIMARY

    def _bits(self, kind: str, digits: str) -> tuple[str, int]:
        return f'bits("{kind}", "{digits}")', _PRIMARY

    def _call(self, name: str, args: list[Expression], kwargs: dict[str, Any]) -> tuple[str, int]:
        return f"{name}({self._arguments(args, kwargs)})", _PRIMARY

    def _method(
        self, value: Expression, name: str, args: list[Expression], kwargs: dict[str, Any]
    ) -> tuple[str, int]:
        return f"{self.expression(value, _PRIMARY)}.{name}({self._arguments(args, kwargs)})", _PRIMARY

    def _apply(self, value: Expression, args: list[Expression], kwargs: dict[str, Any]) -> tuple[str, int]:
        return f"{self.expression(value, _PRIMARY)}({self._arguments(args, kwargs)})", _PRIMARY

    def _attr(self, value: Expression, name: str) -> tuple[str, int]:
        return f"{self.expression(value, _PRIMARY)}.{name}", _PRIMARY

    def _item(self, value: Expression, index: Expression) -> tuple[str, int]:
        # A slice may stand in a bare tuple only: x[(:,)] is no Python.
        is_single = isinstance(index, list) and index[0] == "tuple" and len(index[1]) == 1
        inside = f"{self.expression(index[1][0])}," if is_single else self.bare(index)
        return f"{self.expression(value, _PRIMARY)}[{inside}]", _PRIMARY

    def _binary(self, operator: str, left: Expression, right: Expression) -> tuple[str, int]:
        level = _BINARY[operator]
        # A power binds its right side less tightly than its left: -x ** -y is -(x ** (-y)).
        first, second = (_NUMBER, _UNARY) if operator == "**" else (level, level + 1)
        return f"{self.expression(left, first)} {operator} {self.expression(right, second)}", level

    def _unary(self, operator: str, value: Expression) -> tuple[str, int]:
        if operator == "not":
            return f"not {self.expression(value, _NOT)}", _NOT
        return f"{operator}{self.expression(value, _UNARY)}", _UNARY

    def _compare(self, operator: str, left: Expression, right: Expression) -> tuple[str, int]:
        word = _WORDS.get(operator, operator)
        return f"{self.expression(left, _OR)} {word} {self.expression(right, _OR)}", _COMPARE

    def _lambda(self, params: list[str], body: Expression) -> tuple[str, int]:
        return f"lambda{' ' if params else ''}{', '.join(params)}: {self.expression(body)}", _LAMBDA

    def _arguments(self, args: list[Expression], kwargs: dict[str, Any]) -> str:
        named = [f"{key}={self.expression(kwargs[key])}" for key in sorted(kwargs)]
        return ", ".join([*map(self.expression, args), *named])

    def bare(self, expression: Expression) -> str:
        """A tuple without its parentheses, where a statement or an index allows that; else the expression."""
        if isinstance(expression, list) and expression[0] == "tuple" and len(expression[1]) > 1:
            return ", ".join(map(self.expression, expression[1]))
        return self.expression(expression)

    def statement(self, statement: Statement, indent: str = "") -> list[str]:
        """The lines of a statement."""
        lines: list[str] = getattr(self, "_do_" + statement["do"])(statement)
        return [indent + line for line in lines]

    def block(self, body: list[Statement]) -> list[str]:
        """The lines of the statements inside a block."""
        return [line for statement in body for line in self.statement(statement, "    ")]

    def _do_assign(self, s: Statement) -> list[str]:
        targets = "".join(f"{self.bare(target)} = " for target in s["targets"])
        return [targets + self.bare(s["value"])]

    def _do_augment(self, s: Statement) -> list[str]:
        return [f"{self.expression(s['target'])} {s['op']}= {self.expression(s['value'])}"]

    def _do_expr(self, s: Statement) -> list[str]:
        return [self.bare(s["value"])]

    def _do_print(self, s: Statement) -> list[str]:
        return [f"print({self.expression(s['value'])})"]

    def _do_delete(self, s: Statement) -> list[str]:
        return [f"del {', '.join(map(self.expression, s['targets']))}"]

    def _do_with(self, s: Statement) -> list[str]:
        items = [self.expression(item) + (f" as {name}" if name else "") for item, name in s["items"]]
        return [f"with {', '.join(items)}:", *self.block(s["body"])]

    def _do_repeat(self, s: Statement) -> list[str]:
        return [f"for {s['var'] or '_'} in range({s['times']}):", *self.block(s["body"])]

    def _do_if(self, s: Statement) -> list[str]:
        lines = [f"if {self.expression(s['test'])}:", *self.block(s["body"])]
        return [*lines, "else:", *self.block(s["orelse"])] if s["orelse"] else lines

    def _do_define(self, s: Statement) -> list[str]:
        decorators = [f"@{decorator}" for decorator in s.get("decorators", ())]
        return [*decorators, f"def {s['name']}({', '.join(s['params'])}):", *self.block(s["body"])]

    def _do_class(self, s: Statement) -> list[str]:
        return [f"class {s['name']}(torch.autograd.Function):", *self.block(s["methods"])]

    def _do_return(self, s: Statement) -> list[str]:
        return ["return" if s["value"] is None else f"return {self.bare(s['value'])}"]

    def _do_raise(self, s: Statement) -> list[str]:
        return [f"raise {s['type']}({quote(s['text'])})"]

    def _do_global(self, s: Statement) -> list[str]:
        return [f"global {', '.join(s['names'])}"]

    def _do_pass(self, s: Statement) -> list[str]:
        return ["pass"]


def header(program: Program) -> list[str]:
    """The comment lines that carry title, clauses and note."""
    lines = [f"# title: {program.title}"] if program.title else []
    if program.clauses:
        lines.append(f"# clauses: {' '.join(program.clauses)}")
    return lines + [f"# note: {line}" for line in program.note.split("\n") if program.note]


def to_source(program: Program) -> str:
    """The program as torch source: ``parse(to_source(program)) == program``."""
    printer = Printer()
    lines = [line for statement in program.body for line in printer.statement(statement)]
    return "\n".join([*header(program), *lines]) + "\n"
