"""What comparing two traces says: a verdict, its differences, and how much was compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Level = Literal["values", "state", "errors", "layout"]
Strength = Literal["required", "torch-specific"]
Kind = Literal[
    "conforms",
    "diverges",
    "unsupported",
    "ill-conditioned",
    "flaky",
    "crash",
    "timeout",
    "protocol error",
    "not run",
]

KINDS: tuple[Kind, ...] = get_args(Kind)
LEVELS: tuple[Level, ...] = get_args(Level)
STRENGTHS: tuple[Strength, ...] = get_args(Strength)


@dataclass(frozen=True)
class Missing:
    """Stands for a key that a trace lacks."""

    def __repr__(self) -> str:
        return "(missing)"


MISSING = Missing()


@dataclass(frozen=True)
class Difference:
    """One observation that the engine shows otherwise than the oracle."""

    at: int | Literal["end"]  # the top-level statement after which it shows
    path: str  # where in the step: "outcome", "seen.x.grad.bytes", "log.2.value.shape"
    level: Level
    strength: Strength  # the weakest strength that a run must ask for to see it
    oracle: Any  # JSON values, or numbers as text; MISSING where the trace lacks the key
    engine: Any
    note: str = ""
    kind: str = ""  # of the statement
    clause: str = ""  # of the message template, where the difference is in a text


@dataclass(frozen=True)
class Counts:
    """How much was compared. `entries` is the sum of `exact`, `tolerated` and `ill_conditioned`."""

    entries: int = 0  # numbers in tensors (or python floats) that both sides show
    exact: int = 0  # compared bit by bit: their bound is zero, or none was asked for because the bits agree
    tolerated: int = 0  # compared within their bound
    ill_conditioned: int = 0  # compared within a bound too wide to find the error that must be found
    undecided: int = 0  # of the ill-conditioned: those without any finite bound, so not judged at all
    gradients: int = 0  # of the entries: those of gradients
    identities_dropped: int = 0  # `id` not compared, as one side declares identity unknown
    fields_dropped: int = 0  # other fields not compared, as the engine declares that it has none

    @property
    def ill_conditioned_share(self) -> float:
        """The ill-conditioned entries' part of all entries, 0.0 when there is none."""
        return self.ill_conditioned / self.entries if self.entries else 0.0


@dataclass(frozen=True)
class Verdict:
    """The outcome of one program on one engine. Kinds are never folded into one another."""

    kind: Kind
    differences: tuple[Difference, ...] = ()
    tainted_from: int | Literal["end"] | None = None  # the first statement that was not compared any more
    counts: Counts = field(default_factory=Counts)
    reason: str = ""  # what an engine or the oracle lacks, or why a run failed
