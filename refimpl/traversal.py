"""Before a pass: which nodes it can reach, how many edges lead to each, and which of them run (INPUTS-11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .graph import Edge, Node

__all__ = ["ExecInfo", "compute_dependencies", "executes", "restrict"]


class ExecInfo:
    """What a restricted pass does with one node (INPUTS-11, GRAD-01)."""

    __slots__ = ("captures", "needed")

    def __init__(self) -> None:
        self.needed = False
        self.captures: list[tuple[int, int]] = []  # (output of the node, place among the results)


def compute_dependencies(task: Any, root: Node) -> None:
    """Count the edges that lead to each node reachable from ``root``."""
    counts = task.dependencies
    stack = [root]
    while stack:
        for node in stack.pop().next:
            if node is None:
                continue
            if node in counts:
                counts[node] += 1
            else:
                counts[node] = 1
                if node is not root:
                    stack.append(node)


def restrict(task: Any, root: Node, inputs: Sequence[Edge], accumulate: bool) -> None:
    """Work out which nodes run:

    those that lead to an input, and the inputs' own if they accumulate (INPUTS-06, INPUTS-11).
    """
    info: dict[Node, ExecInfo] = {}
    for place, (node, nr) in enumerate(inputs):
        entry = info.setdefault(node, ExecInfo())
        if accumulate:
            entry.needed = True
        else:
            entry.captures.append((nr, place))
    if not accumulate:
        task.captured = [None] * len(inputs)
    info.setdefault(root, ExecInfo())
    seen = {root}
    stack: list[tuple[Node, int]] = [(root, 0)]
    while stack:
        node, place = stack.pop()
        following = node.next
        while place < len(following):
            below = following[place]
            place += 1
            if below is not None and below not in seen:
                seen.add(below)
                stack.append((node, place))
                stack.append((below, 0))
                break
        else:
            if any(below is not None and below in info and executes(info[below]) for below in following):
                info.setdefault(node, ExecInfo()).needed = True
    task.exec_info = info


def executes(entry: ExecInfo | None) -> bool:
    return entry is not None and (entry.needed or bool(entry.captures))
