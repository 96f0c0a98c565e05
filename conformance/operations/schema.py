"""What is known about one operation, and the short notation of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

HALF = ("float16", "bfloat16")
FLOATING = (*HALF, "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGRAL = ("uint8", "int8", "int16", "int32", "int64")
DIFFERENTIABLE = (*FLOATING, *COMPLEX)
REAL = (*FLOATING, *INTEGRAL)
NUMBERS = (*DIFFERENTIABLE, *INTEGRAL)
EVERY = (*NUMBERS, "bool")
SINGLE = ("float32", "float64")
SINGLE_COMPLEX = (*SINGLE, *COMPLEX)


def words(text: str) -> tuple[str, ...]:
    """The words of a list that is written as text."""
    return tuple(text.split())


@dataclass(frozen=True)
class Operation:
    """One operation.

    ``targets`` are its spellings: ``torch.add`` (a function), ``Tensor.add`` (a method), ``x + y``,
    ``x += y`` and ``-x`` (operators). ``kwargs`` are the argument names, in torch's order; ``out`` belongs
    to functions only. ``arity`` counts the tensors it takes, or is None where it varies. ``dtypes`` are
    those of its tensors on CPU. ``since`` is the first of the supported releases (1.2, 1.9, 2.13) that has
    it; spellings that came with another release stand in ``later``. ``backward`` marks what can run a
    backward pass, ``factory`` what makes a tensor from nothing (and so takes a device), ``sizes`` what
    allocates as much as its integer arguments say.
    """

    name: str
    targets: tuple[str, ...]
    kwargs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    arity: int | None = None
    since: str = "1.2"
    later: tuple[tuple[str, str], ...] = ()
    view: bool = False
    inplace: bool = False
    factory: bool = False
    backward: bool = False
    differentiable: bool = False
    sizes: bool = False

    def spellings(self, kind: str) -> Iterator[str]:
        """The targets of one kind, ``function``, ``method`` or ``operator``; methods without ``Tensor.``."""
        for target in self.targets:
            if target.startswith("Tensor."):
                found, spelling = "method", target[len("Tensor.") :]
            elif " " in target or target.startswith(("-", "~")):
                found, spelling = "operator", target
            else:
                found, spelling = "function", target
            if found == kind:
                yield spelling

    def since_of(self, target: str) -> str:
        """The first supported release with this spelling."""
        return dict(self.later).get(target, self.since)


def op(
    name: str,
    targets: str,
    arguments: str = "",
    groups: str = "",
    dtypes: tuple[str, ...] = (),
    *,
    arity: int | None = 1,
    since: str = "1.2",
    later: str = "",
    flags: str = "",
) -> Operation:
    """One row of a table.

    ``targets`` are separated by commas; ``f`` is ``torch.NAME``, ``m`` is ``Tensor.NAME`` and ``n`` is
    ``torch.nn.functional.NAME``. ``later`` is ``SPELLING@RELEASE``, separated by spaces. ``flags`` are words.
    Raises ValueError for an unknown flag.
    """
    short = {"f": f"torch.{name}", "m": f"Tensor.{name}", "n": f"torch.nn.functional.{name}"}
    marks = set(flags.split())
    if unknown := marks - {"view", "inplace", "factory", "backward", "diff", "sizes"}:
        raise ValueError(f"operation {name}: unknown flags {sorted(unknown)}")
    pairs = [entry.rsplit("@", 1) for entry in later.split()]
    return Operation(
        name=name,
        targets=tuple(short.get(part.strip(), part.strip()) for part in targets.split(",")),
        kwargs=tuple(arguments.split()),
        groups=tuple(groups.split()),
        dtypes=dtypes,
        arity=arity,
        since=since,
        later=tuple((short.get(spelling, spelling), release) for spelling, release in pairs),
        view="view" in marks,
        inplace="inplace" in marks,
        factory="factory" in marks,
        backward="backward" in marks,
        differentiable="diff" in marks,
        sizes="sizes" in marks,
    )


def inplace_of(base: Operation, targets: str = "m", *, since: str = "") -> Operation:
    """The in-place form of an operation: the same arguments, dtypes and groups, other spellings."""
    name = base.name + "_"
    short = {"m": f"Tensor.{name}", "f": f"torch.{name}", "n": f"torch.nn.functional.{name}"}
    return replace(
        base,
        name=name,
        targets=tuple(short.get(part.strip(), part.strip()) for part in targets.split(",")),
        kwargs=tuple(word for word in base.kwargs if word != "out"),
        since=since or base.since,
        later=(),
        inplace=True,
        view=False,
    )


def with_inplace(base: Operation, targets: str = "m", *, since: str = "") -> tuple[Operation, Operation]:
    """An operation and its in-place form, as two rows."""
    return base, inplace_of(base, targets, since=since)
