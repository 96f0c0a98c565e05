"""Comparing what was observed of one value: python values, and tensors field by field.

Everything is reported through a `Report`, which keeps the differences of one step that the asked strength
sees. Keys that one side lacks are differences of their own. Fields that say the same fault twice are
compared once: entries and strides only where the shapes agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from conformance.compare import messages, rules
from conformance.compare.entries import (
    DTYPES,
    Bounds,
    Judgement,
    Numbers,
    Unreadable,
    decode,
    decode_bound,
    item_size,
    judge,
    same_payloads,
    wide,
)
from conformance.compare.rules import Rule
from conformance.compare.verdict import MISSING, Counts, Difference, Strength
from conformance.compare.walk import identical, same_flags

Keys = tuple[Any, ...]
Lookup = Callable[[Keys], Any]  # the shadow's observation at the same place of the same step, or None

SHOWN_ENTRIES = 16


@dataclass
class Tally:
    """`Counts` in the making, for a whole program."""

    entries: int = 0
    exact: int = 0
    tolerated: int = 0
    ill_conditioned: int = 0
    undecided: int = 0
    gradients: int = 0
    identities_dropped: int = 0
    fields_dropped: int = 0
    unsure: int = 0  # ill-conditioned entries whose bits differ

    def counts(self) -> Counts:
        """The finished counts."""
        return Counts(
            self.entries,
            self.exact,
            self.tolerated,
            self.ill_conditioned,
            self.undecided,
            self.gradients,
            self.identities_dropped,
            self.fields_dropped,
        )


@dataclass
class Report:
    """The differences of one step, and where its observations are found in the shadow's trace."""

    at: int | Literal["end"]
    kind: str
    strength: Strength
    tally: Tally
    shadow: Lookup
    compare_ids: bool = True
    eager: bool = False  # class every entry by its bound, also where the bits agree
    payloads: Callable[[], bool] = lambda: False  # whether the program means its NaNs' payloads
    gradients: frozenset[str] = frozenset()  # names in `seen` that this statement bound to gradients
    unread: frozenset[str] = frozenset()  # fields in which the engine has nothing of its own to show
    differences: list[Difference] = field(default_factory=list)
    taints: bool = False
    classes: dict[str, tuple[dict[Any, Any], dict[Any, Any]]] = field(default_factory=dict)

    def add(self, path: str, rule: Rule, oracle: Any, engine: Any, note: str = "", clause: str = "") -> None:
        """Report a difference, if the asked strength sees it."""
        if rule.strength == "torch-specific" and self.strength == "required":
            return
        self.differences.append(
            Difference(self.at, path, rule.level, rule.strength, oracle, engine, note, self.kind, clause)
        )
        self.taints = self.taints or rule.taints

    def equal(self, path: str, rule: Rule, oracle: Any, engine: Any) -> None:
        """Compare two plain JSON values; True and 1 differ."""
        if not identical(oracle, engine):
            self.add(path, rule, oracle, engine)


def tag(value: Any) -> str:
    """What sort of observation a value is: the tag of a list, or the name of a JSON type."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        return value[0]
    return type(value).__name__


def keys_of(oracle: dict[str, Any], engine: dict[str, Any]) -> Iterator[str]:
    """All keys of both, the oracle's first, in order."""
    yield from oracle
    yield from (key for key in engine if key not in oracle)


def compare_value(report: Report, path: str, keys: Keys, oracle: Any, engine: Any) -> None:
    """Compare two observations of one value."""
    sort = tag(oracle)
    if sort != tag(engine):
        rule = rules.STATE if "raised" in (sort, tag(engine)) else rules.VALUE
        report.add(path, rule, brief(oracle), brief(engine))
    elif sort == "tensor":
        compare_tensor(report, path, keys, oracle[1], engine[1])
    elif sort in ("list", "tuple"):
        _compare_items(report, path, keys, oracle[1], engine[1])
    elif sort == "dict":
        _compare_dicts(report, path, keys, oracle[1], engine[1])
    elif sort in ("float", "complex"):
        _compare_numbers(report, path, keys, oracle, engine)
    elif sort == "raised":
        compare_error(report, path, oracle[1], oracle[2], engine[1], engine[2])
    else:
        report.equal(path, _RULES_OF_TAGS.get(sort, rules.VALUE), oracle, engine)


