"""What can be bound to a hole that wants a shape: rows, matrices, vectors, nothing at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.generate.literals import COMPLEX, number
from conformance.generate.operands import BINDERS, Bound, bound, candidates, new_leaf, pick, product
from conformance.generate.state import Known, State


def three_rows(state: State) -> Bound:
    """A tensor with three rows that requires grad."""
    fitting = [known for known in candidates(state) if known.shape and known.shape[0] == 3 and known.size]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((3,), (3, 2))[state.take(2)]))


def two_rows(state: State) -> Bound:
    """A tensor with two rows that requires grad."""
    fitting = [known for known in candidates(state) if known.shape and known.shape[0] == 2 and known.size]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((2,), (2, 3))[state.take(2)]))


def empty(state: State) -> Bound:
    """A tensor without entries that requires grad."""
    fitting = [known for known in candidates(state) if not known.size]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((0,), (2, 0))[state.take(2)]))


def long_vector(state: State) -> Bound:
    """A contiguous real vector with at least three entries that requires grad."""
    fitting = [
        k
        for k in candidates(state)
        if len(k.shape) == 1 and k.size > 2 and k.dtype not in COMPLEX and k.writable | k.leaf
    ]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((3,), (4,))[state.take(2)]))


def ranked_leaf(state: State) -> Bound:
    """A leaf with at least one row that requires grad."""
    fitting = [known for known in state.live if known.leaf and known.grad and known.shape and known.size]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((3,), (2, 2))[state.take(2)]))


def ranked_real(state: State) -> Bound:
    """A real tensor with at least one row that requires grad."""
    fitting = [k for k in candidates(state) if k.shape and k.size and k.dtype not in COMPLEX]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((3,), (2, 2), (3, 2))[state.take(3)]))


def real_rows(state: State) -> Bound:
    """A real tensor with at least two rows that requires grad."""
    fitting = [
        k for k in candidates(state) if k.shape and k.size and k.shape[0] > 1 and k.dtype not in COMPLEX
    ]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((3,), (2, 2), (3, 2))[state.take(3)]))


def real_matrix(state: State) -> Bound:
    """A real matrix that requires grad."""
    fitting = [k for k in candidates(state) if len(k.shape) == 2 and k.size and k.dtype not in COMPLEX]
    return bound(
        pick(state, fitting) if fitting else new_leaf(state, ((2, 2), (2, 3), (3, 2))[state.take(3)])
    )


def new_matrix(state: State) -> Bound:
    """A matrix with history that nothing else uses yet."""
    return bound(product(state, real_matrix(state)[1]))


def rows(state: State, text: str = "1") -> Bound:
    """A writable tensor with history, and at least so many rows."""
    return bound(_rows(state, int(text), wanted="write"))


def ranked(state: State, text: str = "1") -> Bound:
    """A tensor that requires grad, and has at least so many rows."""
    return bound(_rows(state, int(text), wanted="grad"))


def _rows(state: State, count: int, wanted: str) -> Known:
    fitting = [known for known in candidates(state) if known.shape and known.shape[0] >= count and known.size]
    if wanted == "write":
        fitting = [k for k in fitting if k.writable and not k.leaf and k.dtype not in COMPLEX]
    if fitting:
        return pick(state, fitting)
    found = new_leaf(state, ((3,), (3, 2), (4,), (3, 1))[state.take(4)])
    return product(state, found) if wanted == "write" else found


def matrix(state: State) -> Bound:
    """A tensor of rank 2 that requires grad."""
    fitting = [known for known in candidates(state) if len(known.shape) == 2 and known.size]
    return bound(
        pick(state, fitting) if fitting else new_leaf(state, ((2, 2), (2, 3), (3, 2), (3, 1))[state.take(4)])
    )


def square(state: State) -> Bound:
    """A square matrix that requires grad."""
    fitting = [k for k in candidates(state) if len(k.shape) == 2 and k.shape[0] == k.shape[1] and k.size]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((2, 2), (3, 3))[state.take(2)]))


def vector(state: State) -> Bound:
    """A tensor of rank 1 with at least two entries that requires grad."""
    fitting = [known for known in candidates(state) if len(known.shape) == 1 and known.size > 1]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((3,), (2,), (4,))[state.take(3)]))


def many(state: State) -> Bound:
    """A tensor with more than one entry that requires grad."""
    fitting = [known for known in candidates(state) if known.size > 1]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ((3,), (2, 2), (2, 3))[state.take(3)]))


def protected(state: State, text: str, *arguments: Any) -> Bound:
    """The named binder, and a product in place of a tensor whose gradient goes to a leaf as it is."""
    expr, known = {**BINDERS, **RANKS}[text](state, *arguments)
    if not known.direct:
        return expr, known
    temporary = Known(
        known.name,
        known.shape,
        known.dtype,
        grad=known.grad,
        leaf=False,
        memory=state.memory(),
        nodes=known.nodes,
        bit=state.operation(),
        writable=True,
    )
    temporary.nodes |= temporary.bit
    state.uses[known.memory] = state.uses.get(known.memory, 0) | temporary.bit
    return ["binary", "*", expr, number(1 + state.take(7))], temporary


RANKS: dict[str, Callable[..., Bound]] = {
    function.__name__: function
    for function in (
        protected,
        rows,
        ranked,
        matrix,
        square,
        vector,
        many,
        empty,
        two_rows,
        three_rows,
        long_vector,
        ranked_leaf,
        ranked_real,
        real_rows,
        real_matrix,
        new_matrix,
    )
}
