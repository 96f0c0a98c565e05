"""From torch source to a program. The text is parsed with `ast` and never executed.

Only syntax is decided here; names, scopes and limits are checked by `validate`, so that JSON gets the same
checks as source.
"""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from typing import Any, NoReturn

from conformance.programs import limits
from conformance.programs.model import Program, ProgramError, Statement
from conformance.programs.names import Problem
from conformance.programs.parse_expressions import ExpressionParser, Refused
from conformance.programs.tree import Path
from conformance.programs.validate import check

_AUGMENT = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}

_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Import: ("import", "torch, copy and gc are there already: leave the line out"),
    ast.ImportFrom: ("import", "torch, copy and gc are there already: leave the line out"),
    ast.While: ("while", "repeats are bounded: write for _ in range(3):"),
    ast.Try: ("try", "a statement that raises is an outcome, and the next one runs: write it bare"),
    ast.Assert: ("assert", "programs carry no expected values: write the bare expression"),
    ast.AsyncFunctionDef: ("async def", "write def"),
    ast.AsyncFor: ("async for", "write for _ in range(3):"),
    ast.AsyncWith: ("async with", "write with"),
    ast.Nonlocal: ("nonlocal", "use a global name: global h"),
    ast.AnnAssign: ("an annotation", "leave it out"),
    ast.Break: ("break", "the number of repeats is fixed"),
    ast.Continue: ("continue", "use if and else"),
}

_HEADERS = ("title", "clauses", "note")


def parse(source: str, *, name: str = "<program>") -> Program:
    """The program of a source text.

    Raises ProgramError, with the line, for everything outside the form.
    """
    if len(source) > limits.SOURCE:
        raise ProgramError(name, f"{len(source)} characters of source; the limit is {limits.SOURCE}")
    tree = _tree(source, name)
    labels, comments = _labels(source, tree, name)
    parser = _StatementParser()
    try:
        body = [parser.statement(node, (index,)) for index, node in enumerate(tree.body)]
    except Refused as refused:
        raise ProgramError(f"{name}, line {refused.line}", refused.what, refused.hint) from None
    except RecursionError:
        raise ProgramError(name, "nested too deeply", "give parts of the expression a name") from None
    data: dict[str, Any] = {"form": 1, **labels, "body": body}
    problem = check(data)
    if problem is not None:
        raise ProgramError(f"{name}, {_place(problem, parser.lines, comments)}", problem.what, problem.hint)
    return Program(
        body=tuple(body),
        title=labels.get("title", ""),
        clauses=tuple(labels.get("clauses", ())),
        note=labels.get("note", ""),
    )


def _place(problem: Problem, lines: dict[Path, int], comments: dict[str, int]) -> str:
    if problem.label in comments:
        return f"line {comments[problem.label]}"
    at = problem.at
    while at and at not in lines:
        at = at[:-1]
    return f"line {lines.get(at, 1)}"


