"""One planted fault for each rule of comparing: where it shows, at which level and strength, if it taints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.compare import Level, Strength
from conformance.tests.traces import data

Trace = dict[str, Any]
Mutate = Callable[[Trace], object]


def seen(trace: Trace, at: int, name: str) -> dict[str, Any]:
    fields = trace["steps"][at]["seen"][name][1]
    assert isinstance(fields, dict)
    return fields


@dataclass(frozen=True)
class Plant:
    what: str
    mutate: Mutate
    level: Level
    path: str
    strength: Strength = "required"
    at: int | str = 2
    taints: bool = True


PLANTS = (
    Plant(
        "one bit of a value",
        lambda t: seen(t, 2, "x").update(bytes=data([4.0, -0.0, 2.0000002])),
        "values",
        "seen.x.bytes",
    ),
    Plant(
        "one bit of a gradient",
        lambda t: seen(t, 2, "x")["grad"][1].update(bytes=data([2.0, 20.000002, 0.1])),
        "values",
        "seen.x.grad.bytes",
    ),
    Plant(
        "sign of a zero",
        lambda t: seen(t, 1, "x").update(bytes=data([4.0, 0.0, 2.0])),
        "values",
        "seen.x.bytes",
        at=1,
    ),
    Plant("None for zeros", lambda t: seen(t, 2, "x").update(grad=None), "values", "seen.x.grad"),
    Plant(
        "zeros for None",
        lambda t: seen(t, 0, "x").update(grad=seen(t, 2, "x")["grad"]),
        "values",
        "seen.x.grad",
        at=0,
    ),
    Plant(
        "shape",
        lambda t: seen(t, 2, "x")["grad"][1].update(shape=[3, 1], strides=[1, 1]),
        "values",
        "seen.x.grad.shape",
    ),
    Plant(
        "bytes cut short", lambda t: seen(t, 2, "x").update(bytes=data([4.0, -0.0])), "values", "seen.x.bytes"
    ),
    Plant("bytes that are none", lambda t: seen(t, 2, "x").update(bytes="zz"), "values", "seen.x.bytes"),
    Plant(
        "a python float",
        lambda t: t["steps"][2]["log"][1].update(value=["float", "2.25"]),
        "values",
        "log.1.value",
    ),
    Plant(
        "an int for a bool", lambda t: t["steps"][5]["value"][1].__setitem__(3, 1), "values", "value.3", at=5
    ),
    Plant("a shorter tuple", lambda t: t["steps"][5]["value"][1].pop(), "values", "value.length", at=5),
    Plant(
        "a list for a tuple", lambda t: t["steps"][5]["value"].__setitem__(0, "list"), "values", "value", at=5
    ),
    Plant("None for a value", lambda t: t["steps"][5].update(value=None), "values", "value", at=5),
    Plant(
        "raised and should not",
        lambda t: t["steps"][2].update(outcome="raised", error={"type": "E", "text": ""}),
        "state",
        "outcome",
    ),
    Plant(
        "not raised and should",
        lambda t: t["steps"][3].update(outcome="ok") or t["steps"][3].pop("error"),
        "state",
        "outcome",
        at=3,
    ),
    Plant("skipped", lambda t: t["steps"][2].update(outcome="skipped", needs=["y"]), "state", "outcome"),
    Plant(
        "requires_grad",
        lambda t: seen(t, 2, "y").update(requires_grad=False),
        "state",
        "seen.y.requires_grad",
    ),
    Plant("is_leaf", lambda t: seen(t, 2, "y").update(is_leaf=True), "state", "seen.y.is_leaf"),
    Plant(
        "retains_grad", lambda t: seen(t, 2, "x").update(retains_grad=True), "state", "seen.x.retains_grad"
    ),
    Plant("device", lambda t: seen(t, 2, "x").update(device="meta"), "state", "seen.x.device"),
    Plant("grad_fn gone", lambda t: seen(t, 2, "y").update(grad_fn=None), "state", "seen.y.grad_fn"),
    Plant("grad_mode", lambda t: t["steps"][2].update(grad_mode=False), "state", "grad_mode"),
    Plant("id merged", lambda t: seen(t, 2, "y").update(id=0), "state", "seen.y.id"),
    Plant(
        "id split",
        lambda t: t["steps"][2]["log"][0]["value"][1].update(id=7) or seen(t, 2, "x").update(id=5),
        "state",
        "seen.x.id",
    ),
    Plant("storage merged", lambda t: seen(t, 2, "y").update(storage=[0, 0]), "state", "seen.y.storage"),
    Plant("storage split", lambda t: seen(t, 4, "v").update(storage=[3, 2]), "state", "seen.v.storage", at=4),
    Plant(
        "place in the storage",
        lambda t: seen(t, 4, "v").update(storage=[0, 1]),
        "state",
        "seen.v.storage",
        at=4,
    ),
    Plant("a name bound too much", lambda t: t["steps"][2]["seen"].update(z=None), "state", "seen.z"),
    Plant("a name not bound", lambda t: t["steps"][2]["seen"].pop("y"), "state", "seen.y"),
    Plant("a field lacking", lambda t: seen(t, 2, "x").pop("is_leaf"), "state", "seen.x.is_leaf"),
    Plant("a field too much", lambda t: seen(t, 2, "x").update(color="red"), "state", "seen.x.color"),
    Plant("the gradient's field lacking", lambda t: seen(t, 2, "x").pop("grad"), "values", "seen.x.grad"),
    Plant("a step's key lacking", lambda t: t["steps"][2].pop("grad_mode"), "state", "grad_mode"),
    Plant("a step's key too much", lambda t: t["steps"][2].update(color="red"), "state", "color"),
    Plant("log entry lacking", lambda t: t["steps"][2]["log"].pop(0), "state", "log"),
    Plant("log entry twice", lambda t: t["steps"][2]["log"].append(t["steps"][2]["log"][1]), "state", "log"),
    Plant("order of hooks", lambda t: t["steps"][2]["log"].reverse(), "state", "log"),
    Plant("log from elsewhere", lambda t: t["steps"][2]["log"][0].update(at=[1, 1]), "state", "log"),
    Plant(
        "a read that raises",
        lambda t: seen(t, 2, "x").update(grad=["raised", "RuntimeError", "no"]),
        "state",
        "seen.x.grad",
    ),
    Plant("steps cut off", lambda t: t["steps"].pop(), "state", "steps", at=5, taints=False),
    Plant(
        "a step too much",
        lambda t: t["steps"].append(t["steps"][5]),
        "state",
        "steps",
        at="end",
        taints=False,
    ),
    Plant(
        "another program",
        lambda t: t.update(program="sha256:" + "1" * 64),
        "state",
        "program",
        at="end",
        taints=False,
    ),
    Plant("a leak", lambda t: t["leaks"].append("grad mode"), "state", "leaks", at="end", taints=False),
    Plant("a name kept at the end", lambda t: t["end"].pop("v"), "state", "end.v", at="end", taints=False),
    Plant("kind", lambda t: t["steps"][2].update(kind="grad"), "state", "kind"),
    Plant(
        "exception's type",
        lambda t: t["steps"][3]["error"].update(type="ValueError"),
        "errors",
        "error.type",
        at=3,
        taints=False,
    ),
    Plant(
        "exception's phase",
        lambda t: t["steps"][3]["error"].update(phase="hook"),
        "errors",
        "error.phase",
        at=3,
        taints=False,
    ),
    Plant(
        "stable part of a text",
        lambda t: t["steps"][3]["error"].update(text="no"),
        "errors",
        "error.text",
        at=3,
        taints=False,
    ),
    Plant(
        "rest of a text",
        lambda t: t["steps"][3]["error"].update(
            text="Trying to backward through the graph a second time, but ..."
        ),
        "errors",
        "error.text",
        "torch-specific",
        at=3,
        taints=False,
    ),
    Plant(
        "warning lacking",
        lambda t: t["steps"][2]["warnings"].clear(),
        "errors",
        "warnings",
        "torch-specific",
        taints=False,
    ),
    Plant(
        "warning too much",
        lambda t: t["steps"][1]["warnings"].append(["UserWarning", "hm"]),
        "errors",
        "warnings",
        "torch-specific",
        at=1,
        taints=False,
    ),
    Plant(
        "grad_fn's name",
        lambda t: seen(t, 2, "y").update(grad_fn="Mul"),
        "state",
        "seen.y.grad_fn",
        "torch-specific",
        taints=False,
    ),
    Plant(
        "version",
        lambda t: seen(t, 2, "x").update(version=1),
        "state",
        "seen.x.version",
        "torch-specific",
        taints=False,
    ),
    Plant(
        "version lacking",
        lambda t: seen(t, 2, "x").pop("version"),
        "state",
        "seen.x.version",
        "torch-specific",
        taints=False,
    ),
    Plant(
        "node's name",
        lambda t: t["steps"][5]["value"][1].__setitem__(1, ["node", "M"]),
        "state",
        "value.1",
        "torch-specific",
        at=5,
        taints=False,
    ),
    Plant(
        "dtype",
        lambda t: seen(t, 2, "x").update(dtype="float64", bytes=data([4.0, -0.0, 2.0], "float64")),
        "layout",
        "seen.x.dtype",
    ),
    Plant(
        "dtype value",
        lambda t: t["steps"][5]["value"][1].__setitem__(2, ["dtype", "float64"]),
        "layout",
        "value.2",
        at=5,
    ),
    Plant("strides", lambda t: seen(t, 2, "x").update(strides=[2]), "layout", "seen.x.strides", taints=False),
    Plant(
        "strides of one entry",
        lambda t: seen(t, 4, "v").update(strides=[3]),
        "layout",
        "seen.v.strides",
        "torch-specific",
        at=4,
        taints=False,
    ),
    Plant(
        "offset of memory of its own",
        lambda t: seen(t, 1, "y").update(storage=[1, 3]),
        "layout",
        "seen.y.storage",
        at=1,
        taints=False,
    ),
)
