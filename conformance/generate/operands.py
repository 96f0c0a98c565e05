"""What can be bound to the holes of a step: live tensors that fit, made on the spot where there is none.

A binder takes the state and earlier bindings and returns an expression and what is known of it. Nothing is
drawn and thrown away: a binder lists what fits and picks from the list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.generate.literals import (
    COMPLEX,
    Expr,
    Shape,
    broadcast,
    literal,
    number,
)
from conformance.generate.state import Known, State

Bound = tuple[Expr, Any]

SHAPES: tuple[Shape, ...] = (
    (2,),
    (3,),
    (),
    (2, 3),
    (2, 2),
    (3, 2),
    (2, 1),
    (1,),
    (3,),
    (4,),
    (1, 3),
    (2, 2),
    (0,),
    (1, 1),
    (2, 3),
    (2, 0),
)
"""Shapes of new leaves. Most pairs broadcast or multiply; sizes 0 and 1 are among them."""

_RECENT = (0, 0, 1, 1, 2, 3)
_MOST_ENTRIES = 24


def pick(state: State, fitting: list[Known]) -> Known:
    """One of the tensors that fit, more often a recent one."""
    count = len(fitting)
    if count == 1:
        return fitting[0]
    digit = state.take(8)
    at = _RECENT[digit] if digit < 6 else state.take(count)
    return fitting[-1 - at] if at < count else fitting[0]


def new_leaf(state: State, shape: Shape, dtype: str = "float32", *, grad: bool = True) -> Known:
    """Create a tensor from numbers."""
    prefix = "x" if grad else "c"
    return state.leaf(
        state.fresh(prefix), shape, dtype, literal(shape, dtype, state.take(1024), grad), grad=grad
    )


def candidates(state: State) -> list[Known]:
    dead = state.dead
    return [known for known in state.live if known.grad and not known.nodes & dead]


def bound(known: Known) -> Bound:
    return known.expr, known


def grad(state: State) -> Bound:
    """A tensor that requires grad, from which a backward pass would work."""
    fitting = candidates(state)
    return bound(pick(state, fitting) if fitting else new_leaf(state, SHAPES[state.take(16)]))


def real(state: State) -> Bound:
    """As ``grad``, with real entries."""
    fitting = [known for known in candidates(state) if known.dtype not in COMPLEX]
    return bound(pick(state, fitting) if fitting else new_leaf(state, SHAPES[state.take(16)]))


def exact(state: State) -> Bound:
    """As ``grad``, float32 or float64."""
    fitting = [known for known in candidates(state) if known.dtype in ("float32", "float64")]
    return bound(pick(state, fitting) if fitting else new_leaf(state, SHAPES[state.take(16)]))


def anything(state: State) -> Bound:
    """Any live tensor, released or not."""
    return bound(pick(state, state.live)) if state.live else grad(state)


def leaf(state: State) -> Bound:
    """A leaf that requires grad."""
    fitting = [known for known in state.live if known.leaf and known.grad]
    return bound(pick(state, fitting) if fitting else new_leaf(state, SHAPES[state.take(16)]))


def real_leaf(state: State) -> Bound:
    """A real leaf that requires grad."""
    fitting = [known for known in state.live if known.leaf and known.grad and known.dtype not in COMPLEX]
    return bound(pick(state, fitting) if fitting else new_leaf(state, SHAPES[state.take(16)]))


def real_scalar_leaf(state: State) -> Bound:
    """A leaf of rank 0."""
    fitting = [k for k in state.live if k.leaf and k.grad and not k.shape and k.dtype not in COMPLEX]
    return bound(pick(state, fitting) if fitting else new_leaf(state, ()))


def plain_float(state: State) -> Bound:
    """A leaf that does not require grad."""
    fitting = [known for known in state.live if not known.grad and known.leaf]
    return bound(pick(state, fitting) if fitting else new_leaf(state, SHAPES[state.take(12)], grad=False))


def extra_leaf(state: State) -> Bound:
    """A new leaf with a result that depends on it."""
    known = new_leaf(state, SHAPES[state.take(8)])
    product(state, known)
    return bound(known)


def plain_like(state: State, other: Known) -> Bound:
    """A new tensor of the same shape and dtype that does not require grad."""
    return bound(new_leaf(state, other.shape, other.dtype, grad=False))


def fresh_leaf(state: State) -> Bound:
    """A new real leaf."""
    return bound(new_leaf(state, SHAPES[state.take(12)], "float64" if state.take(4) == 3 else "float32"))


def plain(state: State) -> Bound:
    """A tensor that does not require grad."""
    fitting = [known for known in state.live if not known.grad]
    if fitting and state.take(4):
        return bound(pick(state, fitting))
    return bound(new_leaf(state, SHAPES[state.take(12)], grad=False))


def product(state: State, source: Known) -> Known:
    """A new interior tensor: what a leaf is where an interior tensor is wanted."""
    name = state.fresh("h")
    state.assign(name, ["binary", "*", source.expr, number(state.take(8))])
    return state.derived(name, source.shape, source.dtype, (source,))


def inner(state: State) -> Bound:
    """A real tensor with history."""
    fitting = [known for known in candidates(state) if not known.leaf and known.dtype not in COMPLEX]
    return bound(pick(state, fitting) if fitting else product(state, real(state)[1]))


def new_inner(state: State) -> Bound:
    """A tensor with history that nothing else uses yet."""
    return bound(product(state, real(state)[1]))


def writable(state: State) -> Bound:
    """A real tensor with history that in-place operations may change."""
    fitting = [
        known
        for known in candidates(state)
        if known.writable and not known.leaf and known.dtype not in COMPLEX
    ]
    if fitting and state.take(3):
        return bound(pick(state, fitting))
    return bound(product(state, real(state)[1]))


def complex_valued(state: State) -> Bound:
    """A complex tensor that requires grad."""
    fitting = [known for known in candidates(state) if known.dtype in COMPLEX]
    if fitting:
        return bound(pick(state, fitting))
    return bound(new_leaf(state, SHAPES[state.take(8)], COMPLEX[state.take(4) == 3]))


def root(state: State) -> Bound:
    """What a backward pass starts from: usually something with history."""
    usable = candidates(state)
    fitting = [known for known in usable if not known.leaf]
    if fitting and state.take(16) != 15:
        return bound(pick(state, fitting))
    if usable:
        return bound(product(state, pick(state, usable)))
    return bound(product(state, grad(state)[1]))


def scalar(state: State) -> Bound:
    """A real root with one entry."""
    fitting = [k for k in candidates(state) if k.size == 1 and not k.leaf and k.dtype not in COMPLEX]
    if fitting and state.take(2):
        return bound(pick(state, fitting))
    source: Known = real(state)[1]
    name = state.fresh("l")
    state.assign(name, ["method", ["binary", "*", source.expr, source.expr], "sum", [], {}])
    return bound(state.derived(name, (), source.dtype, (source,)))


def wide(state: State, other: Known) -> Bound:
    """A tensor that broadcasts with the other, of the same kind of numbers."""
    dead = state.dead
    shape = other.shape
    is_complex = other.dtype in COMPLEX
    fitting = []
    for known in state.live:
        if not known.nodes & dead and (known.dtype in COMPLEX) == is_complex:
            common = broadcast(known.shape, shape)
            if common is not None and _small(common):
                fitting.append(known)
    if fitting and state.take(4) != 3:
        return bound(pick(state, fitting))
    narrower = (shape, shape[1:], (1,) * len(shape), (), (*shape[:-1], 1) if shape else (2,), (2, *shape))
    chosen = narrower[state.take(5 if len(shape) > 1 else 6)]
    return bound(new_leaf(state, chosen, other.dtype, grad=state.take(4) != 3))


def _small(shape: Shape) -> bool:
    count = 1
    for size in shape:
        count *= size
    return count <= _MOST_ENTRIES


def like(state: State, other: Known) -> Bound:
    """Another tensor of the same shape and dtype."""
    dead = state.dead
    fitting = [
        known
        for known in state.live
        if known.shape == other.shape
        and known.dtype == other.dtype
        and known.memory != other.memory
        and not known.nodes & dead
    ]
    if fitting and state.take(4) != 3:
        return bound(pick(state, fitting))
    return bound(new_leaf(state, other.shape, other.dtype, grad=state.take(3) != 2))


def leaf_like(state: State, other: Known) -> Bound:
    """A new leaf of the same shape and dtype that requires grad."""
    return bound(new_leaf(state, other.shape, other.dtype))


def other_leaf(state: State, other: Known) -> Bound:
    """A new real leaf of the same shape, or of rank 0, in another dtype."""
    dtypes = [dtype for dtype in ("float64", "float32", "float16", "bfloat16") if dtype != other.dtype]
    dtype = dtypes[(0, 0, 0, 1, 2)[state.take(5)]]
    return bound(new_leaf(state, other.shape if state.take(4) else (), dtype))


def other_scalar(state: State, other: Known) -> Bound:
    """A new leaf of rank 0 in another dtype of the same kind of numbers."""
    if other.dtype in COMPLEX:
        return bound(new_leaf(state, (), COMPLEX[other.dtype == COMPLEX[0]]))
    return bound(new_leaf(state, (), "float32" if other.dtype == "float64" else "float64"))


def right_of(state: State, other: Known) -> Bound:
    """A matrix or vector that the other can be multiplied with."""
    inside = other.shape[-1]
    fitting = [
        known
        for known in candidates(state)
        if known.dtype == other.dtype
        and 1 <= len(known.shape) <= 2
        and known.shape[0] == inside
        and known.size
    ]
    if fitting:
        return bound(pick(state, fitting))
    shape = ((inside, 2), (inside,), (inside, inside), (inside, 1))[state.take(4)]
    return bound(new_leaf(state, shape, other.dtype, grad=state.take(4) != 3))


def reached(state: State, origin: Known) -> Bound:
    """A tensor that a pass from the root arrives at, usually a leaf."""
    nodes = origin.nodes
    leaves = [k for k in state.live if k.leaf and k.grad and k.bit & nodes]
    if leaves and state.take(4) != 3:
        return bound(pick(state, leaves))
    fitting = [k for k in state.live if k.grad and k.bit & nodes and k is not origin]
    return bound(pick(state, fitting or leaves or [origin]))


def reached_inner(state: State, origin: Known) -> Bound:
    """A tensor with history between the root and the leaves; the root itself where there is none."""
    fitting = [k for k in state.live if k.grad and not k.leaf and k.bit & origin.nodes and k is not origin]
    return bound(pick(state, fitting or [origin]))


def unreached(state: State, origin: Known) -> Bound:
    """A leaf that the pass does not arrive at."""
    fitting = [k for k in state.live if k.leaf and k.grad and not k.bit & origin.nodes]
    return bound(pick(state, fitting) if fitting else new_leaf(state, SHAPES[state.take(4)]))


BINDERS: dict[str, Callable[..., Bound]] = {
    function.__name__: function
    for function in (
        grad,
        real,
        exact,
        anything,
        leaf,
        real_leaf,
        real_scalar_leaf,
        plain_like,
        plain_float,
        extra_leaf,
        fresh_leaf,
        plain,
        inner,
        new_inner,
        writable,
        complex_valued,
        root,
        scalar,
        wide,
        like,
        leaf_like,
        other_leaf,
        other_scalar,
        right_of,
        reached,
        reached_inner,
        unreached,
    )
}
