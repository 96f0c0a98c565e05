"""Predicates: whether a run touched a clause, decided by what a program does and what its trace shows.

A clause's `touched` is a list of conditions, met by the steps of a program in this order, each at a later
step than the one before (a block that repeats may meet several). A condition is a conjunction of facts
(`backward(-gradient) & root vector & raised RuntimeError`); `|` separates alternatives, `no` negates a
fact. The facts are those of `facts.py`; `raised TYPE: TEXT` and `warns TYPE: TEXT` hold where the text
begins so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from conformance.operations import ATTRIBUTES, CONTEXTS, FUNCTIONS, METHODS
from conformance.programs import Program
from conformance.specification import Clause, SpecificationError, load_clauses
from conformance.specification.facts import Facts, facts

Atom = tuple[bool, str]  # whether it must hold, and the fact
Condition = tuple[tuple[Atom, ...], ...]  # alternatives of conjunctions

_TENSOR = (
    r"(requires grad|constant|leaf|non-leaf|dtype \w+|device \w+|grad_fn \w+|retains grad|sparse|rank \d"
    r"|empty|strided|nan|inf|zeros)"
)
_KINDS = "create|operation|in-place|view|setitem|delete|backward|grad|hook|observe|block|define|set"
_FIXED = re.compile(
    rf"((grad |root |seed )?{_TENSOR}|grad|grad None|(grad )?shared memory|root vector|root expression"
    r"|seed is root|seed expression|reuses|ok|raised|raised \w+(: .+)?|raised in (forward|backward|hook)"
    rf"|skipped|warns|warns \w+(: .+)?|logs \d|kind ({_KINDS})|shows (None|True|False|something|tensor)"
    r"|shows (node|object|dtype) \w+|literal (None|True|False|nan|inf|-0\.0)"
    r"|(reads|sets|deletes|augments) (\.\w+|item|tuple)"
    r"|deletes name|defines (Function|function|forward|backward|setup_context|jvp|vjp|vmap)"
    r"|decorated [\w.]+|once_differentiable|staticmethod|repeat|raise|if|global|return|return None"
    r"|lambda|star|\.\.\.|complex|bits|slice|dtype \w+|device \w+|unary \S+|[-+*/@%&|^<>=!]+|is|is-not"
    r"|in|not-in)"
)
_CALL = re.compile(r"(?P<name>[\w.]+)(\((?P<argument>-?\w+)(=\w+|: \d| repeats)?\))?")
_NAMES = frozenset(
    [name.removeprefix("torch.") for name in (*FUNCTIONS, *CONTEXTS)]
    + [name.rpartition(".")[2] for name in (*FUNCTIONS, *CONTEXTS)]
    + [*METHODS, *ATTRIBUTES, "pass", "channels_last"]
)


@cache
def condition(text: str) -> Condition:
    """Read a condition. Raises SpecificationError for a word that is no fact."""
    return tuple(tuple(_atom(word, text) for word in part.split(" & ")) for part in text.split(" | "))


def _atom(word: str, text: str) -> Atom:
    word = word.strip()
    negated = word.startswith("no ")
    word = word.removeprefix("no ")
    call = _CALL.fullmatch(word)
    if not _FIXED.fullmatch(word) and not (call and call["name"] in _NAMES):
        hint = "see conformance/specification/facts.py"
        raise SpecificationError("touched", f"{word!r} in {text!r} is no fact", hint)
    return (not negated, word)


def _holds(atom: Atom, here: set[str]) -> bool:
    wanted, fact = atom
    found = fact in here
    if not found and ": " in fact and fact.startswith(("raised ", "warns ")):
        found = any(other.startswith(fact) for other in here)
    return found is wanted


def _met(one: Condition, here: set[str]) -> bool:
    return any(all(_holds(atom, here) for atom in part) for part in one)


def holds(touched: Sequence[str], steps: Facts) -> bool:
    """True if the steps meet the conditions in order. No condition at all is met by nothing."""
    return bool(touched) and _in_order([condition(text) for text in touched], steps)


def _in_order(conditions: Sequence[Condition], steps: Facts) -> bool:
    at = 0
    for here in steps:
        while at < len(conditions) and _met(conditions[at], here):
            at += 1
            if "repeat" not in here:
                break
        if at == len(conditions):
            return True
    return False


def _possible(one: Condition, everything: set[str]) -> bool:
    """False if no step can meet the condition, negations aside."""
    return any(all(_holds(atom, everything) for atom in part if atom[0]) for part in one)


@cache
def _conditions() -> tuple[tuple[str, tuple[Condition, ...]], ...]:
    return tuple(
        (clause.id, tuple(condition(text) for text in clause.touched))
        for clause in load_clauses()
        if clause.touched
    )


def touches(program: Program, trace: Mapping[str, Any], clauses: Iterable[Clause] | None = None) -> list[str]:
    """The ids of the clauses (all by default) that a program and its trace touch."""
    steps = facts(program, trace)
    everything = set[str]().union(*steps)
    wanted = None if clauses is None else {clause.id for clause in clauses}
    return [
        name
        for name, conditions in _conditions()
        if (wanted is None or name in wanted)
        and all(_possible(one, everything) for one in conditions)
        and _in_order(conditions, steps)
    ]