_RULES_OF_TAGS = {"dtype": rules.DTYPE, "device": rules.STATE, "node": rules.NAME, "object": rules.NAME}


def _compare_items(report: Report, path: str, keys: Keys, oracle: list[Any], engine: list[Any]) -> None:
    if len(oracle) != len(engine):
        report.add(f"{path}.length", rules.VALUE, len(oracle), len(engine))
    for index, (a, b) in enumerate(zip(oracle, engine, strict=False)):
        compare_value(report, f"{path}.{index}", (*keys, 1, index), a, b)


def _compare_dicts(report: Report, path: str, keys: Keys, oracle: list[Any], engine: list[Any]) -> None:
    if not identical([item[0] for item in oracle], [item[0] for item in engine]):
        report.add(f"{path}.keys", rules.VALUE, [item[0] for item in oracle], [item[0] for item in engine])
        return
    for index, (a, b) in enumerate(zip(oracle, engine, strict=True)):
        compare_value(report, f"{path}.{index}", (*keys, 1, index, 1), a[1], b[1])


def _compare_numbers(report: Report, path: str, keys: Keys, oracle: list[Any], engine: list[Any]) -> None:
    """Python floats and complex numbers: entries of float64, whose bound the shadow writes behind the
    value."""
    parts = {"float": 1, "complex": 2}[oracle[0]]
    a, b = (np.array([float(text) for text in each[1 : 1 + parts]]) for each in (oracle, engine))
    if parts == 2:
        a, b = a.view(np.complex128), b.view(np.complex128)
    shadow = report.shadow(keys)
    bound = None
    if tag(shadow) == oracle[0]:
        bound = decode_bound(shadow[1 + parts], 1) if len(shadow) > 1 + parts else np.zeros(1)
    dtype = "complex128" if parts == 2 else "float64"
    judgement = judge(a, b, bound, dtype)
    _count(report, judgement, gradient=False)
    if judgement.wrong.any():
        report.add(path, rules.VALUE, oracle, engine, _worst(a, b, bound, judgement))


def compare_error(
    report: Report, path: str, oracle_type: str, oracle_text: str, engine_type: str, engine_text: str
) -> None:
    """Compare two exceptions: the type, the stable part of the text, the whole text."""
    report.equal(f"{path}.type", rules.EXCEPTION, oracle_type, engine_type)
    if oracle_text == engine_text:
        return
    template = messages.template_of(oracle_text)
    clause = template.clause if template else ""
    if template is not None and not messages.agree(template, engine_text):
        note = f"the text lacks the part that every release has: {template.wordings[0]!r}"
        report.add(f"{path}.text", rules.EXCEPTION, oracle_text, engine_text, note, clause)
    else:
        report.add(f"{path}.text", rules.TEXT, oracle_text, engine_text, "", clause)


def compare_tensor(
    report: Report, path: str, keys: Keys, oracle: dict[str, Any], engine: dict[str, Any]
) -> None:
    """Compare two observed tensors field by field, the gradient included."""
    plain = report.compare_ids and not (report.eager or report.unread)
    if plain and oracle == engine and same_flags(oracle, engine):
        _compare_equal(report, path, keys, oracle, engine)
        return
    inner = (*keys, 1)
    for name in keys_of(oracle, engine):
        a, b = oracle.get(name, MISSING), engine.get(name, MISSING)
        if name not in _BY_THEMSELVES and a.__class__ is b.__class__ and a == b:
            continue
        unread = name in report.unread and (b is MISSING or name not in _NEEDED)
        unread = unread or (path.endswith(".grad") and f"grad.{name}" in report.unread)
        if unread or (name == "grad" and MISSING in (a, b) and report.unread & _TELL_OF_GRAD):
            report.tally.fields_dropped += 1
            continue
        if name == "id" and not report.compare_ids:
            report.tally.identities_dropped += 1
            continue
        where = f"{path}.{name}"
        if a is MISSING or b is MISSING:
            report.add(where, rules.rule_of_field(name), brief(a), brief(b), "missing on one side")
        elif name == "id":
            _compare_class(report, where, "id", a, b)
        elif name in ("grad", "indices", "values") or tag(a) == "raised" or tag(b) == "raised":
            compare_value(report, where, (*inner, name), a, b)
        elif name == "grad_fn":
            _compare_node(report, where, a, b)
        elif name == "strides":
            _compare_strides(report, where, oracle, engine)
        elif name == "bytes":
            _compare_bytes(report, where, keys, oracle, engine)
        elif name == "storage":
            _compare_storage(report, where, a, b)
        else:
            report.equal(where, rules.rule_of_field(name), a, b)


