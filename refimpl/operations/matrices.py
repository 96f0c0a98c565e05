"""Functions of matrices: triangles, trace, einsum, inverse, determinant, solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .. import dtypes
from . import layout
from .dimensions import axis_of
from .table import composite, operation, vjp

Array = Any


def _triangle(name: str, function: Any) -> None:
    def forward(self: Array, diagonal: int = 0) -> Array:
        if self.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return layout.contiguous(function(self, diagonal))

    operation(
        name, forward, node=f"{name.title()}Backward0", inplace=True,
        gradients={"self": vjp(lambda F, grad, diagonal: getattr(F, name)(grad, diagonal), "diagonal")},
    )  # fmt: skip


_triangle("triu", numpy.triu)
_triangle("tril", numpy.tril)


def _trace(self: Array) -> Array:
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    return numpy.trace(self)


def _trace_backward(F: Any, grad: Any, shape: Sequence[int]) -> Any:
    size = min(shape)
    whole = F.diag_embed(F.expand(grad, (size,)))
    rows, columns = shape
    return F.constant_pad_nd(whole, (0, columns - size, 0, rows - size)) if rows != columns else whole


operation("trace", _trace, node="TraceBackward0", gradients={"self": vjp(_trace_backward, "self.shape")})


# einsum
def _terms(equation: str, count: int, ranks: Sequence[int]) -> tuple[list[str], str]:
    equation = equation.replace(" ", "")
    left, arrow, right = equation.partition("->")
    inputs = left.split(",")
    if len(inputs) != count:
        raise RuntimeError(
            "einsum(): more operands were provided than specified in the equation" if count > len(inputs)
            else "einsum(): fewer operands were provided than specified in the equation"
        )  # fmt: skip
    spare = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in equation]
    longest = max((rank - len(term.replace("...", "")) for term, rank in zip(inputs, ranks,
    strict=True) if "..." in term),
                  default=0)  # fmt: skip
    batch = "".join(spare[:longest])
    found = []
    for position, (term, rank) in enumerate(zip(inputs, ranks, strict=True)):
        if "..." in term:
            size = rank - len(term.replace("...", ""))
            term = term.replace("...", batch[longest - size :])
        if len(term) != rank:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) does not match the number "
                f"of dimensions "
                f"({rank}) for operand {position} and no ellipsis was given"
            )
        found.append(term)
    if arrow:
        return found, right.replace("...", batch)
    letters = sorted({letter for term in found for letter in term if letter not in batch})
    once = [letter for letter in letters if sum(term.count(letter) for term in found) == 1]
    return found, batch + "".join(once)


def _diagonals(F: Any, operand: Any, term: str) -> tuple[Any, str]:
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            operand = F.diagonal(operand, 0, first, second)
            rest = "".join(each for position, each in enumerate(term) if position not in (first, second))
            term = rest + letter
    return operand, term


def _aligned(F: Any, operand: Any, term: str, letters: str) -> Any:
    order = [term.index(letter) for letter in letters if letter in term]
    operand = F.permute_dims(operand, tuple(order))
    for position, letter in enumerate(letters):
        if letter not in term:
            operand = F.unsqueeze(operand, position)
    return operand


@composite(methods=())
def einsum(F: Any, equation: str, *operands: Any) -> Any:
    """Products of the operands summed over the letters that the result lacks, from left to right."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    terms, output = _terms(equation, len(operands), [each.ndim for each in operands])
    pairs = [_diagonals(F, operand, term) for operand, term in zip(operands, terms, strict=True)]
    result, have = pairs[0]
    for position in range(1, len(pairs)):
        other, term = pairs[position]
        later = output + "".join(each for _, each in pairs[position + 1 :])
        result, have = _contract(F, result, have, other, term, later)
    gone = "".join(letter for letter in have if letter not in output)
    if gone:
        result = F.sum(result, tuple(have.index(letter) for letter in gone))
        have = "".join(letter for letter in have if letter in output)
    return F.permute_dims(result, tuple(have.index(letter) for letter in output)) if have else result


def _contract(F: Any, left: Any, have: str, right: Any, term: str, later: str) -> tuple[Any, str]:
    """Two operands into one: batched over what stays of both, summed over what both have and nothing else
    needs."""
    for letter in [each for each in have if each not in term and each not in later]:
        left, have = F.sum(left, have.index(letter)), have.replace(letter, "")
    for letter in [each for each in term if each not in have and each not in later]:
        right, term = F.sum(right, term.index(letter)), term.replace(letter, "")
    both = [letter for letter in have if letter in term]
    batch = "".join(letter for letter in both if letter in later)
    inside = "".join(letter for letter in both if letter not in later)
    free_left = "".join(letter for letter in have if letter not in term)
    free_right = "".join(letter for letter in term if letter not in have)
    sizes: dict[str, int] = {}
    for tensor, letters in ((left, have), (right, term)):
        for letter, size in zip(letters, tensor.shape, strict=True):
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    if not inside and not free_left and not free_right:
        return F.mul(_aligned(F, left, have, batch), _aligned(F, right, term, batch)), batch

    def shaped(tensor: Any, letters: str, order: tuple[str, ...]) -> Any:
        tensor = F.permute_dims(tensor, tuple(letters.index(letter) for group in order for letter in group))
        tensor = F.expand(tensor, tuple(sizes[letter] for group in order for letter in group))
        return F.reshape(tensor, tuple(_count(sizes, group) for group in order))

    first = shaped(left, have, (batch, free_left, inside))
    second = shaped(right, term, (batch, inside, free_right))
    out = batch + free_left + free_right
    return F.reshape(F.bmm(first, second), tuple(sizes[letter] for letter in out)), out


