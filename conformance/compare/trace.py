"""Comparing two traces of one program, statement by statement.

What is compared where:

* Within a statement everything, even after a difference: outcome, error, value, log, warnings, grad mode,
  and all that is seen. So a verdict lists all that the first differing statement shows.
* After the first difference that *taints* (see `rules`), no later statement, nor the end, nor the leaks.
  Only the number of steps is still checked, since a trace that stops early is no trace of the program.
* After a statement that the engine does not support, nothing: what follows lacks a value that it never had.
* After a statement that the oracle lacks (an old release without the name), nothing either: nobody is there
  to be believed. If all before agrees, the program was not judged, and the verdict is `not run`.
* From a statement on where the shadow cannot tell which branch is right (a comparison closer than its
  bounds), only what comes before is judged; the verdict is then `ill-conditioned` if the traces differ from
  there on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from conformance.compare import rules
from conformance.compare.observe import Report, Tally, compare_error, compare_value, keys_of, tag
from conformance.compare.rules import STATE, TEXT
from conformance.compare.verdict import MISSING, STRENGTHS, Difference, Kind, Strength, Verdict
from conformance.compare.walk import (
    Count,
    count_names,
    count_step,
    gradient_names,
    identical,
    knows_identity,
    same_step,
    same_types,
    spells_bits,
)


class HasBody(Protocol):
    """What comparing needs of a program."""

    @property
    def body(self) -> Sequence[dict[str, Any]]:
        """The top-level statements."""


Trace = dict[str, Any]
Bounds = Trace | Callable[[], Trace] | None

_END = "end"


class TraceError(ValueError):
    """The oracle's trace is none of this program: nothing can be compared with it."""


class _Shadow:
    """The shadow's trace, made when first asked for."""

    def __init__(self, bounds: Bounds) -> None:
        self.eager = isinstance(bounds, dict)
        self._bounds = bounds

    def trace(self) -> Trace | None:
        if callable(self._bounds):
            self._bounds = self._bounds()
        return self._bounds

    def step(self, index: int) -> Any:
        trace = self.trace()
        steps = trace["steps"] if trace else []
        return steps[index] if index < len(steps) else None

    def undecided(self, index: int) -> bool:
        """True if the shadow met a branch at or before this statement that its bounds do not decide."""
        step = self.step(index)
        return bool(step and step.get("undecided"))

    def lookup(self, root: Callable[[], Any]) -> Callable[[tuple[Any, ...]], Any]:
        """A function that finds the observation at the same place as a tensor, or None."""

        def at(keys: tuple[Any, ...]) -> Any:
            place = root()
            for key in keys:
                try:
                    place = place[key]
                except (KeyError, IndexError, TypeError):
                    return None if self._bounds is None else {}
            return place

        return at


def compare(
    program: HasBody,
    oracle: Trace,
    engine: Trace,
    *,
    strength: Strength = "required",
    bounds: Bounds = None,
    unread: frozenset[str] = frozenset(),
) -> Verdict:
    """Compare an engine's trace with the oracle's.

    `bounds` is the program's shadow trace, or a function that makes it: it is called at most once, and only
    if bits differ somewhere. With a trace, every entry is classed by its bound; with a function, entries
    with the same bits count as exact. Without bounds all entries compare bit by bit. `unread` names the
    fields in which the engine says that it has nothing of its own to show; they are not compared.

    Raises ValueError for an unknown strength, TraceError if the oracle's trace is not one of this program.
    """
    if strength not in STRENGTHS:
        raise ValueError(f"unknown strength {strength!r}: one of {', '.join(STRENGTHS)}")
    _check_oracle(program, oracle)
    return _Comparison(program, oracle, engine, strength, _Shadow(bounds), unread).verdict()


def _check_oracle(program: HasBody, oracle: Trace) -> None:
    if len(oracle["steps"]) != len(program.body):
        raise TraceError(
            f"the oracle's trace has {len(oracle['steps'])} steps, the program {len(program.body)}"
        )
    expected = getattr(program, "hash", None)
    told = oracle.get("program")
    if expected is not None and told is not None and told.removeprefix("sha256:") != expected:
        raise TraceError(f"the oracle's trace is of program {told}, not of {expected}")


