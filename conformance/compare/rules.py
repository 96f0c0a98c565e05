"""The rules of comparing, as one table: which level and strength each observation has, and whether it taints.

A difference *taints* when a later observation may follow from it. Then no later statement is compared, as
it would only show the same fault again. Differences that nothing later can depend on do not taint: a
program cannot catch an exception, so neither its type nor its text reaches a later statement, and neither
do warnings, names of nodes, version numbers or strides in themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from conformance.compare.verdict import Level, Strength


@dataclass(frozen=True)
class Rule:
    """How one kind of observation is judged."""

    level: Level
    strength: Strength = "required"
    taints: bool = True


VALUE = Rule("values")  # numbers, None or not, shape
STATE = Rule("state")  # raised or not, flags, log, identity, storage
EXCEPTION = Rule("errors", taints=False)  # the exception's type, the stable part of its text
TEXT = Rule("errors", "torch-specific", taints=False)  # whole texts, warnings
NAME = Rule("state", "torch-specific", taints=False)  # quirks of torch: node names, version numbers
DTYPE = Rule("layout")  # another precision makes other numbers from here on
STRIDES = Rule("layout", taints=False)
QUIRK_STRIDES = Rule("layout", "torch-specific", taints=False)  # strides that address nothing
PAYLOAD = Rule("values", "torch-specific", taints=False)  # of a NaN

# The tensor's fields that are compared as they stand; the others have code of their own.
PLAIN_FIELDS: MappingProxyType[str, Rule] = MappingProxyType(
    {
        "device": STATE,
        "requires_grad": STATE,
        "is_leaf": STATE,
        "retains_grad": STATE,
        "version": NAME,
        "layout": STATE,
    }
)

# What each field of a tensor is worth when one side lacks it.
TENSOR_FIELDS: MappingProxyType[str, Rule] = MappingProxyType(
    {
        **PLAIN_FIELDS,
        "dtype": DTYPE,
        "shape": VALUE,
        "strides": STRIDES,
        "grad_fn": STATE,
        "bytes": VALUE,
        "indices": VALUE,
        "values": VALUE,
        "grad": VALUE,
        "id": STATE,
        "storage": STATE,
    }
)

# A step's own fields, compared as they stand.
STEP_FIELDS: MappingProxyType[str, Rule] = MappingProxyType({"at": STATE, "kind": STATE, "grad_mode": STATE})


def rule_of_field(name: str) -> Rule:
    """The rule of a tensor's field; an unknown field, as an engine may add one, counts as state."""
    return TENSOR_FIELDS.get(name, STATE)
