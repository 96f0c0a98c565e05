"""Reading traces and programs without comparing: counting entries, finding gradients, what an engine can
tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from conformance.compare.entries import DTYPES, item_size


def identical(a: Any, b: Any) -> bool:
    """True if two JSON values are the same, types included."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(identical(a[key], b[key]) for key in a)
    return type(a) is type(b) and bool(a == b)


def same_step(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """`identical` for steps, many times faster: python's own comparison, then what it does not tell apart."""
    return (
        a == b
        and a.get("grad_mode").__class__ is b.get("grad_mode").__class__
        and same_types(a.get("seen", {}), b.get("seen", {}))
        and ("value" not in a or identical(a["value"], b["value"]))
        and (not a.get("log") or identical(a["log"], b["log"]))
    )


def same_types(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """True if the values of names that are equal are `identical`.

    What is equal without being the same is True, 1 and 1.0; in tensors only the flags can be confused.
    """
    for name, value in a.items():
        if value.__class__ is not list or value[0] != "tensor":
            if not identical(value, b[name]):
                return False
        elif not same_flags(value[1], b[name][1]):
            return False
    return True


def same_flags(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """True if two tensors that show the same have flags of the same type."""
    get, their = a.get, b.get
    if (
        get("requires_grad").__class__ is not their("requires_grad").__class__
        or get("is_leaf").__class__ is not their("is_leaf").__class__
        or get("retains_grad").__class__ is not their("retains_grad").__class__
    ):
        return False
    grad = get("grad")
    return grad is None or grad[0] != "tensor" or same_flags(grad[1], b["grad"][1])


class Count(NamedTuple):
    """Entries of one step, and how many of them are of gradients."""

    entries: int
    gradients: int


def count_step(step: dict[str, Any], gradients: frozenset[str]) -> Count:
    """Count the entries that a step shows. `gradients`: names whose values are gradients."""
    entries, found = count_names(step.get("seen", {}), gradients)
    values = [step["value"]] if "value" in step else []
    values += [entry["value"] for entry in step.get("log", ()) if "value" in entry]
    for value in values:
        own, inner = _count(value)
        entries += own
        found += inner
    return Count(entries, found)


def count_names(seen: dict[str, Any], gradients: frozenset[str]) -> Count:
    """Count the entries that names show."""
    entries = found = 0
    for name, value in seen.items():
        own, inner = _count(value)
        entries += own
        found += own if name in gradients else inner
    return Count(entries, found)


def _count(value: Any) -> tuple[int, int]:
    """Entries of one observation, and of the gradients in it."""
    if value.__class__ is not list or not value:
        return 0, 0
    sort = value[0]
    if sort == "tensor":
        fields = value[1]
        grad = fields.get("grad")
        if grad is None or grad[0] != "tensor":
            return _size(fields), 0
        gradients = _size(grad[1])
        return _size(fields) + gradients, gradients
    if sort in ("float", "complex"):
        return 1, 0
    if sort in ("list", "tuple", "dict"):
        parts = [_count(item[1] if sort == "dict" else item) for item in value[1]]
        return sum(part[0] for part in parts), sum(part[1] for part in parts)
    return 0, 0


_DIGITS = {name: 2 * item_size(name) for name in (*DTYPES, "complex32")}  # hexadecimal digits of an entry


def _size(fields: dict[str, Any]) -> int:
    text = fields.get("bytes")
    if text.__class__ is str:
        return len(text) // (_DIGITS.get(fields["dtype"]) or 2 * item_size(fields["dtype"]))
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
