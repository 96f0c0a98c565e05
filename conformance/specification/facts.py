"""What can be said of each step of a program and its trace: the words that predicates are made of.

From the program: what a statement calls (`backward`, `autograd.backward`, `mul_`), with which arguments
(`backward(gradient)`, `backward(retain_graph=True)`, `backward(-gradient)`: without), which operators it
uses (`*`, `+=`), which attributes it reads, sets or deletes, what it defines. `pass` stands for every
backward pass. From the trace: how the step ended, what it showed and logged, and the tensors that were seen
after it.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.programs import Program

Facts = list[set[str]]

_BACKWARD = ("gradient", "retain_graph", "create_graph", "inputs")
_SIGNATURES = {
    "Tensor.backward": _BACKWARD,
    "autograd.backward": ("tensors", "gradient", "retain_graph", "create_graph", "grad_variables", "inputs"),
    "autograd.grad": ("outputs", "inputs", "gradient", "retain_graph", "create_graph"),
}
_SAME = {"grad_tensors": "gradient", "grad_outputs": "gradient"}
_OPTIONAL = ("gradient", "retain_graph", "create_graph", "inputs")
_FORMATS = {"float16": ("e", 2), "float32": ("f", 4), "float64": ("d", 8)}
_MOST = 8  # counts above it are not told apart
_LONGEST_BYTES = 4096  # hexadecimal digits of a tensor whose values are looked at


def facts(program: Program, trace: Mapping[str, Any]) -> Facts:
    """One set of facts for each top-level statement. The trace is of this program."""
    uses: Counter[str] = Counter()
    found: Facts = []
    for statement, step in zip(program.body, trace["steps"], strict=True):
        here = set(_statement(statement))
        here.update(_reuse(statement, step, uses))
        if step["outcome"] != "skipped":
            here.update(_outcome(step))
            here.update(_seen(step))
            here.update(_root(statement, step))
        found.append(here)
    return found


def _statement(part: Any) -> Iterator[str]:
    """The facts that a statement's text shows."""
    do = part["do"]
    if do in ("assign", "delete"):
        verb = "sets" if do == "assign" else "deletes"
        for target in part["targets"]:
            yield from _target(target, verb)
    elif do == "augment":
        yield f"{part['op']}="
        yield from _target(part["target"], "augments")
    elif do == "class":
        yield "defines Function"
        for method in part["methods"]:
            yield f"defines {method['name']}"
            yield from method.get("decorators", ())
    elif do == "define":
        yield "defines function"
        yield from (f"decorated {_short(name)}" for name in map(_decorator, part.get("decorators", ())))
    elif do in ("repeat", "raise", "if", "global", "return"):
        yield do
        if do == "return" and part.get("value") is None:
            yield "return None"
    for item in part.get("items", ()):
        yield from _expression(item[0])
    for key in ("value", "test"):
        if key in part:
            yield from _expression(part[key])
    for key in ("body", "orelse", "methods"):
        for inner in part.get(key, ()):
            yield from _statement(inner)


def _decorator(given: Any) -> str:
    return str(given if isinstance(given, str) else given[1])


def _target(target: Any, verb: str) -> Iterator[str]:
    if target[0] == "attr":
        yield f"{verb} .{target[2]}"
    elif target[0] == "item":
        yield f"{verb} item"
        yield from _expression(target[2])
    elif target[0] == "tuple":
        yield f"{verb} tuple"
        for each in target[1]:
            yield from _target(each, verb)
    elif verb == "deletes":
        yield "deletes name"


def _expression(part: Any) -> Iterator[str]:
    """The facts that an expression's text shows."""
    if part is None or isinstance(part, bool):
        yield f"literal {part}"
    if not isinstance(part, list):
        return
    tag = part[0] if part and isinstance(part[0], str) else ""
    if tag in ("call", "method"):
        yield from _call(part)
    elif tag == "attr":
        yield f"reads .{part[2]}"
    elif tag in ("binary", "compare"):
        yield str(part[1])
    elif tag == "unary":
        yield f"unary {part[1]}"
    elif tag == "item":
        yield "reads item"
    elif tag in ("lambda", "star", "ellipsis", "complex", "bits"):
        yield "..." if tag == "ellipsis" else tag
    elif tag == "slice":
        yield "slice"
    elif tag in ("dtype", "device"):
        yield f"{tag} {part[1]}"
    elif tag == "const":
        yield _short(part[1])
    elif tag == "float" and part[1] in ("nan", "inf", "-inf", "-0.0"):
        yield f"literal {part[1].lstrip('-') if 'inf' in part[1] else part[1]}"
    for inner in part:
        for each in inner.values() if isinstance(inner, dict) else (inner,):
            yield from _expression(each)


