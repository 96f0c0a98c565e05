"""Linear algebra: products of all ranks, triangles, inverse, determinant, solve."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod as product
from typing import Any

import numpy

from .. import dtypes
from ..dtypes import REDUCED
from . import layout
from .arithmetic import is_number
from .dimensions import axis_of
from .pointwise import widen
from .sizes import broadcast_shapes, shape_text
from .table import composite, operation, vjp

Array = Any


def _same_type(name: str, first: Array, second: Array) -> None:
    if first.dtype != second.dtype:
        a, b = (_c_name(each.dtype) for each in (first, second))
        if name in ("dot", "vdot"):
            a, b = (dtypes.of(each.dtype).scalar_name for each in (first, second))
            raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {a} and {b}")
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {a} != {b}")


def _c_name(dtype: Any) -> str:
    return {
        "float32": "float", "float64": "double", "int64": "long long", "int32": "int",
        "complex64": "c10::complex<float>",
        "complex128": "c10::complex<double>", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
        "bool": "bool",
    }.get(dtypes.of(dtype).name, dtypes.of(dtype).name)  # fmt: skip


def _multiplied(first: Array, second: Array) -> Array:
    """numpy's product; the reduced types in float32, rounded once."""
    if first.dtype in REDUCED:
        return numpy.matmul(widen(first), widen(second)).astype(first.dtype)
    return numpy.matmul(first, second)


def dot(self: Array, tensor: Array) -> Array:
    """The product of two vectors."""
    if self.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors")
    _same_type("dot", self, tensor)
    if self.size != tensor.size:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor "
            f"{shape_text(self.shape)} and src {shape_text(tensor.shape)} to have the same number of "
            f"elements, but got "
            f"{self.size} and {tensor.size} elements respectively"
        )
    return _multiplied(self, tensor)


operation(
    "dot", dot, tensors=("self", "tensor"), node="DotBackward0",
    gradients={
        "self": vjp(lambda F, grad, tensor: F.mul(grad, F.conj(tensor)), "tensor"),
        "tensor": vjp(lambda F, grad, self: F.mul(grad, F.conj(self)), "self"),
    },
)  # fmt: skip
operation(
    "vdot", lambda self, other: dot(numpy.conjugate(self), other), tensors=("self", "other"),
    node="VdotBackward0",
    gradients={
        "self": vjp(lambda F, grad, other: F.mul(F.conj(grad), other), "other"),
        "other": vjp(lambda F, grad, self: F.mul(grad, self), "self"),
    },
)  # fmt: skip


def mv(self: Array, vec: Array) -> Array:
    """A matrix times a vector."""
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat ({self.shape[0]}x{self.shape[1]}), vec "
            f"({vec.size})"
        )
    if self.dtype != vec.dtype:
        a, b = (dtypes.of(each.dtype).scalar_name for each in (self, vec))
        raise RuntimeError(f"expected scalar type {a} but found {b}")
    return _multiplied(self, vec)


operation(
    "mv", mv, tensors=("self", "vec"), node="MvBackward0",
    gradients={
        "self": vjp(lambda F, grad, vec: F.outer(grad, F.conj(vec)), "vec"),
        "vec": vjp(lambda F, grad, self: F.mv(F.t(F.conj(self)), grad), "self"),
    },
)  # fmt: skip


def mm(self: Array, mat2: Array) -> Array:
    """A matrix times a matrix."""
    for name, each in (("self", self), ("mat2", mat2)):
        if each.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
    if self.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[1]} and "
            f"{mat2.shape[0]}x{mat2.shape[1]})"
        )
    _same_type("mm", self, mat2)
    return layout.contiguous(_multiplied(self, mat2))


def _is_column_major(shape: Sequence[int], strides: Sequence[int]) -> bool:
    return strides[0] == 1 and strides[1] == shape[0]


def _mat1_grad(F: Any, grad: Any, mat2: Any, shape: Sequence[int], strides: Sequence[int], alpha: Any) -> Any:
    if _is_column_major(shape, strides):
        return F.maybe_multiply(F.t(F.mm(F.conj(mat2), F.t(grad))), alpha)
    return F.maybe_multiply(F.mm(grad, F.conj(F.t(mat2))), alpha)


def _mat2_grad(F: Any, grad: Any, mat1: Any, shape: Sequence[int], strides: Sequence[int], alpha: Any) -> Any:
    if _is_column_major(shape, strides):
        return F.maybe_multiply(F.t(F.mm(F.t(grad), F.conj(mat1))), alpha)
    return F.maybe_multiply(F.mm(F.conj(F.t(mat1)), grad), alpha)


operation(
    "mm", mm, tensors=("self", "mat2"), node="MmBackward0",
    gradients={
        "self": vjp(
            lambda F, grad, mat2, shape, strides: _mat1_grad(F, grad, mat2, shape, strides, 1),
            "mat2", "self.shape", "self.strides",
        ),
        "mat2": vjp(
            lambda F, grad, self, shape, strides: _mat2_grad(F, grad, self, shape, strides, 1),
            "self", "mat2.shape", "mat2.strides",
        ),
    },
)  # fmt: skip


