"""Losses, normalization and embedding: what torch.nn.functional adds to the operations."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any

import numpy

from .. import arrays, dtypes
from .layout import contiguous
from .pointwise import widen
from .reductions import accumulate_type, sum_over
from .sizes import shape_text
from .table import PROMOTE, composite, operation, vjp

Array = Any

NONE, MEAN, SUM = 0, 1, 2


def _reduced(values: Array, reduction: int) -> Array:
    if reduction == NONE:
        return values
    wide = values.astype(accumulate_type(values.dtype))
    total = sum_over(wide, tuple(range(values.ndim)), False)
    return (total / wide.dtype.type(values.size) if reduction == MEAN else total).astype(values.dtype)


def _loss(name: str, value: Any, slope: Any, curvature: Any, title: str, extra: str = "") -> None:
    """A loss of the difference of two tensors, its backward operation, and that one's derivatives.

    `value(z, extra)`, `slope(z, extra)` are functions of the difference; `curvature` is written over F.
    """
    more = (extra,) if extra else ()
    tail = f", {extra}" if extra else ""

    def forward(self: Array, target: Array, reduction: int = MEAN, *rest: Any) -> Array:
        difference = widen(self) - widen(target)
        return _reduced(value(difference, *rest).astype(self.dtype), reduction)

    def backward(grad_output: Array, self: Array, target: Array, reduction: int, *rest: Any) -> Array:
        difference = widen(self) - widen(target)
        wide = widen(grad_output)
        norm = difference.dtype.type(1.0 / difference.size if reduction == MEAN and difference.size else 1.0)
        return slope(difference, wide, norm, *rest).astype(self.dtype)

    def grad_self(F: Any, grad: Any, self: Any, target: Any, reduction: int, *rest: Any) -> Any:
        return getattr(F, name + "_backward")(grad, self, target, reduction, *rest)

    def grad_target(F: Any, grad: Any, self: Any, target: Any, reduction: int, *rest: Any) -> Any:
        return getattr(F, name + "_backward")(grad, target, self, reduction, *rest)

    def twice_output(
        F: Any, grad: Any, self: Any, target: Any, shape: Any, reduction: int, *rest: Any
    ) -> Any:
        ones = F.ones_like(grad)
        product_ = F.mul(grad, getattr(F, name + "_backward")(ones, self, target, reduction, *rest))
        return product_ if reduction == NONE else F.reshape(F.sum(product_), tuple(shape))

    def twice_self(
        F: Any, grad: Any, grad_output: Any, self: Any, target: Any, reduction: int, *rest: Any
    ) -> Any:
        bent = F.mul(F.mul(grad, grad_output), curvature(F, self, target, *rest))
        return F.mul_Scalar(bent, 1.0 / product(self.shape)) if reduction == MEAN else bent

    def twice_target(F: Any, *args: Any) -> Any:
        return F.neg(twice_self(F, *args))

    used = ("self", "target", "reduction", *more)
    operation(
        name, forward, parameters=f"self, target, reduction{tail}", tensors=("self", "target"), scalars=(),
        promotion=PROMOTE, node=f"{title}Backward0", functions=(), methods=(),
        gradients={"self": vjp(grad_self, *used), "target": vjp(grad_target, *used)},
    )  # fmt: skip
    operation(
        name + "_backward", backward, parameters=f"grad_output, self, target, reduction{tail}",
        tensors=("grad_output", "self", "target"), scalars=(), promotion=PROMOTE,
        node=f"{title}BackwardBackward0",
        functions=(), methods=(),
        gradients={
            "grad_output": vjp(twice_output, "self", "target", "grad_output.shape", "reduction", *more),
            "self": vjp(twice_self, "grad_output", *used),
            "target": vjp(twice_target, "grad_output", *used),
        },
    )  # fmt: skip


_loss(
    "mse_loss", lambda z: z * z, lambda z, g, norm: z.dtype.type(2) * norm * z * g,
    lambda F, self, target: 2.0, "MseLoss",
)  # fmt: skip
_loss(
    "smooth_l1_loss",
    lambda z, beta: numpy.where(numpy.abs(z) < beta, 0.5 * z * z / (beta or 1),
    numpy.abs(z) - 0.5 * beta).astype(z.dtype),
    lambda z, g, norm, beta: numpy.where(
        z <= -beta, -norm * g, numpy.where(z >= beta, norm * g, norm * z * g / z.dtype.type(beta or 1))),
    lambda F, self, target, beta: F.to(F.lt(F.abs(F.sub(self, target)), beta), F.dtype_of(self)),
    "SmoothL1Loss", "beta",
)  # fmt: skip
_loss(
    "huber_loss",
    lambda z, delta: numpy.where(
        numpy.abs(z) <= delta, 0.5 * z * z, delta * (numpy.abs(z) - 0.5 * delta)).astype(z.dtype),
    lambda z, g, norm, delta: numpy.where(
        z <= -delta, -norm * g * z.dtype.type(delta), numpy.where(z >= delta, norm * g * z.dtype.type(delta),
        norm * z * g)),
    lambda F, self, target, delta: F.to(F.lt(F.abs(F.sub(self, target)), delta), F.dtype_of(self)),
    "HuberLoss", "delta",
)  # fmt: skip


@composite(functions=(), methods=())
def dtype_of(F: Any, self: Any) -> Any:
    """The refimpl type of an array or tensor."""
    return self.dtype if isinstance(self.dtype, dtypes.DType) else dtypes.of(self.dtype)


# nll_loss
def _picked(self: Array, target: Array, ignore_index: int) -> tuple[Any, Array]:
    """The key of each target's own entry, and which targets count. Raises IndexError for a class out of
    range."""
    classes = self.shape[1] if self.ndim > 1 else self.shape[0]
    counts = target != ignore_index
    for bad in numpy.extract(counts & ((target < 0) | (target >= classes)), target):
        raise IndexError(f"Target {int(bad)} is out of bounds.")
    safe = numpy.where(counts, target, 0)
    if self.ndim == 1:
        return (safe,), counts
    rows = arrays.arange(self.shape[0])
    if self.ndim == 2:
        return (rows, safe), counts
    grid = numpy.indices(target.shape)
    return (grid[0], safe, *grid[1:]), counts


def _check_nll(self: Array, target: Array) -> None:
    if self.ndim == 0:
        raise RuntimeError("input tensor should be 1D or 2D")
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"expected scalar type Long but found {dtypes.of(target.dtype).scalar_name}")
    if self.ndim == 2 and (target.ndim != 1 or target.shape[0] != self.shape[0]):
        raise ValueError(
            f"Expected input batch_size ({self.shape[0]}) to match target batch_size ({target.shape[0]})."
        )


def _class_weights(self: Array, target: Array, weight: Array | None, ignore_index: int) -> tuple[Any, Array]:
    key, counts = _picked(self, target, ignore_index)
    safe = key[0] if self.ndim == 1 else key[1]
    each = arrays.ones(target.shape, dtype=widen(self).dtype) if weight is None else widen(weight)[safe]
    return key, numpy.where(counts, each, 0).astype(widen(self).dtype)


def _nll_loss(
    self: Array, target: Array, weight: Array | None = None, reduction: int = MEAN, ignore_index: int = -100
) -> tuple[Array, Array]:
    _check_nll(self, target)
    key, scale = _class_weights(self, target, weight, ignore_index)
    losses = -widen(self)[key] * scale
    total = numpy.sum(scale)
    if reduction == NONE:
        return losses.astype(self.dtype), total.astype(self.dtype)
    summed = sum_over(arrays.asarray(losses), tuple(range(losses.ndim)), False)
    return (summed / total if reduction == MEAN else summed).astype(self.dtype), total.astype(self.dtype)


def _nll_backward(
    grad_output: Array, self: Array, target: Array, weight: Array | None, reduction: int, ignore_index: int,
    total_weight: Array,
) -> Array:  # fmt: skip
    key, scale = _class_weights(self, target, weight, ignore_index)
    whole = arrays.zeros(self.shape, dtype=widen(self).dtype)
    grad = widen(grad_output)
    whole[key] = -scale * (grad / total_weight if reduction == MEAN else grad)
    return whole.astype(self.dtype)


def _nll_twice(
    F: Any, grad: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> Any:
    mapped = F.nll_loss(grad, target, weight, reduction if reduction != MEAN else SUM, ignore_index)[0]
    return F.div(mapped, total) if reduction == MEAN else mapped


_NLL = ("self", "target", "weight", "reduction", "ignore_index")
operation(
    "nll_loss", _nll_loss, tensors=("self", "target", "weight"), node="NllLossBackward0", outputs=2,
    nondifferentiable=(1,),
    functions=(), methods=(),
    gradients={"self": vjp(lambda F, grads, *rest: F.nll_loss_backward(grads[0], *rest), *_NLL, "result1")},
)  # fmt: skip
operation(
    "nll_loss_backward", _nll_backward, tensors=("grad_output", "self", "target", "weight", "total_weight"),
    node="NllLossBackwardBackward0", functions=(), methods=(),
    gradients={
        "grad_output": vjp(_nll_twice, *_NLL, "total_weight"),
        "self": vjp(lambda F, grad: F.zeros_like(grad)),
    },
)  # fmt: skip


# layer_norm
def _layer_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array | None = None, bias: Array | None = None,
    eps: float = 1e-05,
) -> tuple[Array, Array, Array]:  # fmt: skip
    shape = tuple(normalized_shape)
    if tuple(input.shape[input.ndim - len(shape) :]) != shape:
        raise RuntimeError(
            f"Given normalized_shape={shape_text(shape)}, expected input with shape [*, "
            f"{str(list(shape))[1:-1]}], but got input "
            f"of size{shape_text(input.shape)}"
        )
    axes = tuple(range(input.ndim - len(shape), input.ndim))
    wide = widen(input)
    count = wide.dtype.type(product(shape))
    mean = sum_over(wide, axes, True) / count
    away = wide - mean
    rstd = 1 / numpy.sqrt(sum_over(away * away, axes, True) / count + wide.dtype.type(eps))
    result = away * rstd
    if weight is not None:
        result = result * widen(weight)
    if bias is not None:
        result = result + widen(bias)
    return contiguous(result.astype(input.dtype)), mean.astype(input.dtype), rstd.astype(input.dtype)


def _layer_norm_backward(
    F: Any, grads: Any, input: Any, normalized_shape: Sequence[int], mean: Any, rstd: Any, weight: Any,
    eps: float,
    needs: tuple[bool, ...],
) -> tuple[Any, Any, Any]:  # fmt: skip
    grad = grads[0]
    if grad is None:
        return None, None, None
    size = len(tuple(normalized_shape))
    axes = tuple(range(grad.ndim - size, grad.ndim))
    outer = tuple(range(grad.ndim - size))
    count = product(normalized_shape)
    if F.recorded:
        center = F.sub(input, F.mean(input, axes, True))
        variance = F.mean(F.mul(center, center), axes, True)
        rstd = F.rsqrt(F.add_Scalar(variance, eps))
        normal = F.mul(center, rstd)
    else:
        normal = F.mul(F.sub(input, mean), rstd)
    found: list[Any] = [None, None, None]
    if needs[0]:
        inner = grad if weight is None else F.mul(grad, weight)
        first = F.div_Scalar(F.sum(inner, axes, True), count)
        second = F.mul(normal, F.div_Scalar(F.sum(F.mul(inner, normal), axes, True), count))
        found[0] = F.mul(rstd, F.sub(F.sub(inner, first), second))
    if needs[1]:
        found[1] = F.sum(F.mul(grad, normal), outer) if outer else F.mul(grad, normal)
    if needs[2]:
        found[2] = F.sum(grad, outer) if outer else grad
    return tuple(found)


operation(
    "native_layer_norm", _layer_norm, tensors=("input", "weight", "bias"), node="NativeLayerNormBackward0",
    outputs=3,
    nondifferentiable=(1, 2), functions=("native_layer_norm",), methods=(),
    joint=vjp(_layer_norm_backward, "input", "normalized_shape", "result1", "result2", "weight", "eps",
    "needs"),
    differentiable=("input", "weight", "bias"),
)  # fmt: skip


# embedding
def _embedding(
    weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False
) -> Array:
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            "but got "
            f"torch.{dtypes.of(indices.dtype).scalar_name}Tensor instead (while checking arguments for "
            f"embedding)"
        )
    if indices.size and not (indices.min() >= 0 and indices.max() < weight.shape[0]):
        raise IndexError("index out of range in self")
    return contiguous(arrays.asarray(weight[indices]))


def _embedding_backward(
    grad: Array, indices: Array, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Array:
    whole = arrays.zeros((num_weights, grad.shape[-1]), dtype=grad.dtype)
    flat = indices.reshape(-1)
    rows = grad.reshape(-1, grad.shape[-1])
    if scale_grad_by_freq:
        counts = numpy.bincount(flat, minlength=num_weights)
        rows = (rows / counts[flat][:, None]).astype(grad.dtype)
    keep = flat != padding_idx
    numpy.add.at(whole, flat[keep], rows[keep])
    return whole


operation(
    "embedding_dense_backward", _embedding_backward, tensors=("grad", "indices"),
    node="EmbeddingDenseBackwardBackward0",
    functions=(), methods=(),
    gradients={
        "grad": vjp(
            lambda F, grad, indices, padding: F.mul(
                F.embedding(grad, indices), F.to(F.unsqueeze(F.ne(indices, padding), -1), F.dtype_of(grad))
            ),
            "indices", "padding_idx",
        )
    },
)  # fmt: skip
operation(
    "embedding", _embedding, tensors=("weight", "indices"), node="EmbeddingBackward0",
    functions=("embedding",), methods=(),
    gradients={
        "weight": vjp(
            lambda F, grad, indices, shape, padding, scale: F.embedding_dense_backward(
                grad, indices, shape[0], padding, scale
            ),
            "indices", "weight.shape", "padding_idx", "scale_grad_by_freq",
        )
    },
)  # fmt: skip


def _one_hot(self: Array, num_classes: int = -1) -> Array:
    classes = int(self.max()) + 1 if num_classes < 0 else num_classes
    return (self[..., None] == arrays.arange(classes)).astype(numpy.int64)


operation("one_hot", _one_hot, functions=(), methods=())


def _nan_to_num(self: Array, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Array:
    if self.dtype.kind not in "fV":
        return self.copy()
    limits = dtypes.finfo(dtypes.of(self.dtype))
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    wide = widen(self)
    result = numpy.where(numpy.isnan(wide), 0.0 if nan is None else nan, wide)
    result = numpy.where(wide == numpy.inf, high, numpy.where(wide == -numpy.inf, low, result))
    return result.astype(self.dtype)


operation(
    "nan_to_num", _nan_to_num, node="NanToNumBackward0", inplace=True,
    gradients={"self": vjp(lambda F, grad, self: F.mul(grad, F.isfinite(self)), "self")},
)  # fmt: skip