def _short(name: str) -> str:
    return name.removeprefix("torch.")


def _call(part: Any) -> Iterator[str]:
    full = _short(part[1]) if part[0] == "call" else f"Tensor.{part[2]}"
    args, kwargs = part[-2], part[-1]
    names = [full.removeprefix("Tensor.")]
    if full == "Tensor.backward":
        names.append("pass")
    elif full in ("autograd.backward", "autograd.grad"):
        names += ["backward", "pass"] if full.endswith("backward") else ["pass"]
    elif "." in full:
        names.append(full.rpartition(".")[2])
    signature = _SIGNATURES.get(full, ())
    given = dict(zip(signature, args, strict=False)) | {
        _SAME.get(key, key): value for key, value in kwargs.items()
    }
    for name in names:
        yield name
        for key, value in given.items():
            yield f"{name}({key})"
            if value is None or isinstance(value, (bool, int)):
                yield f"{name}({key}={value})"
            if isinstance(value, list) and value[:1] in (["list"], ["tuple"]):
                yield f"{name}({key}: {min(len(value[1]), _MOST)})"
                if _repeats(value[1]):
                    yield f"{name}({key} repeats)"
        if signature:
            yield from (f"{name}(-{key})" for key in _OPTIONAL if key not in given)


def _repeats(items: list[Any]) -> bool:
    names = [item[1] for item in items if isinstance(item, list) and item[0] == "name"]
    return len(set(names)) < len(names)


def _reuse(statement: Any, step: Mapping[str, Any], uses: Counter[str]) -> Iterator[str]:
    """`reuses`: a name is an operand for the second time."""
    if step["kind"] in ("observe", "hook", "delete"):
        return
    before = {name for name, count in uses.items() if count > 1}
    here = Counter(_operands(statement.get("value")))
    uses.update(here)
    again = any(count > 1 and name not in before for name, count in uses.items())
    if again or any(count > 1 for count in here.values()):
        yield "reuses"


def _operands(part: Any) -> Iterator[str]:
    if not isinstance(part, list) or not part:
        return
    if part[0] == "name":
        yield str(part[1])
    elif part[0] != "lambda":
        for inner in part[1:]:
            yield from _operands(inner)


def _outcome(step: Mapping[str, Any]) -> Iterator[str]:
    outcome = step["outcome"]
    yield outcome
    yield f"kind {step['kind']}"
    if outcome == "raised":
        error = step["error"]
        yield f"raised {error['type']}"
        yield f"raised {error['type']}: {error['text']}"
        yield f"raised in {error['phase']}"
    for category, text in step["warnings"]:
        yield "warns"
        yield f"warns {category}: {text}"
    for count in range(1, min(len(step["log"]), _MOST) + 1):
        yield f"logs {count}"
    values = [entry.get("value") for entry in step["log"]]
    if "value" in step:
        values.append(step["value"])
        yield f"shows {'None' if step['value'] is None else 'something'}"
    for value in values:
        yield from (f"shows {each}" for each in _plain(value))


def _plain(value: Any) -> Iterator[str]:
    """What a shown value holds that is no tensor."""
    if value is None or isinstance(value, bool):
        yield str(value)
    elif isinstance(value, list) and value:
        if value[0] in ("list", "tuple") and len(value) == 2:
            for each in value[1]:
                yield from _plain(each)
        elif value[0] in ("node", "object", "dtype"):
            yield f"{value[0]} {value[1]}"
        elif value[0] == "tensor":
            yield "tensor"


def _tensors(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list) and len(value) == 2:
        if value[0] == "tensor":
            yield value[1]
        elif value[0] in ("list", "tuple"):
            for each in value[1]:
                yield from _tensors(each)


