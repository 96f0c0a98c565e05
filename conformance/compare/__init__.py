"""Comparing an engine's trace with the oracle's: levels, strengths, taint, derived tolerance, verdicts."""

from conformance.compare.grouping import Group, group
from conformance.compare.trace import Bounds, TraceError, compare
from conformance.compare.verdict import (
    KINDS,
    LEVELS,
    MISSING,
    STRENGTHS,
    Counts,
    Difference,
    Kind,
    Level,
    Missing,
    Strength,
    Verdict,
)

__all__ = [
    "KINDS",
    "LEVELS",
    "MISSING",
    "STRENGTHS",
    "Bounds",
    "Counts",
    "Difference",
    "Group",
    "Kind",
    "Level",
    "Missing",
    "Strength",
    "TraceError",
    "Verdict",
    "compare",
    "group",
]
