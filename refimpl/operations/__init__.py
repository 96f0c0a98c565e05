"""The operations of the reference engine: one table entry for each, in groups by what they do."""

from __future__ import annotations

from importlib import import_module

GROUPS = (
    "arithmetic", "weighted", "exponential", "comparison", "rounding", "complexes", "activation",
    "reductions",
    "statistics", "extrema", "bounds",
    "views", "striding", "slicing", "diagonals", "joining", "indexing", "gathering", "masking", "mutation",
    "creation", "alike", "linear", "matrices",
    "softmax", "losses", "randomness", "reshaping", "seldom",
)  # fmt: skip


def load() -> None:
    """Import all groups, which fills the table, and guard it against dtypes that torch refuses."""
    for group in GROUPS:
        import_module(f"{__name__}.{group}")
    import_module(f"{__name__}.support").guard()
