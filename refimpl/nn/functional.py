"""torch.nn.functional: activations, losses, normalization and layers as functions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from ..namespace import TENSOR as F
from ..operations import activation, losses
from ..tensor import Tensor

REDUCTIONS = {"none": losses.NONE, "mean": losses.MEAN, "sum": losses.SUM}


def _reduction(name: str) -> int:
    if name not in REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return REDUCTIONS[name]


def _inplace(name: str, tensor: Tensor, inplace: bool, *args: Any) -> Any:
    return getattr(F, name + ("_" if inplace else ""))(tensor, *args)


def relu(input: Tensor, inplace: bool = False) -> Any:
    """max(x, 0)."""
    return _inplace("relu", input, inplace)


def relu_(input: Tensor) -> Any:
    """relu in place."""
    return F.relu_(input)


def prelu(input: Tensor, weight: Tensor) -> Any:
    """x, scaled by a weight where negative."""
    return F.prelu(input, weight)


def relu6(input: Tensor, inplace: bool = False) -> Any:
    """x between 0 and 6."""
    return _inplace("hardtanh", input, inplace, 0.0, 6.0)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x between two bounds."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _inplace("hardtanh", input, inplace, min_val, max_val)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x, scaled where negative."""
    return _inplace("leaky_relu", input, inplace, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x, or alpha * (exp(x) - 1) where negative."""
    return _inplace("elu", input, inplace, alpha)


def selu(input: Tensor, inplace: bool = False) -> Any:
    """The self-normalizing exponential unit."""
    return _inplace("elu", input, inplace, activation.SELU_ALPHA, activation.SELU_SCALE, 1.0)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """The continuously differentiable exponential unit."""
    return _inplace("celu", input, inplace, alpha)


def gelu(input: Tensor, approximate: str = "none") -> Any:
    """x times the normal distribution's cumulative function."""
    return F.gelu(input, approximate=approximate)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta * x)) / beta, x itself beyond the threshold."""
    return F.softplus(input, beta, threshold)


def silu(input: Tensor, inplace: bool = False) -> Any:
    """x * sigmoid(x)."""
    return _inplace("silu", input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Any:
    """x * tanh(softplus(x))."""
    return _inplace("mish", input, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Any:
    """relu6(x + 3) / 6."""
    return _inplace("hardsigmoid", input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Any:
    """x * relu6(x + 3) / 6."""
    return _inplace("hardswish", input, inplace)


def logsigmoid(input: Tensor) -> Any:
    """log(sigmoid(x))."""
    return F.logsigmoid(input)


def softsign(input: Tensor) -> Any:
    """x / (1 + |x|)."""
    return F.div(input, F.add(F.abs(input), 1))


def tanhshrink(input: Tensor) -> Any:
    """x - tanh(x)."""
    return F.sub(input, F.tanh(input))


def softshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd."""
    return F.softshrink(input, lambd)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Any:
    """x, or 0 within lambd."""
    return F.hardshrink(input, lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Any:
    """x, or `value` where x is not above the threshold."""
    return _inplace("threshold", input, inplace, threshold, value)


def glu(input: Tensor, dim: int = -1) -> Any:
    """The first half times the sigmoid of the second."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return F.glu(input, dim)


def sigmoid(input: Tensor) -> Any:
    """1 / (1 + exp(-x))."""
    return F.sigmoid(input)


def tanh(input: Tensor) -> Any:
    """The hyperbolic tangent."""
    return F.tanh(input)


def _softmax_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
        f"argument.",
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along a dimension."""
    return F.softmax(input, _softmax_dim("softmax", input.dim()) if dim is None else dim, dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """softmax of -x."""
    return F.softmax(F.neg(input), _softmax_dim("softmin", input.dim()) if dim is None else dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    return F.log_softmax(input, _softmax_dim("log_softmax", input.dim()) if dim is None else dim, dtype)


# Losses
def _pair(input: Tensor, target: Tensor, name: str) -> tuple[Any, Any]:
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            f"This will likely lead "
            "to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
    first, second = F.broadcast_tensors(input, target)
    return first, second


def mse_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """The squared difference."""
    return F.mse_loss(*_pair(input, target, "mse_loss"), _reduction(reduction))


def l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """The absolute difference."""
    first, second = _pair(input, target, "l1_loss")
    apart = F.abs(F.sub(first, second))
    kind = _reduction(reduction)
    return apart if kind == losses.NONE else F.mean(apart) if kind == losses.MEAN else F.sum(apart)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Squared near 0, absolute beyond beta."""
    if beta == 0.0:
        return l1_loss(input, target, reduction=reduction)
    return F.smooth_l1_loss(*_pair(input, target, "smooth_l1_loss"), _reduction(reduction), beta)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Squared near 0, linear beyond delta."""
    return F.huber_loss(*_pair(input, target, "huber_loss"), _reduction(reduction), delta)


def nll_loss(
    input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """The negative of each target's own entry."""
    return F.nll_loss(input, target, weight, _reduction(reduction), ignore_index)[0]


def cross_entropy(
    input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """nll_loss of log_softmax; with probabilities as target the mean of -p * log_softmax."""
    axis = 0 if input.dim() == 1 else 1
    scores = F.log_softmax(input, axis)
    kind = _reduction(reduction)
    if not target.is_floating_point():
        plain = F.nll_loss(scores, target, weight, kind, ignore_index)[0]
        if not label_smoothing:
            return plain
        even = F.neg(F.sum(scores, axis))
        spread = even if kind == losses.NONE else F.mean(even) if kind == losses.MEAN else F.sum(even)
        share = label_smoothing / input.shape[axis]
        return F.add(F.mul(plain, 1 - label_smoothing), F.mul(spread, share))
    product = F.mul(scores, target)
    total = F.neg(F.sum(product, axis)) if kind == losses.NONE else F.neg(F.sum(product))
    return F.div_Scalar(total, input.numel() // input.shape[axis]) if kind == losses.MEAN else total


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:  # fmt: skip
    """The cross entropy of sigmoid(x) against probabilities."""
    values = F.sub(F.mul(F.rsub(target, 1), input), F.logsigmoid(input))
    if weight is not None:
        values = F.mul(values, weight)
    kind = _reduction(reduction)
    return values if kind == losses.NONE else F.mean(values) if kind == losses.MEAN else F.sum(values)


def kl_div(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:  # fmt: skip
    """The divergence of exp(input) from the target."""
    if log_target:
        values = F.mul(F.exp(target), F.sub(target, input))
    else:
        values = F.sub(F.xlogy(target, target), F.mul(target, input))
    if reduction == "batchmean":
        return F.div(F.sum(values), input.shape[0])
    kind = _reduction(reduction)
    return values if kind == losses.NONE else F.mean(values) if kind == losses.MEAN else F.sum(values)


# Layers
def linear(input: Tensor, weight: Tensor, bias: Any = None) -> Any:
    """x @ weight.T + bias."""
    if weight.dim() == 1:
        product = F.matmul(input, weight)
    elif input.dim() == 2 and bias is not None:
        return F.addmm(bias, input, F.t(weight))
    else:
        product = F.matmul(input, F.t(weight))
    return product if bias is None else F.add(product, bias)


def layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-05
) -> Any:
    """Mean 0 and variance 1 over the last dimensions."""
    return F.native_layer_norm(input, tuple(normalized_shape), weight, bias, eps)[0]


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Entries set to 0 with probability p, the others scaled; x itself when off."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 0 or not training or input.numel() == 0:
        return input
    if p == 1:
        return (F.mul_ if inplace else F.mul)(input, F.zeros_like(input))
    chance = F.full_like(input.detach(), 1 - p)
    noise = F.div(F.bernoulli(chance), 1 - p)
    return (F.mul_ if inplace else F.mul)(input, noise)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """x divided by its norm, or by eps where that is larger (SUBGRAD-08)."""
    return F.div(input, F.expand_as(F.clamp_min(F.norm(input, p, dim, True), eps), input))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between x1 and x2."""
    first, second = F.broadcast_tensors(x1, x2)
    units = []
    for each in (first, second):
        size = F.linalg_vector_norm(each, 2, dim, True)
        units.append(F.div(each, F.clamp_min(size, eps)))
    return F.sum(F.mul(units[0], units[1]), dim)


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Any:  # fmt: skip
    """Rows of the weight by index; the row padding_idx gets no gradient (SUBGRAD-11).

    Sparse gradients do not exist here.
    """
    index = -1 if padding_idx is None else padding_idx
    if padding_idx is not None and padding_idx < 0:
        index = weight.shape[0] + padding_idx
    if weight.requires_grad and weight.is_complex():
        raise RuntimeError(
            "embedding does not support automatic differentiation for outputs with complex dtype."
        )
    return F.embedding(weight, input, index, scale_grad_by_freq)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Any:
    """1 at each index's own position, 0 elsewhere."""
    return F.one_hot(tensor, num_classes)


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Any:
    """Entries put around (or cut away for negative pads)."""
    if mode != "constant":
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    return F.constant_pad_nd(input, tuple(pad), 0 if value is None else value)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The norm of x1 - x2 + eps over the last dimension."""
    return F.linalg_vector_norm(F.add(F.sub(x1, x2), eps), p, -1, keepdim)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The cross entropy of probabilities."""
    if input.size() != target.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            f"deprecated. "
            "Please ensure they have the same size."
        )
    values = F.neg(F.add(F.mul(target, F.clamp_min(F.log(input), -100.0)),
                         F.mul(F.rsub(target, 1), F.clamp_min(F.log1p(F.neg(input)), -100.0))))  # fmt: skip
    if weight is not None:
        values = F.mul(values, weight)
    kind = _reduction(reduction)
    return values if kind == losses.NONE else F.mean(values) if kind == losses.MEAN else F.sum(values)


def _windows(input: Tensor, size: int, stride: int, padding: int, fill: float) -> Any:
    padded = F.constant_pad_nd(input, (padding, padding), fill) if padding else input
    return F.unfold(padded, -1, size, stride)


def _single(value: Any) -> int:
    return int(value) if isinstance(value, int) else int(value[0])


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """The sum of products of the weight with each window."""
    step, apart = _single(stride), _single(dilation)
    size = (weight.shape[-1] - 1) * apart + 1
    windows = _windows(input, size, step, _single(padding), 0.0)
    windows = F.slice_view(windows, -1, 0, size, apart)
    parts = []
    for first, second in zip(F.chunk(windows, groups, 1), F.chunk(weight, groups, 0), strict=True):
        parts.append(F.einsum("bclk,ock->bol", first, second))
    result = parts[0] if groups == 1 else F.cat(parts, 1)
    return result if bias is None else F.add(result, F.view_shape(bias, (1, bias.shape[0], 1)))


def max_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The largest of each window; the first of equals gets the gradient."""
    size = _single(kernel_size)
    return F.max_dim(_windows(input, size, _single(stride or size), _single(padding), float("-inf")), -1)[0]


def avg_pool1d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Any:
    """The mean of each window."""
    size = _single(kernel_size)
    return F.mean(_windows(input, size, _single(stride or size), _single(padding), 0.0), -1)


def batch_norm(
    input: Tensor, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False,
    momentum: float = 0.1, eps: float = 1e-05,
) -> Any:  # fmt: skip
    """Mean 0 and variance 1 for each channel over the batch."""
    shape = [1] * input.dim()
    shape[1] = input.shape[1]
    axes = tuple(axis for axis in range(input.dim()) if axis != 1)
    if training or running_mean is None:
        mean, variance = F.mean(input, axes, True), F.var(input, axes, False, True)
    else:
        mean, variance = F.view_shape(running_mean, tuple(shape)), F.view_shape(running_var, tuple(shape))
    result = F.mul(F.sub(input, mean), F.rsqrt(F.add(variance, eps)))
    if weight is not None:
        result = F.mul(result, F.view_shape(weight, tuple(shape)))
    return result if bias is None else F.add(result, F.view_shape(bias, tuple(shape)))
