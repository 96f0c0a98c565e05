"""From expressions of Python's syntax tree to the form's JSON."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from conformance.operations import CONSTANTS, DTYPES, FUNCTIONS
from conformance.programs.model import Expression

BINARY = {
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
UNARY = {ast.USub: "-", ast.Invert: "~", ast.Not: "not"}
COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is-not",
    ast.In: "in",
    ast.NotIn: "not-in",
}

_MODULES = ("torch", "copy", "gc")
_BARE_CONSTANTS = tuple(name for name in CONSTANTS if "." not in name)
_ONCE = "torch.autograd.function.once_differentiable"

_REFUSED = {
    "ListComp": ("a comprehension", "write the list out, or append in a for loop"),
    "SetComp": ("a comprehension", "write the list out, or append in a for loop"),
    "DictComp": ("a comprehension", "write the dict out"),
    "GeneratorExp": ("a generator", "write the list out"),
    "IfExp": ("a conditional expression", "write if and else"),
    "BoolOp": ("and/or", "write if, or & and | on tensors"),
    "JoinedStr": ("an f-string", "write the values as expressions of their own"),
    "NamedExpr": (":=", "write the assignment on a line of its own"),
    "Set": ("a set", "write a list"),
    "Await": ("await", "programs are not asynchronous"),
    "Yield": ("yield", "write return"),
    "YieldFrom": ("yield", "write return"),
}


class Refused(Exception):
    """Syntax outside the form, at a line."""

    def __init__(self, line: int, what: str, hint: str = "") -> None:
        super().__init__(line, what, hint)
        self.line = line
        self.what = what
        self.hint = hint


def float_text(value: float) -> str:
    """The form's text of a float: Python's shortest one."""
    return repr(float(value))


class ExpressionParser:
    """Turns expressions into JSON. Raises Refused for syntax outside the form."""

    def refuse(self, node: ast.AST, what: str, hint: str = "") -> NoReturn:
        raise Refused(getattr(node, "lineno", 1), what, hint)

    def expression(self, node: ast.expr) -> Expression:
        method = getattr(self, "_expr_" + type(node).__name__, None)
        if method is None:
            what, hint = _REFUSED.get(type(node).__name__, (f"a {type(node).__name__}", "see FORM.md"))
            self.refuse(node, f"{what} is not part of the form", hint)
        return method(node)

    def _expr_Constant(self, node: ast.Constant) -> Expression:
        value = node.value
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return ["float", float_text(value)]
        if isinstance(value, complex):
            self.refuse(node, "a j literal is not part of the form", f"write complex(0.0, {value.imag})")
        if value is Ellipsis:
            return ["ellipsis"]
        self.refuse(node, f"a {type(value).__name__} literal is not part of the form")

    def _expr_Name(self, node: ast.Name) -> Expression:
        if node.id in _BARE_CONSTANTS:
            return ["const", node.id]
        return ["name", node.id]

    def _expr_List(self, node: ast.List) -> Expression:
        return ["list", [self.expression(item) for item in node.elts]]

    def _expr_Tuple(self, node: ast.Tuple) -> Expression:
        return ["tuple", [self.expression(item) for item in node.elts]]

    def _expr_Dict(self, node: ast.Dict) -> Expression:
        pairs = []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self.refuse(node, "** is not part of the form", "write the entries out")
            pairs.append([self.expression(key), self.expression(value)])
        return ["dict", pairs]

    def _expr_Starred(self, node: ast.Starred) -> Expression:
        return ["star", self.expression(node.value)]

    def _expr_Slice(self, node: ast.Slice) -> Expression:
        parts = (node.lower, node.upper, node.step)
        return ["slice", *(None if part is None else self.expression(part) for part in parts)]

    def _expr_Subscript(self, node: ast.Subscript) -> Expression:
        return ["item", self.expression(node.value), self.expression(node.slice)]

    def _expr_BinOp(self, node: ast.BinOp) -> Expression:
        operator = BINARY.get(type(node.op))
        if operator is None:
            self.refuse(
                node,
                f"{type(node.op).__name__} is no operator of the form",
                f"allowed: {' '.join(BINARY.values())}",
            )
        return ["binary", operator, self.expression(node.left), self.expression(node.right)]

    def _expr_UnaryOp(self, node: ast.UnaryOp) -> Expression:
        operator = UNARY.get(type(node.op))
        if operator is None:
            self.refuse(node, "unary + is not part of the form", "leave it out, or write x.positive()")
        literal = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if operator == "-" and type(literal) is int and literal > 0:
            return -literal
        if operator == "-" and type(literal) is float:
            return ["float", float_text(-literal)]
        return ["unary", operator, self.expression(node.operand)]

    def _expr_Compare(self, node: ast.Compare) -> Expression:
        if len(node.ops) != 1:
            self.refuse(node, "a chain of comparisons is not part of the form", "write one comparison")
        left, right = self.expression(node.left), self.expression(node.comparators[0])
        return ["compare", COMPARE[type(node.ops[0])], left, right]

    def _expr_Lambda(self, node: ast.Lambda) -> Expression:
        return ["lambda", self.parameters(node.args), self.expression(node.body)]

    def _expr_Attribute(self, node: ast.Attribute) -> Expression:
        path = _dotted(node)
        if path is None:
            return ["attr", self.expression(node.value), node.attr]
        if path in CONSTANTS:
            return ["const", path]
        if path.startswith("torch.") and path[len("torch.") :] in DTYPES:
            return ["dtype", path[len("torch.") :]]
        if path in FUNCTIONS:
            self.refuse(node, f"{path} as a value is not part of the form", f"write lambda x: {path}(x)")
        return ["const", path]

    def _expr_Call(self, node: ast.Call) -> Expression:
        func = node.func
        if isinstance(func, ast.Name) and func.id in ("float", "complex", "bits", "print"):
            special = self._special(node, func.id)
            if special is not None:
                return special
        path = _dotted(func)
        if path == "torch.device":
            return self._device(node)
        args, kwargs = self._arguments(node)
        if path is not None:
            return ["call", path, args, kwargs]
        if isinstance(func, ast.Name):
            is_table_name = func.id in FUNCTIONS or func.id in ("thread", "threads", "warnings_once")
            return (
                ["call", func.id, args, kwargs]
                if is_table_name
                else ["apply", ["name", func.id], args, kwargs]
            )
        if isinstance(func, ast.Attribute):
            return ["method", self.expression(func.value), func.attr, args, kwargs]
        return ["apply", self.expression(func), args, kwargs]

    def _special(self, node: ast.Call, name: str) -> Expression:
        """``float("nan")``, ``complex(1.0, 2.0)``, ``bits("f32", "00")``; None for a plain call."""
        literals = [_literal(arg) for arg in node.args]
        if name == "print":
            self.refuse(node, "print is a statement of its own", "write log(x) inside an expression")
        if name == "float" and len(literals) == 1 and isinstance(literals[0], str) and not node.keywords:
            try:
                return ["float", float_text(float(literals[0]))]
            except ValueError:
                self.refuse(node, "not a float's text", 'write 2.0, float("nan") or float("inf")')
        if name == "complex":
            numbers = [value for value in literals if type(value) in (int, float)]
            if len(numbers) != 2 or len(literals) != 2 or node.keywords:
                self.refuse(node, "complex takes two numbers", "write complex(1.0, -2.0)")
            try:
                return ["complex", *(float_text(float(value)) for value in numbers)]
            except OverflowError:
                self.refuse(node, "a number too large for a float")
        if name == "bits":
            if len(literals) != 2 or not all(isinstance(value, str) for value in literals) or node.keywords:
                self.refuse(node, "bits takes two texts", 'write bits("f32", "0000803f")')
            return ["bits", *literals]
        return None

    def _device(self, node: ast.Call) -> Expression:
        literals = [_literal(arg) for arg in node.args]
        if len(literals) != 1 or not isinstance(literals[0], str) or node.keywords:
            self.refuse(node, "torch.device takes one name", 'write torch.device("main")')
        return ["device", literals[0]]

    def _arguments(self, node: ast.Call) -> tuple[list[Expression], dict[str, Any]]:
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse(node, "** is not part of the form", "write the arguments out")
            kwargs[keyword.arg] = self.expression(keyword.value)
        return [self.expression(arg) for arg in node.args], kwargs

    def target(self, node: ast.expr) -> Expression:
        if isinstance(node, ast.Name):
            return ["name", node.id]
        if isinstance(node, ast.Attribute | ast.Subscript):
            return self.expression(node)
        if isinstance(node, ast.Tuple):
            return ["tuple", [self.target(item) for item in node.elts]]
        hint = (
            "write a, b = …"
            if isinstance(node, ast.List)
            else "a target is a name, x.grad, x[0] or a tuple of these"
        )
        self.refuse(node, f"a {type(node).__name__.lower()} as a target is not part of the form", hint)

    def parameters(self, node: ast.arguments) -> list[str]:
        unusual: list[ast.expr | ast.arg] = [*node.defaults, *node.kwonlyargs, *node.posonlyargs]
        if unusual or node.kwarg:
            line = min(part.lineno for part in [*unusual, *([node.kwarg] if node.kwarg else [])])
            raise Refused(line, "parameters are plain names, and a last *rest", "write def f(a, b, *rest):")
        named: list[ast.arg] = [*node.args, *([node.vararg] if node.vararg else [])]
        for arg in named:
            if arg.annotation is not None:
                self.refuse(arg, "an annotation is not part of the form", "leave it out")
        return [arg.arg for arg in node.args] + ([f"*{node.vararg.arg}"] if node.vararg else [])

    def decorator(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        return "once_differentiable" if text == _ONCE else text


def _literal(node: ast.expr) -> Any:
    """A literal's value, its sign folded; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _literal(node.operand)
        return -value if type(value) in (int, float) else None
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float":
        text = node.args[0].value if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) else None
        if isinstance(text, str) and text.lstrip("-") in ("nan", "inf"):
            return float(text)
    return None


def _dotted(node: ast.expr) -> str | None:
    """``torch.nn.functional.relu`` for such a chain of names below one of the modules; None otherwise."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in _MODULES or not names:
        return None
    return ".".join([node.id, *reversed(names)])