def _tree(source: str, name: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise ProgramError(f"{name}{line}", f"not Python: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ProgramError(name, "nested too deeply", "give parts of the expression a name") from None
    except ValueError as error:
        raise ProgramError(name, f"not Python: {error}") from None


def _labels(source: str, tree: ast.Module, name: str) -> tuple[dict[str, Any], dict[str, int]]:
    """What the comments at the top say, and on which line each stands."""
    first = min((_first_line(node) for node in tree.body), default=None)
    labels: dict[str, Any] = {}
    lines: dict[str, int] = {}
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise ProgramError(name, f"not Python: {error}") from None
    for token in tokens:
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        key, colon, text = token.string[1:].strip().partition(":")
        if not colon or key not in _HEADERS or (first is not None and line >= first):
            raise ProgramError(
                f"{name}, line {line}",
                "a comment",
                "it would be lost: only # title:, # clauses: and # note: lines at the top are kept",
            )
        if key in labels and key != "note":
            raise ProgramError(f"{name}, line {line}", f"a second # {key}: line")
        lines[key] = line
        text = text.strip()
        if key == "clauses":
            labels[key] = text.split()
        else:
            labels[key] = f"{labels[key]}\n{text}" if key in labels else text
    return {key: value for key, value in labels.items() if value}, lines


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


class _StatementParser(ExpressionParser):
    """Turns statements of Python's syntax tree into JSON, and notes the line of each."""

    def __init__(self) -> None:
        self.lines: dict[Path, int] = {}

    def statement(self, node: ast.stmt, at: Path) -> Statement:
        self.lines[at] = node.lineno
        method = getattr(self, "_stmt_" + type(node).__name__, None)
        if method is None:
            what, hint = _REFUSED.get(
                type(node), (f"a {type(node).__name__.lower()} statement", "see FORM.md")
            )
            self.refuse(node, f"{what} is not part of the form", hint)
        statement: Statement = method(node, at)
        return statement

    def _block(self, nodes: list[ast.stmt], at: Path, start: int = 0) -> list[Statement]:
        return [self.statement(node, (*at, start + index)) for index, node in enumerate(nodes)]

    def _stmt_Assign(self, node: ast.Assign, at: Path) -> Statement:
        targets = [self.target(target) for target in node.targets]
        return {"do": "assign", "targets": targets, "value": self.expression(node.value)}

    def _stmt_AugAssign(self, node: ast.AugAssign, at: Path) -> Statement:
        operator = _AUGMENT.get(type(node.op))
        if operator is None:
            self.refuse(
                node, f"{type(node.op).__name__} is no operator of the form", f"allowed: {_operators()}"
            )
        value = self.expression(node.value)
        return {"do": "augment", "op": operator, "target": self.target(node.target), "value": value}

    def _stmt_Expr(self, node: ast.Expr, at: Path) -> Statement:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print":
            if len(value.args) != 1 or value.keywords or isinstance(value.args[0], ast.Starred):
                self.refuse(node, "print takes one value", "write one print for each")
            return {"do": "print", "value": self.expression(value.args[0])}
        return {"do": "expr", "value": self.expression(value)}

    def _stmt_Delete(self, node: ast.Delete, at: Path) -> Statement:
        return {"do": "delete", "targets": [self.target(target) for target in node.targets]}

    def _stmt_With(self, node: ast.With, at: Path) -> Statement:
        items: list[list[Any]] = []
        for item in node.items:
            name = item.optional_vars
            if name is not None and not isinstance(name, ast.Name):
                self.refuse(node, "as takes one name")
            items.append([self.expression(item.context_expr), None if name is None else name.id])
        return {"do": "with", "items": items, "body": self._block(node.body, at)}

    def _stmt_For(self, node: ast.For, at: Path) -> Statement:
        call = node.iter
        hint = "write for i in range(3): or for _ in range(3):"
        if node.orelse:
            self.refuse(node, "else after for is not part of the form", "write the statements after the loop")
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "a loop has one plain name", hint)
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"
        if not (is_range and isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords):
            self.refuse(node, "a loop runs over range(N)", hint)
        times = call.args[0]
        if not isinstance(times, ast.Constant) or type(times.value) is not int:
            self.refuse(node, "the number of repeats is not a plain integer", hint)
        var = None if node.target.id == "_" else node.target.id
        return {"do": "repeat", "times": times.value, "var": var, "body": self._block(node.body, at)}

    def _stmt_If(self, node: ast.If, at: Path) -> Statement:
        body = self._block(node.body, at)
        orelse = self._block(node.orelse, at, len(body))
        return {"do": "if", "test": self.expression(node.test), "body": body, "orelse": orelse}

    def _stmt_FunctionDef(self, node: ast.FunctionDef, at: Path) -> Statement:
        if node.returns is not None:
            self.refuse(node, "an annotation is not part of the form", "leave it out")
        decorators = [self.decorator(decorator) for decorator in node.decorator_list]
        statement: Statement = {"do": "define", "name": node.name, "params": self.parameters(node.args)}
        if decorators:
            statement["decorators"] = decorators
        statement["body"] = self._block(node.body, at)
        return statement

    def _stmt_ClassDef(self, node: ast.ClassDef, at: Path) -> Statement:
        bases = [ast.unparse(base) for base in node.bases]
        if bases != ["torch.autograd.Function"] or node.keywords or node.decorator_list:
            self.refuse(
                node, "a class of a program is a custom Function", "write class F(torch.autograd.Function):"
            )
        for child in node.body:
            if not isinstance(child, ast.FunctionDef):
                self.refuse(child, "a class has methods only", "keep values in global names or on ctx")
        return {"do": "class", "name": node.name, "methods": self._block(node.body, at)}

    def _stmt_Return(self, node: ast.Return, at: Path) -> Statement:
        return {"do": "return", "value": None if node.value is None else self.expression(node.value)}

    def _stmt_Raise(self, node: ast.Raise, at: Path) -> Statement:
        call = node.exc
        hint = 'write raise RuntimeError("boom")'
        if node.cause is not None:
            self.refuse(node, "raise … from is not part of the form", hint)
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.keywords):
            self.refuse(node, "raise takes an exception with a text", hint)
        texts = [
            arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        ]
        if len(call.args) != 1 or len(texts) != 1:
            self.refuse(node, "raise takes an exception with a text", hint)
        return {"do": "raise", "type": call.func.id, "text": texts[0]}

    def _stmt_Global(self, node: ast.Global, at: Path) -> Statement:
        return {"do": "global", "names": list(node.names)}

    def _stmt_Pass(self, node: ast.Pass, at: Path) -> Statement:
        return {"do": "pass"}

    def refuse(self, node: ast.AST, what: str, hint: str = "") -> NoReturn:
        raise Refused(getattr(node, "lineno", 1), what, hint)


def _operators() -> str:
    return " ".join(f"{operator}=" for operator in _AUGMENT.values())
