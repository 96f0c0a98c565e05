"""What a step does to what is already known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.generate.state import Known, State


def ran(state: State, root: Known, retained: bool | None = None, created: bool | None = None) -> None:
    """A backward pass from the root; it releases the graph unless a flag says otherwise."""
    if not (created if retained is None else retained):
        state.ran(root)


def freed(state: State, *roots: Known) -> None:
    """Backward passes from these roots that released the graph."""
    for root in roots:
        state.ran(root)


def wrote(state: State, target: Known, *others: Any) -> None:
    """An in-place operation on the target."""
    state.written(target, tuple(other for other in others if isinstance(other, Known)))


def kept(state: State) -> None:
    """Every graph is as it was: the pass was refused."""


def forget(state: State, *gone: Known) -> None:
    """These tensors are not drawn again."""
    for known in gone:
        state.forget(known)


def switched_off(state: State, known: Known) -> None:
    """The leaf no longer requires grad."""
    known.grad = known.direct = False


def switched_on(state: State, known: Known) -> None:
    """The plain tensor requires grad from now on."""
    known.grad = known.direct = known.leaf = True
    state.leaves |= known.bit


EFFECTS: dict[str, Callable[..., None]] = {
    function.__name__: function for function in (ran, freed, kept, wrote, forget, switched_off, switched_on)
}
