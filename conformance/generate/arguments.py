"""What can be bound to the holes that are arguments: seeds, flags, `inputs`, numbers, dtypes.

Wrong arguments are among them: a right program with one wrong step shows which error an engine raises, and
that nothing else changed.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.generate.literals import COMPLEX, DTYPE_EXPR, Expr, Shape, literal, number
from conformance.generate.omit import OMIT
from conformance.generate.operands import Bound, reached, reached_inner, unreached
from conformance.generate.state import Known, State

_KINKS_FROM = 27 << 5
"""The first digit of `literal` whose values are kinks."""

_META: Expr = ["device", "meta"]


def constant(state: State) -> Bound:
    """A Python float, not zero."""
    return number(state.take(16)), None


def count(state: State, text: str = "3") -> Bound:
    """A small integer below the given one."""
    value = state.take(int(text))
    return value, value


def power(state: State) -> Bound:
    """An exponent."""
    return (2, 3, ["float", "2.0"], 1, ["float", "0.5"], 0, -1, ["float", "-2.0"])[state.take(8)], None


def flag(state: State) -> Bound:
    """True or False."""
    value = state.take(2) == 0
    return value, value


def maybe(state: State) -> Bound:
    """A flag that may be absent."""
    return (OMIT, True, OMIT, False)[state.take(4)], None


def keep(state: State) -> Bound:
    """The retain_graph argument: absent, True or False."""
    value = (OMIT, True, OMIT, True, True, OMIT, OMIT, False)[state.take(8)]
    return value, None if value is OMIT else value


def create(state: State) -> Bound:
    """The create_graph argument: absent, True or False."""
    value = (OMIT, OMIT, OMIT, OMIT, True, OMIT, False, True)[state.take(8)]
    return value, None if value is OMIT else value


def cast(state: State, known: Known) -> Bound:
    """A dtype to convert to, real for real and complex for complex."""
    if known.dtype in COMPLEX:
        value = COMPLEX[state.take(2)]
    else:
        value = ("float64", "float32", "float64", "float16", "bfloat16", "float32")[state.take(6)]
    return DTYPE_EXPR[value], value


def values(state: State, known: Known) -> Bound:
    """A literal of the same shape and dtype."""
    return literal(known.shape, known.dtype, state.take(1024)), None


def row_values(state: State, known: Known) -> Bound:
    """A literal of the shape and dtype of one row."""
    return literal(known.shape[1:], known.dtype, state.take(1024)), None


def kink_shape(state: State) -> Bound:
    """Only a shape and a dtype, for a leaf of its own."""
    shape: Shape = ((3,), (2, 2), (4,), (2,))[state.take(4)]
    dtype = ("float32", "float32", "float64", "float16")[state.take(4)]
    return None, Known("", shape, dtype, grad=True, leaf=True, memory=0)


def kinks(state: State, known: Known) -> Bound:
    """A leaf with small whole numbers, among them zeros and ties."""
    return literal(known.shape, known.dtype, _KINKS_FROM + state.take(64), True), None


def flipped_values(state: State, known: Known) -> Bound:
    """A literal of the transposed shape."""
    return literal(known.shape[::-1], known.dtype, state.take(1024)), None


def values_of_four(state: State, known: Known) -> Bound:
    """A literal of shape (2, 2)."""
    return literal((2, 2), known.dtype, state.take(1024)), None


def mask(state: State, known: Known) -> Bound:
    """A literal of bools of the same shape."""
    start = state.take(8)
    return _bools(known.shape, start), None


def _bools(shape: Shape, start: int) -> Expr:
    if 0 in shape:
        return ["call", "torch.zeros", list(shape), {"dtype": DTYPE_EXPR["bool"]}]
    return ["call", "torch.tensor", [_nested_bools(shape, start)], {}]


def _nested_bools(shape: Shape, start: int) -> Expr:
    if not shape:
        return (0b10110 >> start % 5) & 1 == 1
    below = 1
    for size in shape[1:]:
        below *= size
    return ["list", [_nested_bools(shape[1:], start + i * below) for i in range(shape[0])]]


def positions(state: State, known: Known) -> Bound:
    """A literal of indices of rows, with repetitions."""
    last = known.shape[0] - 1
    chosen = ((0, 0, last), (last, 0), (0,), (last, 0, last), (0, last, 0, 0), (last, last))[state.take(6)]
    return ["call", "torch.tensor", [["list", list(chosen)]], {}], len(chosen)


def at(state: State, known: Known) -> Bound:
    """The position of one row."""
    value = state.take(known.shape[0])
    if state.take(4) == 3:
        value -= known.shape[0]
    return value, None


def _transposed(state: State, shape: Shape, dtype: str, digit: int) -> Expr:
    if len(shape) == 2:
        return ["method", literal((shape[1], shape[0]), dtype, digit), "t", [], {}]
    if len(shape) == 1 and shape[0] > 1:
        whole = literal((2 * shape[0],), dtype, digit)
        return ["item", whole, ["slice", None, None, 2]]
    return literal(shape, dtype, digit)


_OTHER = {
    "float32": "float64",
    "float64": "float32",
    "float16": "float32",
    "bfloat16": "float32",
    "complex64": "complex128",
    "complex128": "complex64",
}

_OMITTED_SEED: Bound = (OMIT, None)


def seed(state: State, root: Known) -> Bound:
    """The seed of a pass from this root: absent, None or a tensor, in every way that torch accepts or
    refuses.
    """
    kind = state.take(32)
    shape, dtype = root.shape, root.dtype
    if root.size == 1 and root.real and kind < 18:
        return _OMITTED_SEED if kind < 16 else (None, None)
    digit = state.take(1024)
    if kind < 20:
        fitting = [k for k in state.live if k.shape == shape and k.dtype == dtype and not k.leaf | k.grad]
        if fitting and kind < 6:
            return fitting[digit % len(fitting)].expr, None
        return literal(shape, dtype, digit), None
    return _SEEDS[kind - 20](state, root, digit), None


def tensor_seed(state: State, root: Known) -> Bound:
    """A seed that is a tensor and fits."""
    return literal(root.shape, root.dtype, state.take(1024)), None


def other_seed(state: State, root: Known) -> Bound:
    """A seed of another dtype, real for real: it is cast."""
    return literal(root.shape, _OTHER[root.dtype], state.take(1024)), None


def named_seed(state: State, root: Known) -> Bound:
    """A new tensor with a name that fits as a seed."""
    name = state.fresh("s")
    known = state.leaf(
        name, root.shape, root.dtype, literal(root.shape, root.dtype, state.take(1024)), grad=False
    )
    return known.expr, known


def tracked_seed(state: State, root: Known) -> Bound:
    """A new leaf that requires grad and fits as a seed."""
    name = state.fresh("s")
    known = state.leaf(
        name, root.shape, root.dtype, literal(root.shape, root.dtype, state.take(1024), True), grad=True
    )
    return known.expr, known


def wrong_seed(state: State, root: Known) -> Bound:
    """A seed that torch refuses."""
    shape, dtype = root.shape, root.dtype
    digit = state.take(1024)
    kind = state.take(6)
    if kind == 1:
        return literal((1, *shape), dtype, digit), None
    if kind == 2 and root.size != 1:
        return OMIT, None
    if kind == 3:
        return literal(shape, "complex64" if root.real else "float32", digit), None
    if kind == 4:
        return number(digit & 15), None
    if kind == 5:
        return ["call", "torch.zeros", list(shape), {"device": _META}] if shape else None, None
    return literal((3,) if shape != (3,) else (2,), dtype, digit), None


_SEEDS: tuple[Callable[[State, Known, int], Expr], ...] = (
    lambda state, root, digit: literal(root.shape, _OTHER[root.dtype], digit),
    lambda state, root, digit: (
        ["method", literal((), root.dtype, digit), "expand", list(root.shape), {}]
        if root.shape
        else literal((), root.dtype, digit)
    ),
    lambda state, root, digit: _transposed(state, root.shape, root.dtype, digit),
    lambda state, root, digit: literal(root.shape, root.dtype, digit, True),
    lambda state, root, digit: tracked_seed(state, root)[0],
    lambda state, root, digit: (
        literal(root.shape, "int64", digit) if root.real else literal(root.shape, root.dtype, digit)
    ),
    lambda state, root, digit: ["call", "torch.zeros_like", [root.expr], {}],
    lambda state, root, digit: ["call", "torch.ones_like", [root.expr], {}],
    lambda state, root, digit: ["list", [literal(root.shape, root.dtype, digit)]],
    lambda state, root, digit: literal(root.shape, root.dtype, 992 + digit % 32),
    lambda state, root, digit: (
        wrong_seed(state, root)[0] if digit & 1 else literal(root.shape, root.dtype, digit)
    ),
    lambda state, root, digit: literal((3,) if root.shape != (3,) else (3, 1), root.dtype, digit),
)
"""Another dtype, expanded, not contiguous, requiring grad, integers, zeros, ones, in a list, special,
refused.
"""


def inputs(state: State, root: Known) -> Bound:
    """The inputs argument of a pass from this root."""
    kind = state.take(24)
    if kind < 13:
        return OMIT, None
    return _INPUTS[kind - 13](state, root), True


def _listed(*parts: Expr) -> Expr:
    return ["list", list(parts)]


_INPUTS: tuple[Callable[[State, Known], Expr], ...] = (
    lambda state, root: _listed(reached(state, root)[0]),
    lambda state, root: _listed(reached(state, root)[0]),
    lambda state, root: _listed(reached_inner(state, root)[0]),
    lambda state, root: _listed(reached_inner(state, root)[0], reached(state, root)[0]),
    lambda state, root: _listed(reached(state, root)[0], reached(state, root)[0]),
    lambda state, root: reached(state, root)[0],
    lambda state, root: ["tuple", [reached(state, root)[0]]],
    lambda state, root: _listed(unreached(state, root)[0]),
    lambda state, root: _listed(unreached(state, root)[0], reached(state, root)[0]),
    lambda state, root: _listed(root.expr),
    lambda state, root: _listed() if state.take(2) else _listed(root.expr, reached(state, root)[0]),
)
"""Leaf, interior, both, twice, alone, in a tuple, not reached, the root itself, empty."""


ARGUMENTS: dict[str, Callable[..., Bound]] = {
    function.__name__: function
    for function in (
        constant,
        count,
        power,
        flag,
        maybe,
        keep,
        create,
        cast,
        values,
        row_values,
        kink_shape,
        kinks,
        flipped_values,
        values_of_four,
        mask,
        positions,
        at,
        seed,
        tensor_seed,
        named_seed,
        other_seed,
        tracked_seed,
        wrong_seed,
        inputs,
    )
}
