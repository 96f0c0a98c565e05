"""A run's health: whether it looked at enough for its verdict to mean something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from conformance.compare import Verdict
from conformance.compare.walk import gradient_names
from conformance.programs import Program
from conformance.results import ProgramResult
from conformance.specification.predicates import touches

# At most this share of compared entries may be too ill-conditioned to find an error of 1 %.
ILL_CONDITIONED_ALLOWED = 0.02
# At least this share of generated programs is to end in a compared gradient that is not None.
GRADIENT_AT_END_WANTED = 0.70


def kinds_of(trace: Mapping[str, Any]) -> dict[str, int]:
    """Statement kinds of a trace with their counts."""
    return dict(sorted(Counter(str(step.get("kind", "?")) for step in trace["steps"]).items()))


def outcomes_of(trace: Mapping[str, Any]) -> dict[str, int]:
    """Outcomes of a trace with their counts."""
    return dict(sorted(Counter(str(step.get("outcome", "?")) for step in trace["steps"]).items()))


def clauses_of(program: Program, origin: str, trace: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The clauses that a fixture names, or those that a generated program touches by what it does."""
    if origin == "fixture" or trace is None:
        return tuple(program.clauses) if origin == "fixture" else ()
    return tuple(touches(program, trace))


def ends_in_gradient(program: Program, trace: Mapping[str, Any], verdict: Verdict) -> bool:
    """True if the program's end was compared and shows a gradient that is not None."""
    if verdict.kind not in ("conforms", "ill-conditioned", "diverges") or verdict.tainted_from is not None:
        return False
    end: Mapping[str, Any] = trace.get("end", {})
    gradients = {
        name
        for statement, step in zip(program.body, trace["steps"], strict=True)
        for name in gradient_names(step, statement)
    }
    return any(
        _is_tensor(value) and (name in gradients or _is_tensor(value[1].get("grad")))
        for name, value in end.items()
    )


def _is_tensor(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and value[0] == "tensor"


class Health:
    """Adds up what the programs of a run say about the run itself."""

    def __init__(self) -> None:
        self.verdicts: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._programs: Counter[str] = Counter()
        self._at_end = 0
        self._touched: dict[str, Counter[str]] = {}

    @property
    def programs(self) -> int:
        """How many programs were added."""
        return self.verdicts.total()

    def add(self, result: ProgramResult) -> None:
        """Count one program."""
        self.verdicts[result.verdict] += 1
        self._kinds.update(result.kinds)
        self._outcomes.update(result.outcomes)
        self._counts.update(result.counts)
        if result.executed:
            self._programs[result.origin] += 1
            for clause in result.clauses:
                self._touched.setdefault(clause, Counter())[result.origin] += 1
            self._at_end += result.origin == "generated" and result.gradient_at_end

    def report(self) -> dict[str, Any]:
        """The figures, and a line for each that is worse than it should be."""
        statements = self._outcomes.total()
        entries = self._counts["entries"]
        generated = self._programs["generated"]
        figures: dict[str, Any] = {
            "executed": self._programs.total(),
            "fixtures": self._programs["fixture"],
            "generated": generated,
            "statements": statements,
            "kinds": dict(sorted(self._kinds.items())),
            "raised_share": _share(self._outcomes["raised"], statements),
            "skipped_share": _share(self._outcomes["skipped"], statements),
            "entries": entries,
            "exact_entries": self._counts["exact"],
            "gradient_entries": self._counts["gradients"],
            "ill_conditioned_share": _share(self._counts["ill_conditioned"], entries),
            "undecided_share": _share(self._counts["undecided"], entries),
            "gradient_at_end_share": _share(self._at_end, generated),
            "touched": {
                clause: [count["fixture"], count["generated"]]
                for clause, count in sorted(self._touched.items())
            },
        }
        return {**figures, "warnings": _warnings(figures)}


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _warnings(figures: Mapping[str, Any]) -> list[str]:
    found = []
    if not figures["executed"]:
        found.append("nothing was executed")
        return found
    if not figures["gradient_entries"]:
        found.append("no gradient entry was compared")
    if figures["ill_conditioned_share"] > ILL_CONDITIONED_ALLOWED:
        found.append(
            f"{figures['ill_conditioned_share']:.1%} of the entries are ill-conditioned; "
            f"at most {ILL_CONDITIONED_ALLOWED:.0%} should be"
        )
    if figures["generated"] and figures["gradient_at_end_share"] < GRADIENT_AT_END_WANTED:
        found.append(
            f"{figures['gradient_at_end_share']:.0%} of the generated programs end in a compared gradient; "
            f"at least {GRADIENT_AT_END_WANTED:.0%} should"
        )
    return found
