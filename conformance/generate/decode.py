"""From a list of integers to a program.

The first integer chooses the leaves, each further one a step; what is left of the first chooses the end.
Every list of integers gives a program, the empty one the shortest: a leaf and a backward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from conformance.generate import (
    steps_functions,
    steps_hooks,
    steps_operations,
    steps_passes,
    steps_subgradients,
    steps_views,
)
from conformance.generate.choices import Digits
from conformance.generate.literals import literal, number
from conformance.generate.operands import SHAPES, new_leaf
from conformance.generate.state import Known, State
from conformance.generate.templates import Compiled, Step
from conformance.programs import Program, parse

FAMILIES: tuple[tuple[int, tuple[Step, ...]], ...] = (
    (24, steps_operations.ARITHMETIC),
    (10, steps_operations.SMOOTH),
    (6, steps_operations.POINTWISE),
    (3, steps_operations.ACTIVATIONS),
    (18, steps_operations.REDUCTIONS),
    (7, steps_operations.PRODUCTS),
    (9, steps_operations.SELECTION),
    (7, steps_operations.CASTS),
    (6, steps_operations.COMPLEX_NUMBERS),
    (16, steps_subgradients.SUBGRADIENTS),
    (12, steps_views.VIEWS),
    (18, steps_views.INPLACE),
    (6, steps_views.LEAVES),
    (8, steps_views.SAVED),
    (16, steps_views.REWRITTEN),
    (4, steps_views.LAYOUTS),
    (22, steps_passes.BACKWARD),
    (13, steps_passes.ACCUMULATION),
    (12, steps_passes.RELEASE),
    (8, steps_passes.ROOTS),
    (8, steps_passes.INPUTS),
    (10, steps_passes.GRAD),
    (9, steps_passes.HIGHER),
    (16, steps_hooks.TENSOR_HOOKS),
    (6, steps_hooks.NODE_HOOKS),
    (11, steps_hooks.FLAGS),
    (7, steps_hooks.MODES),
    (13, steps_functions.FUNCTIONS),
)
"""Every step, in families with weights."""

_DTYPES = ("float32",) * 10 + ("float64",) * 3 + ("float16", "bfloat16", "complex64")
_SLOTS = 256


def steps() -> tuple[Step, ...]:
    """All rows of all tables."""
    return tuple(step for _, family in FAMILIES for step in family)


class _Tables:
    """The steps made ready, and the families in 256 slots; slot 0 is the step that does nothing."""

    def __init__(self) -> None:
        families = [
            [ready for step in family for ready in [Compiled(step, _classes_of(step))] * step.weight]
            for _, family in FAMILIES
        ]
        total = sum(weight for weight, _ in FAMILIES)
        self.slots: list[list[Compiled]] = [[]]
        reached = 0
        for (weight, _), ready in zip(FAMILIES, families, strict=False):
            reached += weight
            while len(self.slots) <= (_SLOTS - 1) * reached // total:
                self.slots.append(ready)
        self.classes = {
            name: parse(source.strip() + "\n").body[0] for name, source in steps_functions.CLASSES.items()
        }


def _classes_of(step: Step) -> dict[str, str]:
    return {name: text for name, text in steps_functions.CLASSES.items() if f"{name}.apply" in step.source}


@cache
def _tables() -> _Tables:
    return _Tables()


def decode(choices: Sequence[int]) -> Program:
    """The program of these integers: a pure function, and its result is always in the form."""
    tables = _tables()
    state = State()
    first = choices[0] if choices else 0
    state.digits = Digits(first)
    _begin(state)
    ending = state.digits
    for choice in choices[1:]:
        family = tables.slots[choice & (_SLOTS - 1)]
        if family:
            state.digits = Digits(choice >> 8)
            step = family[state.digits.take(len(family))]
            for name in step.classes:
                if name not in state.defined:
                    state.defined.add(name)
                    state.body.append(tables.classes[name])
            step.write(state)
    state.digits = ending
    _end(state)
    return Program(body=tuple(state.body), clauses=tuple(state.clauses))


def _begin(state: State) -> None:
    """One to three leaves."""
    shape = SHAPES[state.take(16)]
    dtype = _DTYPES[state.take(16)]
    new_leaf(state, shape, dtype)
    for _ in range(state.take(3)):
        kind = state.take(8)
        other = shape if kind < 4 else SHAPES[state.take(16)] if kind < 6 else shape[1:]
        new_leaf(state, other, dtype if kind else "float64", grad=kind != 3)


def _end(state: State) -> None:
    """A loss over what no other operation uses, as far as it can still be differentiated, and a backward
    pass.
    """
    usable = [known for known in state.live if state.usable(known)]
    if not usable:
        usable = [new_leaf(state, (2,))]
    interior = [known for known in usable if not known.leaf]
    loose = [known for known in interior if not known.used][-4:]
    chosen = loose or interior[-1:] or usable[-2:]
    terms = [_term(state, known) for known in dict.fromkeys([*chosen, usable[state.take(len(usable))]])]
    loss = terms[0]
    for term in terms[1:]:
        loss = ["binary", "+", loss, term]
    name = state.fresh("loss")
    state.assign(name, loss)
    state.body.append({"do": "expr", "value": ["method", ["name", name], "backward", [], {}]})


def _term(state: State, known: Known) -> object:
    """A real number that depends on the tensor, with a weight for each entry."""
    expr = known.expr
    if not known.real:
        expr = ["method", expr, "abs", [], {}]
        weighted = ["binary", "*", expr, number(state.take(8))]
    elif state.take(3) == 2 or known.size > 12:
        weighted = ["binary", "*", expr, expr]
    else:
        weighted = ["binary", "*", expr, literal(known.shape, known.dtype, state.take(512))]
    return ["method", weighted, "sum", [], {}]
