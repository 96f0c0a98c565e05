"""What is known of the tensors that a step makes."""

from __future__ import annotations

from collections.abc import Callable

from conformance.generate.literals import COMPLEX, Shape, broadcast, promoted
from conformance.generate.state import Known, State

Rule = Callable[[Shape], Shape]

_RULES: dict[str, Rule] = {
    "same": lambda s: s,
    "one": lambda s: (),
    "row": lambda s: s[1:],
    "tail": lambda s: (s[0] - 1, *s[1:]),
    "first": lambda s: (1, *s[1:]),
    "front": lambda s: (1, *s),
    "back": lambda s: (*s, 1),
    "over_last": lambda s: s[:-1],
    "kept_last": lambda s: (*s[:-1], 1),
    "kept_first": lambda s: (1, *s[1:]),
    "swapped": lambda s: (s[1], s[0]),
    "diagonal": lambda s: (min(s),),
    "flat": lambda s: (_product(s),),
    "twice": lambda s: (2 * s[0], *s[1:]),
    "two": lambda s: (2, *s),
    "three": lambda s: (3, *s),
    "every_second": lambda s: ((s[0] + 1) // 2, *s[1:]),
    "with_itself": lambda s: (s[0], s[0]),
    "windows": lambda s: (s[0] - 1, 2),
}


def _product(shape: Shape) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _dtype(parents: tuple[Known, ...]) -> str:
    dtype, rank = parents[0].dtype, len(parents[0].shape)
    for parent in parents[1:]:
        dtype = promoted(dtype, rank, parent.dtype, len(parent.shape))
        rank = max(rank, len(parent.shape))
    return dtype


def same(state: State, name: str, *parents: Known) -> None:
    """The shape of the first, the dtype of all."""
    state.derived(name, parents[0].shape, _dtype(parents), parents)


def passed(state: State, name: str, *parents: Known) -> None:
    """As ``wide``; the gradient may go through as it is."""
    known = _wide(state, name, parents)
    known.direct = any(parent.direct for parent in parents)


def wide(state: State, name: str, *parents: Known) -> None:
    """The common shape and dtype."""
    _wide(state, name, parents)


def _wide(state: State, name: str, parents: tuple[Known, ...]) -> Known:
    shape: Shape | None = parents[0].shape
    for parent in parents[1:]:
        shape = broadcast(shape, parent.shape) if shape is not None else None
    return state.derived(name, parents[0].shape if shape is None else shape, _dtype(parents), parents)


def saved(state: State, name: str, *parents: Known) -> None:
    """As ``same``, and the operation saves its own result."""
    known = state.derived(name, parents[0].shape, _dtype(parents), parents)
    state.uses[known.memory] = known.bit


def shaped(state: State, name: str, parent: Known, rule: str, *others: Known) -> None:
    """A new tensor of the shape that the rule gives."""
    state.derived(name, _RULES[rule](parent.shape), _dtype((parent, *others)), (parent, *others))


def total(state: State, name: str, parent: Known) -> None:
    """A sum of everything."""
    state.derived(name, (), parent.dtype, (parent,), direct=parent.direct and parent.size == 1)


def magnitude(state: State, name: str, parent: Known, rule: str = "same") -> None:
    """A real tensor from a complex one."""
    dtype = {"complex64": "float32", "complex128": "float64"}.get(parent.dtype, parent.dtype)
    state.derived(name, _RULES[rule](parent.shape), dtype, (parent,))


def view(state: State, name: str, parent: Known, rule: str) -> None:
    """A view: the same memory."""
    state.derived(
        name,
        _RULES[rule](parent.shape),
        parent.dtype,
        (parent,),
        memory=parent.memory,
        writable=parent.writable and not (parent.leaf and parent.grad),
    )


def locked_view(state: State, name: str, parent: Known, rule: str) -> None:
    """A view that in-place operations must not change: one of several outputs, or expanded."""
    state.derived(
        name, _RULES[rule](parent.shape), parent.dtype, (parent,), memory=parent.memory, writable=False
    )


def picked(state: State, name: str, parent: Known, rows: int) -> None:
    """So many rows of the tensor, copied."""
    state.derived(name, (rows, *parent.shape[1:]), parent.dtype, (parent,))


def converted(state: State, name: str, parent: Known, dtype: str) -> None:
    """The same shape in another dtype."""
    state.derived(name, parent.shape, dtype, (parent,), direct=parent.direct and dtype == parent.dtype)


def multiplied(state: State, name: str, left: Known, right: Known) -> None:
    """The result of a matrix product."""
    state.derived(name, left.shape[:-1] + right.shape[1:], _dtype((left, right)), (left, right))


def constant(state: State, name: str, parent: Known) -> None:
    """The same shape and dtype, without history."""
    state.derived(name, parent.shape, parent.dtype, (), plain=True)


def alias(state: State, name: str, parent: Known) -> None:
    """The same memory, without history."""
    state.derived(
        name, parent.shape, parent.dtype, (), plain=True, memory=parent.memory, writable=parent.writable
    )


def new_leaf(state: State, name: str, parent: Known) -> None:
    """A leaf of the same shape and dtype that requires grad."""
    known = state.derived(name, parent.shape, parent.dtype, (), plain=True)
    known.grad = known.direct = True
    state.leaves |= known.bit


def gradient(state: State, name: str, origin: Known, known: Known, created: object) -> None:
    """A gradient of a pass from the origin, with history if the pass made a graph."""
    if created:
        state.derived(name, known.shape, known.dtype, (origin, known), writable=False)
    else:
        state.derived(name, known.shape, known.dtype, (), plain=True, writable=False)


def real_part(state: State, name: str, parent: Known) -> None:
    """A real view of a complex tensor."""
    dtype = (
        "float32" if parent.dtype == "complex64" else "float64" if parent.dtype in COMPLEX else parent.dtype
    )
    state.derived(name, parent.shape, dtype, (parent,), writable=False)


MAKERS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        same,
        passed,
        wide,
        saved,
        shaped,
        total,
        magnitude,
        view,
        locked_view,
        picked,
        converted,
        multiplied,
        constant,
        alias,
        new_leaf,
        gradient,
        real_part,
    )
}
