"""``torch.autograd.functional``: jacobian and hessian by repeated passes (HIGHER-09)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor import Tensor

__all__ = ["hessian", "jacobian"]


def jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The Jacobian of ``func`` at one tensor, or a tuple of blocks for a tuple of tensors."""
    from . import grad as gradient

    single = isinstance(inputs, Tensor)
    points = (inputs,) if single else tuple(inputs)
    points = tuple(each.view_as(each) if create_graph else each.detach().requires_grad_() for each in points)
    output = func(*points)
    flat = output.reshape(-1)
    rows: list[list[Any]] = [[] for _ in points]
    for i in range(flat.numel()):
        found = gradient(
            flat[i], points, retain_graph=True, create_graph=create_graph, materialize_grads=True
        )
        for row, each in zip(rows, found, strict=True):
            row.append(each)
    from ..namespace import TENSOR

    blocks = tuple(
        TENSOR.stack(row, 0).reshape(tuple(output.shape) + tuple(point.shape))
        for row, point in zip(rows, points, strict=True)
    )
    return blocks[0] if single else blocks


def hessian(func: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The Hessian of a scalar function at one tensor."""

    def gradient_of(point: Tensor) -> Any:
        from . import grad as gradient

        return gradient(func(point), point, create_graph=True, materialize_grads=True)[0]

    start = inputs if create_graph else inputs.detach().requires_grad_()
    found = jacobian(gradient_of, start, create_graph=True)
    return found if create_graph else found.detach()
