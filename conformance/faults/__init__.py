"""Deliberate single errors in the reference engine, which the suite must find."""

from conformance.faults import blind, formulas, gradients, hooks, passes, tensors
from conformance.faults.model import Fault, FaultError, place_of, planted

CATALOGUE: tuple[Fault, ...] = (
    *gradients.FAULTS,
    *passes.FAULTS,
    *tensors.FAULTS,
    *hooks.FAULTS,
    *formulas.FAULTS,
    *blind.FAULTS,
)
"""Every fault. Those with ``blind`` were chosen before the generator existed (`frozen.py`)."""

BY_ID = {fault.id: fault for fault in CATALOGUE}

__all__ = ["BY_ID", "CATALOGUE", "Fault", "FaultError", "place_of", "planted"]
