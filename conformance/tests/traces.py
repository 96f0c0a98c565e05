"""Hand-made programs and traces for the tests of comparing."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

FORMATS = {"float32": "f", "float64": "d", "int64": "q", "bool": "?", "float16": "e"}


@dataclass(frozen=True)
class Body:
    """A program as far as comparing looks at one."""

    body: Sequence[dict[str, Any]]
    clauses: Sequence[str] = ()
    hash: str = "0" * 64


def data(values: Sequence[float], dtype: str = "float32") -> str:
    """Values as observed bytes."""
    return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values).hex()


def bound(values: Sequence[float]) -> str:
    """Bounds as the shadow writes them."""
    return struct.pack(f"<{len(values)}d", *values).hex()


def tensor(values: Sequence[float], dtype: str = "float32", **fields: Any) -> list[Any]:
    """An observed 1-d tensor."""
    return [
        "tensor",
        {
            "dtype": dtype,
            "shape": [len(values)],
            "strides": [1],
            "device": "main",
            "requires_grad": False,
            "is_leaf": True,
            "grad_fn": None,
            "bytes": data(values, dtype),
            "id": 0,
            "storage": [0, 0],
            "version": 0,
            "retains_grad": False,
            "grad": None,
            **fields,
        },
    ]


def gradient(values: Sequence[float], **fields: Any) -> list[Any]:
    """An observed gradient: a tensor without `version` and without its own gradient."""
    seen = tensor(values, **fields)
    del seen[1]["version"], seen[1]["grad"]
    return seen


@dataclass
class Made:
    """A program with its trace."""

    program: Body
    trace: dict[str, Any] = field(default_factory=dict)


def step(at: int, kind: str, **fields: Any) -> dict[str, Any]:
    """A step that went well and showed nothing."""
    return {
        "at": at,
        "kind": kind,
        "outcome": "ok",
        "log": [],
        "warnings": [],
        "seen": {},
        "grad_mode": True,
        **fields,
    }


def made() -> Made:
    """x = tensor; y = x * 2; hooks; y.backward(seed); a second backward that raises; x.grad; observations."""
    x = tensor([4.0, -0.0, 2.0], requires_grad=True)
    y = tensor(
        [8.0, -0.0, 4.0],
        requires_grad=True,
        is_leaf=False,
        grad_fn="MulBackward0",
        id=1,
        storage=[1, 0],
    )
    del y[1]["grad"]
    after = tensor(
        [4.0, -0.0, 2.0], requires_grad=True, grad=gradient([2.0, 20.0, 0.1], id=1, storage=[1, 0])
    )
    y_after = ["tensor", {**y[1], "id": 2, "storage": [2, 0]}]
    view = tensor([2.0], requires_grad=True, is_leaf=False, grad_fn="SliceBackward0", id=3, storage=[0, 2])
    del view[1]["grad"]
    text = "Trying to backward through the graph a second time (or directly access saved tensors ...)."
    warning = ["UserWarning", "Using backward() with create_graph=True will create a reference cycle"]
    assign = {"do": "assign", "targets": [["name", "x"]], "value": None}
    steps = [
        step(0, "create", seen={"x": x}),
        step(1, "operation", seen={"x": x, "y": y}),
        step(
            2,
            "backward",
            seen={"x": after, "y": y_after},
            warnings=[warning],
            log=[
                {"in": "first", "at": [1, 0], "value": gradient([1.0, 10.0, 0.05])},
                {"in": "second", "at": [1, 1], "value": ["float", "2.5"]},
            ],
        ),
        step(
            3,
            "backward",
            outcome="raised",
            error={"type": "RuntimeError", "text": text, "phase": "backward"},
            seen={"x": after, "y": y_after},
        ),
        step(4, "view", seen={"x": after, "y": y_after, "v": view}),
        step(
            5,
            "observe",
            value=["tuple", [after[1]["grad"], ["node", "MulBackward0"], ["dtype", "float32"], True]],
        ),
    ]
    trace = {
        "form": 1,
        "program": "sha256:" + "0" * 64,
        "steps": steps,
        "end": {"x": after, "y": y_after, "v": view},
        "leaks": [],
    }
    whole = json.loads(json.dumps(trace))  # so that no two places share an object
    return Made(Body(tuple(dict(assign) for _ in steps), ("RETAIN-01",)), whole)
