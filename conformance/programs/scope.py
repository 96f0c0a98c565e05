"""Names against their places: every name that is read has been given one, and blocks stand where they may."""

from __future__ import annotations

from typing import Any

from conformance.operations import CLASS_METHODS
from conformance.programs.model import Expression, Statement
from conformance.programs.names import fail
from conformance.programs.tree import Path, children, expressions, operands


def check_scopes(body: list[Statement]) -> None:
    """Raises Problem for a name that nothing binds, and for a statement in the wrong place."""
    everywhere = _module_names(body)
    _Module(everywhere).block(body, (), threads=False)


def _target_names(target: Expression) -> list[str]:
    if target[0] == "tuple":
        return [name for part in target[1] for name in _target_names(part)]
    return [target[1]] if target[0] == "name" else []


def bound_names(s: Statement) -> list[str]:
    """The names that a statement itself gives, without those of the statements inside it."""
    do = s["do"]
    if do == "assign":
        return [name for target in s["targets"] for name in _target_names(target)]
    if do == "augment":
        return _target_names(s["target"])
    if do == "with":
        return [name for _, name in s["items"] if name is not None]
    if do == "repeat":
        return [] if s["var"] is None else [s["var"]]
    return [s["name"]] if do in ("define", "class") else []


def block_names(body: list[Statement]) -> set[str]:
    """The names that a body gives in its own scope: blocks count, functions and classes do not."""
    names: set[str] = set()
    for s in body:
        names.update(bound_names(s))
        if s["do"] not in ("define", "class"):
            names |= block_names(children(s))
    return names


def global_names(body: list[Statement]) -> set[str]:
    """The names that functions declare global, however deep."""
    names: set[str] = set()
    for s in body:
        if s["do"] == "global":
            names.update(s["names"])
        names |= global_names(children(s))
    return names


def _module_names(body: list[Statement]) -> set[str]:
    return block_names(body) | global_names(body)


def _plain_reads(s: Statement) -> list[Expression]:
    """The expressions of a statement that are read: targets count only by what stands inside them."""
    if s["do"] == "assign":
        return [s["value"], *(part for target in s["targets"] for part in _inside_target(target))]
    return list(expressions(s))


def _inside_target(target: Expression) -> list[Expression]:
    if target[0] == "tuple":
        return [part for item in target[1] for part in _inside_target(item)]
    return [] if target[0] == "name" else operands(target)


def _check_reads(expression: Expression, known: set[str], deferred: set[str], at: Path) -> None:
    """``known`` holds where the expression is evaluated, ``deferred`` in the body of a lambda."""
    if not isinstance(expression, list):
        return
    if expression[0] == "name" and expression[1] not in known:
        fail(at, f"the name {expression[1]!r} is read and nothing before gives it", "assign it first")
    if expression[0] == "lambda":
        own = deferred | {param.lstrip("*") for param in expression[1]}
        _check_reads(expression[2], own, own, at)
        return
    for part in operands(expression):
        _check_reads(part, known, deferred, at)


class _Module:
    """The top level and the blocks in it, in the order of the text."""

    def __init__(self, everywhere: set[str]) -> None:
        self.everywhere = everywhere
        self.bound: set[str] = set()

    def block(self, body: list[Statement], at: Path, *, threads: bool) -> None:
        for index, s in enumerate(body):
            self.statement(s, (*at, index), threads)

    def statement(self, s: Statement, at: Path, threads: bool) -> None:
        do = s["do"]
        if do in ("return", "global"):
            fail(at, f"{do} stands outside a function")
        for expression in _plain_reads(s):
            _check_reads(expression, self.bound, self.everywhere, at)
        self.bound.update(bound_names(s))
        if do == "define":
            _no_staticmethod(s, at)
            self.bound |= global_names(s["body"])
            _function(s, at, self.everywhere)
        elif do == "class":
            self.bound |= global_names(s["methods"])
            _methods(s, at, self.everywhere)
        else:
            is_thread = do == "with" and s["items"][0][0][1] in ("thread", "threads")
            if is_thread and threads:
                fail(at, "a thread block inside a thread block", "write one after the other")
            self.block(children(s), at, threads=threads or is_thread)


def _no_staticmethod(s: Statement, at: Path) -> None:
    if "staticmethod" in s.get("decorators", ()):
        fail(at, "staticmethod stands outside a class", "leave it out")


def _methods(s: Statement, at: Path, outer: set[str]) -> None:
    seen: set[str] = set()
    for index, method in enumerate(s["methods"]):
        here = (*at, index)
        if method["name"] not in CLASS_METHODS:
            fail(
                here, f"{method['name']!r} is no method of a Function", f"allowed: {', '.join(CLASS_METHODS)}"
            )
        if method["name"] in seen:
            fail(here, f"the method {method['name']!r} stands twice")
        seen.add(method["name"])
        _function(method, here, outer)


def _function(s: Statement, at: Path, outer: set[str]) -> None:
    """A function's body: its own names, those around it, and the program's globals, which may come later."""
    declared: set[str] = set()
    leading = True
    for index, inner in enumerate(s["body"]):
        if inner["do"] == "global" and not leading:
            fail((*at, index), "global stands after other statements", "write it first in the function")
        leading = leading and inner["do"] == "global"
        declared.update(inner["names"] if inner["do"] == "global" else ())
    params = {param.lstrip("*") for param in s["params"]}
    if both := sorted(params & declared):
        fail(at, f"{both[0]!r} is a parameter and global")
    names = outer | params | block_names(s["body"])
    _function_block(s["body"], at, names, top=True)


def _function_block(body: list[Statement], at: Path, names: set[str], *, top: bool) -> None:
    for index, s in enumerate(body):
        here = (*at, index)
        do: Any = s["do"]
        if do == "class":
            fail(here, "a class inside a function", "define it at the top level")
        if do == "global" and not top:
            fail(here, "global stands inside a block", "write it first in the function")
        if do == "with" and s["items"][0][0][1] in ("thread", "threads"):
            fail(here, "a thread block inside a function", "write it at the top level")
        for expression in _plain_reads(s):
            _check_reads(expression, names, names, here)
        if do == "define":
            _no_staticmethod(s, here)
            _function(s, here, names)
        else:
            _function_block(children(s), here, names, top=False)
