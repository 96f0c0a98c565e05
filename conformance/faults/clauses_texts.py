"""Faults in texts: each makes a clause false that quotes what torch says."""

from __future__ import annotations

from typing import Any

from conformance.faults.model import Fault


def _another(original: Any) -> Any:
    return "something went wrong"


_CHANGED = (
    ("SEED-06", "seed.type"),
    ("ACC-13", "grad.assign_dtype"),
    ("ACC-19", "inplace.overlap"),
    ("INPUTS-09", "retain_grad.no_grad"),
    ("VIEW-06", "view.multi"),
    ("VIEW-08", "view.ambiguous"),
    ("INPLACE-02", "inplace.leaf_view"),
    ("INPLACE-12", "out.requires_grad"),
    ("INPLACE-18", "inplace.shape"),
    ("INPLACE-20", "saved.hint_anomaly"),
    ("HOOK-04", "hook.type"),
    ("MODE-04", "inference.save"),
    ("DTYPE-02", "gradient.complex"),
    ("DEVICE-02", "gradient.device"),
    ("ERROR-06", "function.no_backward"),
    ("MULTI-10", "root.type"),
    ("MULTI-12", "grad_variables.deprecated"),
    ("FUNC-13", "gradient.type"),
    ("LAYOUT-03", "accumulate.layout"),
)

FAULTS = tuple(
    Fault(
        f"text-{key.replace('.', '-').replace('_', '-')}",
        clause,
        f"refimpl.errors:TEXTS[{key}]",
        f"the text {key} is another",
        _another,
    )
    for clause, key in _CHANGED
)
