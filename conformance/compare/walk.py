"""Reading traces and programs without comparing: counting entries, finding gradients, what an engine can
tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from conformance.compare.entries import item_size


def identical(a: Any, b: Any) -> bool:
    """True if two JSON values are the same, types included."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(identical(a[key], b[key]) for key in a)
    return type(a) is type(b) and bool(a == b)


_FLAGS = ("requires_grad", "is_leaf", "retains_grad")


def same_step(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """`identical` for steps, many times faster: python's own comparison, then what it does not tell apart.

    That is True, 1 and 1.0; in tensors only the flags can be confused.
    """
    if a != b or a.get("grad_mode").__class__ is not b.get("grad_mode").__class__:
        return False
    theirs = b.get("seen", {})
    if not all(_same_types(value, theirs[name]) for name, value in a.get("seen", {}).items()):
        return False
    if "value" in a and not _same_types(a["value"], b["value"]):
        return False
    return identical(a["log"], b["log"]) if a.get("log") else True


def _same_types(a: Any, b: Any) -> bool:
    """Types of two equal observations."""
    if not isinstance(a, list) or a[0] != "tensor":
        return identical(a, b)
    mine, theirs = a[1], b[1]
    for flag in _FLAGS:
        if mine.get(flag).__class__ is not theirs.get(flag).__class__:
            return False
    grad = mine.get("grad")
    return grad is None or _same_types(grad, theirs["grad"])


class Count(NamedTuple):
    """Entries of one step, and how many of them are of gradients."""

    entries: int
    gradients: int


def count_step(step: dict[str, Any], gradients: frozenset[str]) -> Count:
    """Count the entries that a step shows. `gradients`: names whose values are gradients."""
    entries = found = 0
    for name, value in step.get("seen", {}).items():
        own, inner = _count(value)
        entries += own
        found += own if name in gradients else inner
    values = [step["value"]] if "value" in step else []
    values += [entry["value"] for entry in step.get("log", ()) if "value" in entry]
    for value in values:
        own, inner = _count(value)
        entries += own
        found += inner
    return Count(entries, found)


def _count(value: Any) -> tuple[int, int]:
    """Entries of one observation, and of the gradients in it."""
    if not isinstance(value, list) or not value:
        return 0, 0
    sort = value[0]
    if sort == "tensor":
        fields = value[1]
        entries, gradients = _size(fields), 0
        grad = fields.get("grad")
        if isinstance(grad, list) and grad[0] == "tensor":
            gradients = _size(grad[1])
        return entries + gradients, gradients
    if sort in ("float", "complex"):
        return 1, 0
    if sort in ("list", "tuple", "dict"):
        parts = [_count(item[1] if sort == "dict" else item) for item in value[1]]
        return sum(part[0] for part in parts), sum(part[1] for part in parts)
    return 0, 0


def _size(fields: dict[str, Any]) -> int:
    text = fields.get("bytes")
    if isinstance(text, str):
        return len(text) // (2 * item_size(fields["dtype"]))
    parts = (fields.get("indices"), fields.get("values"))
    return sum(_size(part[1]) for part in parts if isinstance(part, list) and part[0] == "tensor")


def gradient_names(step: dict[str, Any], statement: dict[str, Any]) -> frozenset[str]:
    """The names that a `grad` statement binds to the gradients it computes."""
    if step.get("kind") != "grad" or statement.get("do") != "assign":
        return frozenset()
    return frozenset(name for target in statement["targets"] for name in _names(target))


def _names(target: Any) -> Iterator[str]:
    if isinstance(target, list) and target:
        if target[0] == "name":
            yield target[1]
        elif target[0] in ("tuple", "list"):
            for part in target[1]:
                yield from _names(part)
        elif target[0] == "star":
            yield from _names(target[1])


def tensors(value: Any) -> Iterator[dict[str, Any]]:
    """All observed tensors in a part of a trace."""
    if isinstance(value, dict):
        for part in value.values():
            yield from tensors(part)
    elif isinstance(value, list):
        if len(value) == 2 and value[0] == "tensor" and isinstance(value[1], dict):
            yield value[1]
        for part in value:
            yield from tensors(part)


def knows_identity(trace: dict[str, Any]) -> bool:
    """False if no tensor of the trace carries an `id`: the engine declares identity unknown."""
    some = False
    for tensor in tensors(trace):
        if "id" in tensor:
            return True
        some = True
    return not some


def spells_bits(body: Sequence[dict[str, Any]]) -> bool:
    """True if the program writes numbers bit by bit, so that the payloads of its NaNs are meant."""
    stack: list[Any] = list(body)
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            stack.extend(part.values())
        elif isinstance(part, (list, tuple)):
            if part and part[0] == "bits":
                return True
            stack.extend(part)
    return False