def _count(sizes: dict[str, int], letters: str) -> int:
    count = 1
    for letter in letters:
        count *= sizes[letter]
    return count


# inverse, determinant, solve
def _square(self: Array, name: str) -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if self.shape[-1] != self.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {self.shape[-2]} by "
            f"{self.shape[-1]} matrices"
        )
    if self.dtype.kind not in "fc" or self.dtype.itemsize < 4:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{dtypes.of(self.dtype).scalar_name}"
        )


def column_major(array: Array) -> Array:
    """The layout of LAPACK's results: the last two dimensions transposed."""
    strides = list(layout.contiguous_strides((*array.shape[:-2], array.shape[-1], array.shape[-2])))
    strides[-1], strides[-2] = strides[-2], strides[-1]
    return layout.with_strides(array, strides)


class LinAlgError(RuntimeError):
    """A matrix that cannot be inverted."""

    __module__ = "torch._C"


LinAlgError.__name__ = "_LinAlgError"


def _singular(name: str, position: int) -> LinAlgError:
    return LinAlgError(
        f"{name}: The diagonal element {position} is zero, the inversion could not be completed because the "
        f"input matrix is "
        "singular."
    )


def _inverse(A: Array) -> Array:
    _square(A, "linalg.inv")
    try:
        return column_major(numpy.linalg.inv(A))
    except numpy.linalg.LinAlgError:
        raise _singular("linalg.inv", A.shape[-1]) from None


operation(
    "linalg_inv", _inverse, tensors=("A",), node="LinalgInvExBackward0", functions=("inverse",),
    methods=("inverse",),
    gradients={
        "A": vjp(
            lambda F, grad, result: F.neg(F.matmul(F.mH(result), F.matmul(grad, F.mH(result)))), "result"
        )
    },
)  # fmt: skip


def _det(A: Array) -> Array:
    _square(A, "linalg.det")
    return numpy.linalg.det(A)


def _det_backward(F: Any, grad: Any, A: Any, result: Any, shape: Sequence[int]) -> Any:
    """The X of A.mH @ X = grad * conj(det) * I."""
    scaled = F.expand(F.unsqueeze(F.mul(grad, F.conj(result)), -1), tuple(shape[:-1]))
    return F.linalg_solve(F.mH(A), F.diag_embed(scaled))


operation(
    "linalg_det", _det, tensors=("A",), node="LinalgDetBackward0", functions=("det",), methods=("det",),
    gradients={"A": vjp(_det_backward, "A", "result", "A.shape")},
)  # fmt: skip


def _solve(A: Array, B: Array) -> Array:
    _square(A, "linalg.solve")
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.shape == A.shape[:-1])
    try:
        solved = numpy.linalg.solve(A, B[..., None] if vector else B)
    except numpy.linalg.LinAlgError:
        raise LinAlgError(
            "torch.linalg.solve: The solver failed because the input matrix is singular."
        ) from None
    return solved[..., 0] if vector else column_major(solved)


def _solve_b(F: Any, grad: Any, A: Any) -> Any:
    return F.linalg_solve(F.mH(A), grad)


def _solve_a(F: Any, grad: Any, A: Any, result: Any, shape: Sequence[int]) -> Any:
    inner = F.linalg_solve(F.mH(A), grad)
    if len(result.shape) == len(shape) - 1:
        return F.neg(F.mul(F.unsqueeze(inner, -1), F.unsqueeze(F.conj(result), -2)))
    return F.neg(F.matmul(inner, F.mH(result)))


operation(
    "linalg_solve", _solve, tensors=("A", "B"), node="LinalgSolveExBackward0", functions=(), methods=(),
    gradients={"A": vjp(_solve_a, "A", "result", "A.shape"), "B": vjp(_solve_b, "A")},
)  # fmt: skip


@composite()
def logdet(F: Any, self: Any) -> Any:
    """The logarithm of the determinant; NaN where that is negative."""
    return F.log(F.linalg_det(self))


@composite(methods=())
def kron(F: Any, self: Any, other: Any) -> Any:
    """All products of blocks."""
    ndim = self.ndim if self.ndim > other.ndim else other.ndim
    first = (1,) * (ndim - self.ndim) + tuple(self.shape)
    second = (1,) * (ndim - other.ndim) + tuple(other.shape)
    left = F.reshape(self, tuple(size for each in first for size in (each, 1)))
    right = F.reshape(other, tuple(size for each in second for size in (1, each)))
    return F._unsafe_view(F.mul(left, right), tuple(a * b for a, b in zip(first, second, strict=True)))


@composite()
def cross(F: Any, self: Any, other: Any, dim: int | None = None) -> Any:
    """The cross product along a dimension of size 3."""
    axis = axis_of(-1 if dim is None else dim, self.ndim)
    a = [F.select(self, axis, i) for i in range(3)]
    b = [F.select(other, axis, i) for i in range(3)]
    parts = [F.sub(F.mul(a[i], b[j]), F.mul(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return F.stack(parts, axis)
