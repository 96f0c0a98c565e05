"""Programs made from integers: one decoder, driven by Hypothesis or by a plain generator."""

from conformance.generate.choices import random_choices
from conformance.generate.decode import decode, steps

__all__ = ["decode", "programs", "random_choices", "steps"]
