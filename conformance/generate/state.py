"""What the decoder knows about the program that it has written so far.

The knowledge is there to choose what fits. It is a forecast, not a second interpreter: a step that fails on
purpose may leave it slightly wrong, which makes a later statement fail or be skipped, never malformed.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.choices import Digits
from conformance.generate.literals import COMPLEX, Expr, Shape, numel


class Known:
    """A live tensor: its name and what is believed about it.

    ``nodes`` has one bit for each leaf and recorded operation among its ancestors, ``bit`` is its own.
    ``memory`` numbers the storage that it shares with its views. ``direct`` says that a leaf may receive
    this tensor's gradient buffer as it is: a view operation on such a tensor would make torch itself
    unsound (ACC-25, ACC-31, SEED-14, SEED-28), so none is drawn. ``used`` says that another operation takes
    it.
    """

    __slots__ = (
        "bit",
        "direct",
        "dtype",
        "expr",
        "grad",
        "leaf",
        "memory",
        "name",
        "nodes",
        "shape",
        "size",
        "used",
        "writable",
    )

    def __init__(
        self,
        name: str,
        shape: Shape,
        dtype: str,
        *,
        grad: bool,
        leaf: bool,
        memory: int,
        nodes: int = 0,
        bit: int = 0,
        direct: bool = False,
        writable: bool = True,
    ) -> None:
        self.name = name
        self.expr: Expr = ["name", name]
        self.shape = shape
        self.size = numel(shape)
        self.dtype = dtype
        self.grad = grad
        self.leaf = leaf
        self.memory = memory
        self.nodes = nodes
        self.bit = bit
        self.direct = direct
        self.writable = writable
        self.used = False

    @property
    def real(self) -> bool:
        """Whether the entries are real numbers."""
        return self.dtype not in COMPLEX


class State:
    """The program so far, and the digits of the current choice.

    ``dead`` has the bits of the operations that can no longer run backward: released, or something that
    they saved was modified. ``uses`` maps a storage to the operations that may have saved it.
    """

    __slots__ = (
        "body",
        "clauses",
        "counters",
        "dead",
        "defined",
        "digits",
        "leaves",
        "live",
        "memories",
        "node",
        "uses",
    )

    def __init__(self) -> None:
        self.body: list[dict[str, Any]] = []
        self.live: list[Known] = []
        self.clauses: dict[str, None] = {}
        self.counters: dict[str, int] = {}
        self.defined: set[str] = set()
        self.digits = Digits(0)
        self.dead = 0
        self.leaves = 0
        self.node = 1
        self.memories = 0
        self.uses: dict[int, int] = {}

    def take(self, base: int) -> int:
        """The next digit of the current choice."""
        return self.digits.take(base)

    def fresh(self, prefix: str) -> str:
        """A name that the program has not used yet."""
        count = self.counters.get(prefix, 0) + 1
        self.counters[prefix] = count
        return prefix if count == 1 else f"{prefix}{count}"

    def assign(self, name: str, value: Expr) -> None:
        """Write ``name = value``."""
        self.body.append({"do": "assign", "targets": [["name", name]], "value": value})

    def memory(self) -> int:
        """A storage of its own."""
        self.memories += 1
        return self.memories

    def operation(self) -> int:
        """The bit of a newly recorded operation."""
        self.node <<= 1
        return self.node

    def usable(self, known: Known) -> bool:
        """Whether a backward pass from this tensor is expected to work."""
        return known.grad and not known.nodes & self.dead

    def leaf(self, name: str, shape: Shape, dtype: str, value: Expr, *, grad: bool) -> Known:
        """Write the creation of a tensor and remember it."""
        self.assign(name, value)
        bit = self.operation()
        self.leaves |= bit
        known = Known(
            name, shape, dtype, grad=grad, leaf=True, memory=self.memory(), nodes=bit, bit=bit, direct=grad
        )
        self.live.append(known)
        return known

    def derived(
        self,
        name: str,
        shape: Shape,
        dtype: str,
        parents: tuple[Known, ...],
        *,
        memory: int = 0,
        direct: bool = False,
        writable: bool = True,
        plain: bool = False,
    ) -> Known:
        """Remember the result of an operation on known tensors; memory 0 is a storage of its own."""
        grad = False
        nodes = self.operation()
        bit = nodes
        for parent in parents:
            parent.used = True
            if parent.grad:
                grad = True
                nodes |= parent.nodes
            self.uses[parent.memory] = self.uses.get(parent.memory, 0) | bit
        known = Known(
            name,
            shape,
            dtype,
            grad=grad and not plain,
            leaf=plain or not grad,
            memory=memory or self.memory(),
            nodes=bit if plain else nodes,
            bit=bit,
            direct=direct,
            writable=writable,
        )
        self.live.append(known)
        return known

    def written(self, target: Known, others: tuple[Known, ...]) -> None:
        """Remember an in-place operation: what saved this storage is dead, all its views have a new
        history.
        """
        self.dead |= self.uses.get(target.memory, 0)
        nodes = self.operation()
        bit = nodes
        grad = target.grad
        for other in others:
            if other.grad:
                grad = True
                nodes |= other.nodes
            self.uses[other.memory] = self.uses.get(other.memory, 0) | bit
        for known in self.live:
            if known.memory == target.memory:
                known.nodes |= nodes
                known.bit = bit
                if grad and not known.grad:
                    known.grad = True
                    known.leaf = False

    def ran(self, root: Known) -> None:
        """Remember a backward pass from this root that released what it ran."""
        self.dead |= root.nodes & ~self.leaves

    def reaches(self, root: Known, known: Known) -> bool:
        """Whether a backward pass from the root is expected to arrive at this tensor."""
        return known.grad and root.nodes & known.bit != 0

    def forget(self, known: Known) -> None:
        """Draw this tensor no more."""
        self.live = [other for other in self.live if other is not known]
