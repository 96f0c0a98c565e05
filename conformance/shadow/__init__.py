"""The derived tolerance: the reference engine run once more over arrays that carry an error bound with each
entry."""

from conformance.shadow import elementwise, entries, linear, products, reductions, structure
from conformance.shadow.array import BoundedArray, NoRule
from conformance.shadow.run import shadow_bound, shadow_trace

__all__ = [
    "BoundedArray",
    "NoRule",
    "elementwise",
    "entries",
    "linear",
    "products",
    "reductions",
    "shadow_bound",
    "shadow_trace",
    "structure",
]