def bmm(self: Array, mat2: Array) -> Array:
    """A batch of matrices times another."""
    for name, each in (("batch1", self), ("batch2", mat2)):
        if each.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{self.shape[0]}, "
            f"{self.shape[2]}] but got: "
            f"[{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    _same_type("bmm", self, mat2)
    return layout.contiguous(_multiplied(self, mat2))


operation(
    "bmm", bmm, tensors=("self", "mat2"), node="BmmBackward0",
    gradients={
        "self": vjp(lambda F, grad, mat2: F.bmm(grad, F.conj(F.transpose(mat2, 1, 2))), "mat2"),
        "mat2": vjp(lambda F, grad, self: F.bmm(F.conj(F.transpose(self, 1, 2)), grad), "self"),
    },
)  # fmt: skip


@composite(functions=("outer", "ger"), methods=("outer", "ger"))
def outer(F: Any, self: Any, vec2: Any) -> Any:
    """All products of two vectors' entries."""
    if self.ndim != 1 or vec2.ndim != 1:
        which, ndim = ("self", self.ndim) if self.ndim != 1 else ("vec2", vec2.ndim)
        raise RuntimeError(f"outer: Expected 1-D argument {which}, but got {ndim}-D")
    return F.mul(F.view_shape(self, (self.shape[0], 1)), vec2)


@composite()
def matmul(F: Any, self: Any, other: Any) -> Any:
    """The product of tensors of any rank above 0, batches broadcast."""
    if is_number(other) or is_number(self):
        wrong = type(other if is_number(other) else self).__name__
        raise TypeError(f"matmul(): argument 'other' (position 2) must be Tensor, not {wrong}")
    first, second = self.ndim, other.ndim
    if first == 0 or second == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {first}D and {second}D"
        )
    if first == 1 and second == 1:
        return F.dot(self, other)
    if first == 2 and second == 1:
        return F.mv(self, other)
    if first == 1 and second == 2:
        row = F.mm(F.unsqueeze(self, 0), other)
        return F.squeeze_inplace_dim_(row, 0) if F.recorded else F.squeeze_dim(row, 0)
    if first == 2 and second == 2:
        return F.mm(self, other)
    if second <= 2 < first or first <= 2 < second:
        return _folded(F, self, other)
    return _batched(F, self, other)


def _folded(F: Any, self: Any, other: Any) -> Any:
    """One operand is a batch and the other is not: fold the batch into the rows."""
    if self.ndim < other.ndim:
        transposed = F.transpose(other, -1, -2)
        flipped = F.t(self) if self.ndim == 2 else self
        result = _folded(F, transposed, flipped)
        return F.transpose(result, -1, -2) if self.ndim == 2 else result
    shape = tuple(self.shape)
    rows = F.reshape(self, (product(shape[:-1]), shape[-1]))
    if other.ndim == 1:
        return F._unsafe_view(F.mv(rows, other), shape[:-1])
    return F._unsafe_view(F.mm(rows, other), (*shape[:-1], other.shape[1]))


def _batched(F: Any, self: Any, other: Any) -> Any:
    left, right = tuple(self.shape), tuple(other.shape)
    if left[-1] != right[-2]:
        batch = product(broadcast_shapes(left[:-2], right[:-2]))
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{batch}, {left[-1]}] but got: "
            f"[{batch}, {right[-2]}]."
        )
    lead = broadcast_shapes(left[:-2], right[:-2])
    first = F.reshape(F.expand(self, (*lead, *left[-2:])), (product(lead), *left[-2:]))
    second = F.reshape(F.expand(other, (*lead, *right[-2:])), (product(lead), *right[-2:]))
    return F._unsafe_view(F.bmm(first, second), (*lead, left[-2], right[-1]))


@composite("rmatmul", functions=(), methods=())
def _rmatmul(F: Any, self: Any, other: Any) -> Any:
    return F.matmul(other, self)


@composite()
def inner(F: Any, self: Any, other: Any) -> Any:
    """The product over the last dimensions."""
    if self.ndim == 0 or other.ndim == 0:
        return F.mul(self, other)
    if self.ndim == other.ndim == 1:
        return F.view_shape(F.dot(self, other), ())
    return F.tensordot(self, other, ((-1,), (-1,)))


