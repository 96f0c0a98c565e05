"""Operations that programs use seldom: sinc, erfinv, igamma, heaviside, block_diag, scatter_reduce and
others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from . import layout, special
from .exponential import elementwise
from .pointwise import binary
from .sizes import infer_size
from .table import FLOAT, PROMOTE, composite, operation, vjp

Array = Any


def _sinc_backward(F: Any, grad: Any, self: Any) -> Any:
    scaled = F.mul_Scalar(self, math.pi)
    square = F.mul_Scalar(F.mul(self, self), math.pi)
    slope = F.mul(grad, F.conj(F.div(F.sub(F.mul(scaled, F.cos(scaled)), F.sin(scaled)), square)))
    return F.where(F.eq(square, 0.0), F.scalar_like(0.0, slope), slope)


def _sinc(x: Array) -> Array:
    scaled = x * x.dtype.type(math.pi)
    return numpy.where(x == 0, 1, numpy.sin(scaled) / numpy.where(x == 0, 1, scaled)).astype(x.dtype)


elementwise("sinc", _sinc, "SincBackward0", vjp(_sinc_backward, "self"))
elementwise(
    "erfinv", special.erfinv, "ErfinvBackward0",
    vjp(
        lambda F, grad, self: F.mul(F.mul_Scalar(F.exp(F.pow(F.erfinv(self), 2)), 0.5 * math.sqrt(math.pi)),
        grad), "self"
    ),
)  # fmt: skip


def _missing(text: str) -> Any:
    def formula(F: Any, grad: Any, *values: Any) -> Any:
        raise NotImplementedError(text)

    return formula


def _igamma_other(F: Any, grad: Any, self: Any, other: Any) -> Any:
    exponent = F.sub(F.mul(F.sub_Scalar(self, 1), F.log(other)), F.add(other, F.lgamma(self)))
    return F.mul(grad, F.exp(exponent))


operation(
    "igamma", binary(special.igamma), parameters="self, other", tensors=("self", "other"), scalars=(),
    promotion=FLOAT,
    node="IgammaBackward0", inplace=True,
    gradients={
        "self": vjp(_missing("the derivative for 'igamma: input' is not implemented."), "self"),
        "other": vjp(_igamma_other, "self", "other"),
    },
)  # fmt: skip
operation(
    "heaviside", binary(numpy.heaviside), parameters="self, values", tensors=("self", "values"), scalars=(),
    promotion=PROMOTE, node="NotImplemented", inplace=True,
    gradients={
        name: vjp(_missing("derivative for aten::heaviside is not implemented")) for name in ("self",
        "values")
    },
)  # fmt: skip


def _block_diag(tensors: Sequence[Array]) -> Array:
    blocks = [numpy.atleast_2d(each) for each in tensors]
    whole = numpy.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)), blocks[0].dtype)
    row = column = 0
    for block in blocks:
        whole[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return whole


def _block_diag_backward(F: Any, grad: Any, shapes: Sequence[Any]) -> list[Any]:
    found, row, column = [], 0, 0
    for shape in shapes:
        rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
        found.append(F.reshape(F.narrow(F.narrow(grad, 0, row, rows), 1, column, columns), tuple(shape)))
        row, column = row + rows, column + columns
    return found


operation(
    "block_diag.list", _block_diag, tensors=("*tensors",), node="BlockDiagBackward0",
    gradients={"tensors": vjp(_block_diag_backward, "tensors.shape")},
)  # fmt: skip


@composite(methods=())
def block_diag(F: Any, *tensors: Any) -> Any:
    """Matrices along the diagonal of one."""
    return F.block_diag_list(tensors)


@composite()
def addbmm(F: Any, self: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * self + alpha * the sum of a batch of products."""
    total = F.sum(F.bmm(batch1, batch2), 0)
    return F.add(self if beta == 1 else F.mul(self, beta), total, alpha=alpha)


@composite()
def matrix_power(F: Any, self: Any, n: int) -> Any:
    """A matrix times itself n times, by repeated squaring."""
    if n < 0:
        return F.matrix_power(F.linalg_inv(self), -n)
    result = None
    square = self
    while n:
        if n & 1:
            result = square if result is None else F.matmul(result, square)
        n >>= 1
        if n:
            square = F.matmul(square, square)
    if result is None:
        return F.add(F.zeros_like(self), F.diag_embed(F.ones_like(F.select(self, -1, 0))))
    return result


@composite()
def slogdet(F: Any, self: Any) -> Any:
    """Sign and logarithm of the determinant's size."""
    determinant = F.linalg_det(self)
    return F.sgn(determinant), F.log(F.abs(determinant))


@composite("fill_diagonal_", functions=())
def _fill_diagonal_(F: Any, self: Any, fill_value: Any, wrap: bool = False) -> Any:
    size = min(self.shape)
    stride = sum(self.stride())
    F.fill_Scalar_(F.as_strided(self, (size,), (stride,), self.storage_offset()), fill_value)
    return self