def _compare_equal(
    report: Report, path: str, keys: Keys, oracle: dict[str, Any], engine: dict[str, Any]
) -> None:
    """Compare two tensors that show the same: what is left are entries to count, and classes to match."""
    for name in _BY_THEMSELVES:
        if name not in oracle or oracle[name] is None:
            continue
        a, b = oracle[name], engine[name]
        where = f"{path}.{name}"
        if tag(a) == "raised":
            continue
        if name == "id":
            _compare_class(report, where, "id", a, b)
        elif name == "bytes":
            _compare_bytes(report, where, keys, oracle, engine)
        elif name == "storage":
            _compare_storage(report, where, a, b)
        else:
            compare_value(report, where, (*keys, 1, name), a, b)


# Fields that say something even where they are equal: entries to count, classes to match.
_NEEDED = frozenset({"bytes", "grad", "shape"})  # what is compared wherever there is anything
_TELL_OF_GRAD = frozenset({"is_leaf", "retains_grad"})  # whether `grad` is read at all
_BY_THEMSELVES = frozenset({"bytes", "grad", "id", "storage", "indices", "values"})


def _compare_node(report: Report, path: str, oracle: Any, engine: Any) -> None:
    if (oracle is None) != (engine is None):
        report.add(path, rules.STATE, oracle, engine)
    else:
        report.equal(path, rules.NAME, oracle, engine)


def _compare_strides(report: Report, path: str, oracle: dict[str, Any], engine: dict[str, Any]) -> None:
    shape, a, b = oracle.get("shape"), oracle["strides"], engine["strides"]
    if identical(a, b) or shape != engine.get("shape"):
        return
    if not isinstance(shape, list) or not len(shape) == len(a) == len(b):
        report.add(path, rules.STRIDES, a, b)
        return
    used = [index for index, size in enumerate(shape) if size > 1] if 0 not in shape else []
    same = all(a[index] == b[index] for index in used)
    report.add(path, rules.QUIRK_STRIDES if same else rules.STRIDES, a, b)


def _compare_class(report: Report, path: str, what: str, oracle: Any, engine: Any) -> bool:
    """Compare classes (identity, storage) as partitions: numbers may differ, what they hold together may
    not."""
    forth, back = report.classes.setdefault(what, ({}, {}))
    first = oracle not in forth and engine not in back
    forth.setdefault(oracle, engine)
    back.setdefault(engine, oracle)
    if forth[oracle] != engine or back[engine] != oracle:
        joined = (
            "the engine joins what the oracle keeps apart" if back[engine] != oracle else "the engine splits"
        )
        report.add(path, rules.STATE, oracle, engine, joined)
    return first


def _compare_storage(report: Report, path: str, oracle: Any, engine: Any) -> None:
    """Storage: the class as a partition, the offset against that of the class's first member in this step."""
    before = len(report.differences)
    first = _compare_class(report, path, "storage", oracle[0], engine[0])
    if len(report.differences) > before:
        return
    origins, _ = report.classes.setdefault("origin", ({}, {}))
    if first:
        origins[oracle[0]] = (oracle[1], engine[1])
    origin = origins.get(oracle[0], (0, 0))
    if oracle[1] - origin[0] != engine[1] - origin[1]:
        report.add(path, rules.STATE, oracle, engine, "another place in the shared memory")
    elif oracle[1] != engine[1]:
        report.add(path, rules.STRIDES, oracle, engine, "another offset into the memory")