def _seen(step: Mapping[str, Any]) -> Iterator[str]:
    """Facts of the tensors that were seen after the step; those of their gradients begin with `grad`."""
    shown = [*step["seen"].values(), step.get("value"), *(entry.get("value") for entry in step["log"])]
    tensors = [tensor for value in shown for tensor in _tensors(value)]
    for tensor in tensors:
        yield from _tensor(tensor)
        grads = list(_tensors(tensor.get("grad")))
        if tensor.get("requires_grad") is True and tensor.get("grad", 0) is None:
            yield "grad None"
        for grad in grads:
            yield "grad"
            yield from (f"grad {fact}" for fact in _tensor(grad))
    named = [tensor for value in step["seen"].values() for tensor in _tensors(value)]
    grads = [grad for tensor in named for grad in _tensors(tensor.get("grad"))]
    yield from _sharing(named, grads)


def _sharing(tensors: list[Mapping[str, Any]], grads: list[Mapping[str, Any]]) -> Iterator[str]:
    def places(found: list[Mapping[str, Any]]) -> Counter[Any]:
        unique = {one["id"]: one for one in found if isinstance(one.get("id"), int)}
        return Counter(_memory(one) for one in unique.values() if _memory(one) is not None)

    own, gradients = places(tensors), places(grads)
    if any(count > 1 for count in own.values()):
        yield "shared memory"
    if any(count > 1 for count in gradients.values()) or own.keys() & gradients.keys():
        yield "grad shared memory"


def _memory(tensor: Mapping[str, Any]) -> Any:
    storage = tensor.get("storage")
    return storage[0] if isinstance(storage, list) and storage and isinstance(storage[0], int) else None


def _tensor(tensor: Mapping[str, Any]) -> Iterator[str]:
    shape, dtype = tensor.get("shape"), str(tensor.get("dtype"))
    yield "requires grad" if tensor.get("requires_grad") is True else "constant"
    yield "leaf" if tensor.get("is_leaf") is True else "non-leaf"
    yield f"dtype {dtype}"
    if tensor.get("device") != "main":
        yield f"device {tensor.get('device')}"
    if isinstance(tensor.get("grad_fn"), str):
        yield f"grad_fn {tensor['grad_fn']}"
    if tensor.get("retains_grad") is True:
        yield "retains grad"
    if "layout" in tensor:
        yield "sparse"
    if isinstance(shape, list) and all(isinstance(extent, int) for extent in shape):
        yield f"rank {len(shape)}"
        if 0 in shape:
            yield "empty"
        if tensor.get("strides") not in (None, _row_major(shape)):
            yield "strided"
    yield from _numbers(tensor, dtype)


def _row_major(shape: list[int]) -> list[int]:
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]


def _numbers(tensor: Mapping[str, Any], dtype: str) -> Iterator[str]:
    data, form = tensor.get("bytes"), _FORMATS.get(dtype)
    if not isinstance(data, str) or form is None:
        return
    if len(data) > _LONGEST_BYTES:
        return
    raw = bytes.fromhex(data)
    values = struct.unpack(f"<{len(raw) // form[1]}{form[0]}", raw)
    if any(value != value for value in values):
        yield "nan"
    if any(value in (float("inf"), float("-inf")) for value in values):
        yield "inf"
    if values and not any(values):
        yield "zeros"


def _root(statement: Any, step: Mapping[str, Any]) -> Iterator[str]:
    """Facts of the tensor on which the statement calls `.backward()`, where it has a name."""
    value = statement.get("value")
    if not isinstance(value, list) or value[:1] != ["method"] or value[2] != "backward":
        return
    if value[1][:1] != ["name"]:
        yield "root expression"
        return
    for tensor in _tensors(step["seen"].get(value[1][1])):
        yield from (f"root {fact}" for fact in _tensor(tensor))
        if tensor.get("shape") and tensor.get("shape") != [1]:
            yield "root vector"
    seed = value[3][0] if value[3] else value[4].get("gradient")
    if isinstance(seed, list) and seed[:1] in (["call"], ["method"], ["binary"]):
        yield "seed expression"
    if isinstance(seed, list) and seed[:1] == ["name"]:
        for tensor in _tensors(step["seen"].get(seed[1])):
            yield from (f"seed {fact}" for fact in _tensor(tensor))
        if seed[1] == value[1][1]:
            yield "seed is root"
