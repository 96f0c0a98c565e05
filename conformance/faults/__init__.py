"""Deliberate single errors in the reference engine, which the suite must find."""

from conformance.faults import (
    blind,
    clauses_leaves,
    clauses_lifetimes,
    clauses_passes,
    clauses_seeds,
    clauses_texts,
    formulas,
    gradients,
    hooks,
    passes,
    tensors,
)
from conformance.faults.model import Fault, FaultError, place_of, planted

CATALOGUE: tuple[Fault, ...] = (
    *gradients.FAULTS,
    *passes.FAULTS,
    *tensors.FAULTS,
    *hooks.FAULTS,
    *formulas.FAULTS,
    *clauses_seeds.FAULTS,
    *clauses_leaves.FAULTS,
    *clauses_passes.FAULTS,
    *clauses_lifetimes.FAULTS,
    *clauses_texts.FAULTS,
    *blind.FAULTS,
)
"""Every fault. Those with ``blind`` were chosen before the generator existed (`frozen.py`)."""

BY_ID = {fault.id: fault for fault in CATALOGUE}

__all__ = ["BY_ID", "CATALOGUE", "Fault", "FaultError", "place_of", "planted"]
