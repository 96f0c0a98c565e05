"""Extrema and order: max, min, median, sort, topk, clamp, maximum (SUBGRAD-02, SUBGRAD-03, SUBGRAD-04).

Full reductions share the gradient evenly among ties; those along a dimension send it to the returned index.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import numpy

from .. import arrays
from .dimensions import axes_of, axis_of, unsqueeze_all
from .layout import contiguous, settle
from .pointwise import widen
from .table import composite, operation, vjp

Array = Any


def _named(name: str, *fields: str) -> Any:
    kind = namedtuple(name, fields)  # type: ignore[misc]  # the fields are those of torch's return types
    kind.__module__ = "torch.return_types"
    kind.__repr__ = _named_text  # type: ignore[method-assign]
    return kind


def _named_text(self: Any) -> str:
    inner = ",\n".join(f"{field}={getattr(self, field)!r}" for field in self._fields)
    return f"torch.return_types.{type(self).__name__}(\n{inner})"


def _nonempty(self: Array, name: str) -> None:
    if self.size == 0:
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
            f"dim with the "
            "'dim' argument."
        )


# Full reductions
def _evenly(F: Any, grad: Any, self: Any, result: Any) -> Any:
    mask = (
        F.where(F.isnan(result), F.isnan(self), F.eq(self, result))
        if bool(F.isnan(result))
        else F.eq(self, result)
    )
    return F.masked_fill_Tensor(F.new_zeros(grad, tuple(self.shape)), mask, F.div(grad, F.sum(mask)))


def _full(name: str, function: Any, node: str) -> None:
    def forward(self: Array) -> Array:
        if name in ("max", "min"):
            _nonempty(self, name)
        elif self.size == 0:
            return self.dtype.type(numpy.nan)
        return function(widen(self)).astype(self.dtype)

    operation(
        f"{name}.full",
        forward,
        parameters="self",
        node=node,
        gradients={"self": vjp(_evenly, "self", "result")},
    )


def _median(x: Array) -> Array:
    flat = x.reshape(-1)
    if x.dtype.kind == "f" and numpy.isnan(flat).any():
        return x.dtype.type(numpy.nan)
    return numpy.sort(flat)[(flat.size - 1) // 2]


def _nanmedian(x: Array) -> Array:
    flat = x.reshape(-1)
    flat = flat[~numpy.isnan(flat)] if x.dtype.kind == "f" else flat
    return numpy.sort(flat)[(flat.size - 1) // 2] if flat.size else x.dtype.type(numpy.nan)


_full("max", numpy.max, "MaxBackward1")
_full("min", numpy.min, "MinBackward1")
_full("median", _median, "MedianBackward0")
_full("nanmedian", _nanmedian, "NanmedianBackward0")


# Along a dimension
def _check_axis(self: Array, dim: int, name: str) -> int:
    axis = axis_of(dim, self.ndim)
    if self.ndim and self.shape[axis] == 0:
        raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    return axis


def _taken(self: Array, order: Array, axis: int, keepdim: bool) -> tuple[Array, Array]:
    """Values and indices at `order`, which keeps the dimension."""
    values = numpy.take_along_axis(self, order, axis)
    if not keepdim:
        values, order = values.squeeze(axis), order.squeeze(axis)
    return contiguous(arrays.asarray(values)), contiguous(arrays.asarray(order))


def _along(name: str, arg: Any) -> Any:
    def forward(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
        axis = _check_axis(self, dim, name)
        if self.ndim == 0:
            return self.copy(), numpy.int64(0)
        order = numpy.expand_dims(arg(widen(self), axis), axis)
        return _taken(self, order, axis, keepdim)

    return forward


def _select_backward(F: Any, grads: Any, shape: Sequence[int], dim: int, indices: Any, keepdim: bool) -> Any:
    grad = grads[0] if isinstance(grads, tuple) else grads
    if not keepdim and len(shape):
        grad, indices = F.unsqueeze(grad, dim), F.unsqueeze(indices, dim)
    return F.scatter_src(F.new_zeros(grad, tuple(shape)), dim, indices, grad) if len(shape) else grad


def _by_index(
    key: str,
    forward: Any,
    node: str,
    fields: tuple[str, str] = ("values", "indices"),
    keep: bool | None = None,
) -> None:
    if keep is None:
        gradient = vjp(_select_backward, "self.shape", "dim", "result1", "keepdim")
    else:
        gradient = vjp(
            lambda F, grads, shape, dim, indices: _select_backward(F, grads, shape, dim, indices, True),
            "self.shape", "dim", "result1",
        )  # fmt: skip
    operation(
        key, forward, node=node, outputs=2, nondifferentiable=(1,), result_type=_named(key.partition(".")[0],
        *fields),
        gradients={"self": gradient},
    )  # fmt: skip


def _median_arg(x: Array, axis: int) -> Array:
    order = numpy.argsort(x, axis=axis, kind="stable")
    middle = (x.shape[axis] - 1) // 2
    chosen = numpy.take(order, middle, axis=axis)
    if x.dtype.kind == "f":
        nan = numpy.isnan(x)
        chosen = numpy.where(nan.any(axis), nan.argmax(axis), chosen)
    return chosen


_by_index("max.dim", _along("max", numpy.argmax), "MaxBackward0")
_by_index("min.dim", _along("min", numpy.argmin), "MinBackward0")
_by_index("median.dim", _along("median", _median_arg), "MedianBackward1")


def _mode_forward(self: Array, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    axis = _check_axis(self, dim, "mode")
    if self.ndim == 0:
        return self.copy(), numpy.int64(0)
    counts = numpy.sum(numpy.expand_dims(self, axis) == numpy.expand_dims(self, axis + 1), axis=axis + 1)
    best = counts == counts.max(axis, keepdims=True)
    values = numpy.where(best, self, self.max(axis, keepdims=True)).min(axis, keepdims=True)
    matches = self == values
    last = self.shape[axis] - 1 - numpy.flip(matches, axis).argmax(axis)
    return _taken(self, numpy.expand_dims(last, axis), axis, keepdim)


_by_index("mode", _mode_forward, "ModeBackward0")


@composite()
def max(F: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """The largest entry; with a dimension values and indices; with a tensor the larger of both."""
    return _choose(F, "max", "maximum", self, args, kwargs)


@composite()
def min(F: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """The smallest entry; with a dimension values and indices; with a tensor the smaller of both."""
    return _choose(F, "min", "minimum", self, args, kwargs)


def _choose(F: Any, name: str, pairwise: str, self: Any, args: Any, kwargs: Any) -> Any:
    if not args and not kwargs:
        return getattr(F, name + "_full")(self)
    other = args[0] if args else kwargs.get("other")
    if other is not None and not isinstance(other, int):
        return getattr(F, pairwise)(self, other)
    return getattr(F, name + "_dim")(self, *args, **kwargs)


@composite()
def median(F: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """The lower median of all entries, or along a dimension."""
    return F.median_dim(self, *args, **kwargs) if args or kwargs else F.median_full(self)


@composite()
def nanmedian(F: Any, self: Any) -> Any:
    """The lower median of the entries that are not NaN."""
    return F.nanmedian_full(self)


def _extreme(name: str, function: Any, node: str) -> None:
    def forward(self: Array, dim: Any = (), keepdim: bool = False) -> Array:
        axes = axes_of(dim, self.ndim)
        if any(self.shape[axis] == 0 for axis in axes):
            if dim in ((), None):
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                    f"reduction dim "
                    "with the 'dim' argument."
                )
            raise IndexError(
                f"{name}(): Expected reduction dim {next(a for a in axes if self.shape[a] == 0)} to have "
                f"non-zero size."
            )
        if self.ndim == 0:
            return self.copy()
        return contiguous(
            arrays.asarray(function(widen(self), axis=axes, keepdims=keepdim).astype(self.dtype))
        )

    operation(
        name, forward, node=node,
        gradients={"self": vjp(_extreme_backward, "self", "result", "self.shape", "dim", "keepdim")},
    )  # fmt: skip


def _extreme_backward(
    F: Any, grad: Any, self: Any, result: Any, shape: Sequence[int], dim: Any, keepdim: bool
) -> Any:
    axes = axes_of(dim, len(shape))
    if not keepdim and len(shape):
        grad, result = unsqueeze_all(F, grad, axes), unsqueeze_all(F, result, axes)
    mask = F.eq(result, self)
    return F.mul(F.div(grad, F.sum(mask, axes, True)), mask)


_extreme("amax", numpy.max, "AmaxBackward0")
_extreme("amin", numpy.min, "AminBackward0")


def _aminmax(self: Array, *, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    axis = None if dim is None else axis_of(dim, self.ndim)
    if self.size == 0 and dim is None:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if self.ndim == 0:
        return self.copy(), self.copy()
    wide = widen(self)
    return tuple(
        function(wide, axis=axis, keepdims=keepdim).astype(self.dtype) for function in (numpy.min, numpy.max)
    )


def _aminmax_backward(
    F: Any, grads: Any, self: Any, low: Any, high: Any, shape: Sequence[int], dim: int | None, keepdim: bool
) -> Any:
    total = None
    for grad, result in zip(grads, (low, high), strict=True):
        if grad is not None:
            part = _extreme_backward(F, grad, self, result, shape, () if dim is None else dim, keepdim)
            total = part if total is None else F.add(total, part)
    return total


operation(
    "aminmax", _aminmax, node="AminmaxBackward0", outputs=2, result_type=_named("aminmax", "min", "max"),
    gradients={"self": vjp(_aminmax_backward, "self", "result0", "result1", "self.shape", "dim", "keepdim")},
)  # fmt: skip


# Positions
def _arg(name: str, function: Any) -> None:
    def forward(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
        if dim is None:
            if self.size == 0:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            return function(widen(self).reshape(-1)).astype(numpy.int64)
        axis = _check_axis(self, dim, name)
        if self.ndim == 0:
            return numpy.int64(0)
        return function(widen(self), axis=axis, keepdims=keepdim)

    operation(name, forward)


_arg("argmax", numpy.argmax)
_arg("argmin", numpy.argmin)


def _order(self: Array, axis: int, descending: bool) -> Array:
    wide = widen(self)
    if not descending:
        return numpy.argsort(wide, axis=axis, kind="stable")
    flipped = numpy.flip(wide, axis)
    order = numpy.flip(numpy.argsort(flipped, axis=axis, kind="stable"), axis)
    return self.shape[axis] - 1 - order


def _sort(self: Array, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Array, Array]:
    if self.ndim == 0:
        return self.copy(), numpy.int64(0)
    axis = axis_of(dim, self.ndim)
    values, order = _taken(self, _order(self, axis, descending), axis, True)
    return settle(values, self) if values.ndim > 1 else values, order


_by_index("sort", _sort, "SortBackward0", keep=True)
operation("argsort", lambda self, dim=-1, descending=False, stable=False: _sort(self, dim, descending)[1])


@composite()
def msort(F: Any, self: Any) -> Any:
    """Sorted along the first dimension."""
    return F.sort(self, 0)[0]


def _topk(
    self: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Array, Array]:
    axis = axis_of(dim, self.ndim)
    if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.ndim == 0:
        return self.copy(), numpy.int64(0)
    order = numpy.take(_order(self, axis, largest), range(k), axis=axis)
    values, order = _taken(self, order, axis, True)
    return contiguous(values), contiguous(order)


_by_index("topk", _topk, "TopkBackward0", keep=True)


def _kthvalue(self: Array, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Array, Array]:
    axis = axis_of(dim, self.ndim)
    if not 1 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(axis))
    if self.ndim == 0:
        return self.copy(), numpy.int64(0)
    order = numpy.take(_order(self, axis, False), [k - 1], axis=axis)
    return _taken(self, order, axis, keepdim)


_by_index("kthvalue", _kthvalue, "KthvalueBackward0")


def _running(name: str, better: Any, node: str) -> None:
    def forward(self: Array, dim: int) -> tuple[Array, Array]:
        if self.ndim == 0:
            return self.copy(), numpy.int64(0)
        axis = axis_of(dim, self.ndim)
        moved = numpy.moveaxis(self, axis, 0)
        values, order = moved.copy(), numpy.zeros_like(moved, dtype=numpy.int64)
        for position in range(1, len(moved)):
            take = better(moved[position], values[position - 1]) | numpy.isnan(moved[position])
            take = take & ~(numpy.isnan(values[position - 1]) & ~numpy.isnan(moved[position]))
            values[position] = numpy.where(take, moved[position], values[position - 1])
            order[position] = numpy.where(take, position, order[position - 1])
        return contiguous(numpy.moveaxis(values, 0, axis)), contiguous(numpy.moveaxis(order, 0, axis))

    operation(
        name, forward, node=node, outputs=2, nondifferentiable=(1,), result_type=_named(name, "values",
        "indices"),
        gradients={
            "self": vjp(
                lambda F, grads, shape, dim, indices: F.scatter_add(
                    F.new_zeros(grads[0], tuple(shape)), dim, indices, grads[0]
                ) if len(shape) else grads[0],
                "self.shape", "dim", "result1",
            )
        },
    )  # fmt: skip


_running("cummax", numpy.greater_equal, "CummaxBackward0")
_running("cummin", numpy.less_equal, "CumminBackward0")
