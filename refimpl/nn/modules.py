"""Modules: objects that hold parameters and compute."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from .. import arrays
from ..operations.creation import finish, fresh
from ..operations.randomness import uniform
from ..tensor import Tensor
from . import functional
from .parameter import Parameter


class Module:
    """Something with parameters and a `forward`."""

    training: bool = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes. Raises NotImplementedError where a subclass does not say."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def children(self) -> Iterator[Module]:
        """The modules held directly."""
        for value in vars(self).values():
            if isinstance(value, Module):
                yield value

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """All parameters with their dotted names."""
        for name, value in vars(self).items():
            if isinstance(value, Parameter):
                yield prefix + name, value
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield from value.named_parameters(f"{prefix}{name}.")

    def parameters(self) -> Iterator[Parameter]:
        """All parameters."""
        for _, value in self.named_parameters():
            yield value

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients, or set them to 0."""
        for each in self.parameters():
            if each.grad is None:
                continue
            if set_to_none:
                each.grad = None
            else:
                each.grad.detach_().zero_()

    def train(self, mode: bool = True) -> Module:
        """Switch training mode."""
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Module:
        """Switch training mode off."""
        return self.train(False)


def _uniform(shape: Sequence[int], bound: float, dtype: Any) -> Parameter:
    return Parameter(finish(arrays.asarray(uniform(shape, -bound, bound)).astype(fresh((), 0, dtype).dtype)))


class Linear(Module):
    """x @ weight.T + bias."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        from ..operations.creation import numpy_type

        kind = numpy_type(dtype)
        bound = 1 / math.sqrt(in_features) if in_features else 0.0
        self.in_features, self.out_features = in_features, out_features
        self.weight = _uniform((out_features, in_features), bound, kind)
        self.bias = _uniform((out_features,), bound, kind) if bias else None

    def forward(self, input: Tensor) -> Any:
        """The product with the weight."""
        return functional.linear(input, self.weight, self.bias)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""

    def __init__(
        self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True
    ) -> None:
        from ..operations.creation import numpy_type

        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        kind = numpy_type(None)
        self.normalized_shape, self.eps = shape, eps
        self.weight = Parameter(finish(fresh(shape, 1, kind))) if elementwise_affine else None
        self.bias = Parameter(finish(fresh(shape, 0, kind))) if elementwise_affine and bias else None

    def forward(self, input: Tensor) -> Any:
        """The normalized input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *modules: Module) -> None:
        for index, module in enumerate(modules):
            setattr(self, str(index), module)

    def forward(self, input: Any) -> Any:
        """The input through all modules."""
        for module in self.children():
            input = module(input)
        return input


class Identity(Module):
    """The input itself."""

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class _Function(Module):
    name = ""

    def forward(self, input: Tensor) -> Any:
        """The function of the input."""
        return getattr(functional, self.name)(input)


class ReLU(_Function):
    """functional.relu."""

    name = "relu"


class Sigmoid(_Function):
    """functional.sigmoid."""

    name = "sigmoid"


class Tanh(_Function):
    """functional.tanh."""

    name = "tanh"


class GELU(_Function):
    """functional.gelu."""

    name = "gelu"


class _Loss(Module):
    name = ""

    def __init__(self, reduction: str = "mean") -> None:
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss of input against target."""
        return getattr(functional, self.name)(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """functional.mse_loss."""

    name = "mse_loss"


class L1Loss(_Loss):
    """functional.l1_loss."""

    name = "l1_loss"


class CrossEntropyLoss(_Loss):
    """functional.cross_entropy."""

    name = "cross_entropy"
