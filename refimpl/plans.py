"""From a table entry to the two functions that a node needs: what to save, and what to run.

The text of both is generated once for each operation, on first use, from the entry's ``uses`` (as
`dataclasses` does for ``__init__``): straight-line code is several times faster than a loop over the table on
each call. The entry's formulas themselves are looked up at each run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import arrays, dtypes
from .graph import Node
from .operations.table import Operation
from .saved import pack, pack_result, raise_twice
from .tensor import Tensor, strides_of

__all__ = ["OperationNode", "Plan", "plan_of"]


@dataclass(frozen=True)
class Plan:
    """What is derived from an entry."""

    save: Callable[..., Any]  # (need, inplace, hooks, results, *parameters) -> saved
    node: type[OperationNode]
    frees: bool  # the node holds tensors (or number operands) that a backward pass frees (RETAIN-02)
    saves_self: bool
    results: tuple[tuple[int, int, int], ...]  # (formula, place, output) of each saved result
    tensors: tuple[int, ...]  # positions of the tensor parameters
    differentiable: tuple[int, ...]  # positions of the differentiable parameters
    lists: frozenset[int]


class OperationNode(Node):
    """The node of an operation of the table. Each operation has a subclass of its name."""

    __slots__ = ("saved", "widths")

    operation: Operation
    plan: Plan
    saved: Any
    writes = 0
    widths: tuple[int, ...] | None  # how many edges each differentiable parameter has, if one is a list

    def release(self) -> None:
        """Free what was saved; a node that saved nothing stays usable (RETAIN-02)."""
        if self.plan.frees:
            self.saved = None

    def __getattr__(self, name: str) -> Any:
        raw = name.startswith("_raw_saved_")
        if not raw and not name.startswith("_saved_"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        use = name.removeprefix("_raw_saved_").removeprefix("_saved_")
        if self.saved is None:
            raise_twice()
        for uses, values in zip(self.operation.uses, self.saved, strict=True):
            if values is None:
                continue
            for given, value in zip(uses, values, strict=True):
                if given.replace(".", "_") == use or (given == "result0" and use == "result"):
                    return _shown(self, value, raw)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


def _shown(node: OperationNode, value: Any, raw: bool) -> Any:
    from .autograd.graph import SavedTensor
    from .saved import Packed, SavedInput, SavedOutput, unpack_tensor

    if raw and isinstance(value, (Tensor, SavedInput, SavedOutput, Packed)):
        return SavedTensor(node, value)
    return unpack_tensor(node, value)


def _saving(op: Operation, use: str, index: dict[str, int]) -> str:
    """The expression that saves one used value."""
    if use == "needs":
        return "need"
    if use == "inplace":
        return "inplace"
    head, _, attribute = use.partition(".")
    if head.startswith("result") and head not in index:
        source = f"results[{head[6:] or 0}]"
        if not attribute:
            return f"pack_result({source})"
    else:
        source = f"p{index[head]}"
        if not attribute:
            if head not in op.tensors:
                return source
            if head in op.lists:
                return f"pack({source})"
            plain = f"{source}.__class__ is Tensor and {source}._counter is None and not hooks"
            return f"({source} if {plain} else pack({source}))"
    getter = {
        "shape": "shape_of",
        "dtype": "dtype_of",
        "strides": "tensor_strides",
        "device": "device_of",
        "offset": "offset_of",
    }[attribute]
    if head in op.lists:
        return f"[{getter}(each) for each in {source}]"
    if attribute == "dtype":
        return f"(dtypes[{source}._data.dtype] if {source}.__class__ is Tensor else dtype_of({source}))"
    return f"{getter}({source})"


def _shape_of(value: Any) -> Any:
    return value._data.shape if isinstance(value, Tensor) else ()


def _dtype_of(value: Any) -> Any:
    if isinstance(value, Tensor):
        return dtypes.of(value._data.dtype)
    return None if value is None else dtypes.of_number(value)


def _strides_of(value: Any) -> Any:
    return strides_of(value._data) if isinstance(value, Tensor) else ()


def _device_of(value: Any) -> Any:
    return value.device if isinstance(value, Tensor) else None


def _offset_of(value: Any) -> Any:
    return arrays.storage_offset(value.array()) if isinstance(value, Tensor) else 0


_NAMES: dict[str, Any] = {
    "Tensor": Tensor,
    "pack": pack,
    "pack_result": pack_result,
    "dtypes": dtypes.BY_NUMPY,
    "shape_of": _shape_of,
    "dtype_of": _dtype_of,
    "tensor_strides": _strides_of,
    "device_of": _device_of,
    "offset_of": _offset_of,
    "raise_twice": raise_twice,
}


def _tuple(items: list[str]) -> str:
    return "(" + "".join(item + ", " for item in items) + ")"


def _save_source(op: Operation) -> str:
    index = {name: i for i, name in enumerate(op.parameters)}
    groups = []
    for k, uses in enumerate(op.uses):
        group = _tuple([_saving(op, use, index) for use in uses])
        groups.append(group if op.joint else f"{group} if need[{k}] else None")
    parameters = ", ".join(f"p{i}" for i in range(len(op.parameters)))
    return f"def save(need, inplace, hooks, results, {parameters}):\n    return {_tuple(groups)}\n"


def _run_source(op: Operation, frees: bool) -> str:
    several = op.outputs != 1
    lines = ["def run(node, grads, task, needs):", "    saved = node.saved"]
    if frees:
        lines += ["    if saved is None: raise_twice()"]
    if not several:
        lines += ["    if grads is None: return (None,) * len(node.next)"]
    else:
        lines += ["    grads = collect(node, grads, task)"]
    lines += [
        "    if needs is not None or node.widths is not None or op.joint:",
        "        return run_loop(node, grads, task, needs)",
    ]
    lines += [
        "    F = task.F; u = task.unpack; f = op.formulas",
        f"    {_tuple([f's{k}' for k in range(len(op.uses))])} = saved",
    ]
    groups = []
    for k, uses in enumerate(op.uses):
        values = [
            f"u(node, s{k}[{i}])" if _is_saved_tensor(op, use) else f"s{k}[{i}]" for i, use in enumerate(uses)
        ]
        groups.append(f"f[{k}]({', '.join(['F', 'grads', *values])}) if s{k} is not None else None")
    lines += [f"    return {_tuple(groups)}"]
    return "\n".join(lines) + "\n"


def _is_saved_tensor(op: Operation, use: str) -> bool:
    return use in op.tensors or (use.startswith("result") and "." not in use and use not in op.parameters)


def _collect(node: OperationNode, grads: Any, task: Any) -> tuple[Any, ...]:
    """The gradients of all outputs as a tuple; those that are undefined as zeros if the entry wants it
    (ACC-09).
    """
    given = (grads,) if node.metas is None else tuple(grads)
    if node.operation.materialize:
        given = tuple(task.zeros(node.meta(i)) if grad is None else grad for i, grad in enumerate(given))
    return given


def _run_loop(node: OperationNode, grads: Any, task: Any, needs: Any) -> list[Any]:
    """The general form: restricted passes, list parameters, joint formulas."""
    op = node.operation
    unpack = task.unpack
    if op.outputs != 1 and all(grad is None for grad in grads):
        return [None] * len(node.next)
    values = [None if group is None else [unpack(node, value) for value in group] for group in node.saved]
    widths = node.widths or (1,) * len(op.differentiable)
    starts = [sum(widths[:k]) for k in range(len(widths))]
    wanted = [
        any(node.next[i] is not None and (needs is None or needs[i]) for i in range(start, start + width))
        for start, width in zip(starts, widths, strict=True)
    ]
    found: list[Any]
    if op.joint:
        if "needs" in op.uses[0]:
            values[0][op.uses[0].index("needs")] = tuple(wanted)  # type: ignore[index]
        found = list(op.formulas[0](task.F, grads, *values[0])) if any(wanted) else [None] * len(widths)  # type: ignore[misc]
    else:
        found = [
            op.formulas[k](task.F, grads, *values[k]) if wanted[k] and values[k] is not None else None  # type: ignore[misc]
            for k in range(len(widths))
        ]
    if node.widths is None:
        return found
    flat: list[Any] = []
    for k, (name, width) in enumerate(zip(op.differentiable, widths, strict=True)):
        flat += ([None] * width if found[k] is None else list(found[k])) if name in op.lists else [found[k]]
    return flat


def _compile(source: str, name: str, names: dict[str, Any]) -> Any:
    scope = dict(_NAMES, **names)
    exec(compile(source, f"<{name}>", "exec"), scope)
    return scope[source[4 : source.index("(")]]


def plan_of(op: Operation) -> Plan:
    """The plan of an entry, made on first use."""
    if op.plan is not None:
        return op.plan  # type: ignore[no-any-return]
    index = {name: i for i, name in enumerate(op.parameters)}
    used = [use for uses in op.uses for use in uses]
    frees = any(_is_saved_tensor(op, use) for use in used)
    run = _compile(
        _run_source(op, frees), f"{op.key} run", {"op": op, "collect": _collect, "run_loop": _run_loop}
    )
    node_class: Any = type(
        op.node or op.key, (OperationNode,), {"__slots__": (), "run": run, "operation": op}
    )
    node_class.display = _DISPLAYS.get(op.node, "")
    node_class.__module__ = "torch.autograd"
    made = Plan(
        save=_compile(_save_source(op), f"{op.key} save", {}),
        node=node_class,
        frees=frees,
        saves_self=bool(op.parameters) and op.parameters[0] in used,
        results=tuple(
            (k, i, int(use[6:] or 0))
            for k, uses in enumerate(op.uses)
            for i, use in enumerate(uses)
            if use.startswith("result") and "." not in use and use not in index
        ),
        tensors=tuple(index[name] for name in op.tensors),
        differentiable=tuple(index[name] for name in op.differentiable),
        lists=frozenset(index[name] for name in op.lists),
    )
    node_class.plan = made
    node_class.writes = _WRITES.get(op.node, 0)
    op.plan = made
    return made


_DISPLAYS = {"CopyBackwards": "torch::autograd::CopyBackwards"}

_WRITES = {
    "IndexBackward0": 1,
    "GatherBackward0": 1,
    "MaxBackward0": 2,
    "MaxBackward1": 1,
    "MinBackward0": 2,
    "MinBackward1": 1,
    "MaximumBackward0": 1,
    "MinimumBackward0": 1,
    "MedianBackward0": 1,
    "MedianBackward1": 2,
    "AsStridedBackward0": 1,
    "TakeBackward0": 1,
    "IndexSelectBackward0": 1,
    "MaskedSelectBackward0": 1,
    "TopkBackward0": 2,
    "SortBackward0": 2,
    "TraceBackward0": 2,
}
"""How often torch's formulas write into the gradient that they give, which shows in its version (ACC-37)."""