operation(
    "view_copy.shape", lambda self, size: layout.contiguous(self).reshape(tuple(size)).copy(),
    node="ViewBackward0_copy",
    gradients={"self": vjp(lambda F, grad, shape: F.reshape(grad, shape), "self.shape")},
)  # fmt: skip


@composite(methods=())
def view_copy(F: Any, self: Any, size: Any) -> Any:
    """view, copied."""
    return F.view_copy_shape(self, infer_size(tuple(size), F.numel(self)))


# scatter_reduce
def _scatter_reduce(
    self: Array, dim: int, index: Array, src: Array, reduce: str, *, include_self: bool = True
) -> Array:
    functions = {"sum": numpy.add, "prod": numpy.multiply, "amax": numpy.maximum, "amin": numpy.minimum}
    if reduce not in functions:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    result = numpy.moveaxis(self.copy(), dim, -1)
    where = numpy.moveaxis(index, dim, -1)
    values = numpy.moveaxis(src, dim, -1)[tuple(slice(size) for size in where.shape)]
    grid = numpy.indices(where.shape)
    key = (*grid[:-1], where)
    if not include_self:
        start = {"sum": 0, "prod": 1, "amax": -numpy.inf, "amin": numpy.inf}[reduce]
        result[key] = start
    functions[reduce].at(result, key, values)
    return layout.contiguous(numpy.moveaxis(result, -1, dim))


def _scatter_reduce_self(
    F: Any, grad: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    if reduce == "sum":
        return grad if include_self else F.scatter_value(grad, dim, index, 0)
    if reduce == "prod":
        slope = F.div(F.mul(grad, result), self)
    else:
        ties = F.add(F.to(F.eq(self, result), F.dtype_of(self)), _hits(F, dim, index, src, self, result))
        slope = F.div(F.mul(F.eq(self, result), grad), ties)
    return slope if include_self else F.scatter_value(slope, dim, index, 0)


def _hits(F: Any, dim: int, index: Any, src: Any, self: Any, result: Any) -> Any:
    same = F.to(F.eq(src, F.gather(result, dim, index)), F.dtype_of(src))
    return F.scatter_add(F.zeros_like(self), dim, index, same)


def _scatter_reduce_src(
    F: Any, grad: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> Any:
    if reduce == "sum":
        return F.gather(grad, dim, index)
    if reduce == "prod":
        return F.div(F.gather(F.mul(grad, result), dim, index), src)
    ties = _hits(F, dim, index, src, self, result)
    if include_self:
        ties = F.add(ties, F.to(F.eq(self, result), F.dtype_of(self)))
    share = F.div(F.gather(grad, dim, index), F.gather(ties, dim, index))
    return F.mul(share, F.eq(src, F.gather(result, dim, index)))


_USES = ("self", "dim", "index", "src", "reduce", "include_self", "result")
operation(
    "scatter_reduce", _scatter_reduce, tensors=("self", "index", "src"), node="ScatterReduceBackward0",
    inplace=True,
    gradients={"self": vjp(_scatter_reduce_self, *_USES), "src": vjp(_scatter_reduce_src, *_USES)},
)  # fmt: skip


# prelu
def _prelu(F: Any, self: Any, weight: Any) -> Any:
    if weight.ndim and self.ndim > 1:
        shape = [1] * self.ndim
        shape[1] = weight.shape[0]
        weight = F.view_shape(weight, tuple(shape))
    return F._prelu_kernel(self, weight)


composite("prelu")(_prelu)
operation(
    "_prelu_kernel", binary(lambda x, w: numpy.where(x > 0, x, w * x).astype(x.dtype)),
    parameters="self, weight",
    tensors=("self", "weight"), scalars=(), promotion=PROMOTE, node="PreluKernelBackward0", functions=(),
    methods=(),
    gradients={
        "self": vjp(lambda F, grad, self, weight: F.where(F.gt(self, 0), grad, F.mul(weight, grad)), "self",
        "weight"),
        "weight": vjp(
            lambda F, grad, self, weight: F.where(F.gt(self, 0), F.scalar_like(0, grad), F.mul(self, grad)),
            "self", "weight",
        ),
    },
)  # fmt: skip


@composite(methods=())
def numel(F: Any, self: Any) -> int:
    """The number of entries."""
    count = 1
    for size in self.shape:
        count *= size
    return count


@composite(methods=())
def detach(F: Any, self: Any) -> Any:
    """The tensor outside the graph."""
    return self.detach()


@composite("detach_", functions=("detach_",), methods=())
def _detach_(F: Any, self: Any) -> Any:
    return self.detach_()


@composite(functions=("renorm",), methods=("renorm",))
def renorm(F: Any, self: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    """Slices along `dim` scaled down to a norm of at most `maxnorm`."""
    axes = tuple(axis for axis in range(self.ndim) if axis != dim % self.ndim)
    size = F.linalg_vector_norm(self, p, axes, True)
    factor = F.where(F.gt(size, maxnorm), F.mul(F.reciprocal(F.add(size, 1e-7)), maxnorm), F.ones_like(size))
    return F.mul(self, factor)