class _Comparison:
    """One comparison; holds what accumulates over the steps."""

    def __init__(
        self,
        program: HasBody,
        oracle: Trace,
        engine: Trace,
        strength: Strength,
        shadow: _Shadow,
        unread: frozenset[str] = frozenset(),
    ) -> None:
        self.unread = unread
        self.program, self.oracle, self.engine = program, oracle, engine
        self.strength, self.shadow = strength, shadow
        self.tally = Tally()
        self.differences: list[Difference] = []
        self.tainted_from: Any = None
        self.compare_ids = knows_identity(oracle) and knows_identity(engine)
        self._payloads: bool | None = None
        self.unsure = False

    def verdict(self) -> Verdict:
        """Walk the steps until something ends the comparison."""
        steps: list[Any] = self.oracle["steps"]
        ours: list[Any] = self.engine.get("steps", [])
        self._structure(steps, ours)
        for index, (a, b) in enumerate(zip(steps, ours, strict=False)):
            for side, step in (("oracle", a), ("engine", b)):
                if step.get("outcome") == "unsupported":
                    return self._unsupported(side, index, str(step.get("missing", "?")))
            if self._step(index, a, b):
                return self._done()
        if len(ours) == len(steps):
            self._end(steps, ours)
        return self._done()

    def _structure(self, steps: list[Any], ours: list[Any]) -> None:
        """The trace as a whole: whose it is, and that it is all there."""
        same = all(identical(self.oracle.get(key), self.engine.get(key)) for key in ("form", "program"))
        if same and len(steps) == len(ours):
            return
        report = self._report(len(ours) if len(ours) < len(steps) else _END, "", lambda: None)
        for key in ("form", "program"):
            if key in self.oracle or key in self.engine:
                report.equal(key, STATE, self.oracle.get(key, MISSING), self.engine.get(key, MISSING))
        if len(steps) != len(ours):
            report.add("steps", STATE, len(steps), len(ours), "the number of steps in the trace")
        self.differences += report.differences

    def payloads(self) -> bool:
        """Whether the payloads of NaNs are meant; looked up in the program only when bits differ."""
        if self._payloads is None:
            self._payloads = spells_bits(self.program.body)
        return self._payloads

    def _report(
        self, at: Any, kind: str, root: Callable[[], Any], gradients: frozenset[str] = frozenset()
    ) -> Report:
        return Report(
            at,
            kind,
            self.strength,
            self.tally,
            self.shadow.lookup(root),
            self.compare_ids,
            self.shadow.eager,
            self.payloads,
            gradients,
            self.unread,
        )

    def _step(self, index: int, a: dict[str, Any], b: dict[str, Any]) -> bool:
        """Compare one step; True if nothing after it is to be compared."""
        statement = self.program.body[index]
        alike = same_step(a, b)
        if alike and not self.shadow.eager:
            self._count(count_step(a, gradient_names(a, statement)))
            return False
        if self.shadow.undecided(index):
            self.unsure = self.unsure or not alike
            self._count(count_step(a, gradient_names(a, statement)), undecided=True)
            return False
        report = self._report(
            index, str(a.get("kind", "")), lambda: self.shadow.step(index), gradient_names(a, statement)
        )
        compare_step(report, a, b)
        return self._close(report, index + 1 if index + 1 < len(self.program.body) else _END)

    def _end(self, steps: list[Any], ours: list[Any]) -> None:
        a, b = self.oracle.get("end", {}), self.engine.get("end", {})
        alike = a == b and same_types(a, b)
        if alike and not self.shadow.eager:
            self._count(count_names(a, frozenset()))
        elif steps and self.shadow.undecided(len(steps) - 1):
            self.unsure = self.unsure or not alike
            self._count(count_names(a, frozenset()), undecided=True)
        else:
            report = self._report(_END, "", lambda: {"seen": (self.shadow.trace() or {}).get("end")})
            compare_names(report, "end", a, b)
            if self._close(report, None):
                return
        a, b = self.oracle.get("leaks", MISSING), self.engine.get("leaks", MISSING)
        if not identical(a, b):
            report = self._report(_END, "", lambda: None)
            report.equal("leaks", STATE, a, b)
            self._close(report, None)

    def _close(self, report: Report, following: Any) -> bool:
        self.differences += report.differences
        if report.taints:
            self.tainted_from = following
        return report.taints

    def _count(self, count: Count, *, undecided: bool = False) -> None:
        self.tally.entries += count.entries
        self.tally.gradients += count.gradients
        if undecided:
            self.tally.ill_conditioned += count.entries
            self.tally.undecided += count.entries
        else:
            self.tally.exact += count.entries

    def _unsupported(self, side: str, index: int, missing: str) -> Verdict:
        if self.differences:
            return self._done()
        kind: Kind = "not run" if side == "oracle" else "unsupported"
        reason = f"statement {index}: the {side} lacks {missing}"
        return Verdict(kind, (), None, self.tally.counts(), reason)

    def _done(self) -> Verdict:
        counts = self.tally.counts()
        if self.differences:
            return Verdict("diverges", tuple(self.differences), self.tainted_from, counts)
        if self.unsure or self.tally.unsure:
            reason = "entries differ whose bounds are too wide to tell right from wrong"
            return Verdict("ill-conditioned", (), None, counts, reason)
        return Verdict("conforms", (), None, counts)


