"""A minimal torch.nn: parameters, modules, Linear and losses."""

from __future__ import annotations

from . import functional, parameter
from .modules import (
    GELU,
    CrossEntropyLoss,
    Identity,
    L1Loss,
    LayerNorm,
    Linear,
    Module,
    MSELoss,
    ReLU,
    Sequential,
    Sigmoid,
    Tanh,
)  # fmt: skip
from .parameter import Parameter

__all__ = [
    "GELU", "CrossEntropyLoss", "Identity", "L1Loss", "LayerNorm", "Linear", "MSELoss", "Module",
    "Parameter", "ReLU",
    "Sequential", "Sigmoid", "Tanh", "functional", "parameter",
]  # fmt: skip
