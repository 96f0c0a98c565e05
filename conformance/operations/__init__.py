"""The operation schema: one closed table of every name that a program may use.

Parser, printer, validator, generator, runner and adapters all read it. An operation is one row in one of
the tables of this package (`pointwise`, `comparison`, `reductions`, `shapes`, `linear`, `creation`,
`differentiation`, `python`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from conformance.operations import (
    comparison,
    creation,
    differentiation,
    linear,
    pointwise,
    python,
    reductions,
    shapes,
)
from conformance.operations.differentiation import ATTRIBUTES, CLASS_METHODS, CONTEXTS, DECORATORS
from conformance.operations.python import BITS, CONSTANTS, DEVICES, DTYPES, EXCEPTIONS
from conformance.operations.schema import Operation

_TABLES = (pointwise, comparison, reductions, shapes, linear, creation, differentiation, python)


def _table() -> dict[str, Operation]:
    table: dict[str, Operation] = {}
    for module in _TABLES:
        for row in module.ROWS:
            if row.name in table:
                raise ValueError(f"operation {row.name!r} stands twice in the table")
            table[row.name] = row
    return table


TABLE: Mapping[str, Operation] = MappingProxyType(_table())
"""Every operation by name."""


def _by_spelling(kind: str) -> dict[str, tuple[Operation, ...]]:
    found: dict[str, tuple[Operation, ...]] = {}
    for row in TABLE.values():
        for spelling in row.spellings(kind):
            found[spelling] = (*found.get(spelling, ()), row)
    return found


FUNCTIONS: Mapping[str, tuple[Operation, ...]] = MappingProxyType(_by_spelling("function"))
METHODS: Mapping[str, tuple[Operation, ...]] = MappingProxyType(_by_spelling("method"))
OPERATORS: Mapping[str, tuple[Operation, ...]] = MappingProxyType(_by_spelling("operator"))


def _entry(rows: tuple[Operation, ...], *, function: bool) -> dict[str, Any]:
    kwargs = [word for row in rows for word in row.kwargs if function or word not in ("out", "input")]
    return {
        "kwargs": list(dict.fromkeys(kwargs)),
        "groups": list(dict.fromkeys(group for row in rows for group in row.groups)),
        "view": any(row.view for row in rows),
        "inplace": any(row.inplace for row in rows),
        "factory": any(row.factory for row in rows),
        "backward": any(row.backward for row in rows),
    }


def runner_schema() -> dict[str, Any]:
    """The part of the table that the runner needs, as JSON."""
    return {
        "functions": {name: _entry(rows, function=True) for name, rows in sorted(FUNCTIONS.items())},
        "methods": {name: _entry(rows, function=False) for name, rows in sorted(METHODS.items())},
        "attributes": list(ATTRIBUTES),
        "contexts": list(CONTEXTS),
        "decorators": list(DECORATORS),
        "constants": list(CONSTANTS),
        "dtypes": list(DTYPES),
        "devices": list(DEVICES),
        "exceptions": list(EXCEPTIONS),
        "bits": dict(BITS),
    }


__all__ = [
    "ATTRIBUTES",
    "BITS",
    "CLASS_METHODS",
    "CONSTANTS",
    "CONTEXTS",
    "DECORATORS",
    "DEVICES",
    "DTYPES",
    "EXCEPTIONS",
    "FUNCTIONS",
    "METHODS",
    "OPERATORS",
    "TABLE",
    "Operation",
    "runner_schema",
]