_STEP_KEYS = frozenset({"outcome", "error", "log", "warnings", "seen", "value"})


def compare_step(report: Report, oracle: dict[str, Any], engine: dict[str, Any]) -> None:
    """Compare all that one statement shows."""
    for key in keys_of(oracle, engine):
        a, b = oracle.get(key, MISSING), engine.get(key, MISSING)
        if key == "value" and a is not MISSING and b is not MISSING:
            compare_value(report, key, (key,), a, b)
        elif key == "seen" and isinstance(a, dict) and isinstance(b, dict):
            compare_names(report, key, a, b)
        elif key in report.unread and b is MISSING:
            continue
        elif key == "error" and isinstance(a, dict) and isinstance(b, dict):
            _compare_raised(report, a, b)
        elif key == "log" and isinstance(a, list) and isinstance(b, list):
            _compare_log(report, a, b)
        elif key == "warnings":
            report.equal(key, TEXT, a, b)
        elif key in ("error", "value") and oracle.get("outcome") != engine.get("outcome"):
            continue  # said by the outcome
        else:
            report.equal(key, rules.STEP_FIELDS.get(key, STATE), a, b)


def compare_names(report: Report, path: str, oracle: dict[str, Any], engine: dict[str, Any]) -> None:
    """Compare the values of names."""
    for name in keys_of(oracle, engine):
        a, b = oracle.get(name, MISSING), engine.get(name, MISSING)
        if a is MISSING or b is MISSING:
            bound, unbound = "bound", "not bound"
            report.add(
                f"{path}.{name}",
                STATE,
                unbound if a is MISSING else bound,
                unbound if b is MISSING else bound,
            )
        else:
            compare_value(report, f"{path}.{name}", ("seen", name), a, b)


def _compare_raised(report: Report, oracle: dict[str, Any], engine: dict[str, Any]) -> None:
    compare_error(
        report,
        "error",
        oracle.get("type", ""),
        oracle.get("text", ""),
        engine.get("type", ""),
        engine.get("text", ""),
    )
    for key in keys_of(oracle, engine):
        if key not in ("type", "text"):
            report.equal(f"error.{key}", rules.EXCEPTION, oracle.get(key, MISSING), engine.get(key, MISSING))


def _compare_log(report: Report, oracle: list[Any], engine: list[Any]) -> None:
    """Compare what hooks, functions, loops and threads showed: who and where first, then the values."""
    places = [[_place(entry) for entry in log] for log in (oracle, engine)]
    if not identical(*places):
        shorter = min(len(oracle), len(engine))
        first = next((i for i in range(shorter) if not identical(places[0][i], places[1][i])), shorter)
        report.add("log", STATE, places[0], places[1], f"entry {first} is the first to differ")
        return
    for index, (a, b) in enumerate(zip(oracle, engine, strict=True)):
        if ("value" in a) != ("value" in b):
            report.add(
                f"log.{index}.value", STATE, tag(a.get("value", MISSING)), tag(b.get("value", MISSING))
            )
        elif "value" in a:
            compare_value(report, f"log.{index}.value", ("log", index, "value"), a["value"], b["value"])


def _place(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != "value"}
