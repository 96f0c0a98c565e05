"""The script to paste for a failure: the program, which needs only PyTorch, and assertions of what torch
shows.

Each difference of the first differing statement becomes an assertion where one line can say it; the others
stand as comments, so that nothing is left out unseen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from conformance.compare import Difference
from conformance.compare.entries import Unreadable, decode
from conformance.programs import Program
from conformance.programs.script import standalone_script
from conformance.results import clip

MOST_ASSERTIONS = 8
MOST_ENTRIES = 64
_LONGEST_COMMENT = 300

Lines = list[str] | None
"""Assertions, or None where one line cannot say it."""

_FIELDS: Mapping[str, Callable[[str, Any], str]] = {
    "dtype": lambda at, value: f"assert {at}.dtype == torch.{value}, {at}.dtype",
    "layout": lambda at, value: f"assert {at}.layout == torch.{value}, {at}.layout",
    "shape": lambda at, value: f"assert tuple({at}.shape) == {tuple(value)!r}, {at}.shape",
    "strides": lambda at, value: f"assert {at}.stride() == {tuple(value)!r}, {at}.stride()",
    "requires_grad": lambda at, value: f"assert {at}.requires_grad is {value!r}",
    "is_leaf": lambda at, value: f"assert {at}.is_leaf is {value!r}",
    "retains_grad": lambda at, value: f"assert {at}.retains_grad is {value!r}",
    "version": lambda at, value: f"assert {at}._version == {value!r}, {at}._version",
}


def assertion_script(
    program: Program,
    oracle: Mapping[str, Any] | None,
    engine: Mapping[str, Any] | None,
    differences: Sequence[Difference],
) -> str:
    """The script of a program with what torch shows at its first difference, or the program alone."""
    if oracle is None or not differences:
        return standalone_script(program)
    at = differences[0].at
    here = [difference for difference in differences if difference.at == at][:MOST_ASSERTIONS]
    index = len(program.body) if at == "end" else int(at)

    def after(position: int, value: str, error: str) -> Sequence[str]:
        if position != index:
            return ()
        return list(_assertions(oracle, engine or {}, here, value, error))

    ending = 'print("torch does all of this")\n'
    return standalone_script(program, after=after) + ending


def _assertions(
    oracle: Mapping[str, Any],
    engine: Mapping[str, Any],
    differences: Sequence[Difference],
    value: str,
    error: str,
) -> dict[str, None]:
    """The lines for some differences of one statement, each once, in order."""
    found: dict[str, None] = {}
    for difference in differences:
        lines = _lines(oracle, engine, difference, value, error)
        if lines is None:
            text = f"# torch: {difference.path} is {difference.oracle!r}, not {difference.engine!r}"
            lines = [clip(text, _LONGEST_COMMENT)]
        found.update(dict.fromkeys(lines))
    return found


def _lines(
    oracle: Mapping[str, Any], engine: Mapping[str, Any], difference: Difference, value: str, error: str
) -> Lines:
    step, other = (_step(trace, difference.at) for trace in (oracle, engine))
    head, *rest = difference.path.split(".")
    if head in ("outcome", "error"):
        return _raised(step, error)
    if head == "grad_mode":
        return [f"assert torch.is_grad_enabled() is {difference.oracle!r}"]
    if head in ("seen", "end") and rest:
        names = "seen"
        places = (step.get(names, {}).get(rest[0]), other.get(names, {}).get(rest[0]))
        return _observed(rest[0], *places, rest[1:], (step.get(names, {}), other.get(names, {})))
    if head == "value":
        shown = ({value: step.get("value")}, {value: other.get("value")})
        return _observed(value, step.get("value"), other.get("value"), rest, shown)
    return None


def _step(trace: Mapping[str, Any], at: Any) -> Mapping[str, Any]:
    if at == "end":
        return {"seen": trace.get("end", {})}
    steps = trace.get("steps", [])
    step: Mapping[str, Any] = steps[at] if at < len(steps) else {}
    return step


def _raised(step: Mapping[str, Any], error: str) -> Lines:
    if step.get("outcome") == "ok":
        return [f"assert {error} is None, repr({error})"]
    if step.get("outcome") != "raised":
        return None
    kind, text = step["error"]["type"], step["error"]["text"]
    return [
        f"assert type({error}).__name__ == {kind!r}, repr({error})",
        f"assert str({error}) == {text!r}, str({error})",
    ]


Names = tuple[Mapping[str, Any], Mapping[str, Any]]


def _observed(at: str, oracle: Any, engine: Any, path: Sequence[str], names: Names) -> Lines:
    """Follow a path into an observed value and assert what is there."""
    if not path:
        return _whole(at, oracle, engine)
    part, rest = path[0], path[1:]
    sort = oracle[0] if isinstance(oracle, list) and oracle else ""
    same_sort = isinstance(engine, list) and engine[:1] == [sort]
    if sort == "tensor":
        fields = oracle[1]
        others = engine[1] if same_sort else {}
        if part in ("grad", "indices", "values"):
            there = f"{at}.grad" if part == "grad" else f"{at}._{part}()"
            return _observed(there, fields.get(part), others.get(part), rest, names)
        return _field(at, part, fields, others, names)
    if sort in ("list", "tuple") and part.isdigit():
        index = int(part)
        other = engine[1][index] if same_sort and index < len(engine[1]) else None
        return _observed(f"{at}[{index}]", oracle[1][index], other, rest, names)
    if part == "length" and sort in ("list", "tuple"):
        return [f"assert len({at}) == {len(oracle[1])}, len({at})"]
    return None


def _whole(at: str, oracle: Any, engine: Any) -> Lines:
    if oracle is None or isinstance(oracle, bool):
        return [f"assert {at} is {oracle!r}, {at}"]
    if isinstance(oracle, (int, str)):
        return [f"assert {at} == {oracle!r}, {at}"]
    if oracle[0] == "float":
        return [f"assert repr(float({at})) == {oracle[1]!r}, {at}"]
    if oracle[0] == "dtype":
        return [f"assert {at} == torch.{oracle[1]}, {at}"]
    if oracle[0] == "tensor":
        others = engine[1] if isinstance(engine, list) and engine[:1] == ["tensor"] else {}
        return [f"assert {at} is not None", *(_entries(at, oracle[1], others) or [])]
    return None


def _field(at: str, name: str, fields: Mapping[str, Any], others: Mapping[str, Any], names: Names) -> Lines:
    value = fields.get(name)
    if isinstance(value, list) and value[:1] == ["raised"]:
        return None
    if name == "bytes":
        return _entries(at, fields, others)
    if name == "grad_fn":
        if value is None:
            return [f"assert {at}.grad_fn is None, {at}.grad_fn"]
        node = value[1] if isinstance(value, list) else value
        return [f"assert {at}.grad_fn.name() == {node!r}, {at}.grad_fn"]
    if name == "device" and value in ("main", "host", "meta"):
        return [f'assert {at}.device.type == "{"meta" if value == "meta" else "cpu"}", {at}.device']
    if name in ("id", "storage"):
        return _partition(name, *names)
    if name in _FIELDS and value is not None:
        return [_FIELDS[name](at, value)]
    return None


def _partition(what: str, oracle: Mapping[str, Any], engine: Mapping[str, Any]) -> Lines:
    """Which of the named tensors are one object, or share memory, where the engine says otherwise."""
    ours, theirs = (dict(_tensors(names)) for names in (oracle, engine))
    both = [at for at in ours if at in theirs and what in ours[at] and what in theirs[at]]
    lines = []
    for index, first in enumerate(both):
        for second in both[index + 1 :]:
            joined = _class(ours[first][what]) == _class(ours[second][what])
            if joined == (_class(theirs[first][what]) == _class(theirs[second][what])):
                continue
            if what == "id":
                lines.append(f"assert {first} is {'' if joined else 'not '}{second}")
            else:
                pointers = [f"{at}.untyped_storage().data_ptr()" for at in (first, second)]
                lines.append(f"assert {pointers[0]} {'==' if joined else '!='} {pointers[1]}")
    return lines[:MOST_ASSERTIONS] or None


def _class(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


def _tensors(names: Mapping[str, Any]) -> Sequence[tuple[str, Mapping[str, Any]]]:
    return [found for name, value in names.items() for found in _inside(name, value)]


def _inside(at: str, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(value, list) or len(value) < 2:
        return
    if value[0] == "tensor":
        yield at, value[1]
        yield from _inside(f"{at}.grad", value[1].get("grad"))
    elif value[0] in ("list", "tuple"):
        for index, item in enumerate(value[1]):
            yield from _inside(f"{at}[{index}]", item)


def _entries(at: str, fields: Mapping[str, Any], others: Mapping[str, Any]) -> Lines:
    """Assert a tensor's numbers: by torch's own closeness, or to the bit where the engine is that close."""
    dtype, shape = str(fields.get("dtype")), fields.get("shape")
    try:
        ours = _numbers(fields)
    except Unreadable:
        return None
    try:
        theirs: Any = _numbers(others) if others else None
    except Unreadable:
        theirs = None
    where = f"{at}.detach()"
    if ours.size > MOST_ENTRIES:
        index = _first_difference(ours, theirs)
        ours = ours.reshape(-1)[index : index + 1].reshape(())
        theirs = None if theirs is None else theirs.reshape(-1)[index : index + 1].reshape(())
        where, shape = f"{where}.flatten()[{index}]", []
    if theirs is not None and theirs.shape == ours.shape and np.allclose(ours, theirs, 1e-5, 1e-5, True):
        bits = repr(ours.tolist())
        return [f"assert repr({where}.tolist()) == {bits!r}, {where}"]
    expected = f"torch.tensor({_literal(ours.tolist())}, dtype=torch.{dtype})"
    if 0 in (shape or ()):
        expected = f"torch.zeros({tuple(shape or ())!r}, dtype=torch.{dtype})"
    return [f"torch.testing.assert_close({where}, {expected}, equal_nan=True, check_stride=False)"]


def _numbers(fields: Mapping[str, Any]) -> Any:
    numbers = decode(str(fields.get("bytes")), str(fields.get("dtype")), fields.get("shape", []))
    if fields.get("dtype") in ("bfloat16", "float16"):
        numbers = numbers.astype(np.float32)
    return numbers.reshape(fields.get("shape", []))


def _first_difference(ours: Any, theirs: Any) -> int:
    if theirs is None or theirs.shape != ours.shape:
        return 0
    differs = ~np.isclose(ours, theirs, 1e-5, 1e-5, True).reshape(-1)
    if not differs.any():
        differs = (ours != theirs).reshape(-1)
    return int(differs.argmax())


def _literal(value: Any) -> str:
    """Nested lists of numbers as Python source."""
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, complex):
        return f"complex({_literal(value.real)}, {_literal(value.imag)})"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float({json.dumps(repr(value))})"
    return repr(value)
