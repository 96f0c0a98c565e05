"""The derived tolerance: the reference engine run over arrays that carry an error bound with each entry.

The value of an entry is the reference engine's own, in the program's dtype, so a shadow run takes the same
branches. Its bound is the distance from the true value that the roundings so far allow, in the dtype that
torch accumulates in. It is zero where the entry is proven exact. Nothing is assumed of the order of a sum,
nor of which operations an engine fuses; libraries of transcendental functions may be off by
`rounding.ULPS`.

What the bounds leave open is not guessed: a comparison closer than them makes the chosen entries as
uncertain as the choice, and a branch of the program on such a comparison makes everything after it
undecided. Python numbers that were read out of tensors keep their bound only while they are not computed
with outside of tensors.
"""

from conformance.shadow import elementwise, entries, linear, products, reductions, structure
from conformance.shadow.array import BoundedArray, NoRule
from conformance.shadow.run import bounds_of, shadow_bound, shadow_trace

__all__ = [
    "BoundedArray",
    "NoRule",
    "bounds_of",
    "elementwise",
    "entries",
    "linear",
    "products",
    "reductions",
    "shadow_bound",
    "shadow_trace",
    "structure",
]
