"""Running a program as a shadow: the runner over the reference engine over bounded arrays."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from functools import cache
from typing import Any, Protocol

import numpy as np

from conformance.operations import runner_schema
from conformance.runner import Engine, Group, Observer
from conformance.runner import run as run_program
from conformance.shadow import namespace, seams, state
from conformance.shadow.array import BoundedArray, NoRule
from conformance.shadow.call import size_of

_NAN = np.asarray(math.nan, "<f8").tobytes().hex()
_INFINITE = np.asarray(math.inf, "<f8").tobytes().hex()
_LENGTHS = {"float": 2, "complex": 3}


class HasJson(Protocol):
    """What a shadow run needs of a program."""

    def to_json(self) -> dict[str, Any]:
        """The program in its normative form."""


def shadow_bound(value: Any) -> bytes | None:
    """The bounds of a tensor's entries, row-major, or of a python number, as little-endian float64.

    NaN once the run is undecided; None where there are no entries (meta tensors) or the number is exact.
    """
    run = state.current()
    if isinstance(value, (float, complex)):
        bound = math.nan if run.undecided else run.escaped.get(value, 0.0)
        return np.asarray(bound, "<f8").tobytes() if bound else None
    if value.device.type == "meta":
        return None
    array = value.array()
    if run.undecided:
        return np.full(array.shape, math.nan, "<f8").tobytes()
    if not isinstance(array, BoundedArray):  # a constant: nothing bounded gets into a plain array
        return np.zeros(array.shape, "<f8").tobytes()
    return np.asarray(size_of(array.bound), "<f8").tobytes()


class _ShadowModule:
    """The reference engine's module, which also tells bounds."""

    shadow_bound = staticmethod(shadow_bound)

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def shadow_trace(program: HasJson) -> dict[str, Any]:
    """The trace of a program on the reference engine, its tensors with `"bound"`.

    A step has `"undecided": true` from the statement on where the program's or the engine's way depends on
    numbers closer than their bounds; bounds are infinite from there on. Raises NoRule if the engine uses a
    function of its array library that has no rule of bounds.
    """
    return _evaluated(program, alone=False)


def bounds_of(program: HasJson) -> dict[str, Any]:
    """The shadow trace without what comparing does not ask of it: its tensors show their bounds alone."""
    return _evaluated(program, alone=True)


def _evaluated(program: HasJson, *, alone: bool) -> dict[str, Any]:
    engine, schema, arrays = _parts(alone)
    with state.running() as run, arrays.use(namespace), seams.replaced(arrays):
        digest = getattr(program, "hash", None)
        trace: dict[str, Any] = run_program(program.to_json(), engine, schema, True, digest)
    if run.lacking:
        raise NoRule(run.lacking)
    if run.undecided:
        mark_undecided(trace)
    return trace


class _ShadowEngine(Engine):
    """Reads the bytes of the values, without anything leaving the arrays."""

    def bytes_of(self, tensor: Any, rung: str | None = None) -> bytes:
        array = tensor.array()
        return array.tobytes() if isinstance(array, BoundedArray) else super().bytes_of(tensor, rung)


class _BoundsEngine(_ShadowEngine):
    """Shows of a tensor its bounds alone."""

    def observer(self, shadow: bool) -> Observer:
        return _BoundsObserver(self, shadow)


class _BoundsObserver(Observer):
    def tensor(self, t: Any, group: Group, is_grad: bool = False) -> list[Any]:
        bound = shadow_bound(t)
        fields: dict[str, Any] = {} if bound is None else {"bound": bound.hex()}
        if not is_grad and (_flag(t, "is_leaf") or _flag(t, "retains_grad")):
            grad = t.grad
            if grad is not None:
                fields["grad"] = self.tensor(grad, group, True)
        return ["tensor", fields]


def _flag(tensor: Any, name: str) -> bool:
    """A flag of a tensor, False where asking raises (VIEW-06)."""
    try:
        return bool(getattr(tensor, name))
    except RuntimeError:
        return False


@cache
def _parts(alone: bool) -> tuple[Any, Any, Any]:
    """The reference engine as the runner sees it, the operations, and where the engine's arrays come from."""
    kind = _BoundsEngine if alone else _ShadowEngine
    engine = kind(_ShadowModule(importlib.import_module("refimpl")), "refimpl")
    return engine, runner_schema(), importlib.import_module("refimpl.arrays")


def mark_undecided(trace: dict[str, Any]) -> None:
    """Say of each step whether it was undecided, and make its bounds infinite."""
    found = False
    for step in trace["steps"]:
        found = _widen(step) or found
        if found:
            step["undecided"] = True
    _widen(trace["end"])


def _widen(part: Any) -> bool:
    if isinstance(part, list):
        if part and part[0] in ("float", "complex") and len(part) > _LENGTHS[part[0]] and part[-1] == _NAN:
            part[-1] = _INFINITE
            return True
        return _any(part)
    if not isinstance(part, dict):
        return False
    bound = part.get("bound")
    found = isinstance(bound, str) and bound.startswith(_NAN)
    if found:
        part["bound"] = _INFINITE * (len(part["bound"]) // len(_NAN))
    return _any(each for key, each in part.items() if key != "bound") or found


def _any(parts: Iterable[Any]) -> bool:
    """True if any part was undecided; all are visited."""
    return sum(map(_widen, parts)) > 0
