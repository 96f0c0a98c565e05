"""Parameters: tensors that require grad from birth."""

from __future__ import annotations

from typing import Any

from ..operations.creation import tensor
from ..tensor import Tensor, set_requires_grad, wrap


class Parameter(Tensor):
    """A leaf that shares the memory of `data` and requires grad (LEAF-14)."""

    __slots__ = ()
    __module__ = "torch.nn.parameter"

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        source = tensor([]) if data is None else data
        made = wrap(source.detach().array())
        made.__class__ = cls
        made._counter = source._counter
        if requires_grad:
            set_requires_grad(made, True, "requires_grad.constructor", setter=False)
        return made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """Everything is done when the object is made."""

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)
