"""Which names a program may give, and the error for a fault at a place."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from conformance.operations import CONSTANTS, CONTEXTS, EXCEPTIONS, FUNCTIONS
from conformance.programs import limits
from conformance.programs.tree import Path

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

RESERVED = frozenset(
    name
    for name in (
        *FUNCTIONS,
        *CONTEXTS,
        *CONSTANTS,
        *EXCEPTIONS,
        *("torch", "copy", "gc", "print", "bits", "complex", "staticmethod", "once_differentiable"),
    )
    if "." not in name
)
"""Names of the table without a dot: a program may use them, and not give them another meaning."""


class Problem(Exception):
    """A fault at a statement (or, with ``label``, in one of the lines at the top)."""

    def __init__(self, at: Path, what: str, hint: str = "", label: str = "") -> None:
        super().__init__(at, what, hint, label)
        self.at = at
        self.what = what
        self.hint = hint
        self.label = label


def fail(at: Path, what: str, hint: str = "") -> NoReturn:
    """Raises the Problem."""
    raise Problem(at, what, hint)


def close(name: Any, allowed: Iterable[str]) -> str:
    """A hint with the nearest allowed names."""
    if not isinstance(name, str) or len(name) > limits.NAME * 2:
        return "see the table in conformance/operations"
    if "rand" in name or name.endswith(("normal", "normal_", "uniform_", "bernoulli_")):
        return "nothing is random in a program: write the values out"
    if name in ("data_ptr", "untyped_storage", "storage", "id"):
        return "no addresses: the trace shows which tensors share memory"
    found = difflib.get_close_matches(name, list(allowed), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(found)}?" if found else "see the table in conformance/operations"


def identifier(name: Any, at: Path) -> str:
    """Checks a name that a program gives. Raises Problem."""
    if not isinstance(name, str):
        fail(at, "a name is not a text")
    if len(name) > limits.NAME:
        fail(at, f"a name of {len(name)} characters; the limit is {limits.NAME}")
    if not _IDENTIFIER.fullmatch(name) or keyword.iskeyword(name):
        fail(at, f"{name!r} is no name", "letters, digits and _ of ASCII, no keyword")
    if name.startswith("__"):
        fail(at, f"the name {name!r} begins with two underscores", "choose another name")
    if name in RESERVED:
        fail(at, f"{name!r} is a name of the table", "choose another name")
    return name


def parameters(params: Any, at: Path) -> None:
    """Checks the parameters of a function or lambda. Raises Problem."""
    if not isinstance(params, list):
        fail(at, "params is not a list of names")
    seen = set()
    for index, param in enumerate(params):
        is_rest = isinstance(param, str) and param.startswith("*")
        name = identifier(param[1:] if is_rest else param, at)
        if is_rest and index != len(params) - 1:
            fail(at, f"{param} is not the last parameter")
        if name in seen:
            fail(at, f"the parameter {name!r} stands twice")
        seen.add(name)