def _compare_bytes(
    report: Report, path: str, keys: Keys, oracle: dict[str, Any], engine: dict[str, Any]
) -> None:
    if oracle.get("shape") != engine.get("shape"):
        return
    dtype, shape = oracle.get("dtype", ""), oracle.get("shape", [])
    gradient = ".grad." in path or (len(keys) > 1 and keys[0] == "seen" and keys[1] in report.gradients)
    if not report.eager and oracle["bytes"] == engine["bytes"] and dtype == engine.get("dtype"):
        count = len(oracle["bytes"]) // (2 * item_size(dtype))
        report.tally.entries += count
        report.tally.exact += count
        report.tally.gradients += count if gradient else 0
        return
    try:
        a = decode(oracle["bytes"], dtype, shape)
    except Unreadable as fault:
        raise Unreadable(f"the oracle's {path} after statement {report.at}: {fault}") from None
    try:
        b = decode(engine["bytes"], engine.get("dtype", ""), shape)
    except Unreadable as fault:
        report.add(path, rules.VALUE, oracle["bytes"], engine["bytes"], str(fault))
        return
    bound, note = _bound_of(report, (*keys, 1), a.size)
    if dtype != engine.get("dtype"):
        bound, a, b = _in_common(a, b, bound)
        dtype = "complex128" if a.dtype.kind == "c" else "float64"
    judgement = judge(a, b, bound, dtype)
    _count(report, judgement, gradient)
    if judgement.wrong.any():
        worst = "; ".join(part for part in (_worst(a, b, bound, judgement), note) if part)
        report.add(path, rules.VALUE, shown(a), shown(b), worst)
    elif not same_payloads(a, b) and report.payloads():
        report.add(path, rules.PAYLOAD, oracle["bytes"], engine["bytes"], "another NaN")


def _bound_of(report: Report, keys: Keys, count: int) -> tuple[Bounds | None, str]:
    shadow = report.shadow(keys)
    if shadow is None:
        return None, ""
    observed = shadow.get("bound") if isinstance(shadow, dict) else None
    if observed is None:
        return None, "no bound: compared bit by bit"
    try:
        return decode_bound(observed, count), ""
    except Unreadable:
        return None, "the shadow has another shape here: compared bit by bit"


def _in_common(a: Numbers, b: Numbers, bound: Bounds | None) -> tuple[Bounds, Numbers, Numbers]:
    """Entries of two dtypes as numbers, which may differ by the coarser one's rounding too."""
    coarse = max(_epsilon(a.dtype), _epsilon(b.dtype))
    a, b = wide(a), wide(b)
    if a.dtype != b.dtype:
        a, b = a.astype(np.complex128), b.astype(np.complex128)
    with np.errstate(all="ignore"):
        rounding = np.nan_to_num(coarse * np.abs(a), nan=0.0, posinf=0.0)
    return (0.0 if bound is None else bound) + rounding, a, b


def _epsilon(dtype: np.dtype[Any]) -> float:
    if dtype == DTYPES["bfloat16"]:
        return 2.0**-7
    return 0.0 if dtype.kind in "biu" else float(np.finfo(dtype).eps)


def _count(report: Report, judgement: Judgement, gradient: bool) -> None:
    tally = report.tally
    total, exact = judgement.exact.size, int(judgement.exact.sum())
    ill = int(judgement.ill_conditioned.sum())
    tally.entries += total
    tally.exact += exact
    tally.ill_conditioned += ill
    tally.tolerated += total - exact - ill
    tally.undecided += int(judgement.undecided.sum())
    tally.unsure += int(judgement.unsure.sum())
    tally.gradients += total if gradient else 0


def _worst(a: Numbers, b: Numbers, bound: Bounds | None, judgement: Judgement) -> str:
    """One line on the entry farthest off, and how many are wrong."""
    gap = np.where(judgement.wrong, judgement.distance, -1.0)
    index = int(np.argmax(gap))
    allowed = "none" if bound is None or bound[index] == 0 else f"{2 * bound[index]:.3g}"
    count = int(judgement.wrong.sum())
    return f"{count} of {a.size} entries; entry {index}: {a[index]} against {b[index]}, allowance {allowed}"


def shown(entries: Numbers) -> list[str]:
    """Entries as short texts, the first few."""
    texts = [str(each) for each in entries[:SHOWN_ENTRIES]]
    return texts if entries.size <= SHOWN_ENTRIES else [*texts, f"... {entries.size} in all"]


def brief(value: Any) -> Any:
    """A value short enough to show: a tensor as its dtype, shape and first entries."""
    if tag(value) != "tensor":
        return value
    fields = value[1]
    try:
        entries: Any = shown(decode(fields["bytes"], fields["dtype"], fields["shape"]))
    except (Unreadable, KeyError):
        entries = fields.get("bytes")
    return ["tensor", {"dtype": fields.get("dtype"), "shape": fields.get("shape"), "entries": entries}]


__all__ = ["Report", "Tally", "brief", "compare_error", "compare_value", "keys_of", "tag"]
