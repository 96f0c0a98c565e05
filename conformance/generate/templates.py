"""Steps of programs as data: a piece of source with holes, what fits the holes, and what is known
afterwards.

A hole is a name in capitals. ``holes`` says in order what is bound to each, as ``X:grad Y:wide(X)
C:number``; a hole that is not listed is a new name. ``then`` says what the step leaves behind, as
``H=same(X); ran(L,K,G)``: what is known of a new tensor, or an effect on the state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from conformance.generate.arguments import ARGUMENTS
from conformance.generate.effects import EFFECTS
from conformance.generate.literals import Expr
from conformance.generate.makers import MAKERS
from conformance.generate.omit import OMIT
from conformance.generate.operands import BINDERS
from conformance.generate.ranks import RANKS
from conformance.generate.state import Known, State
from conformance.programs import parse

_HOLE = re.compile(r"^[A-Z][A-Z0-9_]*$")
_CALL = re.compile(r"^(\w+)(?:\(([^)]*)\))?$")
_SPACES = re.compile(r"\s+(?=[A-Z][A-Z0-9_]*:)")

_BINDERS: dict[str, Callable[..., tuple[Expr, Any]]] = {**BINDERS, **RANKS, **ARGUMENTS}

Fill = Callable[[list[Expr]], Any]


@dataclass(frozen=True)
class Step:
    """One row of a table of steps."""

    source: str
    holes: str = ""
    then: str = ""
    clauses: str = ""
    weight: int = 1


class Compiled:
    """A step made ready: its statements as functions of what is bound to the holes."""

    __slots__ = ("_binds", "_clauses", "_fills", "_names", "_releases", "_size", "_then", "classes", "step")

    def __init__(self, step: Step, classes: Mapping[str, str] = MappingProxyType({})) -> None:
        """Raises ProgramError when the source is not in the form, ValueError when the row names nothing
        known.
        """
        self.step = step
        self.classes = tuple(classes)
        index: dict[str, int] = {}
        self._binds: list[tuple[int, Callable[..., tuple[Expr, Any]], list[Any]]] = []
        for entry in _SPACES.split(step.holes.strip()) if step.holes else ():
            hole, _, call = entry.partition(":")
            index[hole] = len(index)
            binder, arguments = _resolved(call, _BINDERS, index, step)
            self._binds.append((index[hole], binder, arguments))
        given = [f"{hole} = 0" for hole in index] + [source.strip() for source in classes.values()]
        body = parse("\n".join([*given, step.source])).body[len(given) :]
        self._names: list[tuple[int, str]] = []
        for hole in sorted(_holes_of(list(body))):
            if hole not in index:
                index[hole] = len(index)
                self._names.append((index[hole], hole[0].lower()))
        self._fills: list[Fill] = [_filled(statement, index) for statement in body]
        self._then: list[tuple[int, Callable[..., None], list[Any]]] = []
        for entry in filter(None, (part.strip() for part in step.then.split(";"))):
            hole, equals, call = entry.rpartition("=")
            table: Mapping[str, Callable[..., Any]] = MAKERS if equals else EFFECTS
            rule, arguments = _resolved(call, table, index, step)
            self._then.append((index[hole] if equals else -1, rule, arguments))
        self._size = len(index)
        self._releases = not self._then and _releases(step.source)
        self._clauses = step.clauses.split()

    def write(self, state: State) -> None:
        """Add the statements of this step to the program, with what the current digits say in the holes."""
        exprs: list[Expr] = [None] * self._size
        facts: list[Any] = [None] * self._size
        for at, binder, arguments in self._binds:
            exprs[at], facts[at] = binder(state, *[facts[a] if type(a) is int else a for a in arguments])
        for at, prefix in self._names:
            name = state.fresh(prefix)
            exprs[at] = ["name", name]
            facts[at] = name
        body = state.body
        for fill in self._fills:
            body.append(fill(exprs))
        for at, rule, arguments in self._then:
            bound = [facts[a] if type(a) is int else a for a in arguments]
            if at < 0:
                rule(state, *bound)
            else:
                rule(state, exprs[at][1], *bound)
        if self._releases:
            for at, _, _ in self._binds:
                if type(facts[at]) is Known:
                    state.ran(facts[at])
        for clause in self._clauses:
            state.clauses[clause] = None


def _releases(source: str) -> bool:
    """Whether a pass of this source releases its graph, as far as the text tells."""
    calls = source.count("backward(") + source.count("autograd.grad(")
    return calls > source.count("retain_graph=True") + source.count("create_graph=True")


def _resolved(
    call: str, table: Mapping[str, Callable[..., Any]], index: dict[str, int], step: Step
) -> tuple[Callable[..., Any], list[Any]]:
    """A rule and its arguments: the position of a hole, or a word of the table."""
    match = _CALL.match(call)
    if match is None or match[1] not in table:
        raise ValueError(f"step {step.source!r}: {call!r} names nothing in the tables")
    words = [word.strip() for word in (match[2] or "").split(",") if word.strip()]
    for word in words:
        if _HOLE.match(word) and word not in index:
            raise ValueError(f"step {step.source!r}: hole {word} is used before it is bound")
    return table[match[1]], [index.get(word, word) for word in words]


_FIXED = {"attr": 2, "call": 1, "method": 2, "dtype": 1, "device": 1, "const": 1, "bits": 1}
"""Where a tagged expression has a word of the form's tables, which is never a hole."""


def _holes_of(node: Any) -> set[str]:
    if isinstance(node, str):
        return {node} if _HOLE.match(node) else set()
    if isinstance(node, dict):
        return {hole for value in node.values() for hole in _holes_of(value)}
    if isinstance(node, (list, tuple)):
        fixed = _FIXED.get(node[0], -1) if node and isinstance(node[0], str) else -1
        return {hole for at, part in enumerate(node) if at != fixed for hole in _holes_of(part)}
    return set()


def _filled(node: Any, index: dict[str, int]) -> Fill:
    """A function of the bound expressions that gives the node with its holes filled."""
    if not _holes_of(node):
        return lambda exprs: node
    if isinstance(node, str):
        at = index[node]
        return lambda exprs: exprs[at][1]
    if isinstance(node, dict):
        keep = dict(node)
        named = [(key, _filled(value, index)) for key, value in node.items() if _holes_of(value)]

        def fill_dict(exprs: list[Expr]) -> Any:
            filled = keep.copy()
            for key, fill in named:
                value = fill(exprs)
                if value is OMIT:
                    del filled[key]
                else:
                    filled[key] = value
            return filled

        return fill_dict
    if node[0] == "name":
        at = index[node[1]]
        return lambda exprs: exprs[at]
    parts = list(node)
    placed = [(at, _filled(part, index)) for at, part in enumerate(parts) if _holes_of(part)]

    def fill_list(exprs: list[Expr]) -> Any:
        filled = parts.copy()
        omitted = False
        for at, fill in placed:
            value = fill(exprs)
            if value is OMIT:
                omitted = True
            filled[at] = value
        return [part for part in filled if part is not OMIT] if omitted else filled

    return fill_list
