"""Which operations refuse which dtypes, with torch's error types and texts.

Kinds are numpy's: `b` bool, `i` signed and `u` unsigned integers, `f` floats, `c` complex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import dtypes
from .table import TABLE

_CLAMP = (("c", NotImplementedError, "clamp is not supported for complex types"),)
_SORT = (("c", RuntimeError, " Sort does not support complex dtypes on CPU"),)


def _kernel(name: str, kinds: str) -> tuple[tuple[str, type[Exception], str], ...]:
    return ((kinds, NotImplementedError, f"\"{name}\" not implemented for '{{type}}'"),)


def _complex(
    text: str, error: type[Exception] = RuntimeError
) -> tuple[tuple[str, type[Exception], str], ...]:
    return (("c", error, text),)


REFUSALS: dict[str, tuple[tuple[str, type[Exception], str], ...]] = {
    "abs": _kernel("abs_cpu", "b"),
    "aminmax": _kernel("aminmax_cpu", "c"),
    "amax": _kernel("max_values_cpu", "c"),
    "amin": _kernel("min_values_cpu", "c"),
    "argmax": _complex("argmax(): does not support complex input"),
    "argmin": _complex("argmin(): does not support complex input"),
    "argsort": _SORT,
    "atan2": _kernel("atan2_cpu", "c"),
    "ceil": _complex("ceil is not supported for complex inputs", NotImplementedError),
    "clamp.Scalar": _CLAMP, "clamp.Tensor": _CLAMP, "clamp_min.Scalar": _CLAMP, "clamp_min.Tensor": _CLAMP,
    "clamp_max.Scalar": _CLAMP, "clamp_max.Tensor": _CLAMP, "hardtanh": _CLAMP,
    "copysign.Tensor": _kernel("copysign_cpu", "c"), "copysign.Scalar": _kernel("copysign_cpu", "c"),
    "cummax": _kernel("cummax_cpu", "c"),
    "cummin": _kernel("cummin_cpu", "c"),
    "div.floor": _kernel("div_floor_cpu", "bc"),
    "div.trunc": _kernel("div_trunc_cpu", "bc"),
    "dot": _kernel("dot", "b"),
    "elu": _kernel("elu_cpu", "biuc"),
    "erf": _kernel("erf_vml_cpu", "c"),
    "erfc": _kernel("erfc_vml_cpu", "c"),
    "floor": _complex("floor is not supported for complex inputs", NotImplementedError),
    "floor_divide": _kernel("div_floor_cpu", "bc"),
    "fmax": _complex("fmax not implemented for complex tensors."),
    "fmin": _complex("fmin not implemented for complex tensors."),
    "fmod.Scalar": _kernel("fmod_cpu", "c"), "fmod.Tensor": _kernel("fmod_cpu", "c"),
    "frac": _kernel("frac_cpu", "biuc"),
    "ge": _kernel("ge_cpu", "c"), "gt": _kernel("gt_cpu", "c"), "le": _kernel("le_cpu", "c"),
    "lt": _kernel("lt_cpu", "c"),
    "gelu": _kernel("GeluKernelImpl", "biuc"),
    "huber_loss": _kernel("huber_cpu", "biuc"),
    "hypot": _kernel("hypot_cpu", "biuc"),
    "isposinf": _complex("isposinf does not support complex inputs."),
    "isneginf": _complex("isneginf does not support complex inputs."),
    "kthvalue": _kernel("kthvalue_cpu", "c"),
    "leaky_relu": _kernel("leaky_relu_cpu", "biuc"),
    "lerp.Scalar": _kernel("lerp_kernel_scalar", "biu"),
    "lerp.Tensor": _kernel("lerp_kernel_tensor", "biu"),
    "lgamma": _kernel("lgamma_vml_cpu", "c"),
    "digamma": _kernel("digamma", "c"),
    "logaddexp": _kernel("logaddexp_cpu", "biu"),
    "max.dim": _complex("max(): does not support complex input"),
    "max.full": _kernel("max_all", "c"),
    "maximum": _complex("maximum not implemented for complex tensors."),
    "median.dim": _kernel("median_out", "c"),
    "median.full": _kernel("median_cpu", "c"),
    "min.dim": _complex("min(): does not support complex input"),
    "min.full": _kernel("min_all", "c"),
    "minimum": _complex("minimum not implemented for complex tensors."),
    "mode": _kernel("mode_cpu", "c"),
    "mse_loss": _kernel("mse_cpu", "biuc"),
    "nansum": _complex("nansum on CPU does not support complex inputs"),
    "pow.Tensor_Tensor": _kernel("pow", "b"),
    "relu": (
        ("c", NotImplementedError, "clamp is not supported for complex types"),
        ("b", RuntimeError, "Boolean inputs not supported for relu"),
    ),
    "remainder.Scalar": _kernel("remainder_cpu", "c"), "remainder.Tensor": _kernel("remainder_cpu", "c"),
    "round.plain": _kernel("round_vml_cpu", "c"),
    "round.decimals": _kernel("round_cpu", "biuc"),
    "sign": _complex(
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
        NotImplementedError,
    ),
    "silu": _kernel("silu_cpu", "biu"),
    "smooth_l1_loss": _kernel("smooth_l1_cpu", "biuc"),
    "softplus": _kernel("softplus_cpu", "biuc"),
    "sort": _SORT,
    "topk": (
        ("c", RuntimeError, "topk does not support complex dtypes on CPU"),
        ("b", RuntimeError, "topk does not support bool dtypes on CPU"),
    ),
    "trunc": _complex("trunc is not supported for complex inputs", NotImplementedError),
    "xlogy": _kernel("xlogy_cpu", "c"),
}  # fmt: skip


def _guarded(
    forward: Callable[..., Any], rules: tuple[tuple[str, type[Exception], str], ...]
) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        dtype = next(value.dtype for value in (*args, *kwargs.values()) if hasattr(value, "dtype"))
        for kinds, error, text in rules:
            if dtype.kind in kinds:
                raise error(text.format(type=dtypes.of(dtype).scalar_name))
        return forward(*args, **kwargs)

    return call


def guard() -> None:
    """Put the refusals of the table before the forwards of their operations."""
    for key, rules in REFUSALS.items():
        entry = TABLE[key]
        entry.forward = _guarded(entry.forward, rules)