@composite(methods=())
def tensordot(F: Any, a: Any, b: Any, dims: Any = 2) -> Any:
    """The product summed over the given dimensions of both."""
    if isinstance(dims, int):
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        first = [axis_of(dim, a.ndim) for dim in ([dims[0]] if isinstance(dims[0], int) else dims[0])]
        second = [axis_of(dim, b.ndim) for dim in ([dims[1]] if isinstance(dims[1], int) else dims[1])]
    free_a = [axis for axis in range(a.ndim) if axis not in first]
    free_b = [axis for axis in range(b.ndim) if axis not in second]
    inside = product(a.shape[axis] for axis in first)
    left = F.reshape(F.permute(a, (*free_a, *first)), (product(a.shape[axis] for axis in free_a), inside))
    right = F.reshape(F.permute(b, (*second, *free_b)), (inside, product(b.shape[axis] for axis in free_b)))
    shape = (*(a.shape[axis] for axis in free_a), *(b.shape[axis] for axis in free_b))
    return F.reshape(F.mm(left, right), shape)


def _scaled(array: Array, factor: Any) -> Array:
    return array if factor == 1 else array * array.dtype.type(factor)


def _plus(self: Array, product_: Array, beta: Any, alpha: Any, name: str) -> Array:
    shape = product_.shape
    try:
        numpy.broadcast_to(self, shape)
    except ValueError:
        raise RuntimeError(
            f"The expanded size of the tensor ({shape[-1]}) must match the existing size ({self.shape[-1]}) "
            f"at non-singleton "
            f"dimension {len(shape) - 1}.  Target sizes: {shape_text(shape)}.  Tensor sizes: "
            f"{shape_text(self.shape)}"
        ) from None
    kind = product_.dtype
    scaled = _scaled(widen(product_), alpha)
    if beta == 0:
        return scaled.astype(kind)
    return (_scaled(widen(self), beta) + scaled).astype(kind)


def _wide_product(first: Array, second: Array) -> Array:
    return numpy.matmul(widen(first), widen(second))


def addmm(self: Array, mat1: Array, mat2: Array, *, beta: Any = 1, alpha: Any = 1) -> Array:
    """beta * self + alpha * mat1 @ mat2."""
    mm(mat1[:0], mat2)
    return layout.contiguous(_plus(self, _wide_product(mat1, mat2), beta, alpha, "addmm").astype(self.dtype))


def _scaled_grad(F: Any, grad: Any, beta: Any) -> Any:
    return F.maybe_multiply(grad, F.conj(beta))


operation(
    "addmm", addmm, tensors=("self", "mat1", "mat2"), node="AddmmBackward0", inplace=True,
    gradients={
        "self": vjp(_scaled_grad, "beta"),
        "mat1": vjp(_mat1_grad, "mat2", "mat1.shape", "mat1.strides", "alpha"),
        "mat2": vjp(_mat2_grad, "mat1", "mat2.shape", "mat2.strides", "alpha"),
    },
)  # fmt: skip
operation(
    "addmv",
    lambda self, mat, vec, *, beta=1, alpha=1: _plus(self, _wide_product(mat, vec), beta, alpha,
    "addmv").astype(self.dtype),
    tensors=("self", "mat", "vec"), node="AddmvBackward0", inplace=True,
    gradients={
        "self": vjp(_scaled_grad, "beta"),
        "mat": vjp(lambda F, grad, vec, alpha: F.maybe_multiply(F.outer(grad, F.conj(vec)), alpha), "vec",
        "alpha"),
        "vec": vjp(lambda F, grad, mat, alpha: F.maybe_multiply(F.mv(F.conj(F.t(mat)), grad), alpha), "mat",
        "alpha"),
    },
)  # fmt: skip
operation(
    "addr",
    lambda self, vec1, vec2, *, beta=1, alpha=1: _plus(self, numpy.multiply.outer(vec1, vec2), beta, alpha,
    "addr"),
    tensors=("self", "vec1", "vec2"), node="AddrBackward0", inplace=True,
    gradients={
        "self": vjp(_scaled_grad, "beta"),
        "vec1": vjp(lambda F, grad, vec2, alpha: F.maybe_multiply(F.mv(grad, F.conj(vec2)), alpha), "vec2",
        "alpha"),
        "vec2": vjp(lambda F, grad, vec1, alpha: F.maybe_multiply(F.mv(F.t(grad), F.conj(vec1)), alpha),
        "vec1", "alpha"),
    },
)  # fmt: skip
operation(
    "baddbmm",
    lambda self, batch1, batch2, *, beta=1, alpha=1: _plus(
        self, _wide_product(batch1, batch2), beta, alpha, "baddbmm").astype(self.dtype),
    tensors=("self", "batch1", "batch2"), node="BaddbmmBackward0", inplace=True,
    gradients={
        "self": vjp(_scaled_grad, "beta"),
        "batch1": vjp(
            lambda F, grad, batch2, alpha: F.maybe_multiply(F.bmm(grad, F.conj(F.transpose(batch2, 1, 2))),
            alpha),
            "batch2", "alpha",
        ),
        "batch2": vjp(
            lambda F, grad, batch1, alpha: F.maybe_multiply(F.bmm(F.conj(F.transpose(batch1, 1, 2)), grad),
            alpha),
            "batch1", "alpha",
        ),
    },
)  # fmt: skip
